"""What publishing the raw data would give the attacker: the ceiling of every release about the same question.

Publishing the raw data is the identity channel. After the value y an attacker who knows the fibre F names, for y in
F, the guess that is right for y and least often about somebody else's record, and otherwise the guess that is least
often right (docs/derivations/ceiling.md).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..numerics.lazy_numpy import Floats, Ints, np
from ..results.bound import Bound, side_of

if TYPE_CHECKING:
    from .fibre_arrays import FibreArrays
    from .hit_classes import Block, Cover
    from .prior import Continuous
    from .threat import Threat

__all__ = ["RULE", "RawData", "lightest_windows", "raw_data"]

RULE = "raw-data"
_ROUNDING = 4.0 * sys.float_info.epsilon  # of each term of a sum of probabilities
_GRID = 20_001
_CDF = 1e-12  # absolute error of a sum of values of a cumulative distribution function
_DIGITS = 1e-14  # the same of one value, before it is divided by the probability of the interval
_ENTRIES = 2_000_000  # of one work array


@dataclass(frozen=True, slots=True, kw_only=True)
class RawData:
    """Intervals for rad and success of an attacker who is given the raw data."""

    rad: tuple[float, float]
    success: tuple[float, float]

    def bound(self) -> Bound:
        """Return the interval of rad as a bound; ``low`` is the end that a share of it is taken of."""
        low, high = self.rad
        return Bound(value=high, side=side_of(low, high), rule=RULE, cites=("dpradar derivation",), low=low, high=high)


def raw_data(threat: Threat) -> RawData:
    """Return what the raw data give an attacker with a prior.

    Guarantee
    ---------
    Both intervals contain the true value, for a prior that was counted in a table also under every prior that is as
    near to it as the true one may be.

    Notes
    -----
    A fixed attack on the raw data is right with a probability that is linear in the prior where the target took part,
    and bilinear where someone else did: its advantage moves by at most 3 t when the prior moves by t in total
    variation. Values that were not counted may be guessed too, which only helps the attacker: the lower end stays
    valid. For a goal whose success sets overlap nothing better than 1 is known from above then.
    """
    prior = threat.finite
    if prior.interval is not None:
        return RawData(rad=_continuous(threat, prior.interval), success=(1.0, 1.0))
    rad, success = _finite(threat.cover, prior.probabilities)
    slack = _ROUNDING * prior.size
    t = 0.0 if prior.measured is None else prior.measured.further
    if not prior.is_open and threat.is_settled:
        return RawData(rad=(0.0, 0.0), success=(max(0.0, success - slack - t), min(1.0, success + t)))
    low, high = max(0.0, rad - slack - 3.0 * t), min(1.0, rad + slack + 3.0 * t)
    if prior.is_open and threat.goal.kind == "within":
        high = 1.0
    moved = 0.0 if success >= 1.0 - slack and not prior.is_open else t  # (some guess is right for every value)
    above = 1.0 if prior.is_open else min(1.0, success + moved)
    return RawData(rad=(low, high), success=(max(0.0, success - slack - moved), above))


def _finite(cover: Cover, pi: Floats) -> tuple[float, float]:
    """Return rad and success of the identity channel."""
    single_mass = pi[cover.single]
    covered = cover.single_hits > 0
    some = covered & (cover.single_hits < cover.guesses)  # where every guess is right, nothing is learned
    rad, success = float((single_mass * (1.0 - single_mass))[some].sum()), float(single_mass[covered].sum())
    if cover.parts is not None:
        if len(cover.blocks):
            rad += _fibres_rad(cover.parts, pi[cover.parts.members])
            success += float(pi[cover.parts.members].sum())
        return rad, success
    for block in cover.blocks:
        more, right = _block_risk(block, pi[block.members])
        rad, success = rad + more, success + right
    return rad, success


def _fibres_rad(parts: FibreArrays, rows: Floats) -> float:
    sums = parts.sums(rows)
    least = np.where(parts.misses > 0, 0.0, parts.over_classes(np.minimum, sums))
    others = np.maximum(1.0 - parts.totals(rows), 0.0)
    return float(rows @ (1.0 - parts.class_of(sums)) - others @ least)


def _block_risk(block: Block, rows: Floats) -> tuple[float, float]:
    if block.counts.size == 0:
        return 0.0, 0.0
    least = float(block.worst(rows))
    cheapest = _cheapest(block, rows)
    covered = np.isfinite(cheapest)
    right = float(rows[covered].sum())
    rad = float(rows[covered] @ (1.0 - cheapest[covered])) - (1.0 - right) * least
    return rad, right


def _cheapest(block: Block, rows: Floats) -> Floats:
    """Return for each member the least class sum among the classes that are right for it; infinite without any."""
    if block.kind == "singletons":
        return rows
    sums = block.sums(rows)
    if block.kind == "cells":
        return np.repeat(sums, np.diff(np.append(np.asarray(block.low), rows.size)))
    if block.kind == "windows":
        places = np.arange(rows.size)
        first = np.searchsorted(np.asarray(block.high), places, side="right")
        last = np.searchsorted(np.asarray(block.low), places, side="right")
        return range_minimum(sums, first, last)
    hits = np.asarray(block.hits)
    smallest = np.full(rows.size, np.inf)
    step = max(1, _ENTRIES // rows.size)
    for start in range(0, sums.size, step):
        part = np.where(hits[start : start + step], sums[start : start + step, None], np.inf)
        smallest = np.minimum(smallest, part.min(axis=0))
    return smallest


def range_minimum(values: Floats, first: Ints, last: Ints) -> Floats:
    """Return the minimum of ``values[first:last]`` for each pair; infinite where the range is empty.

    Doubling: at level k the array holds minima over 2^k entries, and two of them cover any range of 2^k .. 2^(k+1).

    Examples
    --------
    >>> range_minimum(np.array([3.0, 1.0, 2.0, 5.0]), np.array([0, 2, 3, 1]), np.array([4, 4, 4, 1])).tolist()
    [1.0, 2.0, 5.0, inf]
    """
    minima = np.full(first.shape, np.inf)
    lengths = last - first
    level, width = np.asarray(values, dtype=float), 1
    while width <= values.size:
        ranges = np.flatnonzero((lengths >= width) & (lengths < 2 * width))
        minima[ranges] = np.minimum(level[first[ranges]], level[last[ranges] - width])
        if 2 * width <= values.size:
            level = np.minimum(level[:-width], level[width:])
        width *= 2
    return minima


def _continuous(threat: Threat, law: Continuous) -> tuple[float, float]:
    """Return an interval that contains rad of the raw data for a prior without atoms."""
    goal, low, high = threat.goal, law.low, law.high
    eta = goal.eta if goal.kind == "within" else 0.0
    if eta >= high - low:
        return 0.0, 0.0
    if eta == 0.0:
        return 1.0, 1.0
    if threat.knowledge.kind == "everything":  # a record within eta of both ends is within eta of every guess
        middle = 0.0
        if high - eta < low + eta:
            start, stop = law.cdf(np.array([high - eta, low + eta])).tolist()
            middle = stop - start
        return max(0.0, 1.0 - middle - _rounding(law)), min(1.0, 1.0 - middle + _rounding(law))
    return lightest_windows(law, eta, eta)


def lightest_windows(law: Continuous, eta: float, reach: float) -> tuple[float, float]:
    """Enclose 1 - E[the least mass of a window of half-width eta whose centre is within ``reach`` of the value].

    Both ends are sums over the cells of a grid; ``reach`` is at most eta.
    """
    even, by_mass = np.linspace(law.low, law.high, _GRID), law.quantile(np.linspace(0.0, 1.0, 3 * _GRID))
    grid = np.concatenate([even, by_mass, by_mass - eta, by_mass + eta, [law.low + eta, law.high - eta]])
    grid = np.unique(np.clip(grid, law.low, law.high))
    at, up, down = law.cdf(grid), law.cdf(grid + eta), law.cdf(grid - eta)
    mass, left, right = np.diff(at), grid[:-1], grid[1:]
    # Any guess within reach of the whole cell is allowed for each value of it; so is the value itself.
    first, last = np.searchsorted(grid, right - reach), np.searchsorted(grid, left + reach, side="right")
    above = np.minimum(range_minimum(up - down, first, last), up[1:] - down[:-1])
    # No guess further from the cell is; between two points of the grid the mass is at least that in both.
    inner = np.maximum(up[:-1] - down[1:], 0.0)
    first = np.maximum(np.searchsorted(grid, left - reach, side="right") - 1, 0)
    last = np.minimum(np.searchsorted(grid, right + reach, side="left"), inner.size)
    below = range_minimum(inner, first, last)
    low, high = 1.0 - float(mass @ np.minimum(above, 1.0)), 1.0 - float(mass @ below)
    return max(0.0, low - _rounding(law)), min(1.0, high + _rounding(law))


def _rounding(law: Continuous) -> float:
    """The error of a probability of the prior: an interval with little of the distribution has few digits."""
    return max(_CDF, 4.0 * _DIGITS / law.inside)
