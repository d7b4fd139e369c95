"""Chains with two states: the same steps as in ``markov``, with plain numbers, for series of any length."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .models import Chain

__all__ = ["SETTLED", "STILL", "Side", "two_state_sides"]

SETTLED = 1e-14  # a sequence that will move by less than this in all is at its end,
STILL = 1e-15  # and so is one that moves by no more than rounding does
_LEAST_STEPS = 4
Matrix = tuple[float, float, float, float]  # rows of the step: from 0 to 0 and 1, from 1 to 0 and 1


@dataclass(frozen=True, slots=True)
class Side:
    """What the records on one side of the target add, by their number L: the largest ln(given 1 / given 0), and less.

    ``up[L]`` is the largest log-ratio, ``down[L]`` the largest of the inverse ratio; the last entry holds for all
    larger L.
    """

    up: list[float]
    down: list[float]

    def at(self, count: int) -> tuple[float, float]:
        """Return both log-ratios for so many records."""
        place = min(count, len(self.up) - 1)
        return self.up[place], self.down[place]


def _log_sum(a: float, b: float, log_ratio: float) -> float:
    """Return ln(a + b e^log_ratio)."""
    if b == 0.0:
        return math.log(a)
    if a == 0.0:
        return math.log(b) + log_ratio
    if log_ratio > 0.0:
        return log_ratio + math.log(b + a * math.exp(-log_ratio))
    return math.log(a + b * math.exp(log_ratio))


def _push(step: Matrix, low: float, high: float, epsilon: float) -> tuple[float, float]:
    """Return the range of ln(given 1 / given 0) one step nearer to the target: a Moebius map, so the ends suffice."""
    a, b, c, d = step
    ends = [_log_sum(c, d, q) - _log_sum(a, b, q) for q in (low - epsilon, high + epsilon)]
    return min(ends), max(ends)


class _Sequence:
    """One sequence of ranges: knowledge of a state further and further on, or no knowledge."""

    __slots__ = ("ahead", "high", "low", "moved", "rate")

    def __init__(self, ahead: tuple[float, float]) -> None:
        self.ahead, self.low, self.high, self.moved, self.rate = ahead, 0.0, 0.0, math.inf, 1.0

    def settled(self) -> bool:
        if self.moved <= STILL:
            return True
        return self.rate < 1.0 and self.moved * self.rate / (1.0 - self.rate) < SETTLED

    def note(self, moved: float) -> None:
        self.rate = min(1.0, moved / self.moved) if self.moved > 0.0 else 1.0
        self.moved = moved


def _bent(step: Matrix, ahead: tuple[float, float]) -> tuple[Matrix | None, tuple[float, float]]:
    """Return the step given what is known further on, and that knowledge seen from here, scaled."""
    a, b, c, d = step
    zero, one = a * ahead[0] + b * ahead[1], c * ahead[0] + d * ahead[1]
    bent = None
    if zero > 0.0 and one > 0.0:
        bent = (a * ahead[0] / zero, b * ahead[1] / zero, c * ahead[0] / one, d * ahead[1] / one)
    top = max(zero, one) or 1.0  # 0 where the known state never follows
    return bent, (zero / top, one / top)


def _homogeneous(step: Matrix, most: int, epsilon: float) -> Side:
    """Return what one side adds where every step is the same."""
    known = [_Sequence((1.0, 0.0)), _Sequence((0.0, 1.0))]
    free = _Sequence((1.0, 1.0))
    up, down = [0.0], [0.0]
    best_up = best_down = 0.0
    quiet = 0
    for count in range(1, most + 1):
        for one in known:
            bent, ahead = _bent(step, one.ahead)
            moved = max(abs(ahead[0] - one.ahead[0]), abs(ahead[1] - one.ahead[1]))
            if count > 1 and bent is not None:
                low, high = _push(bent, one.low, one.high, epsilon)
                moved = max(moved, abs(low - one.low), abs(high - one.high))
                one.low, one.high = low, high
            one.ahead = ahead
            one.note(moved)
            best_up, best_down = max(best_up, one.high), max(best_down, -one.low)
        low, high = _push(step, free.low, free.high, epsilon)
        free.note(max(abs(low - free.low), abs(high - free.high)))
        free.low, free.high = low, high
        up.append(max(best_up, high))
        down.append(max(best_down, -low))
        quiet = quiet + 1 if count > 1 and all(one.settled() for one in (*known, free)) else 0
        if quiet >= _LEAST_STEPS:
            break
    return Side(up, down)


def _backwards(step: Matrix, law: tuple[float, float]) -> tuple[Matrix | None, tuple[float, float]]:
    """Return the step read backwards from the law before it, and the law after it."""
    a, b, c, d = step
    zero, one = law[0] * a + law[1] * c, law[0] * b + law[1] * d
    back = None
    if zero > 0.0 and one > 0.0:
        back = (law[0] * a / zero, law[1] * c / zero, law[0] * b / one, law[1] * d / one)
    return back, (zero, one)


def _from_start(step: Matrix, start: tuple[float, float], most: int, epsilon: float) -> Side:
    """Return what the records before the target add where the chain does not start as it goes on."""
    known = [_Sequence((1.0, 0.0)), _Sequence((0.0, 1.0))]  # ahead: the law of the present given the known state
    free = _Sequence(start)
    up, down = [0.0], [0.0]
    best_up = best_down = 0.0
    for count in range(1, most + 1):
        for one in (*known, free):
            back, law = _backwards(step, one.ahead)
            if back is not None and (count > 1 or one is free):
                one.low, one.high = _push(back, one.low, one.high, epsilon)
            one.ahead = law
        best_up = max(best_up, *(one.high for one in known))
        best_down = max(best_down, *(-one.low for one in known))
        up.append(max(best_up, free.high))
        down.append(max(best_down, -free.low))
    return Side(up, down)


def two_state_sides(chain: Chain, epsilon: float) -> tuple[Side, Side]:
    """Return what the records before and after the target add."""
    (a, b), (c, d) = chain.transitions.tolist()
    step: Matrix = (a, b, c, d)
    after = _homogeneous(step, chain.length - 1, epsilon)
    if chain.is_stationary and min(chain.initial) > 0.0:
        return after, after  # with two states a stationary chain reads the same in both directions
    zero, one = chain.initial.tolist()
    return _from_start(step, (zero, one), chain.length - 1, epsilon), after
