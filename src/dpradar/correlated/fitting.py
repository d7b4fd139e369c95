"""``fit``: a model of the dependence from a table or a series, with every hypothesis checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..errors import ParameterError
from ..numerics.lazy_numpy import Floats, Ints, np
from ..params import bad_cell
from ..results.correlation import Check
from . import hypothesis_checks as tests
from .models import Chain, GaussianGroups, Groups, Joint

__all__ = ["Fit", "fit", "numbers_in"]

Missing = Literal["break", "drop", "refuse"]
_MISSING_WORDS = {"", "na", "nan", "n/a", "null", "none", "?", "."}
_MOST_STATES = 50
_LARGEST = 1e100
_PRIVATE = "computed from the data, so these numbers are not themselves differentially private"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """A model with what was checked; give it to :func:`leakage`.

    ``doubts`` are the checks that speak against the model. Where the model was named by the caller (``claimed``) they
    become assumptions of every bound; otherwise the theorems about the model are not used.
    """

    model: Groups | GaussianGroups | Chain | Joint
    checks: tuple[Check, ...] = ()
    doubts: tuple[Check, ...] = ()
    claimed: bool = False
    assumes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    clip: tuple[float, float] | None = None
    observed: tuple[float, float] | None = field(default=None, repr=False)
    values: tuple[float, ...] | None = None
    answer: float | None = field(default=None, repr=False)  # the true sum or count: private


def fit(  # noqa: PLR0913 - one question about tables and series; all but the data are named
    data: Mapping[str, Sequence[Any]] | Sequence[Any],
    *,
    group: str | None = None,
    value: str | None = None,
    role: str | None = None,
    columns: Sequence[str] | None = None,
    clip: tuple[float, float] | None = None,
    model: Literal["groups", "gaussian", "markov"] | None = None,
    state: Callable[[Any], Hashable] | None = None,
    missing: Missing = "break",
    period: int | None = None,
) -> Fit:
    """Return a model of how the records of a table or a series depend on each other, and what contradicts it.

    Parameters
    ----------
    data
        A table {column: list}, or a series of states in order of time.
    group, value, role
        Of a table with one row for each record: which group it belongs to, its number, and its kind within the group
        ("father", "child"). Without kinds all records of a group count as alike.
    columns
        Instead: of a table with one row for each group, the columns that hold the numbers of its records.
    clip
        The interval to which values will be clipped.
    model
        "gaussian" claims that groups are jointly Gaussian even if the data speak against it; "groups" asks for no
        model; "markov" claims the same of a series. By default the theorems of a model are used unless the data
        speak against it.
    state
        Of a series: turns an entry into a state, such as ``lambda steps: steps > 0``.
    missing
        Of a series: a missing entry interrupts it ("break"), is left out as if its neighbours followed each other
        ("drop"), or is an error ("refuse"). Rows of a table without a value are left out.
    period
        Of a series: also compare the transitions in parts of a period of this length, such as a day.

    Examples
    --------
    >>> from dpradar import correlated
    >>> chain = correlated.fit([0, 0, 1, 1, 1, 0, 0, 0, 1, 0, None, 0, 0, 1])
    >>> chain.model, chain.model.transitions.round(2).tolist(), chain.notes[0]
    (Chain(2 states, length 14), [[0.57, 0.43], [0.5, 0.5]], '1 missing entry interrupts the series')
    """
    if isinstance(data, Mapping):
        return _fit_table(data, group, value, role, columns, clip, model)
    if any(option is not None for option in (group, value, role, columns, clip)) or model not in (None, "markov"):
        hint = "group, value, role, columns and clip are about tables; a series may have model='markov'."
        raise ParameterError("fit", "given a table {column: list} with these options", "a series", hint)
    fitted = _fit_series(list(data), state, missing, period)
    return replace(fitted, claimed=model == "markov")


# Tables.


def numbers_in(column: Sequence[Any], name: str) -> list[float]:
    """Return the numbers of a column, nan where a cell is empty; the content of a cell stays out of messages."""
    return [_number(cell, row, name) for row, cell in enumerate(column)]


def _number(cell: Any, row: int, name: str) -> float:
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in _MISSING_WORDS):
        return math.nan
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"column {name!r}", "numbers or empty cells", *bad_cell(cell, row)) from None


def _column(table: Mapping[str, Sequence[Any]], name: str, option: str) -> Sequence[Any]:
    if name not in table:
        raise ParameterError(f"fit.{option}", f"a column: {', '.join(map(str, table))}", repr(name))
    return table[name]


def _numbers(table: Mapping[str, Sequence[Any]], name: str, option: str) -> Floats:
    column = _column(table, name, option)
    numbers = np.array(numbers_in(column, name), dtype=float)
    if np.any(np.isinf(numbers)):
        raise ParameterError(f"column {name!r}", "finite numbers", "an infinite one")
    if np.any(np.abs(numbers) > _LARGEST):  # squares are added up
        raise ParameterError(f"column {name!r}", f"numbers of at most {_LARGEST:g}", "a larger one", "Change the unit.")
    return numbers


@dataclass(frozen=True, slots=True)
class _GroupedRecords:
    """Records in rows: their numbers, groups (from 0, in order of appearance) and kinds."""

    values: Floats
    groups: Ints
    kinds: Ints
    names: tuple[str, ...]
    notes: tuple[str, ...]
    has_kinds: bool


def _fit_table(
    table: Mapping[str, Sequence[Any]],
    group: str | None,
    value: str | None,
    role: str | None,
    columns: Sequence[str] | None,
    clip: tuple[float, float] | None,
    model: str | None,
) -> Fit:
    if (columns is None) == (group is None or value is None):
        hint = "One row a record: group= and value=. One row a group: columns=."
        raise ParameterError("fit", "given either group and value, or columns", "both or neither", hint)
    if model not in (None, "groups", "gaussian"):
        raise ParameterError("fit.model", '"groups" or "gaussian"', repr(model))
    records = (
        _records_of_columns(table, columns)
        if columns is not None
        else _records_of_groups(table, str(group), str(value), role)
    )
    if records.values.size < 2:
        raise ParameterError("fit", "given at least 2 records", f"{records.values.size}")
    sizes = np.bincount(records.groups)
    m, n = int(sizes.max()), int(records.values.size)
    clip = None if clip is None else (float(clip[0]), float(clip[1]))
    observed = (float(records.values.min()), float(records.values.max()))
    notes = (f"{n:,} records in {sizes.size:,} groups of at most {m}", *records.notes)
    means = np.bincount(records.groups, records.values) / sizes
    checks = [tests.independence_check(means), *_clip_check(records.values, clip)]
    answer = None if clip is None else float(np.clip(records.values, *clip).sum())
    common: dict[str, Any] = {"notes": notes, "clip": clip, "observed": observed, "answer": answer}
    plain = Fit(model=Groups(size=m, records=n), checks=tuple(checks), warnings=(_PRIVATE,), **common)
    if m == 1 or model == "groups":
        return plain
    gaussian = _covariances(records, sizes)
    if isinstance(gaussian, Check):
        return Fit(model=plain.model, checks=(*checks, gaussian), doubts=(gaussian,), warnings=plain.warnings, **common)
    covariances, centres, counts = gaussian
    samples = {records.names[kind]: records.values[records.kinds == kind] for kind in range(len(records.names))}
    normal = tests.normal_check(samples)
    checks += [normal, *tests.group_checks(covariances, counts, kinds=records.has_kinds)]
    doubts = tuple(check for check in (normal,) if check.holds is False)
    assumed = f"means and covariances are those estimated from {sizes.size:,} groups"
    return Fit(
        model=GaussianGroups(covariances, means=centres, records=n),
        checks=tuple(checks),
        doubts=doubts,
        claimed=model == "gaussian",
        assumes=(assumed, *(() if records.has_kinds else ("all records of a group are of one kind",))),
        warnings=plain.warnings,
        **common,
    )


def _records_of_columns(table: Mapping[str, Sequence[Any]], columns: Sequence[str]) -> _GroupedRecords:
    names = [str(name) for name in columns]
    if len(names) < 2 or len(set(names)) != len(names):
        raise ParameterError("fit.columns", "at least 2 different columns", f"{len(names)}")
    matrix = np.column_stack([_numbers(table, name, "columns") for name in names])
    complete = ~np.isnan(matrix).any(axis=1)
    incomplete = int((~complete).sum())
    notes = (f"{incomplete:,} of {len(matrix):,} rows have a missing value and are left out",) if incomplete else ()
    matrix = matrix[complete]
    rows, size = matrix.shape
    groups = np.repeat(np.arange(rows), size)
    return _GroupedRecords(matrix.ravel(), groups, np.tile(np.arange(size), rows), tuple(names), notes, has_kinds=True)


def _records_of_groups(table: Mapping[str, Sequence[Any]], group: str, value: str, role: str | None) -> _GroupedRecords:
    values = _numbers(table, value, "value")
    labels = [str(label) for label in _column(table, group, "group")]
    kinds = ["" for _ in labels] if role is None else [str(label) for label in _column(table, role, "role")]
    if not len(values) == len(labels) == len(kinds):
        raise ParameterError("fit", "given columns of equal length", f"{len(values)}, {len(labels)}, {len(kinds)}")
    present = ~np.isnan(values) & np.array([label.strip().lower() not in _MISSING_WORDS for label in labels])
    incomplete = int((~present).sum())
    notes = (
        (f"{incomplete:,} of {len(values):,} rows have no value or no group and are left out",) if incomplete else ()
    )
    complete = np.flatnonzero(present)
    numbers = {label: k for k, label in enumerate(dict.fromkeys(labels[i] for i in complete))}
    names = tuple(dict.fromkeys(kinds[i] for i in complete))
    order = {label: k for k, label in enumerate(names)}
    return _GroupedRecords(
        values[complete],
        np.array([numbers[labels[i]] for i in complete], dtype=np.intp),
        np.array([order[kinds[i]] for i in complete], dtype=np.intp),
        names,
        notes,
        has_kinds=role is not None,
    )


def _clip_check(values: Floats, clip: tuple[float, float] | None) -> list[Check]:
    if clip is None:
        return []
    outside = int(((values < clip[0]) | (values > clip[1])).sum())
    name = "within-clip"
    if outside == 0:
        return [Check(name=name, holds=True, text=f"all values lie within [{clip[0]:g}, {clip[1]:g}]")]
    text = f"{outside:,} of {values.size:,} values lie outside [{clip[0]:g}, {clip[1]:g}]; targets may too"
    return [Check(name=name, holds=False, text=text)]


def _covariances(records: _GroupedRecords, sizes: Ints) -> Check | tuple[list[Floats], list[Floats], list[int]]:
    """Return the covariance and the means of every largest kind of group, estimated by moments.

    Variances by kind of record, covariances by pair of kinds over all pairs within groups. Groups whose kinds are
    among those of another are left out: the larger one leaks more (more unknown records, the same coefficients).
    """
    size = len(records.names)
    counts = np.bincount(records.kinds, minlength=size)
    means = np.bincount(records.kinds, records.values, minlength=size) / counts
    deviation = records.values - means[records.kinds]
    table = np.zeros((sizes.size, size))  # sums of deviations by group and kind
    squares, number = np.zeros_like(table), np.zeros_like(table)
    np.add.at(table, (records.groups, records.kinds), deviation)
    np.add.at(squares, (records.groups, records.kinds), deviation**2)
    np.add.at(number, (records.groups, records.kinds), 1.0)
    if int(counts.min()) < 2:
        return Check(name="covariance", holds=False, text="a kind of record occurs only once")
    variance = squares.sum(axis=0) / (counts - 1)
    if np.any(variance <= 0.0):
        return Check(name="covariance", holds=False, text="a kind of record always has the same value")
    products, pairs = table.T @ table, number.T @ number
    products[np.diag_indices(size)] -= squares.sum(axis=0)
    pairs[np.diag_indices(size)] -= counts
    freedom = np.where(pairs > 1.0, pairs - 1.0 if records.has_kinds else pairs, 1.0)
    cross = products / freedom
    shapes = _largest_shapes({tuple(int(k) for k in row) for row in number})
    if any(pairs[a, b] == 0.0 for shape in shapes for a, b in _pairs_in(shape)):
        return Check(name="covariance", holds=False, text="some pair of kinds never occurs in one group")
    matrices, centres = [], []
    for shape in shapes:
        kinds = np.repeat(np.arange(size), shape)
        matrix = cross[np.ix_(kinds, kinds)].copy()
        np.fill_diagonal(matrix, variance[kinds])
        matrices.append(matrix)
        centres.append(means[kinds])
    return matrices, centres, [int(c) for c in counts]


def _pairs_in(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    present_kinds = [k for k, count in enumerate(shape) if count]
    return [(a, b) for a in present_kinds for b in present_kinds if a != b or shape[a] > 1]


def _largest_shapes(shapes: set[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the kinds of groups that are not part of a larger one."""
    return sorted(
        one
        for one in shapes
        if not any(other != one and all(a <= b for a, b in zip(one, other, strict=True)) for other in shapes)
    )


