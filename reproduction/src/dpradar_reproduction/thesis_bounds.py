"""[GuerraThesis] Figures 6.1 to 6.3: the bounds themselves, beside what is exact."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpradar.correlated import Chain
from dpradar.correlated.gaussian import h, h_tight, reach
from dpradar.correlated.markov import gamma, row_and_column_ratios, steps

from . import canvas
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from .table import Cell

__all__ = ["draw_gaussian", "draw_markov", "gaussian", "markov"]

SIZES_1, SIZES_2 = (3, 5, 7), (3, 6, 12, 24)  # of the authors' code
EPSILONS = (0.5, 1.0, 2.0)
LENGTHS = (2, 5, 10, 20, 40, 60, 80, 100)
RATIOS = (1.5, 3.0, 10.0, 30.0, 100.0, 1000.0, 10_000.0)
_POINTS = 40
_GAUSSIAN = ("m", "rho", "general", "theorem_6_14", "tight", "equal_correlations")
_MARKOV = ("epsilon", "n", "largest_gamma", "gamma", "general", "theorem_6_20", "tight", "exact")


def gaussian(sizes: Sequence[int] = SIZES_1, points: int = _POINTS) -> Table:
    """Return the factors of Figures 6.1 and 6.2 by group size and correlation.

    ``equal_correlations`` is the largest value of Lemma 6.10 when all correlations are equal, by listing adversaries
    (up to 15 records) or their numbers: what the other columns bound.

    Examples
    --------
    >>> table = gaussian(sizes=[3], points=4)
    >>> [round(float(x), 4) for x in table.numbers("equal_correlations")]
    [1.0, 1.6, 2.2, 2.8]
    """
    rows: list[dict[str, Cell]] = []
    for m in sizes:
        for rho in np.linspace(0.0, 0.9, points):
            usable = rho * (m - 2) < 1.0
            S = rho * np.ones((m, m)) + (1.0 - rho) * np.eye(m)
            leakage = reach(S).value
            cells = (
                m,
                float(rho),
                float(m),
                h(m, float(rho)) if usable else None,
                h_tight(m, float(rho)) if usable else None,
                None if leakage is None else float(np.round(leakage, 9)),
            )
            rows.append(dict(zip(_GAUSSIAN, cells, strict=True)))
    return Table(_GAUSSIAN, tuple(rows))


@canvas.styled
def draw_gaussian(table: Table) -> Figure:
    """Return the factors against the correlation, one panel for each group size."""
    sizes = table.distinct("m")
    figure, axes = canvas.panels(1, len(sizes), 3.0 * len(sizes) + 0.4, 3.5)
    labels = {
        "general": "any dependence, Theorem 6.3",
        "theorem_6_14": "Theorem 6.14 as printed",
        "tight": "the same proof, tighter",
        "equal_correlations": "equal correlations, exact (Lemma 6.10)",
    }
    for panel, m in zip(axes[0], sizes, strict=True):
        own = table.where(m=m)
        for i, (column, text) in enumerate(labels.items()):
            y = own.numbers(column)
            canvas.curve(panel, own.numbers("rho"), np.where(y <= 1.6 * float(m or 1), y, np.nan), i, text)
        canvas.label(panel, title=f"{m} records", x="largest correlation", y="leakage / ε")
        panel.set_ylim(1.0, 1.5 * float(m or 1))
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=2)
    return figure


def _symmetric(ratio: float, n: int) -> Chain:
    change = 1.0 / (1.0 + ratio)
    return Chain([[1.0 - change, change], [change, 1.0 - change]], n)


def markov(
    epsilons: Sequence[float] = EPSILONS, lengths: Sequence[int] = LENGTHS, ratios: Sequence[float] = RATIOS
) -> Table:
    """Return Figure 6.3: up to which gamma Theorem 6.20 beats n epsilon, and what holds for symmetric chains.

    ``exact`` is the worst leakage of any epsilon-DP mechanism on the symmetric two-state chain with that gamma.

    Examples
    --------
    >>> (row,) = markov([0.5], [80], [10.0]).rows
    >>> round(row["largest_gamma"], 1), round(row["exact"], 3)
    (19438.3, 3.611)
    """
    rows: list[dict[str, Cell]] = []
    for epsilon in epsilons:
        for n in lengths:
            limit = math.exp((n - 1) * epsilon / 4.0)
            for ratio in ratios:
                chain = _symmetric(ratio, n)
                P = np.asarray(chain.transitions)
                row, column = row_and_column_ratios(P)
                bounds = (
                    n * epsilon,
                    epsilon + 4.0 * math.log(gamma(P)),
                    epsilon + 2.0 * math.log(row) + 2.0 * math.log(column),
                    float(np.round(steps(chain, epsilon)[1], 9)),
                )
                rows.append(dict(zip(_MARKOV, (epsilon, n, limit, ratio, *bounds), strict=True)))
    return Table(_MARKOV, tuple(rows))


@canvas.styled
def draw_markov(table: Table) -> Figure:
    """Return Figure 6.3 on the left; on the right the leakage against the length for one gamma."""
    figure, axes = canvas.panels(1, 2, 8.6, 3.8)
    left, right = axes[0]
    for i, epsilon in enumerate(table.distinct("epsilon")):
        own = table.where(epsilon=epsilon, gamma=table.distinct("gamma")[0])
        canvas.curve(left, own.numbers("n"), own.numbers("largest_gamma"), i, f"ε = {epsilon}", markers=8)
    left.set_yscale("log")
    left.set_ylim(1.0, 1e4)
    canvas.label(left, title="Theorem 6.20 beats n·ε below the curve", x="records n", y="largest / smallest transition")
    left.legend()
    epsilon, ratio = table.distinct("epsilon")[0], 10.0
    own = table.where(epsilon=epsilon, gamma=ratio)
    labels = {"general": "n·ε", "theorem_6_20": "Theorem 6.20", "tight": "rows and columns", "exact": "exact"}
    for i, (column, text) in enumerate(labels.items()):
        canvas.curve(right, own.numbers("n"), own.numbers(column), i, text, markers=8)
    right.set_ylim(0.0, 12.0)
    canvas.label(right, title=f"symmetric chain, ratio {ratio:g}, ε = {epsilon}", x="records n", y="leakage")
    right.legend()
    return figure
