"""The one place that talks to dp-accounting, through its public names only; imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingExtra

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["library", "self_convolved"]

Floats = NDArray[np.float64]


def library() -> ModuleType:
    """Return dp_accounting or raise MissingExtra."""
    try:
        import dp_accounting
    except ImportError:
        raise MissingExtra("dp-accounting", "accounting") from None
    module: ModuleType = dp_accounting
    return module


def self_convolved(masses: Floats, times: int, truncation: float) -> tuple[int, Floats]:
    """Return the distribution of a sum of ``times`` draws; at most ``truncation`` of it is cut off."""
    library()
    from dp_accounting.pld import common

    with np.errstate(all="ignore"):  # logarithms of masses that are 0 are meant
        offset, result = common.self_convolve(masses, times, truncation)
    return int(offset), np.maximum(np.asarray(result, dtype=float), 0.0)
