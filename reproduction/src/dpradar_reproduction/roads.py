"""Road graphs: the places of a location data set and how far apart they are."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.spatial import cKDTree

from dpradar.errors import MissingExtra, ParameterError
from dpradar.params import Param, as_floats

from .streets import hop_distances, largest_strong_component, project, streets

if TYPE_CHECKING:
    import networkx as nx
    from numpy.typing import ArrayLike, NDArray

__all__ = ["BEIJING", "PORTO", "PORTO_CENTRE", "PORTO_METRES", "Roads", "mobility_file"]

PORTO = (3052, 88)  # nodes and diameter in hops of the graph of [SauerThesis]
BEIJING = (5356, 92)
PORTO_CENTRE = (41.1474557, -8.5870079)
PORTO_METRES = 2688.0

_VARIABLE = "DPRADAR_DATA"
_FOLDER = "mobility"
_LARGEST = 20_000  # nodes; the distances take two bytes a pair, 0.8 GB for this many
_HOPS_PER_ROOT = 1.42  # the three graphs of the thesis have 1.56 (m = 50), 1.59 (Porto) and 1.26 (Beijing)
_M = Param(name="m", integer=True, low=4, high=_LARGEST, what="the number of nodes", typical=(50, 6000))
_SEED = Param(name="seed", integer=True, low=0, what="the seed of the random generator")
_DIAMETER = Param(name="diameter", low=1, what="the most hops between two nodes", typical=(10, 100))


def mobility_file(folder: Path | str | None, name: str) -> Path:
    """Return a file of the mobility data below ``folder``, or below the folder that DPRADAR_DATA names.

    Examples
    --------
    >>> mobility_file("/nowhere", "porto-road-nodes.txt.gz")
    Traceback (most recent call last):
        ...
    dpradar.errors.ParameterError: folder must be a data folder with mobility/porto-road-nodes.txt.gz; got /nowhere...
    """
    data_folder = os.environ.get(_VARIABLE) if folder is None else folder
    file = None if not data_folder else Path(data_folder) / _FOLDER / name
    if file is None or not file.is_file():
        hint = f"Give the folder, or name it in {_VARIABLE}; Roads.synthetic needs no data."
        raise ParameterError("folder", f"a data folder with {_FOLDER}/{name}", data_folder or "none", hint)
    return file


def _checked_edges(edges: ArrayLike, m: int) -> NDArray[np.int64]:
    """Return the edges, each once, without those from a node to itself."""
    allowed, hint = f"pairs of node numbers 0 .. {m - 1}", "Row (v, w) says that one can go from v to w."
    array = as_floats("Roads.edges", allowed, edges, hint)
    if array.ndim != 2 or array.shape[1] != 2 or not array.size:
        raise ParameterError("Roads.edges", allowed, f"an array of shape {array.shape}", hint)
    if not np.all((array >= 0) & (array < m) & (array == np.floor(array))):
        raise ParameterError("Roads.edges", allowed, "another number", hint)
    pairs = np.unique(array.astype(np.int64), axis=0)
    return np.asarray(pairs[pairs[:, 0] != pairs[:, 1]])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Roads:
    """A directed road graph in which each node reaches each other node, with all distances.

    Use :meth:`of`, :meth:`synthetic`, :meth:`porto` or :meth:`beijing`.

    Attributes
    ----------
    nodes
        One row per node: latitude and longitude (``unit`` "degrees"), or x and y (``unit`` "metres").
    edges
        One row (v, w) for each edge from v to w.
    hops
        ``hops[v, w]`` is the number of edges of the shortest way from v to w.
    source
        Where nodes and edges come from, what stands in for something else, and how many nodes were dropped.
    centre, radius_metres
        The circle the graph is about; points outside it belong to no node.

    Examples
    --------
    >>> roads = Roads.synthetic(50, seed=1)
    >>> roads, roads.hops.shape
    (Roads(50 nodes, 163 edges, diameter 11), (50, 50))
    """

    nodes: NDArray[np.float64]
    edges: NDArray[np.int64]
    hops: NDArray[np.int16]
    source: str
    dropped: int
    unit: Literal["degrees", "metres"]
    centre: tuple[float, float]
    radius_metres: float

    @classmethod
    def of(
        cls,
        nodes: ArrayLike,
        edges: ArrayLike,
        source: str,
        *,
        unit: Literal["degrees", "metres"] = "metres",
        centre: tuple[float, float] | None = None,
        radius_metres: float | None = None,
    ) -> Roads:
        """Return the graph of the given nodes and directed edges, cut down to its largest strongly connected part.

        Without ``centre`` the circle is about the middle of the nodes, without ``radius_metres`` it reaches the
        farthest one.

        Examples
        --------
        >>> line = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]
        >>> roads = Roads.of(line, [[0, 1], [1, 0], [1, 2], [2, 1], [2, 3]], "Four points on a line.")
        >>> roads.size, roads.dropped, roads.source
        (3, 1, 'Four points on a line. 1 of 4 nodes dropped: not in the largest strongly connected part.')
        """
        allowed, hint = "a table of two finite numbers per node", "They are latitude and longitude, or x and y."
        points = as_floats("Roads.nodes", allowed, nodes, hint)
        if points.ndim != 2 or points.shape[1] != 2 or not np.all(np.isfinite(points)):
            raise ParameterError("Roads.nodes", allowed, f"an array of shape {points.shape}", hint)
        before = len(points)
        if not 2 <= before <= _LARGEST:
            hint = "All distances are kept, two bytes a pair."
            raise ParameterError("Roads.nodes", f"a table of 2 to {_LARGEST} nodes", f"{before}", hint)
        pairs = _checked_edges(edges, before)
        component = largest_strong_component(before, pairs)
        if component.size < 2:
            hint = "Give two-way streets in both directions."
            raise ParameterError("Roads.edges", "such that some nodes reach each other", "no such two", hint)
        number = np.full(before, -1)
        number[component] = np.arange(component.size)
        pairs = number[pairs]
        pairs, points = pairs[(pairs >= 0).all(axis=1)], points[component]
        dropped = before - component.size
        note = f" {dropped:,} of {before:,} nodes dropped: not in the largest strongly connected part."
        middle = (points.min(axis=0) + points.max(axis=0)) / 2.0
        about = (float(middle[0]), float(middle[1])) if centre is None else centre
        if radius_metres is None:
            radius_metres = float(np.linalg.norm(_metres(points, unit, about), axis=1).max())
        hops = hop_distances(component.size, pairs)
        for array in (points, pairs, hops):
            array.setflags(write=False)
        return cls(points, pairs, hops, source + (note if dropped else ""), dropped, unit, about, radius_metres)

    @classmethod
    def synthetic(cls, m: int, seed: int, diameter: float | None = None) -> Roads:
        """Return a made-up town: ``m`` places in a disc as dense as those of Porto, and streets between them.

        The longest way is near ``diameter`` hops; unless given, near 1.42 √m, which is within 15 % of the three graphs
        of the thesis (11 hops for m = 50, 88 for 3052, 92 for 5356).

        Examples
        --------
        >>> Roads.synthetic(200, seed=3, diameter=25).diameter
        25
        """
        size = int(_M.check("Roads.synthetic", m))
        rng = np.random.default_rng(int(_SEED.check("Roads.synthetic", seed)))
        target = _HOPS_PER_ROOT * size**0.5 if diameter is None else _DIAMETER.check("Roads.synthetic", diameter)
        radius = PORTO_METRES * (size / PORTO[0]) ** 0.5
        angle, distance = 2.0 * np.pi * rng.random(size), radius * np.sqrt(rng.random(size))
        nodes = np.column_stack([distance * np.cos(angle), distance * np.sin(angle)])
        source = f"Synthetic: {size:,} random places in a disc and made-up streets between neighbours (seed {seed})."
        return cls.of(nodes, streets(nodes, target, rng), source, centre=(0.0, 0.0), radius_metres=radius)

    @classmethod
    def porto(cls, folder: Path | str | None = None, seed: int = 0) -> Roads:
        """Return Porto: road nodes of OpenStreetMap within 2,688 m of the centre of the thesis, with made-up streets.

        The data have no edges, so these are stand-ins, made as for :meth:`synthetic` with the thesis' diameter, 88.
        """
        file = mobility_file(folder, "porto-road-nodes.txt.gz")
        everywhere = np.loadtxt(file, usecols=(1, 2))
        metres = project(everywhere, PORTO_CENTRE)
        near = np.linalg.norm(metres, axis=1) <= PORTO_METRES
        rng = np.random.default_rng(int(_SEED.check("Roads.porto", seed)))
        source = (
            f"Porto: {near.sum():,} road nodes of OpenStreetMap (ODbL) within {PORTO_METRES:,.0f} m of {PORTO_CENTRE}; "
            f"the edges are stand-ins: made-up streets between neighbours (seed {seed}), with the thesis' diameter of "
            f"{PORTO[1]} hops as the aim."
        )
        edges = streets(metres[near], PORTO[1], rng)
        return cls.of(everywhere[near], edges, source, unit="degrees", centre=PORTO_CENTRE, radius_metres=PORTO_METRES)

    @classmethod
    def beijing(cls, folder: Path | str | None = None) -> Roads:
        """Return a part of the north of Beijing: nodes and ways of OpenStreetMap, one-way streets respected.

        Every node of a way is kept, also one that only gives a road its shape. The part is smaller than the graph of
        the thesis (5,356 nodes within 5 km of another centre): it stands in for it.
        """
        file = mobility_file(folder, "beijing-roads-osm.json.gz")
        with gzip.open(file, "rt", encoding="utf-8") as stream:
            elements = json.load(stream)["elements"]
        places = {e["id"]: (e["lat"], e["lon"]) for e in elements if e["type"] == "node"}
        number = {place: i for i, place in enumerate(places)}
        edges: list[tuple[int, int]] = []
        for way in elements:
            if way["type"] == "way":
                edges += _ways(way["nodes"], way.get("tags", {}), number)
        source = (
            "Beijing: roads of OpenStreetMap (ODbL), one-way streets respected; a part of the city that stands in for "
            "the larger graph of the thesis."
        )
        return cls.of(list(places.values()), edges, source, unit="degrees")

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    @property
    def diameter(self) -> int:
        """The most hops from one node to another."""
        return int(self.hops.max())

    @property
    def metres(self) -> NDArray[np.float64]:
        """Metres east and north of the centre, one row per node."""
        return _metres(self.nodes, self.unit, self.centre)

    def nearest(self, points: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the node nearest to each point (in the unit of the nodes), and whether the point is in the circle.

        Examples
        --------
        >>> roads = Roads.of([[0.0, 0.0], [10.0, 0.0]], [[0, 1], [1, 0]], "Two points.")
        >>> node, inside = roads.nearest([[2.0, 1.0], [9.0, 1.0], [99.0, 0.0]])
        >>> node.tolist(), inside.tolist()
        ([0, 1, 1], [True, True, False])
        """
        allowed, hint = "a table of two finite numbers per point", "They are in the unit of the nodes."
        array = as_floats("Roads.nearest", allowed, points, hint)
        if array.ndim != 2 or array.shape[1] != 2 or not np.all(np.isfinite(array)):
            raise ParameterError("Roads.nearest", allowed, f"an array of shape {array.shape}", hint)
        places = _metres(array, self.unit, self.centre)
        _, node = cKDTree(self.metres).query(places)
        return node.astype(np.int64), np.linalg.norm(places, axis=1) <= self.radius_metres

    def graph(self) -> nx.DiGraph:
        """Return the graph as networkx knows it; ``pos`` of a node is (x, y), that is (longitude, latitude) in degrees.

        Examples
        --------
        >>> graph = Roads.of([[0, 0], [10, 5]], [[0, 1], [1, 0]], "Two points.").graph()
        >>> graph.number_of_nodes(), graph.nodes[1]["pos"]
        (2, (10.0, 5.0))
        """
        try:
            import networkx
        except ImportError:
            raise MissingExtra("networkx", "roads", "dpradar-reproduction") from None
        order = (1, 0) if self.unit == "degrees" else (0, 1)
        graph = networkx.DiGraph(source=self.source)
        positions = self.nodes[:, order].tolist()
        graph.add_nodes_from((v, {"pos": (x, y)}) for v, (x, y) in enumerate(positions))
        graph.add_edges_from(self.edges.tolist())
        return graph

    def __repr__(self) -> str:
        return f"Roads({self.size} nodes, {len(self.edges)} edges, diameter {self.diameter})"


def _metres(points: NDArray[np.float64], unit: str, centre: tuple[float, float]) -> NDArray[np.float64]:
    return project(points, centre) if unit == "degrees" else points - np.array(centre)


def _ways(nodes: list[int], tags: dict[str, str], number: dict[int, int]) -> list[tuple[int, int]]:
    """Return the directed edges of one way of OpenStreetMap; nodes outside the extract are left out."""
    pairs = [(number[v], number[w]) for v, w in pairwise(nodes) if v in number and w in number]
    back = [(w, v) for v, w in pairs]
    one_way = tags.get("oneway")
    if one_way in ("-1", "reverse"):
        return back
    # One drives around a roundabout in one direction, tagged or not.
    forward_only = one_way in ("yes", "true", "1") or (tags.get("junction") == "roundabout" and one_way != "no")
    return pairs if forward_only else pairs + back
