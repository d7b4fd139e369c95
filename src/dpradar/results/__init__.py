"""Results: frozen, JSON both ways, no computation."""

from .assessment import Assessment, Discarded, load
from .bound import Bound
from .calibration import Achieved, Calibration

__all__ = ["Achieved", "Assessment", "Bound", "Calibration", "Discarded", "load"]
