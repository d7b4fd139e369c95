"""Results: frozen, JSON both ways, no computation."""

from .assessment import Assessment, Discarded
from .attack import AttackRun, Estimate
from .audit import AuditResult, Reading, Witness
from .bound import Bound
from .calibration import Achieved, Calibration
from .loading import load

__all__ = [
    "Achieved",
    "Assessment",
    "AttackRun",
    "AuditResult",
    "Bound",
    "Calibration",
    "Discarded",
    "Estimate",
    "Reading",
    "Witness",
    "load",
]
