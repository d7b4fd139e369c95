"""The sensitivity of n-gram, prefix and histogram counts, each with two databases that attain it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import ParameterError

if TYPE_CHECKING:
    from ...guarantees.neighbours import Neighbours

__all__ = ["QUERIES", "QueryChange", "gram_counts", "prefix_counts", "query_change"]

QUERIES = ("count", "histogram", "n-gram", "prefix-tree")
Trajectories = Iterable[Sequence[str]]


@dataclass(frozen=True, slots=True)
class QueryChange:
    """The largest change of a query between neighbours in two norms, and neighbours that have it."""

    l1: float
    l2: float
    witness: str


def gram_counts(trajectories: Trajectories, gram: int | None) -> Counter[tuple[str, ...]]:
    """Return how often each run of ``gram`` successive places occurs; of every length where it is None.

    Examples
    --------
    >>> gram_counts(["AAB"], 2)
    Counter({('A', 'A'): 1, ('A', 'B'): 1})
    """
    counts: Counter[tuple[str, ...]] = Counter()
    for path in trajectories:
        sizes = range(1, len(path) + 1) if gram is None else (gram,)
        counts.update(tuple(path[k : k + size]) for size in sizes for k in range(len(path) - size + 1))
    return counts


def prefix_counts(trajectories: Trajectories, levels: int) -> Counter[tuple[str, ...]]:
    """Return how many trajectories start with each prefix of up to ``levels`` places.

    Examples
    --------
    >>> prefix_counts(["AB", "AC"], 2)[("A",)]
    2
    """
    return Counter(tuple(path[:size]) for path in trajectories for size in range(1, min(levels, len(path)) + 1))


def query_change(query: str, neighbours: Neighbours, longest: int | None, gram: int | None) -> QueryChange:
    """Return how far a query moves when one trajectory (or record) is replaced, or added or removed.

    ``longest`` is the number of points of the longest trajectory; ``gram`` the n of n-grams (all lengths where it is
    None), or the levels of a prefix tree (as many as the longest trajectory has points).

    Notes
    -----
    Doctoral thesis, Section 3.4.1, whose "sensitivity 1" of a prefix tree is that of one level.

    Examples
    --------
    >>> query_change("n-gram", "add-remove", longest=20, gram=1).l1
    20.0
    >>> query_change("prefix-tree", "add-remove", longest=20, gram=None).l1
    20.0
    """
    twice = neighbours == "replace-one"
    if query in ("count", "histogram"):
        cells = 2 if twice and query == "histogram" else 1
        change_text = "one record of cell A is replaced by one of cell B: " if twice else "one record is added: "
        witness = f"{change_text}{cells} count{'s' if cells > 1 else ''} change by 1"
        return QueryChange(float(cells), math.sqrt(cells), witness)
    if query not in QUERIES:
        raise ParameterError("query", f"one of {', '.join(QUERIES)}", repr(query))
    if longest is None:
        raise ParameterError("longest", "given with n-grams and prefixes", "nothing", "It limits what one person adds.")
    total, squares = _own_counts(query, longest, gram)
    if twice:  # the other trajectory visits another place only, and changes as many other counts
        total, squares = 2 * total, 2 * squares
    replacement = f"replaced by {_short(longest, 'B')}" if twice else "added"
    unit = "n-grams" if query == "n-gram" else "prefixes"
    return QueryChange(
        float(total),
        math.sqrt(squares),
        f"the trajectory {_short(longest, 'A')} {replacement} changes the counts of {unit} by {total} in all",
    )


def _own_counts(query: str, longest: int, gram: int | None) -> tuple[int, int]:
    """Return the sum of the counts of a trajectory that stays at one place, and the sum of their squares."""
    if query == "prefix-tree":
        levels = longest if gram is None else min(gram, longest)
        return levels, levels
    if gram is None:  # runs of k places: longest - k + 1 of them, all alike
        return longest * (longest + 1) // 2, longest * (longest + 1) * (2 * longest + 1) // 6
    count = max(longest - gram + 1, 0)
    return count, count * count


def _short(length: int, place: str) -> str:
    return place * length if length <= 6 else f"{place * 3}... ({length} points at {place})"