# Series.


def _is_missing(entry: Any) -> bool:
    if entry is None or (isinstance(entry, str) and entry.strip().lower() in _MISSING_WORDS):
        return True
    return isinstance(entry, (float, np.floating)) and math.isnan(float(entry))


def _fit_series(entries: list[Any], state: Callable[[Any], Hashable] | None, missing: str, period: int | None) -> Fit:
    if missing not in ("break", "drop", "refuse"):
        raise ParameterError("fit.missing", '"break", "drop" or "refuse"', repr(missing))
    if period is not None and period < 2:
        raise ParameterError("fit.period", "a whole number of at least 2", repr(period))
    is_missing = [_is_missing(entry) for entry in entries]
    n_missing = sum(is_missing)
    if n_missing and missing == "refuse":
        hint = "Or choose missing='break' (command line: --missing break)."
        raise ParameterError("fit", "given a series without missing entries", f"{n_missing:,} of them", hint)
    if missing == "drop":
        entries = [e for e, g in zip(entries, is_missing, strict=True) if not g]
        is_missing = [False] * len(entries)
    labels = [None if g else (e if state is None else state(e)) for e, g in zip(entries, is_missing, strict=True)]
    names = _state_names([label for label, g in zip(labels, is_missing, strict=True) if not g])
    number = {name: k for k, name in enumerate(names)}
    states = np.array([-1 if g else number[label] for label, g in zip(labels, is_missing, strict=True)], dtype=np.intp)
    P = _transition_rates(states, len(names))
    checks = tests.chain_checks(states, P, period=period)
    doubts = tuple(c for c in checks if c.holds is False and c.name != "positive")
    steps = int(((states[:-1] >= 0) & (states[1:] >= 0)).sum())
    binary = set(names) == {0, 1} or names == ["0", "1"]  # False and True too; words of a file
    present = int((states >= 0).sum())
    return Fit(
        model=Chain(P, length=len(states)),
        checks=tuple(checks),
        doubts=doubts,
        assumes=(f"transition probabilities are those estimated from {steps:,} transitions",),
        notes=_series_notes(n_missing, missing, present, is_missing),
        warnings=(_PRIVATE,),
        values=(0.0, 1.0) if binary else None,
        answer=float((states == 1).sum()) if binary else None,
    )


