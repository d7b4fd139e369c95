"""What is promised: differential-privacy guarantees, each with its neighbour relation."""

from .approx import ApproxDP, PureDP
from .curves import TradeoffCurve
from .gdp import GDP
from .neighbours import Neighbours
from .privacy import Privacy
from .profile import Profile
from .renyi import RDP, ZCDP
from .tradeoff import Tradeoff
from .tv import TotalVariation

__all__ = [
    "GDP",
    "RDP",
    "ZCDP",
    "ApproxDP",
    "Neighbours",
    "Privacy",
    "Profile",
    "PureDP",
    "TotalVariation",
    "Tradeoff",
    "TradeoffCurve",
]
