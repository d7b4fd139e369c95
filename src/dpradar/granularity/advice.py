"""Which granularity for a stream: what each hides, what a guarantee implies elsewhere, how long a window must be."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from statistics import median
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..errors import ParameterError
from ..params import Param, shown
from ..results.advice import Advice, Notice
from .chain_mixing import mixing_time, transitions
from .conversions import conversion
from .database_facts import Facts
from .neighbour_relation import Granularity

if TYPE_CHECKING:
    from .database_facts import Hidden

__all__ = ["advise"]

_EPSILON = Param(
    name="epsilon", low=0.0, what="the epsilon that is guaranteed under the granularity", typical=(0.1, 10.0)
)
_MOST_STATES = 500


def advise(
    stream: Mapping[Any, Mapping[int, Any]],
    *,
    granularity: Granularity | str,
    epsilon: float,
    hidden: Hidden | None = None,
    window: int | None = None,
    clusters: int | None = None,
    state: Callable[[Any], Hashable] | None = None,
) -> Advice:
    """Return what a guarantee under one granularity means for a stream ``{user: {time: value}}`` with whole times.

    ``hidden`` says what of the stream is secret (:class:`Facts`). ``window`` is the w of w-event and the l of
    l-trajectory DP that are shown; without it, the time the stream takes to mix, or 10. ``state`` groups values (such
    as cells of a map into districts) before transitions are counted.

    Guarantee
    ---------
    Each implied epsilon is an upper bound for streams with no more users, times and points per user than this one.
    Mixing times are estimates.

    Notes
    -----
    Doctoral thesis, Section 3.3: the window has to exceed the mixing time, or what happened before it can be inferred
    from what happens in it. Numbers of points and mixing times come from the data and are not differentially private.

    Examples
    --------
    >>> stream = {u: {t: (t * u) % 3 for t in range(30)} for u in range(1, 5)}
    >>> print(advise(stream, granularity="event", epsilon=0.1, hidden="values", window=5).row("w-event:5").implied)
    0.5
    """
    source = Granularity.parse(granularity) if isinstance(granularity, str) else granularity
    budget = _EPSILON.check("advise", epsilon)
    _check(stream)
    rows = [row for row in stream.values() if row]
    first = min(min(row) for row in rows)
    length = max(max(row) for row in rows) - first + 1
    counts = sorted(map(len, rows))
    facts = Facts(users=len(rows), points_per_user=counts[-1], times=length, hidden=hidden)
    quarter, hundredth, states, notes = _memory(stream, state)
    width = window if window is not None else _suggested_width(hundredth, length)
    targets = _compared_granularities(source, width, clusters, hidden)
    notes += _window_notes(width, quarter, hundredth, budget, source)
    return Advice(
        granularity=str(source),
        epsilon=budget,
        users=len(rows),
        points=sum(counts),
        most_points=counts[-1],
        middle_points=float(median(counts)),
        times=length,
        hidden=hidden,
        rows=tuple(_row(source, target, facts, budget) for target in targets),
        mixing_quarter=quarter,
        mixing_hundredth=hundredth,
        states=states,
        window=width,
        notes=tuple(notes),
        version=__version__,
    )


def _check(stream: Any) -> None:
    shape = "a mapping from users to {time: value} with whole times, and at least one point"
    if not isinstance(stream, Mapping) or not any(stream.values()):
        raise ParameterError("advise.stream", shape, shown(type(stream).__name__))
    for row in stream.values():
        if not isinstance(row, Mapping) or not all(isinstance(time, int) for time in row):
            raise ParameterError("advise.stream", shape, "another shape", "Count times in steps: 0, 1, 2, ...")


def _compared_granularities(
    source: Granularity, width: int, clusters: int | None, hidden: Hidden | None
) -> list[Granularity]:
    granularities = [source, Granularity.event(), Granularity.w_event(width), Granularity.l_trajectory(width)]
    granularities += [] if clusters is None else [Granularity.element(clusters)]
    granularities.append(Granularity.user("replace-one"))
    granularities += [Granularity.user("add-remove")] if hidden in (None, "people") else []
    return list(dict.fromkeys(granularities))


def _row(source: Granularity, target: Granularity, facts: Facts, epsilon: float) -> Notice:
    converted = conversion(source, target, facts)
    implied = math.inf if math.isinf(converted.factor) else converted.factor * epsilon
    return Notice(
        granularity=str(target),
        unit=target.unit,
        exposed=target.exposed,
        factor=converted.factor,
        implied=implied,
        why=converted.why,
    )


def _memory(
    stream: Mapping[Any, Mapping[int, Any]], state: Callable[[Any], Hashable] | None
) -> tuple[float | None, float | None, int | None, list[str]]:
    """Return the two mixing times and the number of states, or why there are none."""
    matrix, names = transitions(stream, state)
    if not names:
        return (
            None,
            None,
            None,
            ["no two points at successive times, so nothing is known about how places follow each other"],
        )
    if len(names) > _MOST_STATES:
        note = f"{len(names):,} states are too many to count transitions between; group them with state="
        return None, None, len(names), [note]
    return mixing_time(matrix, 0.25), mixing_time(matrix, 0.01), len(names), []


def _suggested_width(hundredth: float | None, length: int) -> int:
    return min(10 if hundredth is None or math.isinf(hundredth) else int(hundredth) + 1, length)


def _window_notes(
    width: int, quarter: float | None, hundredth: float | None, epsilon: float, source: Granularity
) -> list[str]:
    """Return whether the window is longer than the memory, and what a change that drags others along costs."""
    if quarter is None or hundredth is None:
        return []
    if math.isinf(hundredth):
        return [
            "the chain of places never mixes (parts that are not connected, or a fixed rhythm): no window is enough"
        ]
    notes = []
    if width <= hundredth:
        notes.append(
            f"a window of {width} does not exceed the time to mix ({hundredth:g} steps at 1/100): what happened"
        )
        notes[-1] += " before it can be inferred from what happens in it"
    else:
        notes.append(f"a window of {width} exceeds the time to mix ({hundredth:g} steps at 1/100, {quarter:g} at 1/4)")
    if source.name == "event" and quarter > 1:
        text = f"a point rarely changes alone: one that drags {quarter:g} successive points along costs up to epsilon"
        notes.append(f"{text} {quarter * epsilon:g}, not {epsilon:g}")
    return notes
