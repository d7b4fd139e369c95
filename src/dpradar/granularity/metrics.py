"""Canonical metrics: how many neighbouring changes lead from one database to another.

A table is a sequence of records; a stream is a mapping from users to their points, ``{user: {time: value}}``.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

__all__ = [
    "added_or_removed",
    "cells_changed",
    "clusters_changed",
    "part_replaced",
    "positions_changed",
    "records_replaced",
    "runs_changed",
    "trajectories_changed",
    "users_changed",
    "windows_changed",
]

Table = Iterable[Hashable]
Stream = Mapping[Hashable, Mapping[Any, Hashable]]
Users = Mapping[Hashable, Any]


def records_replaced(first: Table, other: Table) -> float:
    """Return the distance of bounded DP on multisets: records to replace; infinite for different sizes.

    Examples
    --------
    >>> records_replaced("aab", "abb"), records_replaced("a", "aa")
    (1.0, inf)
    """
    one, two = Counter(first), Counter(other)
    return float((one - two).total()) if one.total() == two.total() else math.inf


def positions_changed(first: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """Return the distance of bounded DP on ordered tables: positions that differ (Hamming); infinite for other lengths.

    Examples
    --------
    >>> positions_changed("ab", "ba")
    2.0
    """
    return float(sum(a != b for a, b in zip(first, other, strict=True))) if len(first) == len(other) else math.inf


def added_or_removed(first: Table, other: Table) -> float:
    """Return the distance of unbounded DP: records to add or remove, counted with multiplicity.

    Examples
    --------
    >>> added_or_removed("aab", "abb")
    2.0
    """
    one, two = Counter(first), Counter(other)
    return float((one - two).total() + (two - one).total())


def part_replaced(first: Table, other: Table) -> float:
    """Return the least number of replaced records that turns one table into another *outside of which* more may stand.

    The distance of bounded DP for a mechanism that reads only these parts: records that it does not read make up for
    different sizes, so it is the larger of the two differences.

    Assumes
    -------
    Some record value is not read, and tables of every size may occur.

    Notes
    -----
    Doctoral thesis, Corollary A.14, states min(replaced, added or removed) as an equality; this is the exact value
    (docs/derivations/granularity.md).

    Examples
    --------
    >>> part_replaced("aab", "bc"), part_replaced("aa", "")
    (2.0, 2.0)
    """
    one, two = Counter(first), Counter(other)
    return float(max((one - two).total(), (two - one).total()))


def users_changed(first: Users, other: Users, *, replaced: bool) -> float:
    """Return the distance of user-level DP: users whose data differ; those who join or leave count once.

    With ``replaced`` nobody joins or leaves (infinite where the users differ); without, changed data are a leaving and
    a joining.

    Examples
    --------
    >>> users_changed({1: "a", 2: "b"}, {1: "c", 2: "b"}, replaced=True)
    1.0
    >>> users_changed({1: "a", 2: "b"}, {1: "c"}, replaced=False)
    3.0
    """
    differing = sum(first[user] != other[user] for user in first.keys() & other.keys())
    joined_or_left = len(first.keys() ^ other.keys())
    if replaced:
        return float(differing) if joined_or_left == 0 else math.inf
    return float(2 * differing + joined_or_left)


def trajectories_changed(first: Users, other: Users, *, replaced: bool) -> float:
    """Return the distance of trajectory-level DP; the data of a user are a multiset of trajectories.

    Examples
    --------
    >>> trajectories_changed({1: ["ab", "cd"]}, {1: ["ab"], 2: ["x"]}, replaced=False)
    2.0
    """
    total = 0.0
    for user in first.keys() | other.keys():
        one, two = (Counter(_hashable(t) for t in data.get(user, ())) for data in (first, other))
        total += (records_replaced if replaced else added_or_removed)(one.elements(), two.elements())
    return total


def _hashable(trajectory: Any) -> Hashable:
    if isinstance(trajectory, Mapping):
        return tuple(sorted(trajectory.items(), key=repr))
    return trajectory if isinstance(trajectory, Hashable) else tuple(trajectory)


def _differing(first: Stream, other: Stream) -> list[tuple[Hashable, Any]]:
    """Return the cells (user, time) where two streams differ; a missing point is a value like any other."""
    cells = []
    for user in first.keys() | other.keys():
        one, two = first.get(user, {}), other.get(user, {})
        cells += [(user, time) for time in one.keys() | two.keys() if one.get(time) != two.get(time)]
    return cells


def cells_changed(first: Stream, other: Stream) -> float:
    """Return the distance of event-level DP: points that differ, appear or vanish.

    Examples
    --------
    >>> cells_changed({"ann": {1: "home", 2: "work"}}, {"ann": {1: "home", 3: "work"}})
    2.0
    """
    return float(len(_differing(first, other)))


def windows_changed(first: Stream, other: Stream, width: int) -> float:
    """Return the distance of w-event DP: windows of ``width`` times, each allowing one changed entry at each time.

    Times are whole numbers. An entry per time can change in every step, so time t has to lie in as many windows as it
    has changed entries; windows placed from the left, each as far right as possible, are the fewest.

    Examples
    --------
    >>> one, two = {"ann": {1: 0, 2: 0, 5: 0}}, {"ann": {1: 1, 2: 1, 5: 1}}
    >>> windows_changed(one, two, 2), windows_changed(one, two, 5)
    (2.0, 1.0)
    """
    changes = Counter(time for _, time in _differing(first, other))
    total, covered = 0, 0
    open_windows: deque[tuple[int, int]] = deque()  # (start, how many), those that still cover the time
    for time in sorted(changes):
        while open_windows and open_windows[0][0] <= time - width:
            covered -= open_windows.popleft()[1]
        more = max(0, changes[time] - covered)
        open_windows.append((time, more))
        covered += more
        total += more
    return float(total)


def runs_changed(first: Stream, other: Stream, length: int) -> float:
    """Return the distance of l-trajectory DP: runs of ``length`` successive points of one user.

    When points were recorded is public under this notion, so it is infinite where that differs.

    Examples
    --------
    >>> one, two = {"ann": {1: 0, 5: 0, 9: 0}}, {"ann": {1: 1, 5: 0, 9: 1}}
    >>> runs_changed(one, two, 2), runs_changed(one, two, 3)
    (2.0, 1.0)
    """
    total = 0
    for user in first.keys() | other.keys():
        one, two = first.get(user, {}), other.get(user, {})
        if one.keys() != two.keys():
            return math.inf
        free = 0  # the first point that no run covers yet
        for place, time in enumerate(sorted(one)):
            if place >= free and one[time] != two[time]:
                total += 1
                free = place + length
    return float(total)


def clusters_changed(first: Users, other: Users, cluster: Callable[[Any], Hashable]) -> float:
    """Return the distance of element-level DP: pairs of a user and a cluster in which the user's points differ.

    Examples
    --------
    >>> zones = {"clinic": "health", "hospital": "health", "bar": "leisure"}
    >>> clusters_changed({1: ["clinic", "bar", "hospital"]}, {1: ["bar"]}, zones.get)
    1.0
    """
    if first.keys() != other.keys():
        return math.inf
    total = 0
    for user in first:
        one, two = (Counter(_points(data[user], cluster)) for data in (first, other))
        total += len({name for name, *_ in (one - two) + (two - one)})
    return float(total)


def _points(data: Any, cluster: Callable[[Any], Hashable]) -> Iterable[tuple[Hashable, ...]]:
    """Return the values of a user, or the points with their times, each with its cluster in front."""
    if isinstance(data, Mapping):
        return [(cluster(value), value, time) for time, value in data.items()]
    return [(cluster(value), value) for value in data]
