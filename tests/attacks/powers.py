"""How many trials an interval needs to tell a mechanism from the same one with another epsilon.

A run of n trials has success in a Clopper-Pearson interval. Its rad has the same interval, shifted, where the chance to
be right for someone else is the same for every report; else failure/2 goes to the hits and failure/2 to an empirical
Bernstein interval for that chance. All of it is repeated here from the formulas, not from the code that is tested.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scipy.stats import binom, norm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FAILURE = 1e-9
POWER = 0.9999  # 0.99 is asked for; so much more that 700 fixed seeds do not reach the other tail
NEVER = 10**15


@dataclass(frozen=True)
class Measured:
    """A probability, or a difference of two, that is measured, and the values that it must be told from."""

    hit: float
    wrong: Sequence[float]
    false_hit: float = 0.0
    largest: float | None = None  # of the chance to be right for someone else; None where that is constant

    @property
    def value(self) -> float:
        return self.hit - self.false_hit

    def rejects(self, n: int) -> bool:
        """Whether n trials reject every wrong value, each with the wanted power."""
        return self.power(n) >= POWER

    def power(self, n: int) -> float:
        """With what probability at least n trials reject a wrong value, the one that is harder to reject."""
        return min(self._power(n, wrong) for wrong in self.wrong)

    def _power(self, n: int, wrong: float) -> float:
        if self.largest is None:
            # Limits exclude a value when so few (many) hits have probability below failure/2 under it.
            share, above = wrong + self.false_hit, wrong > self.value
            if not 0.0 < share < 1.0:
                return 0.0
            if above:
                most = binom.ppf(FAILURE / 2, n, share) - 1
                return float(binom.cdf(most, n, self.hit))
            least = binom.isf(FAILURE / 2, n, share) + 1
            return float(binom.sf(least - 1, n, self.hit))
        spread = math.sqrt(self.hit * (1 - self.hit) / n)
        # A variable in [0, largest] with this mean has at most this variance.
        other = math.sqrt(self.false_hit * (self.largest - self.false_hit) / n)
        log_term = math.log(8 / FAILURE)
        width = -norm.ppf(FAILURE / 4) * spread + math.sqrt(2 * log_term) * other + 7 * log_term / (3 * (n - 1))
        # Each of the two estimates may be off by so many of its standard deviations.
        room = (abs(wrong - self.value) - width) / (spread + other)
        return max(0.0, 1.0 - 2.0 * float(norm.sf(room)))


def trials_needed(measured: Measured) -> int:
    """The first number of trials, of 1000 times powers of 1.1, with the wanted power; NEVER where no number will do."""
    if min(abs(wrong - measured.value) for wrong in measured.wrong) < 1e-9:
        return NEVER
    return _first(measured.rejects)


def _first(enough: Callable[[int], bool]) -> int:
    low, high = 0, 1
    while not enough(round(1000 * 1.1**high)):
        low, high = high, 2 * high
        if high > 290:
            return NEVER
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(round(1000 * 1.1**middle)) else (middle, high)
    return round(1000 * 1.1**high)
