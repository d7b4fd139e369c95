"""The one query: the occupied cells with their counts, computed where the table is stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..numerics.lazy_numpy import Array, Bools, Floats, Int64s, np
from .binning import how_to_cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .binning import BinningRule
    from .engine import TableSource

__all__ = ["CountPlan", "OccupiedCells", "count_cells"]

_WHOLE, _SHARE = "decimal(28, 0)", "decimal(28, 26)"  # sums of either are exact, whatever the order of the rows


@dataclass(frozen=True, slots=True)
class CountPlan:
    """What is counted: columns with their rules, the weight, and which cells are left out."""

    rules: dict[str, BinningRule]
    weight: str | None
    fewest: int
    squares: bool  # the sums of the weights over the largest one, and of their squares, are wanted too
    most_cells: int


@dataclass(frozen=True, slots=True)
class OccupiedCells:
    """The occupied cells in an order that is the same from every engine.

    ``levels`` are the categories of each column, sorted, missing last; ``codes`` has a row of numbers per column.
    """

    names: tuple[str, ...]
    levels: tuple[list[Any], ...]
    codes: Int64s
    all_rows: int
    rows: Int64s
    weights: Floats
    scaled: Floats  # weights over the largest weight of a row, and the sum of their squares; 0 unless requested
    squares: Floats
    suppressed: tuple[int, float, float, float]  # the four sums over the cells that were left out


def count_cells(source: TableSource, plan: CountPlan) -> OccupiedCells:
    """Return the occupied cells of a table; nothing else of it leaves the engine."""
    return _cells(source.fetch(_query(source, plan)), plan)


# ---------------------------------------------------------------------------------------------------------- the query


def _query(source: TableSource, plan: CountPlan) -> Any:
    """Return the query; its columns are c0, c1, ..., n, bad and, where asked, w, s, q, wrong, rest."""
    import ibis

    names = {f"c{i}": name for i, name in enumerate(plan.rules)}
    columns = {short: _clean_column(source.column(name)) for short, name in names.items()}
    if plan.weight is not None:
        columns["v"] = _clean_column(source.column(plan.weight))
    rows = source.table.select(**columns)
    if plan.weight is not None:
        rows = rows.mutate(wrong=_is_bad_weight(rows.v))
        rows = rows.mutate(v=ibis.ifelse(rows.wrong == 0, rows.v, ibis.null(rows.v.type())))
    coded = {short: _bin_code(rows, rows[short], plan.rules[name]) for short, name in names.items()}
    flags = {"bad": _too_large(rows, plan)}
    if plan.weight is not None:
        coded |= _weights(rows, plan)
        flags["wrong"] = rows.wrong
    cells = rows.select(**coded, **flags)
    sums = {name: cells[name].sum() for name in ("w", "s", "q", "bad", "wrong") if name in cells.columns}
    aggregated = cells.group_by(list(names)).aggregate(n=cells.count(), **sums)
    aggregated = _merge_rare_cells(aggregated, list(names), list(sums), plan.fewest)
    final = {name: aggregated[name].cast("float64") for name in ("w", "s", "q") if name in sums}
    return aggregated.mutate(**final).limit(plan.most_cells + 1)


def _clean_column(column: Any) -> Any:
    """Return the column with one kind of missing value, of a type that every engine sends alike."""
    import ibis

    dtype = column.type()
    if dtype.is_null() or dtype.is_uuid():
        return column.cast("string")
    if dtype.is_floating():
        column = column.cast("float64")
        return ibis.ifelse(column.isnan(), ibis.null("float64"), column)
    if dtype.is_decimal():  # PostgreSQL has one that is not a number among its exact numbers
        return ibis.ifelse(column.cast("string") == "NaN", ibis.null(dtype), column)
    return column


def _is_bad_weight(weight: Any) -> Any:
    """Return 1 for a weight that is none, else 0."""
    import ibis

    right = weight >= 0
    if not weight.type().is_integer():
        right = right & ~weight.cast("float64").isinf()
    return 1 - ibis.ifelse(right, 1, 0).fill_null(0)


def _weights(rows: Any, plan: CountPlan) -> dict[str, Any]:
    """Return the weights as decimals: whole ones as they are, others over the largest, which stays in the engine."""
    numbers = rows.v.cast("float64")
    share = numbers / rows.aggregate(top=numbers.max()).top.as_scalar().nullif(0.0)
    sums = {"w": rows.v.cast(_WHOLE) if rows.v.type().is_integer() else share.cast(_SHARE)}
    return {**sums, "s": share.cast(_SHARE), "q": (share * share).cast(_SHARE)} if plan.squares else sums


def _too_large(rows: Any, plan: CountPlan) -> Any:
    """Return how many values of a row have no place in the bins of their column."""
    import ibis

    count = ibis.literal(0)
    for i, rule in enumerate(plan.rules.values()):
        if rule.largest is not None:
            outside = rows[f"c{i}"].cast("float64").abs() > rule.largest
            count = count + ibis.ifelse(outside, 1, 0).fill_null(0)
    return count


def _bin_code(rows: Any, column: Any, rule: BinningRule) -> Any:
    """Return the number of a row's bin, or the value itself; missing stays missing."""
    import ibis

    if rule.label is None:
        return rule.code(rows, column)
    numbers = column.cast("float64")
    if rule.largest is not None:
        numbers = ibis.ifelse(numbers.abs() > rule.largest, ibis.null("float64"), numbers)
    return ibis.ifelse(numbers.isnull(), ibis.null("int64"), rule.code(rows, numbers).cast("int64"))


