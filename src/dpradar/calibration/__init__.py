"""From a risk limit back to noise: the least that keeps every limit, on the safe side."""

from .calibrate import calibrate
from .limit import Limit

__all__ = ["Limit", "calibrate"]
