"""Small sets of databases that can be listed in full."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from dpradar.granularity import Graph

if TYPE_CHECKING:
    from collections.abc import Iterator

Stream = dict[int, dict[int, Any]]


def tables(values: str, sizes: range) -> list[tuple[str, ...]]:
    """Return all multisets of these sizes."""
    return [table for size in sizes for table in itertools.combinations_with_replacement(values, size)]


def ordered_tables(values: str, size: int) -> list[tuple[str, ...]]:
    """Return all ordered tables of one size."""
    return list(itertools.product(values, repeat=size))


def rows(times: int, values: int, most: int) -> Iterator[dict[int, int]]:
    """Yield every row of one user with at most so many points."""
    for cells in itertools.product([None, *range(values)], repeat=times):
        row = {time: value for time, value in enumerate(cells) if value is not None}
        if len(row) <= most:
            yield row


def streams(users: int, times: int, values: int, most: int) -> list[Stream]:
    """Return every stream; a user without points has an empty row."""
    each = list(rows(times, values, most))
    return [dict(enumerate(some)) for some in itertools.product(each, repeat=users)]


def joining(some: list[Stream]) -> list[Stream]:
    """Return the streams of users who have points: those without are not there."""
    return [{user: row for user, row in stream.items() if row} for stream in some]


def fixed_streams(pattern: dict[int, list[int]], values: int) -> list[Stream]:
    """Return every stream with points at exactly these times."""
    cells = [(user, time) for user, times in pattern.items() for time in times]
    streams = []
    for some in itertools.product(range(values), repeat=len(cells)):
        stream: Stream = {user: {} for user in pattern}
        for (user, time), value in zip(cells, some, strict=True):
            stream[user][time] = value
        streams.append(stream)
    return streams


def slots(stream: Stream, length: int) -> dict[int, list[tuple[int, ...]]]:
    """Return a stream as trajectories: one for each slot of so many times in which the user has a point."""
    by_user: dict[int, list[Any]] = {}
    for user, row in stream.items():
        parts: dict[int, list[tuple[int, int]]] = {}
        for time, value in sorted(row.items()):
            parts.setdefault(time // length, []).append((time, value))
        by_user[user] = [tuple(part) for part in parts.values()]
    return by_user


def graphs(vertices: int, *, fixed: bool) -> list[Graph]:
    """Return every graph on these vertices, or on every part of them."""
    sets = (
        [range(vertices)]
        if fixed
        else [s for k in range(vertices + 1) for s in itertools.combinations(range(vertices), k)]
    )
    graphs = []
    for chosen in sets:
        pairs = list(itertools.combinations(chosen, 2))
        every = itertools.product([False, True], repeat=len(pairs))
        graphs += [Graph.of([pair for pair, there in zip(pairs, some, strict=True) if there], chosen) for some in every]
    return graphs
