"""Confidence intervals that hold for every sample size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .special import betaincinv

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "bernstein_from_moments",
    "clopper_pearson",
    "clopper_pearson_high",
    "clopper_pearson_low",
    "empirical_bernstein",
]


def empirical_bernstein(values: NDArray[np.float64], *, low: float, high: float, failure: float) -> tuple[float, float]:
    """Return a two-sided interval for the mean of independent values in [low, high].

    Guarantee
    ---------
    The mean lies inside with probability at least ``1 - failure``, for every sample size and distribution.

    Assumes
    -------
    Independent draws, all inside [low, high].

    Notes
    -----
    Maurer and Pontil (2009), Theorem 4, once for each side.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = empirical_bernstein(np.full(1000, 0.25), low=0.0, high=1.0, failure=1e-9)
    >>> low < 0.25 < high
    True
    """
    n = values.size
    variance = float(values.var(ddof=1)) if n > 1 else (high - low) ** 2
    return bernstein_from_moments(n, float(values.mean()), variance, low=low, high=high, failure=failure)


def bernstein_from_moments(
    n: int, mean: float, variance: float, *, low: float, high: float, failure: float
) -> tuple[float, float]:
    """Return the interval of :func:`empirical_bernstein` from the mean and the sample variance.

    Examples
    --------
    >>> low, high = bernstein_from_moments(10_000, 0.5, 0.25, low=0.0, high=1.0, failure=0.05)
    >>> round(low, 4), round(high, 4)
    (0.4842, 0.5158)
    """
    log_term = math.log(4.0 / failure)
    radius = math.sqrt(2.0 * variance * log_term / n) + 7.0 * (high - low) * log_term / (3.0 * max(n - 1, 1))
    return max(low, mean - radius), min(high, mean + radius)


def clopper_pearson(hits: int, trials: int, failure: float) -> tuple[float, float]:
    """Return the two-sided interval for a probability, with failure/2 on each side.

    Guarantee
    ---------
    Holds with probability at least ``1 - failure`` for every number of trials and every probability.

    Notes
    -----
    Clopper and Pearson (1934).

    Examples
    --------
    >>> low, high = clopper_pearson(0, 100, failure=0.05)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    return clopper_pearson_low(hits, trials, failure / 2.0), clopper_pearson_high(hits, trials, failure / 2.0)


def clopper_pearson_low(hits: int, trials: int, failure: float) -> float:
    """Return a lower limit for a probability, which lies below it except with probability ``failure``.

    Examples
    --------
    >>> round(clopper_pearson_low(50, 100, failure=0.025), 4)
    0.3983
    """
    if hits <= 0 or trials <= 0:
        return 0.0
    return float(betaincinv(hits, trials - hits + 1, failure))


def clopper_pearson_high(hits: int, trials: int, failure: float) -> float:
    """Return an upper limit for a probability, which lies above it except with probability ``failure``.

    Examples
    --------
    >>> round(clopper_pearson_high(50, 100, failure=0.025), 4)
    0.6017
    """
    return 1.0 if trials <= 0 else 1.0 - clopper_pearson_low(trials - hits, trials, failure)
