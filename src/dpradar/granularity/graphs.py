"""Graphs as databases: edges and vertices that may change."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from ..errors import ParameterError, UnsupportedError
from ..params import shown

__all__ = ["Graph", "clique_bound", "cliques_through", "edges_changed", "nodes_changed"]

Edge = frozenset[Hashable]
_MOST_BRANCHES = 100_000


@dataclass(frozen=True, slots=True)
class Graph:
    """A simple undirected graph with named vertices.

    Examples
    --------
    >>> Graph.of([(1, 2), (2, 3)], vertices=[4]).degree(2)
    2
    """

    vertices: frozenset[Hashable] = frozenset()
    edges: frozenset[Edge] = field(default=frozenset())

    def __post_init__(self) -> None:
        loose = [edge for edge in self.edges if len(edge) != 2 or not edge <= self.vertices]
        if loose:
            raise ParameterError("Graph.edges", "pairs of two different vertices", shown(sorted(map(str, loose[0]))))

    @classmethod
    def of(cls, edges: Iterable[Iterable[Hashable]], vertices: Iterable[Hashable] = ()) -> Graph:
        """Return the graph with these edges, the vertices on them, and further vertices."""
        pairs = frozenset(frozenset(edge) for edge in edges)
        return cls(frozenset(vertices).union(*pairs) if pairs else frozenset(vertices), pairs)

    def degree(self, vertex: Hashable) -> int:
        """Return how many edges a vertex has."""
        return sum(vertex in edge for edge in self.edges)


def edges_changed(first: Graph, other: Graph) -> float:
    """Return the distance of edge-DP: edges to add or remove; infinite for different vertices.

    Examples
    --------
    >>> edges_changed(Graph.of([(1, 2), (2, 3)]), Graph.of([(1, 3), (2, 3)]))
    2.0
    """
    return float(len(first.edges ^ other.edges)) if first.vertices == other.vertices else math.inf


def nodes_changed(first: Graph, other: Graph, *, replaced: bool) -> float:
    """Return the distance of node-DP.

    A vertex that keeps its place keeps its edges to the others that do, so the vertices that change cover every edge
    that differs: the distance is the smallest such cover, where vertices only change their edges (``replaced``), and
    twice that, plus the vertices of one graph alone, where they are removed and added.

    Examples
    --------
    >>> star = Graph.of([(0, 1), (0, 2), (0, 3)])
    >>> none = Graph.of([], [0, 1, 2, 3])
    >>> nodes_changed(star, none, replaced=True), nodes_changed(star, none, replaced=False)
    (1.0, 2.0)
    """
    shared = first.vertices & other.vertices
    if replaced and first.vertices != other.vertices:
        return math.inf
    differing = [edge for edge in first.edges ^ other.edges if edge <= shared]
    cover = _smallest_cover(frozenset(differing))
    return float(cover if replaced else 2 * cover + len(first.vertices ^ other.vertices))


def _smallest_cover(edges: frozenset[Edge]) -> int:
    """Return the least number of vertices that touch every edge, by branching on the vertex with most edges."""
    best, branches_left = len(edges), _MOST_BRANCHES
    todo = [(edges, 0)]
    while todo:
        branches_left -= 1
        if branches_left < 0:
            message = (
                "the distance of node-DP needs a smallest vertex cover, which is too hard to find for these graphs"
            )
            raise UnsupportedError(message)
        some, cover_size = todo.pop()
        if not some:
            best = min(best, cover_size)
            continue
        counts: dict[Hashable, int] = {}
        for edge in some:
            for vertex in edge:
                counts[vertex] = counts.get(vertex, 0) + 1
        vertex, most = max(counts.items(), key=lambda item: item[1])
        if cover_size + math.ceil(len(some) / most) >= best:
            continue
        incident = frozenset(edge for edge in some if vertex in edge)
        near = frozenset().union(*incident) - {vertex}
        if most > 1:  # without the vertex all its neighbours are needed
            todo.append((frozenset(edge for edge in some if not edge & near), cover_size + len(near)))
        todo.append((some - incident, cover_size + 1))
    return best


def cliques_through(graph: Graph, edge: Iterable[Hashable], largest: int) -> dict[int, int]:
    """Return how many cliques of 3 .. ``largest`` vertices contain an edge.

    Adding or removing the edge changes the number of cliques of each size by exactly this.

    Examples
    --------
    >>> five = Graph.of([(a, b) for a in range(5) for b in range(a)])
    >>> cliques_through(five, (0, 1), 5)
    {3: 3, 4: 3, 5: 1}
    """
    ends = frozenset(edge)
    near: dict[Hashable, set[Hashable]] = {vertex: set() for vertex in graph.vertices}
    for one, two in map(tuple, graph.edges):
        near[one].add(two)
        near[two].add(one)
    shared = sorted(set.intersection(*(near[end] for end in ends)) - ends, key=repr)
    counts = dict.fromkeys(range(3, largest + 1), 0)

    def grow(size: int, candidates: list[Hashable]) -> None:
        for k, vertex in enumerate(candidates):
            if size + 1 <= largest:
                counts[size + 1] += 1
                grow(size + 1, [later for later in candidates[k + 1 :] if later in near[vertex]])

    grow(2, shared)
    return counts


def clique_bound(clique: int, largest: int | None = None) -> int:
    """Return how much the counts of 3- to ``largest``-cliques change together with an edge in a clique of this size.

    Assumes
    -------
    Every clique through the edge lies in *one* clique of ``clique`` vertices. That the largest one is unique is not
    enough: a complete graph on 5 vertices with one more triangle on the edge changes by 8, not 7 (doctoral thesis,
    Example 4.4; docs/derivations/granularity.md).

    Examples
    --------
    >>> clique_bound(2), clique_bound(3), clique_bound(5), clique_bound(5, largest=3)
    (0, 1, 7, 3)
    """
    top = clique if largest is None else min(clique, largest)
    return sum(math.comb(clique - 2, size - 2) for size in range(3, top + 1))
