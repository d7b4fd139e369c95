"""[UNIFY] Figure 6: how many queries a risk limit allows, Laplace noise of scale 5 on each.

The paper's "standard" method is the accountant of a query system: it composes the guarantee of one query and reports
one epsilon at one delta, 10^-5. Below some ten queries no composition theorem beats adding up the epsilons there, so
that its limit of 5 queries is k times 0.2. Optimal composition of the very same guarantee, kept as a whole curve
instead of one point of it, allows 14.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpradar.bounds import assess
from dpradar.guarantees import ApproxDP, PureDP
from dpradar.guarantees.epsilon import epsilon_at
from dpradar.mechanisms import Laplace, Repeated
from dpradar.threats import Threat

from . import canvas
from .baselines import GIVEN, OWN, shown
from .rule_values import bound_of
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpradar.results import Assessment

    from .table import Cell

__all__ = ["compute", "draw", "most_queries"]

QUERIES = tuple(range(1, 21))
SCALE = 5.0
DELTA = 1e-5
LIMIT, LIMIT_BASELINE = 0.2, 0.1  # the paper's example
_COLUMNS = ("queries", "at", "epsilon", "added", "one_point", "optimal", "f_dp")
_LABELS = {
    "one_point": "optimal composition, one (ε, δ = 10⁻⁵): the paper's “standard”",
    "optimal": "optimal composition, all (ε, δ) together",
    "f_dp": "f-DP of the Laplace noise",
}

_MARKS = {"one_point": (3.0, 0.33), "optimal": (11.5, 0.45), "f_dp": (17.0, 0.45)}  # where the numbers stand


def compute(queries: Sequence[int] = QUERIES, scale: float = SCALE, delta: float = DELTA) -> Table:
    """Return the numbers of Figure 6: one row per number of queries and baseline, with the gain that each bound allows.

    A number that moves by at most 1, Laplace noise of the given scale, hence epsilon 1/scale for each query.
    ``epsilon`` is that of optimal composition at ``delta``, ``one_point`` what follows from this pair alone, ``added``
    from k/scale; ``optimal`` keeps every pair that optimal composition of (1/scale)-DP implies, and ``f_dp`` composes
    the trade-off curve of the noise itself.

    Examples
    --------
    >>> table = compute(queries=[5, 15])
    >>> table.numbers("f_dp", at=0.1).round(4).tolist()
    [0.0983, 0.1976]
    """
    rows = [row for k in queries for row in _rows(k, 1.0 / scale, delta)]
    return Table(_COLUMNS, tuple(dict(zip(_COLUMNS, row, strict=True)) for row in rows))


def _rows(k: int, epsilon: float, delta: float) -> list[tuple[Cell, ...]]:
    one = PureDP(epsilon=epsilon, neighbours="add-remove")
    promise = Repeated(one, k).at(None).privacy("add-remove")
    composed = math.inf if promise is None else epsilon_at(promise, delta)
    releases = (
        PureDP(epsilon=k * epsilon, neighbours="add-remove"),
        ApproxDP(epsilon=composed, delta=delta, neighbours="add-remove"),
        Repeated(one, k),
        Repeated(Laplace(scale=1.0 / epsilon, sensitivity=1.0, neighbours="add-remove"), k),
    )
    rows: list[tuple[Cell, ...]] = []
    for base in GIVEN:
        assessments = [assess(release, Threat.baseline(base)) for release in releases]
        rows.append((k, base, composed, *(bound_of(one, "success", "rero-3") - base for one in assessments)))
    rows.append((k, OWN, composed, *(_largest(assess(release, neighbours="add-remove")) for release in releases)))
    return rows


def _largest(assessment: Assessment) -> float:
    return 1.0 if assessment.worst_gain is None else assessment.worst_gain.value


def most_queries(table: Table, column: str, at: Cell = LIMIT_BASELINE, limit: float = LIMIT) -> int:
    """Return the largest number of queries in the table for which a bound keeps the gain within the limit.

    Examples
    --------
    >>> most_queries(compute(queries=[4, 5, 6]), "one_point")
    5
    """
    own = table.where(at=at)
    within = own.numbers("queries")[own.numbers(column) <= limit]
    return int(within.max()) if within.size else 0


@canvas.styled
def draw(table: Table) -> Figure:
    """Return Figure 6: one panel per baseline; in the middle the paper's limit and what each method allows."""
    chosen = table.distinct("at")
    figure, axes = canvas.panels(1, len(chosen), 3.1 * len(chosen) + 0.3, 3.7)
    for panel, at in zip(axes[0], chosen, strict=True):
        own = table.where(at=at)
        for i, (column, text) in enumerate(_LABELS.items()):
            canvas.curve(panel, own.numbers("queries"), own.numbers(column), i, text, markers=len(own.rows))
        if at == LIMIT_BASELINE:
            _mark_limit(panel, table)
        canvas.label(panel, title=shown(at), x="queries", y="gain: success − baseline")
        canvas.from_zero(panel)
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=1)
    return figure


def _mark_limit(panel: Axes, table: Table) -> None:
    panel.axhline(LIMIT, color="black", linewidth=0.9)
    for column, place in _MARKS.items():
        most = most_queries(table, column)
        line = {"arrowstyle": "-", "linewidth": 0.7}
        panel.annotate(f"{most} queries", (most, LIMIT), place, ha="center", fontsize=8, arrowprops=line)
