"""Releases that another library has accounted for: dp-accounting, OpenDP, Opacus."""

from .accounted import Accounted
from .events import from_dp_accounting
from .history import from_opacus
from .measurement import from_opendp

__all__ = ["Accounted", "from_dp_accounting", "from_opacus", "from_opendp"]
