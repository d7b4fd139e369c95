"""Confidence sequences: limits for a probability that hold at every sample size at once, so one may stop any time."""

from __future__ import annotations

import math

from .special import betaln

__all__ = ["always_high", "always_low"]

_TOLERANCE = 1e-12


def _log_evidence(hits: int, trials: int, p: float) -> float:
    """Return the logarithm of the mixture martingale against p: the likelihood averaged over all p, over that of p.

    The average is over Beta(1/2, 1/2), which does well for rare and for common events alike.
    """
    misses = trials - hits
    mixture = float(betaln(hits + 0.5, misses + 0.5) - betaln(0.5, 0.5))
    if (p <= 0.0 and hits) or (p >= 1.0 and misses):
        return math.inf
    log_likelihood = (hits * math.log(p) if hits else 0.0) + (misses * math.log1p(-p) if misses else 0.0)
    return mixture - log_likelihood


def always_low(hits: int, trials: int, failure: float) -> float:
    """Return a lower limit for a probability that holds at all sample sizes at once, except with prob. ``failure``.

    Guarantee
    ---------
    Pr[some limit of the sequence lies above the probability] <= ``failure``, whenever and why ever one looks.

    Notes
    -----
    Robbins (1970): the mixture likelihood ratio against the true p is a martingale, so by Ville's inequality it ever
    exceeds 1/failure with probability at most ``failure``. All p at or above hits/trials are kept.

    Examples
    --------
    >>> round(always_low(50, 100, failure=0.05), 4), round(always_low(5000, 10_000, failure=0.05), 4)
    (0.3383, 0.4802)
    """
    if hits <= 0:
        return 0.0
    low, high = 0.0, hits / trials
    if _log_evidence(hits, trials, high) >= -math.log(failure):
        return high
    while high - low > _TOLERANCE * high:
        middle = 0.5 * (low + high)
        if _log_evidence(hits, trials, middle) >= -math.log(failure):
            low = middle
        else:
            high = middle
    return low


def always_high(hits: int, trials: int, failure: float) -> float:
    """Return an upper limit for a probability that holds at all sample sizes at once, except with prob. ``failure``.

    Examples
    --------
    >>> round(always_high(0, 100, failure=0.05), 4)
    0.057
    """
    return 1.0 if trials <= 0 else 1.0 - always_low(trials - hits, trials, failure)
