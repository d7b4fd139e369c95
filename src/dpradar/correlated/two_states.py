"""Chains with two states: the same steps as in ``many_states``, with plain numbers, for series of any length.

Probabilities are kept as logarithms: a state that dies out becomes less likely than any number that is not 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..numerics.lazy_numpy import np
from .convergence import Schedule, change_bound, drift

if TYPE_CHECKING:
    from .models import Chain

__all__ = ["SideLimit", "two_state_sides"]

Pair = tuple[float, float]
Logs = tuple[float, float, float, float]  # of the step: from 0 to 0 and 1, from 1 to 0 and 1
_NEVER = -math.inf
_ROUNDING = 1e-15


@dataclass(frozen=True, slots=True)
class SideLimit:
    """What the records on one side of the target add, by their number L: the largest ln(given 1 / given 0), and less.

    ``up[L]`` is the largest log-ratio, ``down[L]`` the largest of the inverse ratio. For larger L than there are
    entries both are at least the last entry, and at most ``pad`` above it.
    """

    up: list[float]
    down: list[float]
    pad: float

    def at(self, count: int) -> Pair:
        """Return both log-ratios for this many records."""
        place = min(count, len(self.up) - 1)
        return self.up[place], self.down[place]


def _log(x: float) -> float:
    return math.log(x) if x > 0.0 else _NEVER


def _log_sum(a: float, b: float) -> float:
    """Return ln(e^a + e^b)."""
    if a < b:
        a, b = b, a
    return a if b == _NEVER else a + math.log1p(math.exp(b - a))


def _push(kernel: Logs, low: float, high: float, epsilon: float) -> Pair:
    """Return the range of ln(given 1 / given 0) one step nearer to the target: a Moebius map, so the ends suffice."""
    a, b, c, d = kernel
    ends = [_log_sum(c, d + q) - _log_sum(a, b + q) for q in (low - epsilon, high + epsilon)]
    return min(ends), max(ends)


def _step(P: Logs, knowledge: Pair) -> tuple[Logs | None, Pair]:
    """Return one step given what is known further on (Doob's transform), and that knowledge seen from here.

    No step where only one state is compatible with what is known.
    """
    a, b, c, d = P
    zero, one = _log_sum(a + knowledge[0], b + knowledge[1]), _log_sum(c + knowledge[0], d + knowledge[1])
    top = max(zero, one)
    if top == _NEVER:
        return None, (_NEVER, _NEVER)  # the known state never follows
    updated = (zero - top, one - top)
    if min(updated) == _NEVER:
        return None, updated
    return (a + knowledge[0] - zero, b + knowledge[1] - zero, c + knowledge[0] - one, d + knowledge[1] - one), updated


def _hilbert_distance(before: Pair, after: Pair) -> float:
    """Return Hilbert's distance of what is known here and one step on, rounding added; infinite if a 0 came or went."""
    some, same = [x > _NEVER for x in before], [x > _NEVER for x in after]
    if some != same:
        return math.inf
    change = abs((after[1] - after[0]) - (before[1] - before[0])) if all(some) else 0.0
    return change + _ROUNDING * (1.0 + max(abs(x) for x in (*before, *after) if x > _NEVER) if any(some) else 1.0)


class _Sequence:
    """One sequence of ranges: knowledge of a state further and further on, or no knowledge."""

    __slots__ = ("high", "knowledge", "low")

    def __init__(self, knowledge: Pair) -> None:
        self.knowledge, self.low, self.high = knowledge, 0.0, 0.0

    def move(self, P: Logs, epsilon: float, *, silent: bool) -> None:
        """Go one step on; ``silent`` where the record between is the known one."""
        kernel, self.knowledge = _step(P, self.knowledge)
        if kernel is not None and not silent:
            self.low, self.high = _push(kernel, self.low, self.high, epsilon)

    def stays(self, P: Logs, epsilon: float, pad: float, factor: float) -> bool:
        """Return whether the range, wider by ``pad``, holds all later ones: one step brings it back inside."""
        kernel, updated = _step(P, self.knowledge)
        more = change_bound(
            factor * _hilbert_distance(self.knowledge, updated), epsilon + pad + max(-self.low, self.high, 0.0)
        )
        if kernel is None:
            return math.isfinite(more)
        low, high = _push(kernel, self.low - pad, self.high + pad, epsilon)
        return low - more >= self.low - pad and high + more <= self.high + pad


def _accumulate(P: Logs, free: Pair, most: int, epsilon: float, factor: float) -> SideLimit:
    """Return what one side adds; ``free`` is what is known where no record is."""
    known_sequences = [_Sequence((0.0, _NEVER)), _Sequence((_NEVER, 0.0))]
    unknown = _Sequence(free)
    up, down = [0.0], [0.0]
    best_up = best_down = 0.0
    schedule = Schedule(epsilon)

    def holds(pad: float) -> bool:
        return all(one.stays(P, epsilon, pad, factor) for one in (*known_sequences, unknown))

    for count in range(1, most + 1):
        if schedule.due(count) and (pad := schedule.certified(count, holds)) is not None:
            return SideLimit(up, down, pad)
        for one in known_sequences:
            one.move(P, epsilon, silent=count == 1)
            best_up, best_down = max(best_up, one.high), max(best_down, -one.low)
        unknown.move(P, epsilon, silent=False)
        up.append(max(best_up, unknown.high))
        down.append(max(best_down, -unknown.low))
    return SideLimit(up, down, 0.0)


def two_state_sides(chain: Chain, epsilon: float) -> tuple[SideLimit, SideLimit]:
    """Return what the records before and after the target add."""
    (a, b), (c, d) = (tuple(map(_log, row)) for row in chain.transitions.tolist())
    most, factor = chain.length - 1, drift(np.asarray(chain.transitions), chain.length)
    after = _accumulate((a, b, c, d), (0.0, 0.0), most, epsilon, factor)
    if chain.is_stationary and min(chain.initial) > 0.0:
        return after, after  # with two states a stationary chain reads the same in both directions
    zero, one = map(_log, chain.initial.tolist())
    return _accumulate((a, c, b, d), (zero, one), most, epsilon, factor), after
