"""What is released: mechanisms, described by frozen objects and bound to a prior by ``at``."""

from .adapters import from_dp_accounting, from_opacus, from_opendp
from .channel import Channel
from .composed import Composed, Repeated
from .dpsgd import DPSGD
from .exponential import Exponential
from .ldp import GRR, OUE, SUE, SubsetSelection
from .noise import DiscreteGaussian, Gaussian, Geometric, Laplace

__all__ = [
    "DPSGD",
    "GRR",
    "OUE",
    "SUE",
    "Channel",
    "Composed",
    "DiscreteGaussian",
    "Exponential",
    "Gaussian",
    "Geometric",
    "Laplace",
    "Repeated",
    "SubsetSelection",
    "from_dp_accounting",
    "from_opacus",
    "from_opendp",
]
