"""Confidence intervals that hold for every sample size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["empirical_bernstein"]


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
    log_term = math.log(4.0 / failure)
    spread = high - low
    mean = float(values.mean())
    variance = float(values.var(ddof=1)) if n > 1 else spread**2
    radius = math.sqrt(2.0 * variance * log_term / n) + 7.0 * spread * log_term / (3.0 * max(n - 1, 1))
    return max(low, mean - radius), min(high, mean + radius)
