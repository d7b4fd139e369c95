"""Local protocols: each person's report is randomised before it leaves them."""

from .frequencies import Frequencies, frequencies
from .grr import GRR
from .hadamard import HadamardResponse
from .hashing import BLH, OLH
from .histogram import SHE, THE
from .subset import SubsetSelection
from .unary import OUE, SUE

__all__ = [
    "BLH",
    "GRR",
    "OLH",
    "OUE",
    "SHE",
    "SUE",
    "THE",
    "Frequencies",
    "HadamardResponse",
    "SubsetSelection",
    "frequencies",
]
