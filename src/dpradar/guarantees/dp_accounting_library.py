"""The only module that calls dp-accounting, through its public names only; imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import MissingExtra, NumericsError
from ..numerics.lazy_numpy import Floats, np

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["import_dp_accounting", "self_convolution"]


def import_dp_accounting() -> ModuleType:
    """Return dp_accounting or raise MissingExtra."""
    try:
        import dp_accounting
    except ImportError:
        raise MissingExtra("dp-accounting", "accounting") from None
    module: ModuleType = dp_accounting
    return module


def self_convolution(masses: Floats, times: int, truncation: float, most: int) -> tuple[int, Floats]:
    """Return the distribution of a sum of ``times`` draws; at most ``truncation`` of it is cut off.

    dp-accounting says how far the sum reaches (a Chernoff bound); more than ``most`` cells are an error, not a wait.
    """
    import_dp_accounting()
    from dp_accounting.pld import common
    from scipy import fft

    with np.errstate(all="ignore"):  # logarithms of masses that are 0 are meant
        low, high = common.compute_self_convolve_bounds(masses, times, truncation)
    size = int(high - low + 1)
    if size > most:
        message = f"the composition needs {size} privacy losses, more than {most}"
        raise NumericsError(message)
    length = fft.next_fast_len(max(size, masses.size), real=True)
    # The transform is periodic, so what lies beyond the ends wraps around: no more than was cut off.
    wrapped = fft.irfft(fft.rfft(masses, length) ** times, length)
    return int(low), np.maximum(np.roll(wrapped, -int(low) % length)[:size], 0.0)
