"""dpradar: what someone could learn about one person from a differentially private release."""

from . import notions as notions
from . import spec as spec
from ._version import __version__
from .bounds import assess
from .calibration import Limit, calibrate
from .errors import (
    DpradarError,
    InconsistentEvidence,
    MissingExtra,
    NumericsError,
    ParameterError,
    UnsupportedError,
)
from .guarantees import GDP, RDP, ZCDP, ApproxDP, Profile, PureDP, TotalVariation, Tradeoff
from .mechanisms import (
    DPSGD,
    GRR,
    OUE,
    SUE,
    Channel,
    Composed,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    Repeated,
    SubsetSelection,
    from_dp_accounting,
    from_opacus,
    from_opendp,
)
from .results import Assessment, Bound, Calibration, load
from .threats import Goal, Knowledge, Prior, Threat

__all__ = [
    "DPSGD",
    "GDP",
    "GRR",
    "OUE",
    "RDP",
    "SUE",
    "ZCDP",
    "ApproxDP",
    "Assessment",
    "Bound",
    "Calibration",
    "Channel",
    "Composed",
    "DiscreteGaussian",
    "DpradarError",
    "Exponential",
    "Gaussian",
    "Geometric",
    "Goal",
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
    "SubsetSelection",
    "Threat",
    "TotalVariation",
    "Tradeoff",
    "UnsupportedError",
    "__version__",
    "assess",
    "calibrate",
    "from_dp_accounting",
    "from_opacus",
    "from_opendp",
    "load",
]
