"""The baselines at which [UNIFY] compares bounds: given ones, and the worst of each bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from .table import Cell

__all__ = ["GIVEN", "OWN", "WORST", "shown", "worst_gain"]

Floats = NDArray[np.float64]
GIVEN = (0.01, 0.1)
WORST = (
    "worst baseline of f-DP"  # the baseline at which the f-DP bound is worst, for every bound: as in the authors' code
)
OWN = "worst baseline of each bound"  # each bound at the baseline at which it is worst itself
_POINTS = 401
_ZOOMS = 3


def worst_gain(success: Callable[[Floats], Floats]) -> tuple[float, float]:
    """Return the largest success(base) - base over all baselines, and where it is.

    Bounds on success grow with the baseline, without jumps, so that a grid that is refined three times around its best
    point finds the maximum to 1e-9.

    Examples
    --------
    >>> gain, base = worst_gain(lambda base: np.minimum(2.0 * base, 1.0))
    >>> round(gain, 6), round(base, 6)
    (0.5, 0.5)
    """
    low, high = 0.0, 1.0
    best, where = 0.0, 0.0
    for _ in range(1 + _ZOOMS):
        grid = np.linspace(low, high, _POINTS)
        gain = np.asarray(success(grid)) - grid
        top = int(gain.argmax())
        if gain[top] > best:
            best, where = float(gain[top]), float(grid[top])
        step = (high - low) / (_POINTS - 1)
        low, high = max(0.0, where - 2.0 * step), min(1.0, where + 2.0 * step)
    return best, where


def shown(at: Cell) -> str:
    """Return how a baseline is called in a title.

    Examples
    --------
    >>> shown(0.1), shown(OWN)
    ('baseline 0.1', 'worst baseline of each bound')
    """
    return at if isinstance(at, str) else f"baseline {at:g}"
