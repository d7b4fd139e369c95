"""The prior of the records in a table."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from ..errors import ParameterError
from ..numerics.lazy_numpy import Floats, Int64s, np
from ..numerics.rounding import two_digits
from ..params import Param, shown
from ..threats import Measured, Prior
from ..threats.frequency_cells import cells_of
from .binning import checked_bins, rule_for
from .cell_counting import CountPlan, OccupiedCells, count_cells
from .engine import connect_table, run_guarded
from .sampling_region import sampling_distance, walk_average, weighted_average

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .binning import BinningRule
    from .engine import TableSource

__all__ = ["CONFIDENCE", "SUPPRESS", "extend_domain", "prior"]

MOST_CELLS = 5_000_000
SUPPRESS = Param(name="suppress", integer=True, low=1, what="the fewest rows of a cell that is kept", typical=(1, 20))
_SMOOTH = Param(name="smooth", low=0.0, low_open=True, what="the number of rows added to every cell", typical=(0.1, 1))
CONFIDENCE = Param(
    name="confidence",
    low=0.0,
    high=1.0,
    low_open=True,
    high_open=True,
    what="the confidence of the region of priors that the numbers hold for",
)
_DOMAIN = Param(name="domain", integer=True, low=2, what="the number of different records that the mechanism accepts")
_MOST = Param(name="most_cells", integer=True, low=2, what="the largest number of occupied cells")
_PRODUCT = "product"


class _Unseen:
    """The value of a column in records that were not seen; equal to nothing in the table."""

    def __repr__(self) -> str:
        return "unseen"


UNSEEN = _Unseen()


def prior(  # noqa: PLR0913 (one setting each, all with a default)
    table: Any,
    columns: Sequence[str],
    weight: str | None = None,
    *,
    bins: Mapping[str, Any] | None = None,
    suppress: int = 1,
    smooth: float | None = None,
    confidence: float | None = None,
    fixed_weights: bool = False,
    domain: int | Literal["product"] | None = None,
    memory: str = "2GB",
    most_cells: int = MOST_CELLS,
) -> Prior:
    """Return the prior of the records in a table: the joint frequencies of some columns, counted where the table lives.

    Guarantee
    ---------
    The probabilities are the (weighted) frequencies, exact but for rounding, and the same from every engine; the
    records are in the same order. Only the occupied cells with their counts leave the engine. ``measured`` of the prior
    says how it was counted. Where cells were suppressed or a confidence was requested, what ``assess`` reports holds
    for every prior within the distance that is named there (docs/derivations/tables.md).

    Assumes
    -------
    Without ``confidence`` the rows are everybody the target may be; with it they were drawn independently from them,
    and weights were fixed before (``fixed_weights``).

    Parameters
    ----------
    table
        The name of a CSV (with a header) or Parquet file or a pattern of such files, read by DuckDB without loading
        them; an ibis table of any backend; or a pandas, pyarrow or polars table.
    columns
        The columns of a record. Missing values (NULL, NaN) are a category, None.
    weight
        A column of numbers >= 0 that say how many people a row stands for; less than 1e-26 of the largest is nothing.
    bins
        How columns of numbers are cut: a number of bins of equal width, a list of edges, ``"width:5"``,
        ``"quantiles:10"``, ``"year"`` for dates, or ``"values"`` for no cutting. Decimal numbers need a rule, as do
        whole numbers and dates with more than 1,000 different values.
    suppress
        Cells of fewer rows are left out, inside the engine; what is assessed then covers every way they could be.
    smooth
        Add this many rows to every cell, of those occupied or of all with ``domain="product"``.
    confidence
        Report the risk with a region that holds the true prior with this confidence. With a ``weight`` it needs
        ``fixed_weights``.
    fixed_weights
        Say that the weight of each row was settled before the row was drawn, as in a stratified sample where every
        place in the sample belongs to a stratum and has that stratum's weight. Weights that depend on who was drawn
        (unequal chances of being drawn, non-response, raking) are not covered: a rare row with a large weight that
        the sample happens to lack can move the true frequencies by any amount.
    domain
        The number of different records that the mechanism accepts: ``"product"`` for all combinations of values, or a
        number; records that were not seen have probability 0. By default the occupied cells.
    memory
        What DuckDB may use before it works with temporary files; for files and data frames only.
    most_cells
        The most cells, occupied or unseen, that are worked with.

    Examples
    --------
    >>> import pandas as pd
    >>> import dpradar as dr
    >>> table = pd.DataFrame({"age": [34, 35, 61, 62], "ill": ["no", "no", "no", None]})
    >>> p = prior(table, ["age", "ill"], bins={"age": [18, 65]})
    >>> p.size, p.probabilities.tolist(), p.columns["ill"]
    (2, [0.75, 0.25], ('no', None))
    >>> p.measured
    Measured(4 rows, 2 cells)
    """
    names = _checked_names(columns, weight)
    rules = checked_bins(bins, names)
    fewest = int(SUPPRESS.check("data", suppress))
    most = int(_MOST.check("data", most_cells))
    added = None if smooth is None else _SMOOTH.check("data", smooth)
    level = None if confidence is None else CONFIDENCE.check("data", confidence)
    _check_weights(weight, level, fixed=fixed_weights)
    size = _checked_domain(domain, smoothed=added is not None)
    with connect_table(table, memory) as source:
        schema = _schema(source)
        _check_columns(schema, names, weight, has_real_names=source.has_real_names)
        if any(schema[name].is_timestamp() for name in names):
            source.check_zone()
        rule_of_column = {name: rule_for(name, schema[name], rules.get(name)) for name in names}
        plan = CountPlan(
            rule_of_column, weight, fewest, squares=weight is not None and level is not None, most_cells=most
        )
        cells = count_cells(source, plan)
    if cells.rows.size == 0:
        hint = "Cut columns into fewer bins, or suppress less."
        raise ParameterError("data.suppress", f"such that some cell has {fewest} rows", "none that has", hint)
    codes, weights = _product(cells, most) if size == _PRODUCT else (cells.codes, cells.weights)
    result = _prior(cells, _labels(cells, codes), weights, rule_of_column, plan, added, level)
    return extend_domain(result, size, most) if isinstance(size, int) else result


# -------------------------------------------------------------------------------------------------------------- checks


def _checked_names(columns: Any, weight: Any) -> list[str]:
    allowed, hint = "a list of one or more column names", "Such as ['age', 'sex', 'diagnosis']."
    if isinstance(columns, str) or not isinstance(columns, Sequence) or not columns:
        raise ParameterError("data.columns", allowed, shown(columns), hint)
    names = list(columns)
    if not all(isinstance(name, str) for name in names):
        raise ParameterError("data.columns", allowed, shown(columns), hint)
    if len(set(names)) != len(names):
        raise ParameterError("data.columns", "different names", "one that stands twice")
    if weight is not None and (not isinstance(weight, str) or weight in names):
        raise ParameterError("data.weight", "the name of another column", shown(weight))
    return names


def _check_weights(weight: str | None, confidence: float | None, *, fixed: bool) -> None:
    """Raise where weights may depend on the rows: the region is proved for weights that are fixed."""
    if weight is None or confidence is None or fixed:
        return
    hint = (
        "If each row's weight was settled before the row was drawn, as in a stratified sample, say so with "
        "fixed_weights=True (command line: --fixed-weights). If not, leave the confidence out: the weighted rows are "
        "then taken for everybody."
    )
    got = "one for weights that may depend on who was drawn"
    raise ParameterError("data.confidence", "used with weights only if these are fixed", got, hint)


def _checked_domain(domain: Any, *, smoothed: bool) -> int | str | None:
    if domain is None or domain == _PRODUCT:
        return domain  # type: ignore[no-any-return]
    if isinstance(domain, str):
        raise ParameterError("data.domain", "a number, 'product' or None", shown(domain))
    if smoothed:
        hint = "Records without a name cannot be distinguished; use domain='product'."
        raise ParameterError("data.smooth", "used without a number for domain", shown(domain), hint)
    return int(_DOMAIN.check("data", domain))


def _schema(source: TableSource) -> dict[str, Any]:
    types = run_guarded(source.table.schema)
    return {name: types[inner] for name, inner in source.names.items()}


def _check_columns(
    schema: Mapping[str, Any], names: Sequence[str], weight: str | None, *, has_real_names: bool
) -> None:
    # Not all names are listed, and none of a CSV file: if it has no header they are its first record.
    available = list(schema)
    for name in (*names, *([] if weight is None else [weight])):
        if name not in schema:
            near = [other for other in available if other.lower() == name.lower()]
            near = near or difflib.get_close_matches(name, available, n=1, cutoff=0.7)
            hint = f"Did you mean {near[0]!r}?" if near else "Names are written as in the table, capitals included."
            if not has_real_names:
                hint = "A CSV file needs a header, and names are written as they are there, capitals included."
            raise ParameterError("data.columns", "columns of the table", repr(name), hint)
    if weight is not None and (not schema[weight].is_numeric() or schema[weight].is_boolean()):
        raise ParameterError("data.weight", "a column of numbers", f"{weight!r} of type {schema[weight]}")


# ----------------------------------------------------------------------------------------------------------- the prior


def extend_domain(base: Prior, domain: int, most: int = MOST_CELLS) -> Prior:
    """Return a prior of records with further ones that were not seen, each of probability 0, ``domain`` in all."""
    unseen = domain - base.size
    if unseen == 0:
        return base
    if unseen < 0:
        hint = "It is the number of records that the mechanism takes; cut columns into fewer bins for fewer."
        raise ParameterError("data.domain", f"at least {base.size:,}, the number of occupied cells", f"{domain}", hint)
    if domain > most:
        hint = "Leave it out, which errs on the safe side, or allow more with most_cells."
        raise ParameterError("data.domain", f"at most {most:,} records", f"{domain:,}", hint)
    columns = {name: (*column, *([UNSEEN] * unseen)) for name, column in (base.columns or {}).items()}
    probabilities = np.r_[base.probabilities, np.zeros(unseen)]
    probabilities.setflags(write=False)
    return Prior(probabilities, tuple(zip(*columns.values(), strict=True)), columns, measured=base.measured)


def _product(cells: OccupiedCells, most: int) -> tuple[Int64s, Floats]:
    """Return the codes and weights of all combinations of the values seen."""
    shape = tuple(map(len, cells.levels))
    count = math.prod(shape)
    if count > most:
        hint = "Give the domain as a number, leave it out (which errs on the safe side), or allow more."
        raise ParameterError("data.domain", f"a product of at most {most:,} records", f"{count:,}", hint)
    weights = np.zeros(count)
    weights[np.ravel_multi_index(tuple(cells.codes), shape)] = cells.weights
    return np.array(np.unravel_index(np.arange(count), shape)), weights


def _labels(cells: OccupiedCells, codes: Int64s) -> dict[str, tuple[Any, ...]]:
    labels_by_column = {}
    for name, levels, code in zip(cells.names, cells.levels, codes, strict=True):
        labels = np.empty(len(levels), dtype=object)
        labels[:] = levels
        labels_by_column[name] = tuple(labels[code].tolist())
    return labels_by_column


def _prior(
    cells: OccupiedCells,
    labels_by_column: dict[str, tuple[Any, ...]],
    weights: Floats,
    rule_of_column: Mapping[str, BinningRule],
    plan: CountPlan,
    added: float | None,
    level: float | None,
) -> Prior:
    if weights.size < 2:
        hint = "With a single possible record there is nothing to learn; count other columns, or cut them finer."
        raise ParameterError("data.columns", "columns with at least 2 different records", "1", hint)
    suppressed, rows, total = cells.suppressed[1], cells.all_rows, float(weights.sum())
    # Two digits, rounded up: results report the share and the distance, and what was left out may be a single cell.
    share = min(1.0, two_digits(suppressed / (suppressed + total), "up"))
    frequencies = weights / total
    probabilities, smoothing_distance, smoothing, more = frequencies, 0.0, "none", 0.0
    if added is not None:
        more = added * (total + suppressed) / rows  # as much weight as a row has on average
        probabilities = (weights + more) / (total + more * weights.size)
        smoothing_distance = float(np.maximum(probabilities - frequencies, 0.0).sum())
        smoothing = f"{added:g} rows added to each of {weights.size:,} cells"
    probabilities /= probabilities.sum()
    probabilities.setflags(write=False)
    frequency_cells = cells_of(probabilities, rows)
    upper = weights if frequency_cells is None else np.ceil(frequency_cells.high * (total + more * weights.size) - more)
    measured = Measured(
        rows=rows,
        cells=int(cells.rows.size),
        rules={name: rule.text for name, rule in rule_of_column.items()},
        missing=tuple(name for name, levels in zip(cells.names, cells.levels, strict=True) if levels[-1] is None),
        weight=plan.weight,
        fewest=plan.fewest,
        suppressed=share,
        smoothing=smoothing,
        confidence=level,
        **_distances(cells, plan, share, smoothing_distance, level, upper[weights > 0.0]),
    )
    return Prior(
        probabilities, tuple(zip(*labels_by_column.values(), strict=True)), labels_by_column, measured=measured
    )


def _distances(
    cells: OccupiedCells, plan: CountPlan, share: float, smoothing_distance: float, level: float | None, upper: Floats
) -> dict[str, Any]:
    """Return how far the prior may be from the truth, and from how many rows that is known.

    Without weights it is computed from the largest counts that results do not distinguish from those of the cells.
    """
    if level is None:
        return {"distance": share}
    suppressed_rows, _, suppressed, suppressed_squares = cells.suppressed
    if plan.weight is None:
        effective = float(cells.rows.sum()) + suppressed_rows
        average = walk_average(upper, suppressed_rows, rows=effective)
    else:
        total = float(cells.scaled.sum()) + suppressed
        effective = total**2 / (float(cells.squares.sum()) + suppressed_squares)
        average = weighted_average(cells.squares, total, suppressed)
    near = sampling_distance(average, effective, level)
    # Two digits too: the average is a function of the counts of the cells.
    distance = min(1.0, two_digits(near + share + smoothing_distance, "up"))
    return {"distance": distance, "effective_rows": effective if plan.weight is None else two_digits(effective, "down")}
