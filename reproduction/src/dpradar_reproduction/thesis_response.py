"""[GuerraThesis] Figures 6.4 and 6.5: randomised response on a symmetric chain beside Laplace noise on the count."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpradar.correlated import Chain, calibrate
from dpradar.correlated.markov import gamma
from dpradar.correlated.response import exact_flip, printed_flip, response_error, response_leakage, response_tail

from . import canvas
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from .table import Cell

__all__ = ["accuracy", "by_epsilon", "draw_accuracy", "draw_by_epsilon"]

N_4, R_4, EPSILON_4 = 500, 0.3, 4.0
N_5, RS_5 = 700, (0.27, 0.4)
SHARES = (0.1, 0.5, 0.7)  # of records that are 1
EPSILONS_5 = tuple(float(x) for x in range(4, 21))
_TAIL = 0.05
_COLUMNS_4 = ("mechanism", "share", "noise", "leakage", "error", "tail")
_COLUMNS_5 = ("change", "epsilon", "mechanism", "share", "noise", "leakage", "error")
RR_PRINTED, RR_EXACT = "response, printed formula", "response, exact"
LAPLACE_PRINTED, LAPLACE_EXACT = "Laplace, Theorem 6.20", "Laplace, exact"


def _chain(change: float, n: int) -> Chain:
    return Chain([[1.0 - change, change], [change, 1.0 - change]], n)


def _flips(change: float, n: int, epsilon: float) -> dict[str, tuple[float, float]]:
    """Return the flip probabilities and what they leak: the printed formula with r the probability of a change."""
    chain = _chain(change, n)
    flips = {RR_PRINTED: printed_flip(change, epsilon), RR_EXACT: exact_flip(chain, epsilon)}
    return {name: (flip, response_leakage(chain, flip)) for name, flip in flips.items()}


def _scales(change: float, n: int, epsilon: float) -> dict[str, tuple[float | None, float | None]]:
    """Return the scales of the noise and what they leak; None where Theorem 6.20 allows none."""
    from dpradar.correlated.markov import steps

    chain = _chain(change, n)
    left = epsilon - 4.0 * math.log(gamma(np.asarray(chain.transitions)))
    printed = (1.0 / left, steps(chain, left)[0]) if left > 0.0 else (None, None)
    noise = calibrate(chain, epsilon, values=(0.0, 1.0))
    return {LAPLACE_PRINTED: printed, LAPLACE_EXACT: (1.0 / noise.epsilon, noise.leakage.value)}


def accuracy(points: int = 41) -> Table:
    """Return Figure 6.4: the probability of an error of at least so many records, n = 500, r = 0.3, epsilon 4.

    Examples
    --------
    >>> table = accuracy(points=3)
    >>> [row["noise"] for row in table.rows][0].__round__(5)
    0.13821
    """
    rows: list[dict[str, Cell]] = []
    errors = np.linspace(0.0, 40.0, points)
    for name, (flip, leak) in _flips(R_4, N_4, EPSILON_4).items():
        for share in SHARES:
            for error in errors:
                tail = response_tail(N_4, round(share * N_4), flip, float(error))
                cells = (name, share, flip, leak, float(error), tail)
                rows.append(dict(zip(_COLUMNS_4, cells, strict=True)))
    for name, (scale, leak_of) in _scales(R_4, N_4, EPSILON_4).items():
        for error in errors:
            survival = None if scale is None else math.exp(-float(error) / scale)
            rows.append(dict(zip(_COLUMNS_4, (name, None, scale, leak_of, float(error), survival), strict=True)))
    return Table(_COLUMNS_4, tuple(rows))


def by_epsilon(changes: Sequence[float] = RS_5, epsilons: Sequence[float] = EPSILONS_5) -> Table:
    """Return Figure 6.5: the error that 5 of 100 releases exceed, n = 700.

    Examples
    --------
    >>> table = by_epsilon(changes=[0.27], epsilons=[6.0])
    >>> [round(float(x), 2) for x in table.numbers("error", share=0.5)]
    [9.6, 9.56]
    """
    rows: list[dict[str, Cell]] = []
    for change in changes:
        for epsilon in epsilons:
            for name, (flip, leak) in _flips(change, N_5, epsilon).items():
                for share in SHARES:
                    error = response_error(N_5, round(share * N_5), flip)
                    rows.append(dict(zip(_COLUMNS_5, (change, epsilon, name, share, flip, leak, error), strict=True)))
            for name, (scale, leak_of) in _scales(change, N_5, epsilon).items():
                off = None if scale is None else -math.log(_TAIL) * scale
                rows.append(dict(zip(_COLUMNS_5, (change, epsilon, name, None, scale, leak_of, off), strict=True)))
    return Table(_COLUMNS_5, tuple(rows))


_NAMES = (RR_PRINTED, RR_EXACT, LAPLACE_PRINTED, LAPLACE_EXACT)


@canvas.styled
def draw_accuracy(table: Table) -> Figure:
    """Return the tail against the error; randomised response where half of the records are 1."""
    figure, axes = canvas.panels(1, 1, 6.6, 3.8)
    panel = axes[0, 0]
    for i, name in enumerate(_NAMES):
        own = table.where(mechanism=name, share=0.5 if name in (RR_PRINTED, RR_EXACT) else None)
        canvas.curve(panel, own.numbers("error"), own.numbers("tail"), i, name, markers=8)
    title = f"{N_4} records, a change with probability {R_4:g}, leakage at most {EPSILON_4:g}"
    canvas.label(panel, title=title, x="error of the count", y="probability of at least that error")
    canvas.legend(figure, *panel.get_legend_handles_labels(), columns=2)
    return figure


@canvas.styled
def draw_by_epsilon(table: Table) -> Figure:
    """Return the error against the leakage that is allowed."""
    changes = table.distinct("change")
    figure, axes = canvas.panels(1, len(changes), 4.2 * len(changes), 3.9)
    for panel, change in zip(axes[0], changes, strict=True):
        for i, name in enumerate(_NAMES):
            share = 0.5 if name in (RR_PRINTED, RR_EXACT) else None
            own = table.where(change=change, mechanism=name, share=share)
            error = own.numbers("error")
            canvas.curve(panel, own.numbers("epsilon"), np.where(error > 0.0, error, np.nan), i, name, markers=8)
        panel.set_yscale("log")
        canvas.label(panel, title=f"a change with probability {change:g}", x="leakage allowed", y="error, 95 of 100")
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=2)
    return figure
