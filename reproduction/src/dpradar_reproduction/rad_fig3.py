"""[RAD] Figure 3: what can be said when only (epsilon, delta) is known, beside one mechanism's exact value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpradar.bounds import assess
from dpradar.guarantees import ApproxDP
from dpradar.mechanisms import OUE
from dpradar.threats import Prior, Threat

from . import canvas
from .rule_values import bound_of, interval_of
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from .table import Cell

__all__ = ["compute", "draw"]

EPSILONS = tuple(k / 10 for k in range(1, 81))
SIZE = 10
DELTA = 1e-5
_COLUMNS = ("epsilon", "thm_4_2", "prop_5_3", "thm_5_5", "black_box", "oue_exact")
_LABELS = {
    "thm_4_2": "Theorem 4.2",
    "prop_5_3": "Proposition 5.3",
    "thm_5_5": "Theorem 5.5",
    "oue_exact": "OUE, Theorem 4.3 (exact)",
}


def compute(epsilons: Sequence[float] = EPSILONS, m: int = SIZE, delta: float = DELTA) -> Table:
    """Return the numbers of Figure 3: one row per epsilon.

    The bounds hold for every (epsilon, delta)-DP mechanism, under a uniform prior over ``m`` values, nothing known and
    the exact goal; ``prop_5_3`` is the minimum of three terms as printed, the third of which is Theorem 4.2;
    ``black_box`` is ours, the largest value of any such mechanism by linear programming; ``oue_exact`` is OUE's own.

    Examples
    --------
    >>> compute(epsilons=[1.0]).numbers("thm_5_5").round(7).tolist()
    [0.131977]
    """
    threat = Threat(Prior.uniform(m))
    rows: list[dict[str, Cell]] = []
    for epsilon in epsilons:
        assessment = assess(ApproxDP(epsilon=epsilon, delta=delta, neighbours="replace-one"), threat)
        thm_4_2 = bound_of(assessment, "rad", "thm-4.2")
        # The library keeps Theorem 4.2 as a rule of its own; in the paper it is one of the terms of Proposition 5.3.
        prop_5_3 = bound_of(assessment, "rad", "prop-5.3")
        thm_5_5, black_box = (bound_of(assessment, "rad", rule) for rule in ("thm-5.5", "black-box-program"))
        oue = interval_of(assess(OUE(m=m, epsilon=epsilon), threat).rad)[1]
        rows.append(dict(zip(_COLUMNS, (epsilon, thm_4_2, prop_5_3, thm_5_5, black_box, oue), strict=True)))
    return Table(_COLUMNS, tuple(rows))


@canvas.styled
def draw(table: Table) -> Figure:
    """Return Figure 3."""
    figure, axes = canvas.panels(1, 1, 7.4, 3.9)
    panel = axes[0, 0]
    epsilon = table.numbers("epsilon")
    for i, (column, text) in enumerate(_LABELS.items()):
        canvas.curve(panel, epsilon, table.numbers(column), i, text)
    panel.plot(
        epsilon,
        table.numbers("black_box"),
        color="black",
        linestyle="none",
        marker="x",
        markevery=max(1, len(epsilon) // 16),
        label="largest of any mechanism (ours)",
    )
    return canvas.finish(
        figure,
        panel,
        title="Only (ε, δ) known: 10 equally likely values, δ = 10⁻⁵, nothing known",
        x="ε",
        y="reconstruction advantage (RAD)",
    )
