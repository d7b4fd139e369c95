"""What is released: mechanisms, described by frozen objects and bound to a prior by ``at``."""

from .channel import Channel
from .composed import Composed
from .exponential import Exponential
from .ldp import GRR, OUE, SUE, SubsetSelection
from .noise import DiscreteGaussian, Gaussian, Geometric, Laplace

__all__ = [
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
    "SubsetSelection",
]
