"""Neighbour relations of any granularity, what a pipeline of mechanisms costs under each, and a linter for claims."""

from .conversions import Conversion, conversion
from .facts import Facts
from .finite import Domain
from .graphs import Graph
from .relation import Granularity

__all__ = ["Conversion", "Domain", "Facts", "Granularity", "Graph", "conversion"]
