"""Databases that can be listed: shortest paths, components, and what a relation does not protect."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from ..errors import ParameterError
from ..params import shown

__all__ = ["Domain"]

_MOST = 20_000  # databases whose pairs may be compared one by one


class Domain:
    """A list of databases and which of them are neighbours; distances by breadth-first search.

    ``neighbours`` is a predicate on two databases, or a list of pairs. The distance is that *within the list*: leaving
    databases out can make others unreachable.

    Examples
    --------
    >>> path = Domain(range(4), lambda a, b: abs(a - b) == 1)
    >>> path.distance(0, 3), path.connected
    (3.0, True)
    >>> Domain(["a", "bb", "cc"], lambda a, b: len(a) == len(b)).components
    (('a',), ('bb', 'cc'))
    """

    __slots__ = ("_distances", "_keys", "databases", "near")

    def __init__(
        self, databases: Iterable[Any], neighbours: Callable[[Any, Any], bool] | Iterable[tuple[Any, Any]]
    ) -> None:
        self.databases: tuple[Any, ...] = tuple(databases)
        self._keys = {freeze(database): k for k, database in enumerate(self.databases)}
        if len(self._keys) != len(self.databases) or not self.databases:
            raise ParameterError("Domain.databases", "a list of different databases", f"{len(self.databases)} of them")
        self.near = self._listed(neighbours)
        self._distances: dict[int, tuple[float, ...]] = {}

    def _listed(self, neighbours: Any) -> tuple[tuple[int, ...], ...]:
        count = len(self.databases)
        near: list[set[int]] = [set() for _ in range(count)]
        if callable(neighbours):
            if count > _MOST:
                hint = "Give the pairs of neighbours instead of a predicate."
                raise ParameterError("Domain.databases", f"at most {_MOST:,} with a predicate", f"{count:,}", hint)
            pairs: Iterable[tuple[int, int]] = (
                (a, b)
                for a in range(count)
                for b in range(a)
                if neighbours(self.databases[a], self.databases[b]) or neighbours(self.databases[b], self.databases[a])
            )
        else:
            pairs = ((self.place(a), self.place(b)) for a, b in neighbours)
        for a, b in pairs:
            if a != b:
                near[a].add(b)
                near[b].add(a)
        return tuple(tuple(sorted(one)) for one in near)

    def place(self, database: Any) -> int:
        """Return the number of a database in the list."""
        index = self._keys.get(freeze(database))
        if index is None:
            raise ParameterError("Domain", "asked about a database of its list", shown(database))
        return index

    def distances(self, start: int) -> tuple[float, ...]:
        """Return the distance of every database from one, both by number; infinite where there is no path."""
        if start not in self._distances:
            distances = [math.inf] * len(self.databases)
            distances[start] = 0.0
            todo = deque([start])
            while todo:
                current = todo.popleft()
                for neighbour in self.near[current]:
                    if distances[neighbour] == math.inf:
                        distances[neighbour] = distances[current] + 1.0
                        todo.append(neighbour)
            self._distances[start] = tuple(distances)
        return self._distances[start]

    def distance(self, first: Any, other: Any) -> float:
        """Return how many neighbouring steps lead from one database to another."""
        return self.distances(self.place(first))[self.place(other)]

    def pairs(self) -> Sequence[tuple[Any, Any]]:
        """Return all pairs of neighbours, each once."""
        return [(self.databases[a], self.databases[b]) for a, near in enumerate(self.near) for b in near if a < b]

    @property
    def components(self) -> tuple[tuple[Any, ...], ...]:
        """The databases that can reach each other. What distinguishes components is not protected at all."""
        unvisited, components = set(range(len(self.databases))), []
        while unvisited:
            start = min(unvisited)
            inside = sorted(k for k in unvisited if self.distances(start)[k] < math.inf)
            components.append(tuple(self.databases[k] for k in inside))
            unvisited -= set(inside)
        return tuple(components)

    @property
    def connected(self) -> bool:
        """Whether every database can be reached from every other."""
        return all(distance < math.inf for distance in self.distances(0))

    @property
    def vacuous(self) -> bool:
        """Whether no two databases are neighbours, so that every mechanism is 0-DP, even one that publishes all."""
        return not any(self.near)

    def __repr__(self) -> str:
        return f"Domain({len(self.databases)} databases, {sum(map(len, self.near)) // 2} pairs of neighbours)"


def freeze(database: Any) -> Hashable:
    """Return a database as something that can be compared and looked up."""
    if isinstance(database, Mapping):
        return frozenset((key, freeze(value)) for key, value in database.items())
    if isinstance(database, (list, tuple)):
        return tuple(freeze(one) for one in database)
    return frozenset(database) if isinstance(database, set) else database
