"""Local protocols: each person's report is randomised before it leaves them."""

from .grr import GRR
from .subset import SubsetSelection
from .unary import OUE, SUE

__all__ = ["GRR", "OUE", "SUE", "SubsetSelection"]
