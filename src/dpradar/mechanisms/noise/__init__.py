"""Additive noise on numbers and vectors: a file for each kind.

Densities are in ``kernels``, laws on whole numbers in ``laws``; what releases with them offer is in
``continuous_noise`` and ``lattice_noise``.
"""

from .discrete_gaussian import DiscreteGaussian
from .gaussian import Gaussian
from .geometric import Geometric
from .laplace import Laplace

__all__ = ["DiscreteGaussian", "Gaussian", "Geometric", "Laplace"]
