"""Neighbour relations of any granularity as objects: what one step may change, and how far apart databases are."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from ..errors import ParameterError
from ..guarantees.neighbours import Neighbours, check_neighbours
from ..params import Param, shown
from . import graphs, metrics
from .finite_domain import Domain

__all__ = ["NAMES", "PATTERN", "Granularity"]

Kind = Literal["table", "stream", "graph", "any"]
Metric = Callable[[Any, Any], float]
_SIZE = Param(name="size", integer=True, low=1, what="how many times, points or clusters", typical=(1, 100))


@dataclass(frozen=True, slots=True)
class _Unit:
    """What one step changes, and so what is hidden up to epsilon; what is not.

    ``stated_with`` is what its name needs beside it. Unless ``converts`` no other relation is derived from it and no
    step of a partition is counted for it: ``conversions`` and ``partition_cells`` contain the rules of the others.
    """

    changes: str
    exposed: str = ""
    kind: Kind = "stream"
    stated_with: Literal["", "size", "neighbours"] = ""
    converts: bool = False


_UNITS: dict[str, _Unit] = {
    "bounded": _Unit("one record, replaced by another", "how many records there are", "table", converts=True),
    "unbounded": _Unit("one record, added or removed", "", "table", converts=True),
    "free-lunch": _Unit("everything: any database for any other", "", "any", converts=True),
    "user": _Unit("all data of one person", "", "any", "neighbours", converts=True),
    "trajectory": _Unit(
        "one trajectory",
        "what a person's trajectories say together, and that the person took part",
        stated_with="neighbours",
        converts=True,
    ),
    "event": _Unit(
        "one point of one person", "what a person's other points say, and that the person took part", converts=True
    ),
    "w-event": _Unit(
        "one entry at each of {size} successive times, of one person or of several",
        "habits that come back after more than {size} times, and that a person took part",
        stated_with="size",
        converts=True,
    ),
    "l-trajectory": _Unit(
        "{size} successive points of one person",
        "habits that come back after more than {size} points, when points were recorded, and that the person took part",
        stated_with="size",
        converts=True,
    ),
    "element": _Unit(
        "all points of one person in one of {size} clusters",
        "what points in several clusters say together, and that the person took part",
        stated_with="size",
        converts=True,
    ),
    "edge": _Unit(
        "one edge",
        "that a person is in the graph, and what several of their edges say together",
        "graph",
        converts=True,
    ),
    "node": _Unit("one vertex with all its edges", "", "graph", "neighbours", converts=True),
}
NAMES = tuple(_UNITS)
_WHOLE = "[1-9][0-9]{0,8}"
_ALONE, _SIZED, _TWO = (
    "|".join(name for name, unit in _UNITS.items() if unit.stated_with == beside)
    for beside in ("", "size", "neighbours")
)
PATTERN = f"^({_ALONE}|({_SIZED}):{_WHOLE}|({_TWO}):(replace-one|add-remove))$"  # of names in files


@dataclass(frozen=True, slots=True)
class Granularity:
    """A neighbour relation: which databases one step connects, with the number of steps as its canonical metric.

    Two databases are neighbours exactly when their distance is 1. ``neighbours`` says which of the two relations of
    the rest of dpradar it is for the unit that it protects, such as a person or a window of a stream.

    Notes
    -----
    Doctoral thesis, Definitions 2.4, 3.1-3.4, Proposition A.1.

    Examples
    --------
    >>> Granularity.bounded().distance("aab", "abb"), Granularity.unbounded().distance("aab", "abb")
    (1.0, 2.0)
    >>> Granularity.w_event(10), Granularity.parse("user:add-remove")
    (Granularity('w-event:10'), Granularity('user:add-remove'))
    """

    name: str
    neighbours: Neighbours | None
    size: int | None = None
    metric: Metric | None = field(default=None, compare=False)
    finite: Domain | None = field(default=None, compare=False)
    key: Hashable = None  # distinguishes clusterings and listed domains

    @classmethod
    def bounded(cls, *, ordered: bool = False) -> Granularity:
        """Replace one record; the number of records is public. ``ordered`` tables are compared place by place."""
        return cls("bounded", "replace-one", metric=metrics.positions_changed if ordered else metrics.records_replaced)

    @classmethod
    def unbounded(cls) -> Granularity:
        """Add or remove one record."""
        return cls("unbounded", "add-remove", metric=metrics.added_or_removed)

    @classmethod
    def free_lunch(cls) -> Granularity:
        """Any database for any other: implies every other relation with the same epsilon."""
        return cls("free-lunch", "replace-one", metric=lambda first, other: float(first != other))

    @classmethod
    def user(cls, neighbours: Neighbours) -> Granularity:
        """All data of one user, ``{user: data}``."""
        replaced = check_neighbours("Granularity.user", neighbours) == "replace-one"
        return cls("user", neighbours, metric=lambda a, b: metrics.users_changed(a, b, replaced=replaced))

    @classmethod
    def trajectory(cls, neighbours: Neighbours) -> Granularity:
        """One trajectory, ``{user: [trajectory, ...]}``."""
        replaced = check_neighbours("Granularity.trajectory", neighbours) == "replace-one"
        return cls("trajectory", neighbours, metric=lambda a, b: metrics.trajectories_changed(a, b, replaced=replaced))

    @classmethod
    def event(cls) -> Granularity:
        """One point of a stream, ``{user: {time: value}}``."""
        return cls("event", "replace-one", metric=metrics.cells_changed)

    @classmethod
    def w_event(cls, w: int) -> Granularity:
        """One entry at each of ``w`` successive times of a stream; the entries may be those of different users."""
        size = int(_SIZE.check("Granularity.w_event", w))
        return cls("w-event", "replace-one", size, metric=lambda a, b: metrics.windows_changed(a, b, size))

    @classmethod
    def l_trajectory(cls, length: int) -> Granularity:
        """Up to ``length`` successive points of one user of a stream; when points were recorded is public."""
        size = int(_SIZE.check("Granularity.l_trajectory", length))
        return cls("l-trajectory", "replace-one", size, metric=lambda a, b: metrics.runs_changed(a, b, size))

    @classmethod
    def element(cls, clusters: int, cluster: Callable[[Any], Hashable] | None = None) -> Granularity:
        """All points of one user in one of ``clusters`` clusters; ``cluster`` says in which a value lies."""
        size = int(_SIZE.check("Granularity.element", clusters))
        metric = None if cluster is None else lambda a, b: metrics.clusters_changed(a, b, cluster)
        return cls("element", "replace-one", size, metric=metric, key=cluster)

    @classmethod
    def edge(cls) -> Granularity:
        """One edge of a :class:`~dpradar.granularity.graphs.Graph` with public vertices."""
        return cls("edge", "add-remove", metric=graphs.edges_changed)

    @classmethod
    def node(cls, neighbours: Neighbours) -> Granularity:
        """One vertex with its edges: all its edges change (replace-one), or it joins or leaves (add-remove)."""
        replaced = check_neighbours("Granularity.node", neighbours) == "replace-one"
        return cls("node", neighbours, metric=lambda a, b: graphs.nodes_changed(a, b, replaced=replaced))

    @classmethod
    def listed(
        cls,
        name: str,
        databases: Iterable[Any],
        neighbours: Callable[[Any, Any], bool] | Iterable[tuple[Any, Any]],
        unit: Neighbours | None = None,
    ) -> Granularity:
        """Return a relation of your own on a list of databases; distances by breadth-first search.

        ``unit`` says which relation it is for what it protects, where it is one of the two.

        Examples
        --------
        >>> steps = Granularity.listed("one level", range(5), lambda a, b: abs(a - b) == 1)
        >>> steps.distance(0, 4)
        4.0
        """
        if name in NAMES or not name:
            raise ParameterError("Granularity.listed", "given a name of its own", shown(name))
        if unit is not None:
            check_neighbours("Granularity.listed", unit)
        domain = Domain(databases, neighbours)
        return cls(name, unit, metric=domain.distance, finite=domain, key=id(domain))

    @classmethod
    def parse(cls, text: str) -> Granularity:
        """Return the relation that a text names: ``bounded``, ``user:add-remove``, ``w-event:10``, ``element:4``.

        Examples
        --------
        >>> Granularity.parse("w-evnt:10")
        Traceback (most recent call last):
            ...
        dpradar.errors.ParameterError: granularity must be one of bounded, unbounded, ...; got 'w-evnt:10'. Did you
        mean 'w-event'?
        """
        name, colon, argument = str(text).partition(":")
        if name not in _UNITS:
            near = difflib.get_close_matches(name, _UNITS, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else "Relations of your own are made in Python."
            raise ParameterError("granularity", f"one of {', '.join(_UNITS)}", shown(text), hint)
        constructor, beside = getattr(cls, name.replace("-", "_")), _UNITS[name].stated_with
        if beside == "size":
            if not re.fullmatch(_WHOLE, argument):
                hint = f"Such as '{name}:10'."
                raise ParameterError("granularity", f"{name}: and a whole number from 1", shown(text), hint)
            return constructor(int(argument))  # type: ignore[no-any-return]
        if beside == "neighbours":
            if argument not in ("replace-one", "add-remove"):
                hint = "It is never guessed which of the two a guarantee means."
                raise ParameterError("granularity", f"{name}:replace-one or {name}:add-remove", shown(text), hint)
            return constructor(argument)  # type: ignore[no-any-return]
        if colon:
            raise ParameterError("granularity", f"{name} alone", shown(text))
        return constructor()  # type: ignore[no-any-return]

    @property
    def kind(self) -> Kind:
        """What sort of databases it is about; "any" for those that do not care."""
        return _UNITS[self.name].kind if self.name in _UNITS else "any"

    @property
    def converts(self) -> bool:
        """Whether what one step changes is known well enough to derive other relations and cells of partitions."""
        return self.name in _UNITS and _UNITS[self.name].converts

    @property
    def unit(self) -> str:
        """What one step changes, in words."""
        if self.name not in _UNITS:
            return f"one step of {self.name}"
        text = _UNITS[self.name].changes.format(size=self.size)
        if _UNITS[self.name].stated_with == "neighbours":
            return f"{text}, {'replaced by others' if self.neighbours == 'replace-one' else 'added or removed'}"
        return text

    @property
    def exposed(self) -> str:
        """What it does not hide, in words; empty where nothing needs saying."""
        if self.name in ("user", "node") and self.neighbours == "replace-one":
            return "who took part"
        return _UNITS[self.name].exposed.format(size=self.size) if self.name in _UNITS else ""

    def distance(self, first: Any, other: Any) -> float:
        """Return how many neighbouring steps lead from one database to another; infinite where none do.

        Examples
        --------
        >>> Granularity.event().distance({"ann": {1: "home"}}, {"ann": {1: "work", 2: "home"}})
        2.0
        """
        if self.metric is None:
            hint = "Give the function that says in which cluster a value lies."
            raise ParameterError(
                "Granularity.distance", "asked of an element granularity with cluster=", str(self), hint
            )
        return self.metric(first, other)

    def are_neighbours(self, first: Any, other: Any) -> bool:
        """Say whether one step leads from one database to another."""
        return self.distance(first, other) == 1.0

    def on(self, databases: Iterable[Any]) -> Domain:
        """Return the same relation on a list of databases, where every step has to stay in the list.

        Distances there can be larger, up to infinite (doctoral thesis, Remark A.6).

        Examples
        --------
        >>> Granularity.unbounded().on(["ab", "ac", "bc"]).vacuous
        True
        """
        return Domain(databases, self.are_neighbours)

    def __str__(self) -> str:
        if self.size is not None:
            return f"{self.name}:{self.size}"
        names_relation = self.name in _UNITS and _UNITS[self.name].stated_with == "neighbours"
        return f"{self.name}:{self.neighbours}" if names_relation else self.name

    def __repr__(self) -> str:
        return f"Granularity({str(self)!r})"
