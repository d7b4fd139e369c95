"""Reports that are sets, and a guess that may be some places off: windows on evenly spaced, equally likely values."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Floats, Ints, np
from ..question import Inapplicable
from .exact_risk import ExactRisk, with_rounding
from .weighted_sums import binomial, levels_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...mechanisms.capabilities import SetLaw
    from ...threats import Prior
    from ...threats.hit_classes import Cover

__all__ = ["set_window_risk"]

_EPS = sys.float_info.epsilon
_WORK = 1_000_000_000  # states x totals x steps: some seconds
_TAIL = 60.0  # counts with less than e^-60 of probability are left out
_NEVER = 1e-120  # a state of the middle that never matters, while its square is still a float
_WIDEST = 8  # eta; more have too many states at any number of values

Shortfalls = tuple[int, ...]


def set_window_risk(law: SetLaw, prior: Prior, cover: Cover) -> ExactRisk:
    """Return rad and success when the output is a set of equally likely values and a guess may be ``eta`` places off.

    Guarantee
    ---------
    Exact up to rounding, for independent bits and for sets of a fixed size; nothing is known of the target.

    Notes
    -----
    A window of s values of which c are reported scores c - s K/m, K values being reported in all. All windows have
    w = 2 eta + 1 values but the eta at each end. Whether all scores are at most v is followed along the line: the last
    2 eta bits and the number of values reported so far are the state. See docs/derivations/sets-and-windows.md. The
    cost grows with 4^eta, with the number of values and with that of values reported.
    """
    eta = _reach(prior, cover)
    m, width, weight = prior.size, 2 * eta + 1, float(prior.probabilities.max())
    free = (0,) * eta
    _Line(eta, m, law.rate, (free,)).check_work()
    totals = np.arange(m + 1) if law.size is None else np.array([law.size])
    chances = binomial(m, law.rate)[totals]
    likely = (totals > 0) & (chances > math.exp(-_TAIL) * law.rate)
    totals, chances = totals[likely], chances[likely]
    odds = np.ones(totals.size) if law.size is None else 1.0 / chances  # a fixed total is certain
    shares = _shares(totals, m, eta)
    line = _Line(eta, m, law.rate, tuple(shares))
    line.check_work()
    # K = 0 leaves every score at 0. The mean of the largest count, and of the largest score + w K/m, both from 0 up.
    largest = score = 0.0
    for most in range(width):
        within = line.chances(most)
        for short, share in shares.items():
            above = odds * (chances - np.minimum(within[short][totals], chances))
            score += float(above @ share)
            if short == free:
                largest += float(above.sum())
    chance = float((odds * chances).sum())
    error = 16.0 * _EPS * (m + 16.0) * width * chance
    mean_share = width * law.rate
    gain = law.difference * weight
    # The tail that is left out, on the side where it would matter.
    error += math.exp(-_TAIL) * m * width * law.rate
    success = law.missing * width * weight + gain * largest
    return ExactRisk(
        rad=with_rounding(max(0.0, gain * (score - mean_share)), gain * (error + 8.0 * _EPS * mean_share)),
        success=with_rounding(min(1.0, success), gain * error + 8.0 * _EPS * success),
    )


def _reach(prior: Prior, cover: Cover) -> int:
    """Return how many places a guess may be off, where all values are equally likely and evenly spaced."""
    m = prior.size
    block = cover.blocks[0] if len(cover.blocks) == 1 and not cover.single.size else None
    if block is None or block.kind != "windows" or block.low is None or block.high is None or block.misses:
        message = "needs windows on values of which nothing is known"
        raise Inapplicable(message)
    levels = levels_of(prior.probabilities)
    if len(levels) != 1 or levels[0][1] != m:
        message = "needs equally likely values where a guess may be off"
        raise Inapplicable(message)
    eta = int(block.high.min()) - 1
    place = np.arange(m)
    expected = np.stack([np.maximum(place - eta, 0), np.minimum(place + eta + 1, m)])
    even = np.array_equal(np.unique(expected, axis=1), np.unique(np.stack([block.low, block.high]), axis=1))
    if not even or 2 * eta + 1 > m:
        message = "needs evenly spaced values, more of them than a guess can reach"
        raise Inapplicable(message)
    if eta > _WIDEST:
        message = f"follows windows of at most {2 * _WIDEST + 1} values"
        raise Inapplicable(message)
    return eta


def _shares(totals: Ints, m: int, eta: int) -> dict[Shortfalls, Floats]:
    """Return by how much windows at the ends may hold fewer than a full one, and for which share of the levels.

    A score of y - w K/m at most, t <= y < t + 1, allows t values in a full window and t - ceil(j K/m - (y - t)) in one
    that is j values shorter. For each total: the share of y - t in [0, 1) with each list of these numbers, j = 1..eta.
    """
    shares: dict[Shortfalls, Floats] = {(0,) * eta: np.zeros(totals.size)}
    for place, total in enumerate(totals.tolist()):
        cuts = sorted({0, m, *(j * total % m for j in range(1, eta + 1))})
        for low, high in pairwise(cuts):
            # In units of 1/m, and y - t in the middle of the interval: ceil(a/m) = -((-a) // m).
            short = tuple(-((low + high - 2 * j * total) // (2 * m)) for j in range(1, eta + 1))
            shares.setdefault(short, np.zeros(totals.size))[place] += (high - low) / m
    return shares


@dataclass(frozen=True, slots=True)
class _Line:
    """Independent bits on a line, followed from both ends to the middle."""

    eta: int
    size: int
    rate: float
    shortfalls: tuple[Shortfalls, ...]

    @property
    def states(self) -> int:
        return 1 << 2 * self.eta

    @property
    def halves(self) -> tuple[int, int]:
        """The number of bits of either half; the middle 2 eta bits are in both."""
        one = (self.size + 2 * self.eta) // 2
        return one, self.size + 2 * self.eta - one

    def likely(self, bits: int) -> tuple[int, int]:
        """Return the least and the largest number of ones of so many bits that matter (Bernstein)."""
        tail = _TAIL + math.log(1.0 / self.rate)
        variance = bits * self.rate * (1.0 - self.rate)
        radius = tail / 3.0 + math.sqrt(tail * tail / 9.0 + 2.0 * tail * variance)
        mean = bits * self.rate
        return max(0, math.floor(mean - radius)), min(bits, math.ceil(mean + radius))

    def check_work(self) -> None:
        """Raise Inapplicable where following the line takes too long."""
        steps = max(self.halves)
        low, high = self.likely(steps)
        work = (2 * self.eta + 1) * len(self.shortfalls) * self.states * steps * (high - low + 1)
        if work > _WORK:
            message = f"follows at most {_WORK:.0g} states; they grow with 4^eta and the square of the number of values"
            raise Inapplicable(message)

    def chances(self, most: int) -> dict[Shortfalls, Floats]:
        """Return, for every total, the probability of it and that all windows hold few enough values.

        That is ``most`` in full ones, and in those at the ends as many fewer as the shortfalls say, j = 1 .. eta.
        """
        one, other = self.halves
        arrays = {steps: masses.copy() for steps, masses in self._follow(most, other) if steps in (one, other)}
        ones, bits = _ones(self.states), 2 * self.eta
        back = [int(f"{state:0{bits}b}"[::-1], 2) for state in range(self.states)]
        result = {}
        for number, short in enumerate(self.shortfalls):
            total = np.zeros(self.size + 1)
            for state in np.flatnonzero(ones <= most).tolist():
                twice = self.rate ** ones[state] * (1.0 - self.rate) ** (bits - ones[state])
                if twice < _NEVER:
                    continue
                halves = np.convolve(arrays[one][number, state], arrays[other][number, back[state]])[ones[state] :]
                some = min(halves.size, total.size)
                total[:some] += halves[:some] / twice
            result[short] = total
        return result

    def _follow(self, most: int, steps: int) -> Iterator[tuple[int, Floats]]:
        """Yield the number of bits and the probabilities by shortfalls, last 2 eta bits and ones so far."""
        first_bits = 2 * self.eta
        ones = _ones(self.states)
        columns = self.likely(steps)[1] + 2
        masses = np.zeros((len(self.shortfalls), self.states, columns))
        for number, short in enumerate(self.shortfalls):
            allowed = np.ones(self.states, dtype=bool)
            for j, fewer in enumerate(short, start=1):
                allowed &= ones[np.arange(self.states) >> (j - 1)] <= most - fewer
            start = self.rate**ones * (1.0 - self.rate) ** (first_bits - ones) * allowed
            inside = ones < columns
            masses[number, np.flatnonzero(inside), ones[inside]] = start[inside]
        spare = np.zeros_like(masses)
        room = (ones < most).astype(float).reshape(2, -1, 1)  # for one more value in the window
        yield first_bits, masses
        for bits in range(first_bits + 1, steps + 1):
            low, high = self.likely(bits)
            high = min(high, columns - 2)
            old = masses.reshape(len(self.shortfalls), 2, self.states // 2, columns)
            new = spare.reshape(len(self.shortfalls), self.states // 2, 2, columns)
            spare[:, :, :low] = 0.0
            np.add(old[:, 0, :, low : high + 1], old[:, 1, :, low : high + 1], out=new[:, :, 0, low : high + 1])
            new[:, :, 0, low : high + 1] *= 1.0 - self.rate
            first = max(low, 1)
            moved = old[:, 0, :, first - 1 : high] * room[0] + old[:, 1, :, first - 1 : high] * room[1]
            np.multiply(moved, self.rate, out=new[:, :, 1, first : high + 1])
            new[:, :, 1, :first] = 0.0
            masses, spare = spare, masses
            yield bits, masses


def _ones(states: int) -> Ints:
    return np.array([state.bit_count() for state in range(states)])
