"""What is released: mechanisms, described by frozen objects and bound to a prior by ``at``."""

from .adapters import from_dp_accounting, from_opacus, from_opendp
from .channel import Channel
from .composed import Composed, Repeated
from .dpsgd import DPSGD
from .exponential import Exponential
from .ldp import BLH, GRR, OLH, OUE, SHE, SUE, THE, Frequencies, HadamardResponse, SubsetSelection, frequencies
from .noise import DiscreteGaussian, Gaussian, Geometric, Laplace

__all__ = [
    "BLH",
    "DPSGD",
    "GRR",
    "OLH",
    "OUE",
    "SHE",
    "SUE",
    "THE",
    "Channel",
    "Composed",
    "DiscreteGaussian",
    "Exponential",
    "Frequencies",
    "Gaussian",
    "Geometric",
    "HadamardResponse",
    "Laplace",
    "Repeated",
    "SubsetSelection",
    "frequencies",
    "from_dp_accounting",
    "from_opacus",
    "from_opendp",
]
