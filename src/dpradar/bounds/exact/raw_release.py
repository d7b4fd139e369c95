"""What publishing the record itself would risk: the ceiling of a threat with a continuous prior."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .prior_cells import cut_by_mass

if TYPE_CHECKING:
    from ...threats import Threat
    from ...threats.prior import Continuous

__all__ = ["raw_release_rad"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
_MASS = 3e-5  # of a cell; the interval is about as wide
_ROUNDING = 1e-12


def raw_release_rad(threat: Threat) -> tuple[float, float]:
    """Return an interval that holds the rad of publishing the raw record, for a continuous prior.

    Guarantee
    ---------
    The interval holds the truth if the prior's distribution function is right; it is narrower than 1e-4.

    Notes
    -----
    [RAD] Theorem 4.3 for the identity. The attacker who sees x is always right; nothing known, they choose among the
    guesses within eta of x the one that is right about the fewest others. With everything known there is something to
    gain for every record that some guess misses. See docs/derivations/continuous.md.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from dpradar.threats import Goal, Prior, Threat
    >>> low, high = raw_release_rad(Threat(Prior.continuous(uniform(), 0.0, 1.0), goal=Goal.within(0.1)))
    >>> low <= 1 - (2 * 0.1 - 3 * 0.1**2) <= high < low + 1e-4
    True
    """
    law, eta = threat.finite.interval, threat.goal.eta if threat.goal.kind == "within" else 0.0
    if law is None:
        message = "needs a continuous prior"
        raise TypeError(message)
    if eta >= law.high - law.low:
        return 0.0, 0.0
    if threat.knowledge.kind == "everything":
        missed = 1.0 - _always_right(law, eta)
        return max(0.0, missed - _ROUNDING), min(1.0, missed + _ROUNDING)
    if eta == 0.0:
        return 1.0, 1.0
    least, most = _false_hits(law, eta)
    return max(0.0, 1.0 - most - _ROUNDING), min(1.0, 1.0 - least + _ROUNDING)


def _always_right(law: Continuous, eta: float) -> float:
    """Return the probability of the records about which every guess is right: those within eta of both ends."""
    start, stop = law.cdf(np.array([law.high - eta, law.low + eta]))
    return max(0.0, float(stop - start)) if law.high - eta < law.low + eta else 0.0


def _false_hits(law: Continuous, eta: float) -> tuple[float, float]:
    """Return bounds on the average over x of the smallest probability of a window whose guess is within eta of x."""
    cells = cut_by_mass(law, _MASS)
    x = cells.edges
    guesses = np.unique(np.clip(np.concatenate([x - eta, x + eta]), law.low, law.high))
    below, above = law.cdf(guesses - eta), law.cdf(guesses + eta)
    # Between two guesses the window's left end lies before that of the second, its right end after that of the first.
    between = _RangeMinimum(np.maximum(above[:-1] - below[1:], 0.0))
    at = _RangeMinimum(above - below)
    left, right = x[:-1], x[1:]
    # The guesses that an x of the cell allows lie in [left - eta, right + eta] and cover [right - eta, left + eta].
    start = np.maximum(np.searchsorted(guesses, left - eta, side="right") - 1, 0)
    stop = np.minimum(np.searchsorted(guesses, right + eta, side="left"), guesses.size - 1)
    least = between.of(start, np.maximum(stop, start + 1))
    start = np.searchsorted(guesses, right - eta, side="left")
    stop = np.searchsorted(guesses, left + eta, side="right")
    # Also, x itself is a guess.
    most = np.clip(law.cdf(right + eta) - law.cdf(left - eta), 0.0, 1.0)
    most = np.where(start < stop, np.minimum(most, at.of(start, np.maximum(stop, start + 1))), most)
    return float(cells.mass @ least), float(cells.mass @ most)


class _RangeMinimum:
    """The smallest of values[start:stop] for many ranges at once: minima over powers of two, two of which cover any."""

    def __init__(self, values: Floats) -> None:
        self._levels = [values]
        while self._levels[-1].size > 1 and 2 ** len(self._levels) <= values.size:
            last, half = self._levels[-1], 2 ** (len(self._levels) - 1)
            self._levels.append(np.minimum(last[:-half], last[half:]))

    def of(self, start: Ints, stop: Ints) -> Floats:
        """Return the minima; every range holds at least one value."""
        start = np.minimum(start, self._levels[0].size - 1)
        level = np.floor(np.log2(np.clip(stop - start, 1, None))).astype(np.intp)
        result = np.empty(start.size)
        for k in np.unique(level):
            some = level == k
            table = self._levels[k]
            result[some] = np.minimum(table[start[some]], table[stop[some] - 2**k])
        return result