def _state_names(labels: list[Any]) -> list[Any]:
    names = list(dict.fromkeys(v.item() if isinstance(v, np.generic) else v for v in labels))
    if len(names) < 2:
        raise ParameterError("fit", "given a series with at least 2 different states", f"{len(names)}")
    if len(names) > _MOST_STATES:
        hint = "Group them, such as by state=lambda steps: steps > 0 (command line: --state 'steps>0')."
        raise ParameterError("fit", f"given a series with at most {_MOST_STATES} states", f"{len(names)}", hint)
    try:
        return sorted(names)
    except TypeError:
        return names


def _transition_rates(states: Ints, size: int) -> Floats:
    consecutive = (states[:-1] >= 0) & (states[1:] >= 0)
    counts = np.zeros((size, size))
    np.add.at(counts, (states[:-1][consecutive], states[1:][consecutive]), 1.0)
    departures = counts.sum(axis=1)
    if np.any(departures == 0.0):
        hint = "Its transition probabilities cannot be estimated; join it with another state."
        raise ParameterError(
            "fit", "given a series in which every state is followed by another", "one that is not", hint
        )
    return np.asarray(counts / departures[:, None])


def _series_notes(n_missing: int, missing: str, present: int, is_missing: list[bool]) -> tuple[str, ...]:
    records = f"{present:,} records"
    if not n_missing:
        return (records,)
    entries = "entry" if n_missing == 1 else "entries"
    if missing == "drop":
        verb = "is" if n_missing == 1 else "are"
        return (f"{n_missing:,} missing {entries} {verb} left out, as if their neighbours followed each other", records)
    gaps = sum(a and not b for a, b in zip(is_missing, [False, *is_missing], strict=False))
    where = f" in {gaps} gaps" if gaps > 1 else ""
    return (f"{n_missing:,} missing {entries}{where} interrupt{'s' if n_missing == 1 else ''} the series", records)
