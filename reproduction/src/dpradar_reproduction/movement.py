"""Mobility models from trips: how often each node is visited, and which node follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array, eye_array

from dpradar.errors import NumericsError, ParameterError
from dpradar.params import Param
from dpradar.threats import Prior

from .streets import adjacency

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .roads import Roads

__all__ = ["markov", "skewed", "visits"]

_TOLERANCE = 1e-9
_ROUNDING = 1e-12
_STEEPEST = 2.0**16  # above it the probabilities hardly change, and their logarithms lose digits
_M = Param(name="m", integer=True, low=2, what="the number of nodes", typical=(50, 6000))
_SMOOTHING = Param(name="smoothing", low=0.0, what="what is added to each count", typical=(0.0, 1.0))


def _concatenate_trips(name: str, trips: Sequence[NDArray[np.int64]], m: int) -> NDArray[np.int64]:
    allowed, hint = f"arrays of node numbers 0 .. {m - 1}", "Map the points to nodes of the same roads first."
    points = np.concatenate([np.asarray(trip) for trip in trips]) if len(trips) else np.empty(0, dtype=np.int64)
    if points.size and not np.issubdtype(points.dtype, np.integer):
        raise ParameterError(f"{name}.trips", allowed, f"numbers of type {points.dtype}", hint)
    if points.ndim != 1 or np.any(points < 0) or np.any(points >= m):
        raise ParameterError(f"{name}.trips", allowed, "another number", hint)
    return points.astype(np.int64)


def visits(trips: Sequence[NDArray[np.int64]], m: int, smoothing: float = 0.0) -> Prior:
    """Return the prior in which a node is as likely as the share of all points that are there.

    ``smoothing`` is added to each count first; with 0 a node that no trip visits has probability 0.

    Examples
    --------
    >>> visits([np.array([0, 0, 1]), np.array([2])], 4).probabilities.tolist()
    [0.5, 0.25, 0.25, 0.0]
    """
    size = int(_M.check("visits", m))
    counts = np.bincount(_concatenate_trips("visits", trips, size), minlength=size) + _SMOOTHING.check(
        "visits", smoothing
    )
    if not counts.sum() > 0.0:
        raise ParameterError("visits.trips", "trips with at least one point", "none", "Or give a smoothing above 0.")
    return Prior.of(counts / counts.sum())


def markov(trips: Sequence[NDArray[np.int64]], roads: Roads) -> csr_array:
    """Return the first-order model of the trips: entry (v, w) is the share of the steps from v that go to w.

    From a node that no step starts at, it goes to each node a street leads to, or stays, with equal probability: the
    trips say nothing there, and only the roads are left. Every row sums to 1.

    Examples
    --------
    >>> from dpradar_reproduction.roads import Roads
    >>> roads = Roads.of([[0, 0], [1, 0], [2, 0]], [[0, 1], [1, 0], [1, 2], [2, 1]], "A line.")
    >>> markov([np.array([0, 1, 0, 0]), np.array([1, 2])], roads).toarray().tolist()
    [[0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]
    """
    m = roads.size
    points = _concatenate_trips("markov", trips, m)
    last = np.cumsum([len(trip) for trip in trips], dtype=np.int64) - 1
    within = np.ones(points.size, dtype=bool)
    within[last[last >= 0]] = False  # from the last point of a trip there is no step
    source = np.flatnonzero(within)
    ones = np.ones(source.size)
    counts = coo_array((ones, (points[source], points[source + 1])), shape=(m, m)).tocsr()
    unseen = np.asarray(counts.sum(axis=1)).ravel() == 0.0
    fallback = diags_array(unseen.astype(float)) @ (adjacency(m, roads.edges) + eye_array(m))
    total = (counts + fallback).tocsr()
    result = csr_array(diags_array(1.0 / np.asarray(total.sum(axis=1)).ravel()) @ total)
    result.eliminate_zeros()
    return result


def _capped_power_law(m: int, largest: float, steepness: float) -> NDArray[np.float64]:
    """Return ``largest``, then min(largest, c i^-steepness) for i = 1 .. m-1, with c such that all sum to 1."""
    log_weights = -steepness * np.log(np.arange(1, m))
    log_tails = np.logaddexp.accumulate(log_weights[::-1])[::-1]
    # With k of them cut off at `largest`, the others share what is left; right is the smallest k that keeps them below.
    left = 1.0 - largest * np.arange(1, m)
    with np.errstate(divide="ignore"):
        log_scale = np.log(np.maximum(left, 0.0)) - log_tails
    # Without the slack rounding could hide the right k where the others are exactly at `largest`, as for 1/m.
    k = int(np.argmax(log_scale + log_weights <= np.log(largest) + _ROUNDING))
    rest = np.full(m - 1, largest)
    rest[k:] = np.minimum(np.exp(log_scale[k] + log_weights[k:]), largest)
    return np.concatenate([[largest], rest])


def skewed(m: int, collision: float, largest: float) -> Prior:
    """Return a synthetic prior over ``m`` nodes with the given largest and the given collision probability Σ π².

    It stands in for visits where the data are missing: [SauerThesis] gives these two numbers, 0.03 and 0.10 for Porto,
    0.05 and 0.15 for Beijing, and no Zipf distribution has both. Node 0 has the largest probability; those of the
    others fall like a power of their rank, cut off at the largest, and the power is what makes Σ π² right. Both numbers
    are met to 1e-9.

    Examples
    --------
    >>> prior = skewed(3052, collision=0.03, largest=0.10)
    >>> prior, round(prior.collision, 9)
    (Prior(3052 values, largest probability 0.1), 0.03)
    """
    from scipy.optimize import brentq

    size = int(_M.check("skewed", m))
    top = Param(name="largest", low=1.0 / size, high=1.0, what="the largest probability")
    peak = top.check("skewed", largest)
    full = min(int(1.0 / peak + _TOLERANCE), size)
    lowest = peak**2 + (1.0 - peak) ** 2 / (size - 1)
    highest = full * peak**2 + max(1.0 - full * peak, 0.0) ** 2
    hint = "Σ π² is least when the other nodes are equal, and most when as many as can have the largest probability."
    target = Param(name="collision", low=0.0, high=1.0, what="Σ π²").check("skewed", collision)
    if not lowest - _TOLERANCE <= target <= highest + _TOLERANCE:
        raise ParameterError("skewed.collision", f"between {lowest:.9g} and {highest:.9g}", f"{target:g}", hint)

    def excess(steepness: float) -> float:
        probabilities = _capped_power_law(size, peak, steepness)
        return float(np.dot(probabilities, probabilities)) - target

    low, high = 0.0, 1.0
    while excess(high) < -_ROUNDING and high < _STEEPEST:
        low, high = high, 2.0 * high
    if excess(low) >= -_ROUNDING:
        steepness = low
    elif excess(high) <= _ROUNDING:
        steepness = high
    else:
        steepness = float(brentq(excess, low, high, xtol=1e-14))
    prior = Prior.of(_capped_power_law(size, peak, steepness))
    if abs(prior.collision - target) > _TOLERANCE or abs(float(prior.probabilities.max()) - peak) > _TOLERANCE:
        raise NumericsError(f"no prior over {size} nodes met {target:g} and {peak:g} to {_TOLERANCE:g}")
    return prior
