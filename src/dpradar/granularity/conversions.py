"""From one granularity to another: the factor k with which epsilon (or mu) grows, infinite where nothing follows.

k is the largest distance, in the metric of the source, of two databases that are neighbours under the target
(doctoral thesis, Proposition A.7). :class:`StreamChange` describes once what one step of the target may change; each
source says how far that is for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .database_facts import Facts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .database_facts import Hidden
    from .finite_domain import Domain
    from .neighbour_relation import Granularity

__all__ = ["Conversion", "conversion", "largest_distance"]

_MODES: tuple[Hidden, ...] = ("values", "points", "people")


@dataclass(frozen=True, slots=True)
class Conversion:
    """epsilon under ``source`` is at most ``factor`` epsilon under ``target``; ``why`` in words.

    Examples
    --------
    >>> from dpradar.granularity import Granularity
    >>> conversion(Granularity.unbounded(), Granularity.bounded()).factor
    2.0
    """

    source: str
    target: str
    factor: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamChange:
    """What one step may do to a stream: cells and users that change, and whether points or people come or go.

    ``span`` is the number of successive times they lie in, where there is such a limit and no two share a time.
    """

    cells: float
    users: float = 1.0
    span: float = math.inf
    trajectories: float = 1.0
    points: bool = False
    people: bool = False


def conversion(source: Granularity, target: Granularity, facts: Facts | None = None) -> Conversion:
    """Return how much larger epsilon (or mu) is under ``target`` than under ``source``.

    Guarantee
    ---------
    A mechanism that is epsilon-DP under ``source`` is ``factor`` epsilon-DP under ``target`` on every domain within
    ``facts``.

    Notes
    -----
    Doctoral thesis, Proposition A.7; every finite factor is compared with listed domains by the tests.

    Examples
    --------
    >>> from dpradar.granularity import Facts, Granularity
    >>> conversion(Granularity.bounded(), Granularity.unbounded()).factor
    inf
    >>> conversion(Granularity.event(), Granularity.w_event(10)).factor
    10.0
    >>> facts = Facts(points_per_user=20, times=96, hidden="points")
    >>> conversion(Granularity.event(), Granularity.user("replace-one"), facts).factor
    40.0
    """
    facts = facts or Facts()
    factor, why = _factor(source, target, facts)
    return Conversion(str(source), str(target), factor, why)


@lru_cache(maxsize=4096)  # pipelines have many steps and few relations
def _factor(source: Granularity, target: Granularity, facts: Facts) -> tuple[float, str]:
    if source == target:
        return 1.0, "the same relation"
    if source.name == "free-lunch":
        return 1.0, "any two databases are one step apart"
    if not (source.converts and target.converts):
        listed = source.finite is not None or target.finite is not None
        own = "user-defined relations are compared by listing the databases"
        return math.inf, own if listed else f"no conversion between {source} and {target} is derived"
    kinds = {source.kind, target.kind} - {"any"}
    if len(kinds) > 1:
        return math.inf, f"{source} and {target} are about different kinds of data"
    if target.name == "free-lunch":
        return _diameter(source, facts), "the largest distance of any two databases"
    rule = {"table": _table_factor, "graph": _graph_factor}.get(kinds.pop() if kinds else "stream", _stream_factor)
    return rule(source, target, facts)


# -------------------------------------------------------------------------------------------------------------- tables


def _table_factor(source: Granularity, target: Granularity, facts: Facts) -> tuple[float, str]:
    """Return the factor between records and users who have records."""
    most = facts.limit("points_per_user")
    leaving = source.neighbours == "add-remove"
    if leaving and facts.size == "public":
        return math.inf, "no two tables of the same public size are neighbours under it"
    if not leaving and target.neighbours == "add-remove":
        return math.inf, "replacing never changes how many there are"
    doubled = 2.0 if leaving and target.neighbours == "replace-one" else 1.0
    if most == 1.0 or (source.name == "user") == (target.name == "user"):  # a record is a user
        return doubled, "a replacement is a removal and an addition" if doubled > 1.0 else "one record"
    if not leaving and facts.hidden != "values":
        return math.inf, "how many records each user has may change, and replacing never changes that"
    if target.name == "user":
        return doubled * most, f"up to {most:g} records of one user" + (", removed and added" if doubled > 1.0 else "")
    return (2.0 * doubled, "users are removed and added") if leaving else (1.0, "a record of one user")


# -------------------------------------------------------------------------------------------------------------- graphs


def _graph_factor(source: Granularity, target: Granularity, facts: Facts) -> tuple[float, str]:
    if source.name not in ("edge", "node") or target.name not in ("edge", "node"):
        return math.inf, f"{source} and {target} are about different kinds of data"
    if target.name == "node" and target.neighbours == "add-remove":
        return math.inf, "the vertices are public under it"
    if source.name == "edge":
        most = min(facts.limit("vertices") - 1.0, 2.0 * facts.limit("degree"))
        return most, f"up to {most:g} edges of one vertex change"
    if source.neighbours == "add-remove":
        return 2.0, "a vertex is removed, and added with other edges"
    return 1.0, "an edge is an edge of one vertex"


# ------------------------------------------------------------------------------------------------------------- streams


def _stream_factor(source: Granularity, target: Granularity, facts: Facts) -> tuple[float, str]:
    """Return the factor on streams: the worst over what may be hidden, where that is not said."""
    joins = [g for g in (source, target) if g.name in ("user", "trajectory") and g.neighbours == "add-remove"]
    able = [mode for mode in _modes(joins) if facts.hidden in (None, mode)]
    if not able:
        return math.inf, f"{joins[0]} has no neighbours where hidden is {facts.hidden!r}"
    factors = [
        (_source_steps(source, stream_change(target, facts, mode), replace(facts, hidden=mode), target), mode)
        for mode in able
    ]
    factor, mode = max(factors, key=lambda one: one[0])
    if math.isinf(factor) and facts.hidden is None and len(factors) > 1 and not math.isinf(min(factors)[0]):
        best = " or ".join(repr(m) for f, m in factors if not math.isinf(f))
        return factor, f"nothing follows where hidden is {mode!r}; it is finite for {best}"
    return factor, _explanation(source, target, factor)


def _modes(joins: list[Granularity]) -> tuple[Hidden, ...]:
    """Return where relations under which something comes or goes have neighbours at all."""
    if any(g.name == "user" for g in joins):
        return ("people",)
    return ("points", "people") if joins else _MODES


def _explanation(source: Granularity, target: Granularity, factor: float) -> str:
    if math.isinf(factor):
        return f"no number of steps of {source} leads across every step of {target} within these facts"
    return f"one step of {target} is up to {factor:g} of {source}"


def stream_change(target: Granularity, facts: Facts, mode: Hidden) -> StreamChange:
    """Return what one step of a relation may do to a stream."""
    moving = mode != "values"
    people = mode == "people"
    times, points = facts.limit("times"), min(facts.limit("points_per_user"), facts.limit("times"))
    size = float(target.size or 1)
    if target.name == "event":
        return StreamChange(cells=1.0, span=1.0, points=moving, people=people)
    if target.name == "w-event":
        width = min(size, times)
        users = min(width, facts.limit("users"))
        return StreamChange(cells=width, users=users, span=width, trajectories=width, points=moving, people=people)
    most = facts.limit("trajectories_per_user")
    if target.name == "l-trajectory":
        cells = min(size, points)
        return StreamChange(cells=cells, trajectories=min(most, cells))
    each = facts.limit("points_per_trajectory") if target.name == "trajectory" else points
    each = min(each, points)
    trajectories = 1.0 if target.name == "trajectory" else most
    if target.neighbours == "add-remove":
        return StreamChange(cells=each, trajectories=trajectories, points=True, people=people)
    cells = min(2.0 * each, times) if moving else each  # points may move to other times
    return StreamChange(cells=cells, trajectories=trajectories, points=moving)


def _source_steps(source: Granularity, change: StreamChange, facts: Facts, target: Granularity) -> float:
    """Return how many steps of the source a change of a stream takes at most."""
    size = float(source.size or 1)
    if source.name in ("event", "w-event"):
        return min(change.cells, _round_up(min(change.span, facts.limit("times")) / size))
    if source.name == "l-trajectory":
        covered = _round_up(change.cells / size) if change.users == 1.0 else change.cells
        return math.inf if change.points else covered
    if source.name == "trajectory":
        return _trajectories(source, change, target)
    if source.neighbours == "add-remove":  # of a user
        return 2.0 * change.users
    if source.name == "element" and size > 1.0:
        return _elements(change, size, facts)
    return math.inf if change.people else change.users


def _elements(change: StreamChange, clusters: float, facts: Facts) -> float:
    """Return how many steps it takes to empty the clusters that lose points, and then to fill those that gain some.

    A time holds one point, so points leave before others come; the last cluster to lose some can gain in the same step.
    Where no point may vanish, or nobody may be without points, a point may be unable to leave its cluster at all.
    """
    most = min(2.0 * change.cells, change.users * (2.0 * clusters - 1.0))
    return most if facts.hidden == "points" else math.inf


def _round_up(ratio: float) -> float:
    return ratio if math.isinf(ratio) else float(math.ceil(ratio))


def _trajectories(source: Granularity, change: StreamChange, target: Granularity) -> float:
    if source.neighbours == "replace-one":
        stays = not change.points or (target.name == "trajectory" and target.neighbours == "replace-one")
        return change.trajectories if stays else math.inf
    one_sided = target.neighbours == "add-remove"  # they only come or only go
    return change.trajectories if one_sided else 2.0 * change.trajectories


def _diameter(source: Granularity, facts: Facts) -> float:
    """Return the largest distance of any two databases."""
    records, users, vertices = (facts.limit(name) for name in ("records", "users", "vertices"))
    times, points = facts.limit("times"), facts.limit("points_per_user")
    hidden, leaving = facts.hidden, source.neighbours == "add-remove"
    changes = min(points, times) if hidden == "values" else min(2.0 * points, times)
    diameters = {
        "bounded": records if facts.size == "public" else math.inf,
        "unbounded": math.inf if facts.size == "public" else 2.0 * records,
        "edge": vertices * (vertices - 1.0) / 2.0,
        "node": 2.0 * vertices if leaving else vertices - 1.0,
        "event": math.inf if hidden is None else users * changes,
        "user": math.inf if hidden is None or leaving != (hidden == "people") else users * (2.0 if leaving else 1.0),
    }
    return diameters.get(source.name, math.inf)


def largest_distance(source: Granularity | Domain, pairs: Iterable[tuple[Any, Any]]) -> float:
    """Return the largest distance of listed pairs: the exact factor for the relation whose neighbours they are.

    Examples
    --------
    >>> from dpradar.granularity import Granularity
    >>> tables = ["aa", "ab", "bb"]
    >>> largest_distance(Granularity.unbounded(), Granularity.bounded().on(tables).pairs())
    2.0
    """
    return max((source.distance(first, other) for first, other in pairs), default=0.0)
