"""The two towns of [SauerThesis] Part I: real where the data folder has them, else made up to the thesis' numbers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .movement import markov, skewed, visits
from .roads import BEIJING, PORTO, Roads
from .trips import synthetic_trips, trips_geolife, trips_porto

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from dpradar.threats import Prior

__all__ = ["PRINTED", "Printed", "Records", "Town", "made_up_prior", "real_data", "town", "town_of", "towns"]

SHARES = (0.0, 0.1, 0.3, 0.5, 0.8)  # of the diameter; the text says 0.7 for the last one, its numbers are 0.8
_HELD_OUT = 6  # one trip in so many is not used to train the Markov model
_FILES = ("porto-road-nodes", "porto-taxi-matched", "beijing-roads-osm", "geolife-sample")


@dataclass(frozen=True, slots=True)
class Printed:
    """What the thesis prints about a town."""

    m: int
    diameter: int
    collision: float
    largest: float
    within: tuple[float, ...]  # the best blind guess within 0, 0.1, 0.3, 0.5, 0.8 of the diameter


PRINTED: Mapping[str, Printed] = {
    "Porto": Printed(*PORTO, 0.03, 0.10, (0.10, 0.29, 0.84, 1.0, 1.0)),
    "Beijing": Printed(*BEIJING, 0.05, 0.15, (0.15, 0.34, 0.71, 0.99, 1.0)),
}


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """The targets of CORR: (last place, place now) with probabilities, each pair once."""

    last: NDArray[np.int64]
    now: NDArray[np.int64]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, trips: list[NDArray[np.int64]], m: int) -> Records:
        """Return the steps of the trips with their frequencies."""
        steps = np.concatenate([np.column_stack([trip[:-1], trip[1:]]) for trip in trips if trip.size > 1])
        code, count = np.unique(steps[:, 0] * m + steps[:, 1], return_counts=True)
        return cls(code // m, code % m, count / count.sum())

    def law_of_now(self, m: int) -> NDArray[np.float64]:
        """Return the probability of each place now."""
        return np.asarray(np.bincount(self.now, weights=self.weight, minlength=m), dtype=float)


@dataclass(frozen=True, slots=True, eq=False)
class Town:
    """A road graph, how often its nodes are visited, and the movement of people on it."""

    name: str
    stand_in: str  # what is not the data of the thesis, for titles
    roads: Roads
    prior: Prior
    transitions: csr_array
    records: Records

    @property
    def etas(self) -> tuple[int, ...]:
        """Distances in hops: the thesis' shares of the diameter, 0, 9, 26, 44, 70 for a diameter of 88."""
        diameter = self.roads.diameter
        return tuple(round(share * diameter) for share in SHARES)


def real_data(data: Path | None) -> Path | None:
    """Return the data folder if it has the mobility data, else None."""
    root = os.environ.get("DPRADAR_DATA") if data is None else data
    if not root:
        return None
    folder = Path(root)
    names = [file.name for file in (folder / "mobility").glob("*")] if (folder / "mobility").is_dir() else []
    return folder if all(any(name.startswith(start) for name in names) for start in _FILES) else None


def made_up_prior(name: str) -> Prior:
    """Return a prior with the thesis' number of nodes, Σ π² and largest probability: 0.03 and 0.10 for Porto."""
    printed = PRINTED[name]
    return skewed(printed.m, printed.collision, printed.largest)


def town_of(name: str, stand_in: str, roads: Roads, trips: list[NDArray[np.int64]], prior: Prior | None = None) -> Town:
    """Return a town: every sixth trip gives targets, the others train the Markov model.

    Examples
    --------
    >>> roads = Roads.synthetic(60, seed=1)
    >>> small = town_of("small", "made up", roads, synthetic_trips(roads, 60, 20, seed=1))
    >>> small.etas, len(small.records.now) > 20
    ((0, 1, 4, 6, 10), True)
    """
    held_out, train = trips[::_HELD_OUT], [trip for i, trip in enumerate(trips) if i % _HELD_OUT]
    believed = visits(trips, roads.size) if prior is None else prior
    return Town(name, stand_in, roads, believed, markov(train, roads), Records.of(held_out, roads.size))


def town(name: str, data: Path | None = None, progress: Callable[[str], None] = lambda _: None) -> Town:
    """Return Porto or Beijing, from the data folder where it has the mobility data."""
    folder = real_data(data)
    if folder is None:
        printed = PRINTED[name]
        text = f"synthetic stand-in: {printed.m:,} made-up places and trips"
        progress(f"{name}: no mobility data in the data folder (DPRADAR_DATA): {text}")
        roads = Roads.synthetic(printed.m, seed=printed.m, diameter=printed.diameter)
        prior = made_up_prior(name)
        trips = synthetic_trips(roads, count=3000, length=40, seed=1, prior=prior)
        return town_of(name, text, roads, trips, prior)
    if name == "Porto":
        roads = Roads.porto(folder)
        trips = trips_porto(folder, roads)
        text = f"{roads.size:,} real nodes, made-up streets, {len(trips)} taxi trips"
    else:
        roads = Roads.beijing(folder)
        trips = trips_geolife(folder, roads)
        text = f"{roads.size:,} nodes of a part of the city, {len(trips)} Geolife trips"
    progress(f"{name}: {text}. {roads.source}")
    return town_of(name, text, roads, trips)


def towns(data: Path | None = None, progress: Callable[[str], None] = lambda _: None) -> tuple[Town, Town]:
    """Return Porto and Beijing."""
    return town("Porto", data, progress), town("Beijing", data, progress)
