"""Clusters of reported locations are not private: their centroids give a missing location away."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import ParameterError
from ...numerics.lazy_numpy import Floats, np
from ...params import Param, as_floats

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Recovered", "centroid_attack", "noisy_clusters"]

Points = Floats
_MOST = 11  # locations; more have too many partitions
_CLOSE = 1e-9
_EPSILON = Param(name="epsilon", low=0.0, what="what the published mechanism calls its budget", typical=(0.1, 10.0))


@dataclass(frozen=True, slots=True)
class Recovered:
    """A location that explains the centroids, and the known locations in its cluster."""

    location: tuple[float, ...]
    beside: tuple[tuple[float, ...], ...]


def centroid_attack(released: Sequence[Sequence[float]], known: Sequence[Sequence[float]]) -> tuple[Recovered, ...]:
    """Return every value of the one unknown location that explains the released centroids.

    The attacker knows all other locations, as differential privacy allows. One answer means that the location is
    known for certain.

    Notes
    -----
    Doctoral thesis, Example 3.7: no partition of one set of locations is a partition of another, whatever the
    probabilities with which one is chosen.

    Examples
    --------
    >>> centroid_attack([(5, 2), (3.5, 3.5)], known=[(5, 2), (5, 5)])
    (Recovered(location=(2.0, 2.0), beside=((5.0, 5.0),)),)
    """
    centroids, others = _points("released", released), _points("known", known)
    if centroids.shape[1] != others.shape[1]:
        raise ParameterError("centroid_attack", "given points of one dimension", "points of different ones")
    if len(others) + 1 > _MOST or len(centroids) > len(others) + 1:
        allowed = f"given at most {_MOST} locations, and no more clusters than locations"
        raise ParameterError("centroid_attack", allowed, f"{len(others) + 1} locations, {len(centroids)} clusters")
    scale = max(1.0, float(np.abs(np.vstack([centroids, others])).max()))
    recovered: dict[tuple[float, ...], Recovered] = {}
    for cells in _partitions(len(others) + 1, len(centroids)):
        target_cell = next(cell for cell in cells if 0 in cell)
        rest = [others[[k - 1 for k in cell]].mean(axis=0) for cell in cells if cell is not target_cell]
        for left in _unmatched(centroids, rest, scale):
            beside = [k - 1 for k in target_cell if k]
            location = len(target_cell) * left - others[beside].sum(axis=0)
            key = tuple(float(np.round(x, 9)) for x in location)
            recovered.setdefault(key, Recovered(tuple(map(float, location)), tuple(map(_plain, others[beside]))))
    return tuple(recovered[key] for key in sorted(recovered))


def _plain(point: Points) -> tuple[float, ...]:
    return tuple(map(float, point))


def _points(name: str, values: Sequence[Sequence[float]]) -> Points:
    hint = "Such as [(5, 2), (3.5, 3.5)]."
    points = as_floats(f"centroid_attack.{name}", "a list of points", values, hint)
    if points.ndim != 2 or not len(points) or not np.isfinite(points).all():
        raise ParameterError(f"centroid_attack.{name}", "a list of points", f"shape {points.shape}", hint)
    return points


def _partitions(count: int, parts: int) -> Iterator[list[list[int]]]:
    """Yield every way to divide 0 .. count-1 into this many cells."""

    def grow(place: int, cells: list[list[int]]) -> Iterator[list[list[int]]]:
        if place == count:
            if len(cells) == parts:
                yield [list(cell) for cell in cells]
            return
        if len(cells) + count - place < parts:
            return
        for cell in cells:
            cell.append(place)
            yield from grow(place + 1, cells)
            cell.pop()
        if len(cells) < parts:
            cells.append([place])
            yield from grow(place + 1, cells)
            cells.pop()

    yield from grow(0, [])


def _unmatched(centroids: Points, rest: Sequence[Points], scale: float) -> Iterator[Points]:
    """Yield each centroid that is left when all others are those of cells that the attacker can compute."""
    for left in range(len(centroids)):
        others = np.delete(centroids, left, axis=0)
        for order in itertools.permutations(range(len(rest))):
            if all(np.abs(others[k] - rest[j]).max() <= _CLOSE * scale for k, j in enumerate(order)):
                yield centroids[left]
                break


def noisy_clusters(
    locations: Sequence[Sequence[float]], clusters: int, epsilon: float, rng: np.random.Generator
) -> list[tuple[float, ...]]:
    """Return centroids of a random partition of the locations, as published: an "exponential mechanism" on them.

    Compact partitions are likelier. It is *not* differentially private: it is here to be attacked.

    Notes
    -----
    Hua, Gao and Zhong (2015), as described in the doctoral thesis, Section 3.4.2; utilities are scaled to [0, 1].

    Examples
    --------
    >>> released = noisy_clusters([(2, 2), (5, 2), (5, 5)], 2, 1.0, np.random.default_rng(1))
    >>> [r.location for r in centroid_attack(released, known=[(5, 2), (5, 5)])]
    [(2.0, 2.0)]
    """
    points = _points("locations", locations)
    budget = _EPSILON.check("noisy_clusters", epsilon)
    if not 1 <= clusters <= len(points) <= _MOST:
        raise ParameterError(
            "noisy_clusters", f"given at most {_MOST} locations, no fewer than clusters", f"{clusters}"
        )
    every = list(_partitions(len(points), clusters))
    means = [[points[cell].mean(axis=0) for cell in cells] for cells in every]
    spread = np.array(
        [
            sum(np.linalg.norm(points[cell] - mean, axis=1).sum() for cell, mean in zip(cells, some, strict=True))
            for cells, some in zip(every, means, strict=True)
        ]
    )
    utility = 1.0 - spread / max(float(spread.max()), _CLOSE)
    weights = np.exp(0.5 * budget * utility)
    index = int(rng.choice(len(every), p=weights / weights.sum()))
    return sorted(_plain(mean) for mean in means[index])
