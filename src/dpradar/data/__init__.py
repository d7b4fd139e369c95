"""Tables to priors, where the data lives: only the counts of the occupied cells leave the engine."""

from ..threats.counted_prior import Measured
from .table_prior import prior

__all__ = ["Measured", "prior"]
