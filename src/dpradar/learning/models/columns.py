"""Tables of people: named columns of one kind each, and errors that name the column but never an entry."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from numbers import Number
from typing import Any

from ...errors import ParameterError
from ...numerics.lazy_numpy import Array, np

__all__ = ["as_numbers", "columns_of", "kinds"]

_KINDS: tuple[type, ...] = (str, bytes, Number, date)  # entries of one of them can be compared with each other
_NOTHING = ("NAType", "NaTType")  # pandas' missing values, which are not equal to themselves or raise when asked


def columns_of(
    owner: str, table: Any, names: Sequence[str] | None = None, *, complete: Collection[str] = ()
) -> dict[str, Array]:
    """Return the named columns of a table: a mapping of columns, a list of records, or a data frame.

    A missing entry (None, or pandas' NA, or nan among words) becomes None, a category of its own; in the ``complete``
    columns it is refused. nan in a column of numbers is refused everywhere.

    Examples
    --------
    >>> columns_of("table", [{"age": 30, "sex": "f"}, {"age": 41, "sex": "m"}])["sex"].tolist()
    ['f', 'm']
    """
    expected = "columns by name, a list of records, or a data frame"
    if isinstance(table, Mapping) or hasattr(table, "columns"):
        requested = (
            list(table.keys() if isinstance(table, Mapping) else table.columns) if names is None else list(names)
        )
        present = set(table.keys() if isinstance(table, Mapping) else table.columns)
    elif isinstance(table, Sequence) and table and all(isinstance(row, Mapping) for row in table):
        requested = list(table[0]) if names is None else list(names)
        present = set.intersection(*(set(row) for row in table))
    else:
        raise ParameterError(owner, expected, f"{type(table).__name__}", "It needs at least one record.")
    missing = [name for name in requested if name not in present]
    if missing:
        raise ParameterError(owner, "a table with all columns that are used", f"no {', '.join(map(repr, missing))}")
    by_name = isinstance(table, Mapping) or hasattr(table, "columns")
    columns = {name: _as_array(table[name] if by_name else [row[name] for row in table]) for name in requested}
    shapes = {column.shape for column in columns.values()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1 or next(iter(shapes)) == (0,):
        # Sizes only: an error must not show a record.
        raise ParameterError(owner, "columns of equal length, with at least one record", f"shapes {sorted(shapes)}")
    checked = {name: _of_one_kind(f"{owner}[{name!r}]", column) for name, column in columns.items()}
    for name in complete:
        if name in checked and (gaps := _count_missing(checked[name])):
            hint = "Drop these records, or replace the missing values with a category of their own."
            got = f"{gaps} of {checked[name].size} missing"
            raise ParameterError(f"{owner}[{name!r}]", "a value for each record", got, hint)
    return checked


def as_numbers(owner: str, column: Array) -> Array:
    """Return a column as finite numbers, or raise without showing an entry."""
    hint = "Leave it out of the numeric columns, or fill and convert it first."
    try:
        numbers = column.astype(float)
    except (TypeError, ValueError):
        # Not chained: the error of numpy shows the entry.
        raise ParameterError(owner, "numbers, as a numeric column", "other entries", hint) from None
    if not np.all(np.isfinite(numbers)):
        raise ParameterError(owner, "finite numbers, as a numeric column", "missing or infinite ones", hint)
    return np.asarray(numbers)


def kinds(entries: Iterable[Any]) -> set[type]:
    """Return which kinds of entries there are: words, numbers, dates. Entries of two kinds are never equal.

    Examples
    --------
    >>> kinds([1, 2.5, True]) == kinds(np.array([3])), kinds(["1"]) == kinds([1])
    (True, False)
    """
    return {_kind(one) for one in set(map(type, entries))}


def _kind(entry: type) -> type:
    # numpy's truth values are numbers too, but do not say so.
    return Number if entry is np.bool_ else next((kind for kind in _KINDS if issubclass(entry, kind)), entry)


def _as_array(column: Any) -> Array:
    # Of a list with words in it numpy would make words: "1" of 1 and "nan" of nan.
    return np.asarray(column, dtype=object) if isinstance(column, (list, tuple)) else np.asarray(column)


def _of_one_kind(owner: str, column: Array) -> Array:
    """Return the column with None for what is missing; where all are numbers, as numbers."""
    if column.dtype.kind == "O":
        entries = column.tolist()
        types = set(map(type, entries))
        if any(one.__hash__ is None for one in types):
            raise ParameterError(owner, "words, numbers or dates", " and ".join(sorted(t.__name__ for t in types)))
        empty = np.array([_is_missing(entry) for entry in entries])
        kinds_present = kinds(column[~empty].tolist())
        if len(kinds_present) > 1:
            got = " and ".join(sorted(t.__name__ for t in types))
            raise ParameterError(owner, "entries of one kind", got, "Make all of them words, or all of them numbers.")
        if kinds_present <= {Number} and all(issubclass(one, Number | np.bool_) for one in types):
            column = np.array(entries)
        else:
            column = column.copy()
            column[empty] = None
    if column.dtype.kind == "f" and not np.all(np.isfinite(column)):
        raise ParameterError(owner, "finite numbers", "nan or infinite", "Fill or drop them first.")
    return column


def _is_missing(entry: Any) -> bool:
    return entry is None or type(entry).__name__ in _NOTHING or bool(entry != entry)  # noqa: PLR0124 (only nan is)


def _count_missing(column: Array) -> int:
    if column.dtype.kind in "Mm":
        return int(np.isnat(column).sum())
    return sum(entry is None for entry in column.tolist()) if column.dtype.kind == "O" else 0
