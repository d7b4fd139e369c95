"""Additive noise on numbers and vectors."""

from .discrete import DiscreteGaussian, Geometric
from .real import Gaussian, Laplace

__all__ = ["DiscreteGaussian", "Gaussian", "Geometric", "Laplace"]
