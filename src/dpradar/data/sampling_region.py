"""How far the frequencies of a sample may lie from those of the population: docs/derivations/tables.md."""

from __future__ import annotations

import math

from ..numerics.lazy_numpy import ArrayLike, Floats, np
from ..numerics.special import gammaln

__all__ = ["sampling_distance", "walk_average", "weighted_average"]


def sampling_distance(average: float, effective_rows: float, confidence: float) -> float:
    """Return what the total variation between sample and population is at most, with this confidence.

    Guarantee
    ---------
    Pr[distance(sample, population) > returned] <= 1 - confidence, for any population, also one with values that the
    sample lacks; 1 when nothing better can be said.

    Assumes
    -------
    The rows are drawn independently. Weights are fixed numbers, settled before the rows were drawn, and the population
    is what the weighted rows are drawn from on average. With weights that depend on the rows it does not hold.

    Parameters
    ----------
    average
        Twice the Rademacher average of all events: ``walk_average`` or ``weighted_average``, or more.
    effective_rows
        (sum of weights)^2 / (sum of squared weights); the number of rows without weights.
    confidence
        Of the statement, below 1.

    Notes
    -----
    Symmetrisation, and McDiarmid's inequality for the distance minus the average, which a single row moves by at most
    twice its share; Cohen, Kontorovich and Wolfer (2020) use it for each of the two, which costs 3 instead of 2.

    Examples
    --------
    >>> rows = np.array([5000, 3000, 2000])
    >>> round(sampling_distance(walk_average(rows), rows.sum(), 0.95), 4)
    0.0381
    """
    spread = math.sqrt(-math.log1p(-confidence) / (2.0 * effective_rows))
    return min(1.0, average + 2.0 * spread)


def walk_average(counts: ArrayLike, suppressed: int = 0, rows: float | None = None) -> float:
    """Return the average for rows without weights; ``suppressed`` rows are in cells whose size is not known.

    ``rows`` is the number of all rows, where the counts are upper bounds: the average grows with every count.

    Examples
    --------
    >>> round(walk_average([50, 30, 20]), 6)
    0.134716
    """
    steps = np.asarray(counts, dtype=float)
    return (float(expected_walk(steps).sum()) + suppressed) / (
        float(steps.sum()) + suppressed if rows is None else rows
    )


def weighted_average(squares: Floats, total: float, suppressed: float = 0.0) -> float:
    """Return the average, from above, for sums of squared weights; ``suppressed`` is the weight of unknown cells."""
    return (float(np.sqrt(squares).sum()) + suppressed) / total


def expected_walk(steps: Floats) -> Floats:
    """Return E|sum of n fair signs| = 2^(1-n) k C(n, k) with k = ceil(n/2), from above.

    Examples
    --------
    >>> expected_walk(np.array([1.0, 2.0, 3.0, 4.0])).round(12).tolist()
    [1.0, 1.0, 1.5, 1.5]
    """
    n = np.asarray(steps, dtype=float)
    half = np.ceil(n / 2.0)
    logs = np.log(half) + gammaln(n + 1.0) - gammaln(half + 1.0) - gammaln(n - half + 1.0) - (n - 1.0) * math.log(2.0)
    # The logarithms are of size n log n, so their rounding grows with n; sqrt(n) is never below the truth.
    slack = 1.0 + 1e-14 * n * np.log(n + 2.0)
    return np.asarray(np.minimum(np.exp(logs) * slack, np.sqrt(n)))
