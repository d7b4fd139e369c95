"""dpradar: what someone could learn about one person from a differentially private release.

The names are loaded when they are first used, so that ``dpradar --help`` need not wait for numpy and scipy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import correlated as correlated
    from . import data as data
    from . import notions as notions
    from . import spec as spec
    from .attacks import attack, measure, optimal_attack
    from .audits import Executable, Samples, audit
    from .bounds import assess
    from .calibration import Limit, calibrate
    from .errors import (
        DpradarError,
        InconsistentEvidence,
        MissingExtra,
        NumericsError,
        ParameterError,
        SpecError,
        UnsupportedError,
    )
    from .guarantees import GDP, RDP, ZCDP, ApproxDP, Profile, PureDP, TotalVariation, Tradeoff
    from .mechanisms import (
        BLH,
        DPSGD,
        GRR,
        OLH,
        OUE,
        SHE,
        SUE,
        THE,
        Channel,
        Composed,
        DiscreteGaussian,
        Exponential,
        Gaussian,
        Geometric,
        HadamardResponse,
        Laplace,
        Repeated,
        SubsetSelection,
        frequencies,
        from_dp_accounting,
        from_opacus,
        from_opendp,
    )
    from .results import Assessment, AttackRun, AuditResult, Bound, Calibration, Estimate, RunResult, load
    from .threats import Goal, Knowledge, Prior, Threat

__all__ = [
    "BLH",
    "DPSGD",
    "GDP",
    "GRR",
    "OLH",
    "OUE",
    "RDP",
    "SHE",
    "SUE",
    "THE",
    "ZCDP",
    "ApproxDP",
    "Assessment",
    "AttackRun",
    "AuditResult",
    "Bound",
    "Calibration",
    "Channel",
    "Composed",
    "DiscreteGaussian",
    "DpradarError",
    "Estimate",
    "Executable",
    "Exponential",
    "Gaussian",
    "Geometric",
    "Goal",
    "HadamardResponse",
    "InconsistentEvidence",
    "Knowledge",
    "Laplace",
    "Limit",
    "MissingExtra",
    "NumericsError",
    "ParameterError",
    "Prior",
    "Profile",
    "PureDP",
    "Repeated",
    "RunResult",
    "Samples",
    "SpecError",
    "SubsetSelection",
    "Threat",
    "TotalVariation",
    "Tradeoff",
    "UnsupportedError",
    "__version__",
    "assess",
    "attack",
    "audit",
    "calibrate",
    "frequencies",
    "from_dp_accounting",
    "from_opacus",
    "from_opendp",
    "load",
    "measure",
    "optimal_attack",
]

_HOMES = {
    "attacks": "attack measure optimal_attack",
    "audits": "Executable Samples audit",
    "bounds": "assess",
    "calibration": "Limit calibrate",
    "errors": "DpradarError InconsistentEvidence MissingExtra NumericsError ParameterError SpecError UnsupportedError",
    "guarantees": "GDP RDP ZCDP ApproxDP Profile PureDP TotalVariation Tradeoff",
    "mechanisms": (
        "BLH DPSGD GRR OLH OUE SHE SUE THE Channel Composed DiscreteGaussian Exponential Gaussian Geometric "
        "HadamardResponse Laplace Repeated SubsetSelection frequencies from_dp_accounting from_opacus from_opendp"
    ),
    "results": "Assessment AttackRun AuditResult Bound Calibration Estimate RunResult load",
    "threats": "Goal Knowledge Prior Threat",
}
_NAMES = {name: module for module, names in _HOMES.items() for name in names.split()}
_MODULES = ("correlated", "data", "notions", "spec")

if not TYPE_CHECKING:  # type checkers know the names from above, and so notice a wrong one

    def __getattr__(name: str) -> Any:
        if name in _NAMES:
            value = getattr(import_module(f".{_NAMES[name]}", __name__), name)
        elif name in _MODULES:
            value = import_module(f".{name}", __name__)
        else:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, *_MODULES})
