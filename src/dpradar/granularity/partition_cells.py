"""Partitions: how many cells one step of a granularity can change, and what that costs a mechanism that reads one.

A mechanism with a domain of its own is private for databases like its cell (doctoral thesis, Theorems 4.1, 4.6); one
on the common domain is private for whole databases and happens to read one cell (Theorems 4.10, 4.11).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from .conversions import conversion, stream_change

if TYPE_CHECKING:
    from .database_facts import Facts
    from .neighbour_relation import Granularity
    from .pipeline import Partition

__all__ = ["Pattern", "distance_in", "patterns", "scale_loss"]

Manner = Literal["same", "one", "moment", "any", "given"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Up to ``cells`` cells change, each in the same ``manner``.

    "same": by one step of the granularity; "one": one record comes or goes; "moment": one entry of one time; "any":
    anyhow; "given": as the partition says. ``successive`` cells follow each other.
    """

    cells: float
    manner: Manner
    successive: bool = False


def patterns(partition: Partition, base: Granularity, facts: Facts) -> tuple[Pattern, ...]:
    """Return the ways in which one step of a granularity can change the cells; ``facts.hidden`` is settled."""
    unlimited = (Pattern(math.inf, "any"),)
    if partition.kind == "custom":
        most = partition.most(base)
        return unlimited if most is None else (Pattern(float(most), "given"),)
    if base.kind == "table":
        inside, crossing, one = Pattern(1.0, "same"), Pattern(2.0, "one"), Pattern(1.0, "one")
        table = {
            ("value", "bounded"): (inside, crossing),
            ("value", "unbounded"): (one,),
            ("user", "bounded"): (inside, crossing),  # a record may be replaced by that of another user
            ("user", "unbounded"): (one,),
            ("index", "bounded"): (inside,),
        }
        return table.get((partition.kind, base.name), unlimited)
    if base.kind == "graph" or base.name == "free-lunch" or not base.converts:
        return unlimited
    rule = {"value": _by_value, "user": _by_user, "time": _by_time}.get(partition.kind)
    return unlimited if rule is None else (rule(base, facts),)


def _points(base: Granularity, facts: Facts) -> float:
    """Return how many points one step concerns: each lies in one cell before it and in one after it."""
    change = stream_change(base, facts, "values")
    return change.cells


def _by_value(base: Granularity, facts: Facts) -> Pattern:
    leaving = base.neighbours == "add-remove"
    # A point that leaves its cell is a step of the same kind there only where points may come and go.
    open_cells = base.name in ("event", "w-event") and facts.hidden != "values"
    points = stream_change(base, facts, "people").cells if leaving else _points(base, facts)
    return Pattern(points if leaving else 2.0 * points, "same" if leaving or open_cells else "any")


def _by_user(base: Granularity, facts: Facts) -> Pattern:
    return Pattern(stream_change(base, facts, facts.hidden or "people").users, "same")


def _by_time(base: Granularity, facts: Facts) -> Pattern:
    """Return the times that change; each is a cell of its own, in which one user's entry does."""
    change = stream_change(base, facts, facts.hidden or "people")
    return Pattern(change.cells, "moment", successive=base.name == "w-event")


def scale_loss(distance: float, budget: float) -> float:
    """Return the loss at a distance; an infinite distance is no promise at all, even at budget 0.

    Examples
    --------
    >>> scale_loss(math.inf, 0.0), scale_loss(2.0, 0.5)
    (inf, 1.0)
    """
    return math.inf if math.isinf(distance) or math.isinf(budget) else distance * budget


def distance_in(
    stated: Granularity,
    base: Granularity,
    pattern: Pattern,
    partition: Partition,
    facts: Facts,
    *,
    common: bool,
    several: bool,
) -> float:
    """Return how far a changed cell is, at most, for a mechanism that reads it and is private under ``stated``.

    ``several``: the partition has more than one cell, so that each leaves records unread.
    """
    whole = conversion(stated, base, facts).factor
    if stated.name == "free-lunch":
        return whole
    if pattern.manner == "one":
        part = conversion(stated, _unbounded_relation(base), facts).factor
        # Records that are not read make up for different sizes (Corollary A.14, tightened).
        padded = 1.0 if stated.name == "bounded" and several and facts.size != "public" else math.inf
        return min(whole, part, padded) if common else part
    if pattern.manner == "moment":
        # A user without a point at a time is not in the data of that time, even where it is public who takes part.
        cell_facts = facts if common or facts.hidden == "values" else replace(facts, hidden="people")
        entry = conversion(stated, type(base).event(), cell_facts).factor
        return min(entry, whole) if common else entry
    return whole if common else _own_distance(stated, base, pattern, partition, facts)


def _own_distance(
    stated: Granularity, base: Granularity, pattern: Pattern, partition: Partition, facts: Facts
) -> float:
    """Return how far a changed cell is for a mechanism whose databases are cells."""
    if pattern.manner == "given":
        return math.inf if partition.moves is None else partition.moves
    if pattern.manner == "any":
        return math.inf
    # As with times: a user without a point in a region is not in its data.
    cell_facts = replace(facts, hidden="people") if partition.kind == "value" else facts
    return conversion(stated, base, cell_facts).factor


def _unbounded_relation(base: Granularity) -> Granularity:
    return type(base).unbounded()
