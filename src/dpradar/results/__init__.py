"""Results: frozen, JSON both ways, no computation."""

from .assessment import Assessment, Discarded, load
from .bound import Bound

__all__ = ["Assessment", "Bound", "Discarded", "load"]
