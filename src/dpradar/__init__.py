"""dpradar: what someone could learn about one person from a differentially private release."""

from ._version import __version__
from .bounds import assess
from .errors import (
    DpradarError,
    InconsistentEvidence,
    MissingExtra,
    NumericsError,
    ParameterError,
    UnsupportedError,
)
from .guarantees import GDP, ApproxDP, PureDP, TotalVariation, Tradeoff
from .mechanisms import (
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
    SubsetSelection,
)
from .results import Assessment, Bound, load
from .threats import Goal, Knowledge, Prior, Threat

__all__ = [
    "GDP",
    "GRR",
    "OUE",
    "SUE",
    "ApproxDP",
    "Assessment",
    "Bound",
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
    "MissingExtra",
    "NumericsError",
    "ParameterError",
    "Prior",
    "PureDP",
    "SubsetSelection",
    "Threat",
    "TotalVariation",
    "Tradeoff",
    "UnsupportedError",
    "__version__",
    "assess",
    "load",
]
