"""How far counts really move: n-grams, prefixes and histograms, each with two databases that show it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import ParameterError

if TYPE_CHECKING:
    from ...guarantees.neighbours import Neighbours

__all__ = ["QUERIES", "Moved", "gram_counts", "moved", "prefix_counts"]

QUERIES = ("count", "histogram", "n-gram", "prefix-tree")
Trajectories = Iterable[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Moved:
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
    found: Counter[tuple[str, ...]] = Counter()
    for path in trajectories:
        sizes = range(1, len(path) + 1) if gram is None else (gram,)
        found.update(tuple(path[k : k + size]) for size in sizes for k in range(len(path) - size + 1))
    return found


def prefix_counts(trajectories: Trajectories, levels: int) -> Counter[tuple[str, ...]]:
    """Return how many trajectories start with each prefix of up to ``levels`` places.

    Examples
    --------
    >>> prefix_counts(["AB", "AC"], 2)[("A",)]
    2
    """
    return Counter(tuple(path[:size]) for path in trajectories for size in range(1, min(levels, len(path)) + 1))


def moved(query: str, neighbours: Neighbours, longest: int | None, gram: int | None) -> Moved:
    """Return how far a query moves when one trajectory (or record) is replaced, or added or removed.

    ``longest`` is the number of points of the longest trajectory; ``gram`` the n of n-grams (all lengths where it is
    None), or the levels of a prefix tree (as many as the longest trajectory has points).

    Notes
    -----
    Doctoral thesis, Section 3.4.1, whose "sensitivity 1" of a prefix tree is that of one level.

    Examples
    --------
    >>> moved("n-gram", "add-remove", longest=20, gram=1).l1, moved("prefix-tree", "add-remove", 20, None).l1
    (20.0, 20.0)
    """
    twice = neighbours == "replace-one"
    if query in ("count", "histogram"):
        cells = 2 if twice and query == "histogram" else 1
        shown = "one record of cell A is replaced by one of cell B: " if twice else "one record is added: "
        return Moved(float(cells), math.sqrt(cells), f"{shown}{cells} count{'s' if cells > 1 else ''} change by 1")
    if query not in QUERIES:
        raise ParameterError("query", f"one of {', '.join(QUERIES)}", repr(query))
    if longest is None:
        raise ParameterError("longest", "given with n-grams and prefixes", "nothing", "It limits what one person adds.")
    first = ["A" * longest]
    other = ["B" * longest] if twice else []
    if query == "n-gram":
        counts = [gram_counts(some, gram) for some in (first, other)]
    else:
        counts = [prefix_counts(some, longest if gram is None else gram) for some in (first, other)]
    change = [abs(counts[0][key] - counts[1][key]) for key in counts[0] | counts[1]]
    told = f"the trajectory {_short(longest, 'A')} {'replaced by ' + _short(longest, 'B') if twice else 'added'}"
    what = "n-grams" if query == "n-gram" else "prefixes"
    return Moved(
        float(sum(change)),
        math.sqrt(sum(c * c for c in change)),
        f"{told} changes the counts of {what} by {sum(change)} in all",
    )


def _short(length: int, place: str) -> str:
    return place * length if length <= 6 else f"{place * 3}... ({length} points at {place})"
