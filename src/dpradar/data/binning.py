"""How a column becomes categories: by rules that are named in the result, computed inside the engine.

A rule gives each row a whole number, so that no value of a record leaves the engine; the label of the bin is made from
the number here. Every engine computes the same numbers: IEEE arithmetic on doubles, and whole-number ranks.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..numerics.lazy_numpy import np
from ..params import shown

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BinningRule", "checked_bins", "how_to_cut", "rule_for"]

MOST_BINS = 10_000
MOST_EDGES = 200  # each is a comparison in the query
_LARGEST = sys.float_info.max
MOST_LEVELS = 1000  # of whole numbers and dates that were not declared to be categories
_ALLOWED = "a number of bins, a list of edges, 'width:W', 'quantiles:K', 'year' or 'values'"
_EDGES = "Bins lie between neighbouring edges, such as [18, 65]."


@dataclass(frozen=True, slots=True)
class BinningRule:
    """How one column is cut: its name in the result, the code of a row, and the label of a code."""

    text: str
    code: Callable[[Any, Any], Any]  # (table, column) -> (expression of a whole number, or the column itself)
    label: Callable[[Any], Any] | None = None
    largest: float | None = None  # numbers further from 0, infinite ones included, have no place in it
    most_levels: int | None = None


def checked_bins(bins: Any, columns: Sequence[str]) -> dict[str, Any]:
    """Return the rules by column, or say what is wrong with the mapping."""
    if bins is None:
        return {}
    if not isinstance(bins, Mapping):
        raise ParameterError("data.bins", "a mapping from columns to rules, such as {'age': 10}", shown(bins))
    unknown = [name for name in bins if name not in columns]
    if unknown:
        hint = f"Columns: {', '.join(columns)}."
        raise ParameterError("data.bins", "about columns that are counted", shown(unknown[0]), hint)
    return dict(bins)


def rule_for(name: str, dtype: Any, option: Any) -> BinningRule:
    """Return the rule of a column of some ibis type."""
    numeric = dtype.is_numeric() and not dtype.is_boolean()
    if option is None:
        return _values_rule(name, dtype)
    if isinstance(option, str) and option == "values":
        return BinningRule("values", _identity_code)
    if isinstance(option, str) and option == "year" and dtype.is_timestamp() and dtype.timezone is not None:
        return BinningRule("year (UTC)", lambda _, x: in_utc(x).year())
    if isinstance(option, str) and option == "year" and (dtype.is_date() or dtype.is_timestamp()):
        return BinningRule("year", lambda _, x: x.year())
    if not numeric:
        allowed = "'year' or 'values'" if dtype.is_temporal() else "'values'"
        hint = "Bins are for columns of numbers."
        raise ParameterError(f"data.bins[{name!r}]", f"{allowed} for a column of type {dtype}", shown(option), hint)
    return _numeric(f"data.bins[{name!r}]", option)


def how_to_cut(name: str) -> str:
    """Return the beginning of a hint at rules."""
    return f"Say how it is cut: bins={{{name!r}: 10}} (command line: --bins {name}=10)"


def in_utc(column: Any) -> Any:
    """Return a column of time stamps with a zone as UTC; the zone of the session would move some into another year."""
    import ibis

    def timezone(zone: Any, moment: Any) -> Any:
        """Stand for the function of DuckDB and PostgreSQL; other engines have none, and refuse."""

    types = (("string", "timestamp('UTC')"), "timestamp")
    at_zone = ibis.udf.scalar.builtin(timezone, signature=types)
    return at_zone("UTC", column.cast("timestamp('UTC')"))


def _identity_code(_: Any, column: Any) -> Any:
    return column


def _values_rule(name: str, dtype: Any) -> BinningRule:
    plain = dtype.is_string() or dtype.is_boolean() or dtype.is_uuid() or dtype.is_null()
    whole = dtype.is_integer() or (dtype.is_decimal() and dtype.scale == 0)
    if plain:
        return BinningRule("values", _identity_code)
    if whole or dtype.is_date() or dtype.is_timestamp() or dtype.is_time():
        return BinningRule("values", _identity_code, most_levels=MOST_LEVELS)
    if dtype.is_numeric():
        hint = f"{how_to_cut(name)}, a list of edges, 'width:5', 'quantiles:10', or 'values'."
        raise ParameterError("data.columns", "cut into bins where they hold decimal numbers", f"{name!r}", hint)
    raise ParameterError(
        "data.columns", "columns of words, numbers, dates or truth values", f"{name!r} of type {dtype}"
    )


def _numeric(owner: str, option: Any) -> BinningRule:
    if isinstance(option, str):
        kind, _, argument = option.partition(":")
        if kind == "width":
            return _width(owner, argument)
        if kind == "quantiles":
            return _quantiles(_count(owner, argument))
    elif isinstance(option, Sequence | np.ndarray):
        return _edges(owner, option)
    elif isinstance(option, int) and not isinstance(option, bool):
        return _equal_width(_count(owner, option))
    raise ParameterError(owner, _ALLOWED, shown(option))


def _count(owner: str, option: Any) -> int:
    try:
        count = int(option)
    except ValueError:
        count = 0
    if not 2 <= count <= MOST_BINS:
        raise ParameterError(owner, f"2 to {MOST_BINS:,} bins", shown(option))
    return count


def _equal_width(count: int) -> BinningRule:
    def code(table: Any, column: Any) -> Any:
        import ibis

        # The ends stay in the engine: the smallest and the largest value belong to somebody.
        ends = table.aggregate(low=column.min(), high=column.max())
        low, high = ends.low.as_scalar(), ends.high.as_scalar()
        share = (column - low) / ibis.ifelse(high > low, high - low, 1.0)
        return ibis.least((share * count).floor().cast("int64"), ibis.literal(count - 1, "int64"))

    text = f"{count} bins of equal width between the smallest and the largest value"
    return BinningRule(text, code, lambda i: f"bin {i + 1} of {count}", largest=_LARGEST)


def _width(owner: str, width_text: str) -> BinningRule:
    """Return the rule for bins of one width, whose edges are decimals: 0.3 is in [0.3, 0.4) for a width of 0.1.

    Numbers are doubles, so the edges are the doubles nearest to the decimals k W. With W = units / scale, both whole
    numbers that doubles hold, (k units) / scale is that double: the division is rounded once.
    """
    units, scale = _decimal(owner, width_text)
    width = units / scale

    def edge(k: Any) -> Any:
        return k.cast("float64") * float(units) / float(scale)

    def code(_: Any, column: Any) -> Any:
        import ibis

        near = (column / width).floor()  # off by 1 at most, by the rounding of the quotient
        above, below = ibis.ifelse(column >= edge(near + 1), 1, 0), ibis.ifelse(column < edge(near), 1, 0)
        return near + above - below

    def label(k: int) -> str:
        return f"[{Decimal(k * units) / scale:f}, {Decimal((k + 1) * units) / scale:f})"

    text = f"bins of width {Decimal(units) / scale:f} from 0"
    return BinningRule(text, code, label, largest=2.0**53 / scale, most_levels=MOST_BINS)


def _decimal(owner: str, text: str) -> tuple[int, int]:
    """Return a decimal above 0 as (whole number, power of ten), both without rounding in a double."""
    allowed = "'width:W' with a number W above 0, of at most 15 digits and 22 decimals"
    try:
        sign, digits, exponent = Decimal(text.strip()).normalize().as_tuple()
    except InvalidOperation:
        raise ParameterError(owner, allowed, shown(f"width:{text}")) from None
    if sign or not isinstance(exponent, int) or digits == (0,) or len(digits) + max(exponent, 0) > 15 or exponent < -22:
        raise ParameterError(owner, allowed, shown(f"width:{text}"))
    units = int("".join(map(str, digits)))
    return (units * 10**exponent, 1) if exponent >= 0 else (units, 10**-exponent)


def _edges(owner: str, option: Any) -> BinningRule:
    allowed = f"1 to {MOST_EDGES} finite numbers that rise"
    try:
        edges = np.array(option, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(owner, allowed, shown(option), _EDGES) from None
    bad = edges.ndim != 1 or not 1 <= edges.size <= MOST_EDGES or not np.all(np.isfinite(edges))
    if bad or not np.all(np.diff(edges) > 0.0):
        raise ParameterError(owner, allowed, shown(option), _EDGES)
    ends = [f"{edge:.15g}" for edge in edges]

    def code(_: Any, column: Any) -> Any:
        import ibis

        return sum(
            (ibis.ifelse(column >= edge, 1, 0) for edge in edges[1:].tolist()),
            ibis.ifelse(column >= float(edges[0]), 1, 0),
        )

    def label(i: int) -> str:
        if i == 0:
            return f"below {ends[0]}"
        return f"at least {ends[-1]}" if i == len(ends) else f"[{ends[i - 1]}, {ends[i]})"

    return BinningRule(f"edges {', '.join(ends)}", code, label)


def _quantiles(count: int) -> BinningRule:
    def code(table: Any, column: Any) -> Any:
        import ibis

        # The share of rows below a value, in whole numbers: equal values fall into one bin, in every engine the same.
        present = column.count().over(ibis.window())
        below = ibis.rank().over(order_by=column.asc(nulls_first=False))
        return ((below * count) // present.nullif(0)).cast("int64")

    return BinningRule(f"{count} bins of equally many rows", code, lambda i: f"bin {i + 1} of {count}")
