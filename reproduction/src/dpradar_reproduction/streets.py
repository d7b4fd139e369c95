"""Streets between given points, and distances along them: what a road graph is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra, minimum_spanning_tree
from scipy.spatial import Delaunay, cKDTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["adjacency", "gabriel", "hop_distances", "largest_strong_component", "project", "streets"]

_EARTH_METRES = 6_371_008.8  # mean radius of the Earth
_CHUNK = 256  # sources at a time: 8 bytes per distance, so 11 MB for 5,356 nodes
_ONE_WAY = 0.3  # share of the streets that may be one-way and are
_OUTERMOST = 64  # nodes from which the longest way is looked for
_STEPS = 12  # halvings of the share of streets that is kept; 1/4096 is less than one street in these graphs
_ROUNDING = 1e-9


def project(points: NDArray[np.float64], centre: tuple[float, float]) -> NDArray[np.float64]:
    """Return metres east and north of the centre, for points in degrees of latitude and longitude.

    The map is flat: within 5 km of the centre, up to 50 degrees of latitude, a distance is off by less than 0.1 %.

    Examples
    --------
    >>> project(np.array([[41.01, -8.0]]), (41.0, -8.0)).round(1).tolist()
    [[0.0, 1112.0]]
    """
    north = np.radians(points[:, 0] - centre[0])
    east = np.radians(points[:, 1] - centre[1]) * np.cos(np.radians(centre[0]))
    return _EARTH_METRES * np.column_stack([east, north])


def gabriel(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the pairs of points with no other point in the circle between them: the Gabriel graph.

    It is planar and connected, and has about two edges a point, as roads do.

    Examples
    --------
    >>> gabriel(np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.2]])).tolist()
    [[0, 2], [1, 2]]
    """
    corners = Delaunay(points).simplices
    sides = np.vstack([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]])
    pairs = np.unique(np.sort(sides, axis=1), axis=0).astype(np.int64)
    one, other = points[pairs[:, 0]], points[pairs[:, 1]]
    nearest, _ = cKDTree(points).query((one + other) / 2.0)
    radius = np.linalg.norm(one - other, axis=1) / 2.0
    return np.asarray(pairs[nearest >= radius * (1.0 - _ROUNDING)])


def _matrix(m: int, pairs: NDArray[np.int64], values: NDArray[np.float64]) -> csr_array:
    """Return the sparse matrix with a value for each pair of nodes."""
    row, column = pairs.T.astype(np.int32)  # the graph routines of scipy 1.13 take no longer indices
    return csr_array((values, (row, column)), shape=(m, m))


def _in_spanning_tree(points: NDArray[np.float64], pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which pairs are in the shortest tree that connects all points."""
    m = len(points)
    lengths = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    tree = minimum_spanning_tree(_matrix(m, pairs, lengths)).tocoo()
    low, high = np.minimum(tree.row, tree.col), np.maximum(tree.row, tree.col)
    return np.isin(pairs[:, 0] * m + pairs[:, 1], low.astype(np.int64) * m + high)


def _longest_way(m: int, edges: NDArray[np.int64], sources: NDArray[np.int64]) -> int:
    """Return the most hops of the ways seen from the sources, and then from the nodes farthest from them.

    Not always the diameter, but never more, and far cheaper than all distances.
    """
    graph = adjacency(m, edges)
    back = graph.T.tocsr()
    longest = 0
    for _ in range(2):
        distance_from = dijkstra(graph, unweighted=True, indices=sources)
        distance_to = dijkstra(back, unweighted=True, indices=sources)
        longest = max(longest, int(distance_from.max()), int(distance_to.max()))
        sources = np.unique(np.concatenate([distance_from.argmax(axis=1), distance_to.argmax(axis=1)]))
    return longest


def streets(points: NDArray[np.float64], diameter: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return directed edges between points that look like roads and whose longest way is near ``diameter`` hops.

    They are a random part of the Gabriel graph. The shortest tree that connects all points is always kept, and always
    two-way, so every node reaches every other; of the other streets three in ten are one-way. More streets make ways
    shorter, so the share of them that is kept is found by halving. Where even none or all of them miss ``diameter``,
    that is what is returned: the caller sees the true diameter in the distances.

    Examples
    --------
    >>> points = np.random.default_rng(1).random((100, 2))
    >>> edges = streets(points, 20, np.random.default_rng(2))
    >>> int(hop_distances(100, edges).max())
    20
    """
    m = len(points)
    pairs = gabriel(points)
    tree = _in_spanning_tree(points, pairs)
    priority = np.where(tree, -1.0, rng.random(len(pairs)))
    one_way = ~tree & (rng.random(len(pairs)) < _ONE_WAY)
    backwards = rng.random(len(pairs)) < 1 / 2
    forth, back = ~(one_way & backwards), ~(one_way & ~backwards)

    def edges_below(share: float) -> NDArray[np.int64]:
        chosen = priority < share
        return np.vstack([pairs[chosen & forth], pairs[chosen & back][:, ::-1]])

    # The longest way starts or ends far from the middle, so a few outer nodes are a good place to look for it.
    outermost = np.argsort(np.linalg.norm(points - points.mean(axis=0), axis=1), kind="stable")[-_OUTERMOST:]
    low, high = 0.0, 1.0
    lengths: dict[float, int] = {}
    for share in (low, high):
        lengths[share] = _longest_way(m, edges_below(share), outermost)
    for _ in range(_STEPS):
        share = (low + high) / 2.0
        lengths[share] = _longest_way(m, edges_below(share), outermost)
        low, high = (share, high) if lengths[share] > diameter else (low, share)
    return edges_below(min(lengths, key=lambda share: abs(lengths[share] - diameter)))


def adjacency(m: int, edges: NDArray[np.int64]) -> csr_array:
    """Return the 0/1 matrix with an entry for each directed edge.

    Examples
    --------
    >>> adjacency(2, np.array([[0, 1]])).toarray().tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    return _matrix(m, edges, np.ones(len(edges)))


def largest_strong_component(m: int, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the nodes, in order, of the largest set in which each one reaches each other one.

    Examples
    --------
    >>> largest_strong_component(4, np.array([[0, 1], [1, 2], [2, 1], [2, 3], [3, 1]])).tolist()
    [1, 2, 3]
    """
    _, label = connected_components(adjacency(m, edges), directed=True, connection="strong")
    return np.flatnonzero(label == np.bincount(label).argmax())


def hop_distances(m: int, edges: NDArray[np.int64]) -> NDArray[np.int16]:
    """Return the number of hops of the shortest directed way from each node (row) to each node (column).

    The graph must be strongly connected. Rows are found in groups, so that little more than the result is in memory.

    Examples
    --------
    >>> hop_distances(3, np.array([[0, 1], [1, 2], [2, 0]])).tolist()
    [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    """
    matrix = adjacency(m, edges)
    result = np.empty((m, m), dtype=np.int16)
    for first in range(0, m, _CHUNK):
        rows = np.arange(first, min(first + _CHUNK, m))
        result[rows] = dijkstra(matrix, unweighted=True, indices=rows)
    return result
