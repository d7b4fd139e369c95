"""Results: frozen, JSON both ways, no computation."""

from .assessment import Assessment, Discarded
from .attack import AttackRun, Estimate
from .audit import AuditResult, Reading, Witness
from .bound import Bound
from .calibration import Achieved, Calibration
from .ceiling import Rarest, Raw
from .correlation import Check, Correlation, Simulated, Theorem
from .limit_result import LimitResult
from .loading import load
from .run import NoiseResult, ReleaseResult, RunResult, SweepPoint, SweepResult, ThreatResult
from .suggested_change import Change

__all__ = [
    "Achieved",
    "Assessment",
    "AttackRun",
    "AuditResult",
    "Bound",
    "Calibration",
    "Change",
    "Check",
    "Correlation",
    "Discarded",
    "Estimate",
    "LimitResult",
    "NoiseResult",
    "Rarest",
    "Raw",
    "Reading",
    "ReleaseResult",
    "RunResult",
    "Simulated",
    "SweepPoint",
    "SweepResult",
    "Theorem",
    "ThreatResult",
    "Witness",
    "load",
]