def _merge_rare_cells(aggregated: Any, names: list[str], sums: list[str], fewest: int) -> Any:
    """Merge the cells of too few rows into one line, which says only how much they are together."""
    import ibis

    if fewest <= 1:
        return aggregated
    rare = aggregated.n < fewest
    hidden = {name: ibis.ifelse(rare, ibis.null(aggregated[name].type()), aggregated[name]) for name in names}
    flagged = aggregated.mutate(rest=ibis.ifelse(rare, 1, 0), **hidden)
    totals = {name: flagged[name].sum() for name in ("n", *sums)}
    return flagged.group_by(["rest", *names]).aggregate(**totals)


# ---------------------------------------------------------------------------------------------------------- its result


def _cells(answer: Any, plan: CountPlan) -> OccupiedCells:
    _check(answer, plan)
    rows = _numbers(answer, "n").astype(np.int64)
    weights = _numbers(answer, "w") if plan.weight is not None else rows.astype(float)
    scaled, squares = (_numbers(answer, name) if plan.squares else np.zeros(rows.size) for name in ("s", "q"))
    if plan.weight is not None and not weights.sum() > 0.0:
        raise ParameterError("data.weight", "numbers of which not all are 0", "only 0")
    usable = np.ones(rows.size, dtype=bool)
    if "rest" in answer.column_names:
        usable = _numbers(answer, "rest") == 0.0
    suppressed = (rows[~usable].sum(), weights[~usable].sum(), scaled[~usable].sum(), squares[~usable].sum())
    usable &= weights > 0.0
    levels, codes = [], []
    for i, (name, rule) in enumerate(plan.rules.items()):
        level, code = _levels(answer.column(f"c{i}"), rule, usable)
        _check_levels(name, level, rule)
        levels.append(level)
        codes.append(code)
    numbers = np.array(codes, dtype=np.int64).reshape(len(codes), -1)
    order, starts = _cell_order(numbers)

    def added(sums: Array) -> Array:
        return np.asarray(np.add.reduceat(sums[usable][order], starts) if order.size else sums[usable])

    return OccupiedCells(
        names=tuple(plan.rules),
        levels=tuple(levels),
        codes=numbers[:, order[starts]],
        all_rows=int(rows.sum()),
        rows=added(rows),
        weights=added(weights),
        scaled=added(scaled),
        squares=added(squares),
        suppressed=(int(suppressed[0]), float(suppressed[1]), float(suppressed[2]), float(suppressed[3])),
    )


def _check(answer: Any, plan: CountPlan) -> None:
    if answer.num_rows == 0:
        raise ParameterError("data.table", "a table with rows", "none", "Is it the right table?")
    if answer.num_rows > plan.most_cells:
        hint = "Cut columns into fewer bins, count fewer columns, or allow more with most_cells."
        raise ParameterError("data.columns", f"columns with at most {plan.most_cells:,} occupied cells", "more", hint)
    if plan.weight is not None and _numbers(answer, "wrong").sum() > 0:
        allowed = "a column of finite numbers >= 0 without missing ones"
        raise ParameterError("data.weight", allowed, "some that are missing, negative or infinite")
    if _numbers(answer, "bad").sum() > 0:
        hint = "Cut that column at edges: the outer bins are open."
        got = "an infinite value, or one that is too large for bins so narrow"
        raise ParameterError("data.bins", "of finite numbers for bins of equal width", got, hint)


def _numbers(answer: Any, name: str) -> Floats:
    return np.array([0.0 if x is None else x for x in answer.column(name).to_pylist()], dtype=float)


def _levels(column: Any, rule: BinningRule, usable: Bools) -> tuple[list[Any], Int64s]:
    """Return the sorted categories of a column and the number of each row's one; missing is the last."""
    encoded = column.combine_chunks().dictionary_encode()
    if hasattr(encoded, "combine_chunks"):
        encoded = encoded.combine_chunks()
    indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)[usable]
    raw = [_canonical(value) for value in encoded.dictionary.to_pylist()]
    used = np.unique(indices)
    present = sorted({raw[i] for i in used.tolist() if i >= 0 and raw[i] is not None})
    place = {value: number for number, value in enumerate(present)}
    missing = bool(np.any(used < 0)) or any(raw[i] is None for i in used.tolist() if i >= 0)
    table = np.array([place.get(value, len(present)) for value in raw] + [len(present)], dtype=np.int64)
    labels = present if rule.label is None else [rule.label(int(value)) for value in present]
    return [*labels, *([None] if missing else [])], table[indices]


def _canonical(value: Any) -> Any:
    """Return a value as every engine would send it: whole decimals as int, no negative zero, no empty digits."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)  # not in the zone of the session
    if isinstance(value, Decimal):
        if not value.is_finite():
            return None if value.is_nan() else float(value)
        return int(value) if value == value.to_integral_value() else value.normalize()
    if isinstance(value, float):
        return None if value != value else value + 0.0  # noqa: PLR0124 (nan)
    return value


def _check_levels(name: str, levels: Sequence[Any], rule: BinningRule) -> None:
    if rule.most_levels is not None and len(levels) > rule.most_levels:
        hint = f"{how_to_cut(name)}, a list of edges, 'quantiles:10', or 'values' to keep all."
        got = f"{name!r}, which has more"
        raise ParameterError("data.columns", f"columns of at most {rule.most_levels:,} different numbers", got, hint)


def _cell_order(codes: Int64s) -> tuple[Int64s, Int64s]:
    """Return the order of the cells, first column first, and where in it a new cell begins."""
    order = np.lexsort(codes[::-1]) if codes.shape[1] else np.empty(0, dtype=np.intp)
    ordered = codes[:, order]
    new = np.ones(order.size, dtype=bool)
    new[1:] = np.any(ordered[:, 1:] != ordered[:, :-1], axis=0)
    return order, np.flatnonzero(new)
