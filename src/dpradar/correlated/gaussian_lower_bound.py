"""Gaussian groups from below: what outputs far from every possible sum show about a target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..numerics.lazy_numpy import Floats, np
from ..numerics.special import log_ndtr

if TYPE_CHECKING:
    from .models import GaussianGroups

__all__ = ["gaussian_lower"]

_ROUNDING = 1e-9


def _log_moment(mean: float, sd: float, low: float, high: float, tilt: float) -> float:
    """Return ln E[exp(tilt clip(X, low, high))] for X normal."""
    parts = [
        tilt * low + float(log_ndtr((low - mean) / sd)),
        tilt * high + float(log_ndtr((mean - high) / sd)),
    ]
    tilted_mean = mean + sd * sd * tilt
    upper, lower = float(log_ndtr((high - tilted_mean) / sd)), float(log_ndtr((low - tilted_mean) / sd))
    if tilted_mean > (low + high) / 2.0:  # on the side where the difference of two probabilities keeps its digits
        upper, lower = float(log_ndtr((tilted_mean - low) / sd)), float(log_ndtr((tilted_mean - high) / sd))
    if upper > lower:
        inside = upper + math.log(-math.expm1(lower - upper))
        parts.append(tilt * mean + (sd * tilt) ** 2 / 2.0 + inside)
    return float(np.logaddexp.reduce(parts))


def gaussian_lower(
    model: GaussianGroups, epsilon: float, clip: tuple[float, float], targets: tuple[float, float]
) -> float:
    """Leakage that some attacker reaches on a clipped sum with Laplace noise.

    Guarantee
    ---------
    A lower bound on the leakage under the model: an attacker who knows all records of a group but the target and one
    other, which are at their means, compares the two ends of ``targets`` on outputs far above (or far below) all sums.

    Notes
    -----
    There the ratio of densities is E[exp(+-sum / scale)] given one value of the target over that given the other.
    """
    if epsilon <= 0.0 or model.means is None or not all(map(math.isfinite, targets)):
        return 0.0
    best = 0.0
    for covariance, means in zip(model.covariances, model.means, strict=True):
        m = covariance.shape[0]
        pairs: list[tuple[int, int | None]] = [(i, u) for i in range(m) for u in range(m) if u != i] or [(0, None)]
        for target, other in pairs:
            best = max(best, _pair(covariance, means, target, other, (epsilon, clip, targets)))
    return max(0.0, best * (1.0 - _ROUNDING))


def _pair(
    covariance: Floats,
    means: Floats,
    target: int,
    other: int | None,
    release: tuple[float, tuple[float, float], tuple[float, float]],
) -> float:
    epsilon, (low, high), values = release
    rate = epsilon / (high - low)
    target_gain = rate * (min(max(values[1], low), high) - min(max(values[0], low), high))
    if other is None:
        return target_gain
    known = [j for j in range(covariance.shape[0]) if j not in (target, other)]
    two = [target, other]
    conditional = covariance[np.ix_(two, two)]
    if known:
        cross = covariance[np.ix_(two, known)]
        conditional = conditional - cross @ np.linalg.solve(covariance[np.ix_(known, known)], cross.T)
    beta = conditional[0, 1] / conditional[0, 0]
    sd = math.sqrt(max(float(conditional[1, 1] - beta * conditional[0, 1]), 0.0))
    if sd == 0.0:
        return target_gain
    centres = [float(means[other] + beta * (value - means[target])) for value in values]
    best = 0.0
    for tilt in (rate, -rate):
        first, second = (_log_moment(centre, sd, low, high, tilt) for centre in centres)
        best = max(best, abs(math.copysign(target_gain, tilt) + second - first))
    return best
