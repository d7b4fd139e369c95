"""Trips: sequences of the nodes of a road graph, from GPS points or made up."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import numpy as np

from dpradar.errors import ParameterError
from dpradar.params import Param

from .roads import mobility_file

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from dpradar.threats import Prior

    from .roads import Roads

__all__ = ["synthetic_trips", "trips_geolife", "trips_porto"]

_GAP_SECONDS = 20 * 60  # a longer silence ends a trip
_COUNT = Param(name="count", integer=True, low=1, what="the number of trips", typical=(1, 10_000))
_LENGTH = Param(name="length", integer=True, low=1, what="the number of points of a trip", typical=(2, 200))
_SEED = Param(name="seed", integer=True, low=0, what="the seed of the random generator")
_STAY = Param(name="stay", low=0.0, high=1.0, high_open=True, what="the probability of a point at the node before")
_INERTIA = Param(name="inertia", low=0.0, high=100.0, what="how strongly a trip goes straight on; 0 is not at all")


def trips_porto(folder: Path | str | None, roads: Roads) -> list[NDArray[np.int64]]:
    """Return the taxi trips of the Porto sample as nodes of ``roads``.

    Each GPS point is mapped to its nearest node and all points are kept, so a node stands as often in a row as it was
    seen. Points outside the circle of the roads are left out, and a trip that leaves it is cut there: no step joins
    two points that did not follow each other.
    """
    file = mobility_file(folder, "porto-taxi-matched.txt.gz")
    points: list[tuple[float, float]] = []
    starts: list[bool] = []
    new = True
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.startswith("-"):
                new = True
                continue
            try:
                _, latitude, longitude, _ = line.split()
                points.append((float(latitude), float(longitude)))
            except ValueError:
                raise _unreadable_line_error(file, number, "time, latitude, longitude and edge") from None
            starts.append(new)
            new = False
    return _split_trips(np.array(points), np.array(starts), roads)


def trips_geolife(folder: Path | str | None, roads: Roads) -> list[NDArray[np.int64]]:
    """Return the Geolife sample as trips on ``roads``: the points of one user, cut where 20 minutes pass without one.

    Points are mapped, and trips cut at the edge of the circle, as by :func:`trips_porto`.
    """
    file = mobility_file(folder, "geolife-sample.txt.gz")
    points: list[tuple[float, float]] = []
    times: list[str] = []
    users: list[str] = []
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        next(lines, None)  # the names of the columns
        for number, line in enumerate(lines, start=2):
            try:
                latitude, longitude, time, user = line.rstrip("\n").split(",")
                points.append((float(latitude), float(longitude)))
            except ValueError:
                raise _unreadable_line_error(file, number, "latitude, longitude, time and user") from None
            times.append(time)
            users.append(user)
    _, user_code = np.unique(users, return_inverse=True)
    seconds = np.array(times, dtype="datetime64[s]").astype(np.int64)
    order = np.lexsort((seconds, user_code))
    user_code, seconds = user_code[order], seconds[order]
    starts = np.ones(order.size, dtype=bool)
    starts[1:] = (np.diff(user_code) != 0) | (np.diff(seconds) > _GAP_SECONDS)
    return _split_trips(np.array(points)[order], starts, roads)


def _unreadable_line_error(file: Path, number: int, columns: str) -> ParameterError:
    # The line itself stays out of the message: it says where a person was.
    return ParameterError("folder", f"one whose {file.name} has {columns} in each line", f"another line {number}")


def _split_trips(points: NDArray[np.float64], starts: NDArray[np.bool_], roads: Roads) -> list[NDArray[np.int64]]:
    """Return the nodes of the points inside, cut where a trip starts or comes back from outside."""
    node, inside = roads.nearest(points)
    begins = starts.copy()
    begins[1:] |= ~inside[:-1]
    pieces = np.split(node[inside], np.flatnonzero(begins[inside])[1:])
    return [piece for piece in pieces if piece.size]


def synthetic_trips(
    roads: Roads,
    count: int,
    length: int,
    seed: int,
    *,
    prior: Prior | None = None,
    stay: float = 0.4,
    inertia: float = 2.0,
) -> list[NDArray[np.int64]]:
    """Return random walks along the streets, which rather go straight on than turn: made-up trips.

    A trip starts at a node drawn from ``prior`` (any node, unless given). Each further point is at the same node with
    probability ``stay`` (0.4 is the share in the taxi trips of Porto); else it is at a next node, drawn with weight
    exp(inertia cos(turn)).

    Examples
    --------
    >>> from dpradar_reproduction.roads import Roads
    >>> roads = Roads.synthetic(50, seed=1)
    >>> trips = synthetic_trips(roads, count=3, length=5, seed=1)
    >>> [trip.size for trip in trips]
    [5, 5, 5]
    """
    n_trips, n_points = int(_COUNT.check("synthetic_trips", count)), int(_LENGTH.check("synthetic_trips", length))
    rng = np.random.default_rng(int(_SEED.check("synthetic_trips", seed)))
    rest, strength = _STAY.check("synthetic_trips", stay), _INERTIA.check("synthetic_trips", inertia)
    if prior is not None and prior.size != roads.size:
        hint = "Give one probability per node."
        raise ParameterError("synthetic_trips.prior", f"over {roads.size} nodes", f"{prior.size} values", hint)
    neighbours = _neighbours(roads)
    metres = roads.metres
    position = rng.choice(roads.size, size=n_trips, p=None if prior is None else prior.probabilities)
    heading = np.zeros((n_trips, 2))
    visited = np.empty((n_trips, n_points), dtype=np.int64)
    visited[:, 0] = position
    for step in range(1, n_points):
        options = neighbours[position]
        direction = metres[options] - metres[position][:, None, :]
        lengths = np.linalg.norm(direction, axis=2, keepdims=True)
        # Two nodes at the same place have no direction between them: neither straight on nor back.
        direction = np.divide(direction, lengths, out=np.zeros_like(direction), where=lengths > 0.0)
        weights = np.exp(strength * np.einsum("tnd,td->tn", direction, heading)) * (options >= 0)
        limits = np.cumsum(weights, axis=1)
        drawn = (limits <= rng.random((n_trips, 1)) * limits[:, -1:]).sum(axis=1)
        moves = rng.random(n_trips) >= rest
        chosen = np.arange(n_trips), drawn
        position = np.where(moves, options[chosen], position)
        heading = np.where(moves[:, None], direction[chosen], heading)
        visited[:, step] = position
    return list(visited)


def _neighbours(roads: Roads) -> NDArray[np.int64]:
    """Return the nodes that each node leads to, one row per node, filled up with -1."""
    edges = roads.edges[np.lexsort((roads.edges[:, 1], roads.edges[:, 0]))]
    degree = np.bincount(edges[:, 0], minlength=roads.size)
    first = np.cumsum(degree) - degree
    table = np.full((roads.size, int(degree.max())), -1, dtype=np.int64)
    table[edges[:, 0], np.arange(len(edges)) - first[edges[:, 0]]] = edges[:, 1]
    return table
