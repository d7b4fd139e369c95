"""When a sequence of steps away from a target may end: a certificate that no later step exceeds the last by much.

What is known further and further on moves towards a fixed direction; Hilbert's metric measures how far it still is from
it, and a matrix of probabilities never increases that distance (docs/derivations/correlated.md).
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from ..numerics.lazy_numpy import Floats, np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Schedule", "change_bound", "drift", "hilbert_distance"]

_PADS = {0: 1e-11, 200: 1e-10, 1_000: 1e-9}  # of the leakage, tried from this many steps on
_LEAST_PAD = 1e-12
_FIRST = 8
_OUTWARD = 1.0 + 1e-9
_RATE = 1.15  # checks cost as much as steps: one in seven
_ROUNDING = 4.0 * sys.float_info.epsilon  # of one sum of products


def hilbert_distance(before: Floats, after: Floats) -> Floats:
    """Return Hilbert's distance of rows: the log of the largest over the smallest ratio of entries.

    Rounding is added; infinite where other entries are 0.

    Examples
    --------
    >>> import numpy as np
    >>> hilbert_distance(np.array([[1.0, 0.5], [1.0, 0.0]]), np.array([[1.0, 0.25], [1.0, 0.5]])).round(6).tolist()
    [0.693147, inf]
    """
    some = before > 0.0
    same = np.all(some == (after > 0.0), axis=-1)
    log = np.zeros_like(before)
    np.log(np.divide(after, before, out=np.ones_like(after), where=some & (after > 0.0)), out=log)
    high = np.where(some, log, -np.inf).max(axis=-1)
    low = np.where(some, log, np.inf).min(axis=-1)
    distance = np.where(some.any(axis=-1), high - low, 0.0) + _ROUNDING * before.shape[-1]
    return np.where(same, distance, np.inf)


def drift(P: Floats, length: int) -> float:
    """Return how often the last move (Hilbert's metric) all later ones make at most.

    ``length`` of them at most; a power of P contracts by tanh(d/4), where d is the largest distance of two of its rows
    (Birkhoff).

    Examples
    --------
    >>> import numpy as np
    >>> round(drift(np.array([[0.9, 0.1], [0.1, 0.9]]), 1000), 6)
    5.0
    """
    limit, power, steps = float(length), P, 1
    while steps < limit:
        if power.min() > 0.0:
            log = np.log(power)
            differences = log[:, None, :] - log[None, :, :]
            rate = math.tanh(float((differences.max(axis=-1) - differences.min(axis=-1)).max()) / 4.0)
            limit = limit if rate >= 1.0 else min(limit, steps / (1.0 - rate) * _OUTWARD)
        power, steps = power @ power, 2 * steps
    return limit


def change_bound(distance: float, spread: float) -> float:
    """Return how much a log-ratio of sums of K_y q_y can grow where both K move by at most ``distance``.

    K stays a distribution, and q varies by e^spread at most.
    """
    return 2.0 * math.expm1(distance) * -math.expm1(-spread) if distance < 1.0 else math.inf


class Schedule:
    """Counts of steps at which to look for a certificate."""

    __slots__ = ("_scale", "_when")

    def __init__(self, epsilon: float) -> None:
        self._scale, self._when = min(1.0, epsilon), _FIRST

    def due(self, count: int) -> bool:
        """Return whether to look now."""
        if count < self._when:
            return False
        self._when = max(count + 1, math.ceil(_RATE * count))
        return True

    def certified(self, count: int, holds: Callable[[float], bool]) -> float | None:
        """Return the smallest pad that holds after this many steps, if any does."""
        pads = (max(_LEAST_PAD, pad * self._scale) for least, pad in _PADS.items() if count >= least)
        return next((pad for pad in pads if holds(pad)), None)
