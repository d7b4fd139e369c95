"""Neighbour relations of any granularity, what a pipeline of mechanisms costs under each, and a linter for claims."""

from .finite import Domain
from .graphs import Graph
from .relation import Granularity

__all__ = ["Domain", "Granularity", "Graph"]
