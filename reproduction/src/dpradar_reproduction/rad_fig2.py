"""[RAD] Figure 2: Laplace noise chosen for a limit on RAD or for a limit on reconstruction robustness (ReRo).

The paper puts both limits on one axis, though one is about success minus what happens without the record, the other
about success itself. With nothing known and ten equally likely values RAD is success minus 1/10, so that part of the
difference is that shift and part is the bound: the columns ``gain`` and ``success`` separate the two.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from dpradar.calibration import Limit, calibrate
from dpradar.errors import NumericsError
from dpradar.mechanisms import Laplace
from dpradar.threats import Prior, Threat

from . import canvas
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from .table import Cell

    Pair = tuple[float | None, float | None]  # epsilon, and the error that 5 of 100 exceed

__all__ = ["compute", "draw"]

SIZE = 10
LIMITS = (0.02, 0.05, 0.08, *(k / 20 for k in range(2, 18)), 0.88)
_PRECISION, _ROUNDING = 1e-7, 1e-12
_KINDS = ("rad", "rero", "gain", "success")
_COLUMNS = ("limit", *(f"{kind}_{number}" for kind in _KINDS for number in ("epsilon", "error")))
_LABELS = {
    "rero": "ReRo ≤ limit, Equation (3): the paper’s comparison",
    "gain": "ReRo ≤ limit + 1/10, Equation (3): the same gain",
    "success": "success ≤ limit, exact",
    "rad": "RAD ≤ limit, exact (= success ≤ limit + 1/10)",
}


def compute(limits: Sequence[float] = LIMITS, m: int = SIZE, progress: Callable[[str], None] = lambda _: None) -> Table:
    """Return the numbers of Figure 2: one row per limit, with the epsilon found and the error that 5 of 100 exceed.

    A number takes ``m`` equally spaced values in [0, 1], all equally likely, nothing is known, and Laplace noise of
    scale 1/epsilon is added. ``rad``: RAD <= limit, exact. ``rero``: success <= limit by [RAD] Equation (3), as in the
    paper. ``gain``: the same bound for success <= limit + 1/m, so that both allow the same gain. ``success``:
    success <= limit, exact. Empty where no noise keeps the limit: success is never below 1/m.

    Examples
    --------
    >>> (row,) = compute(limits=[0.2]).rows
    >>> [round(row[name], 4) for name in ("rad_epsilon", "rero_epsilon")]
    [4.5237, 0.6931]
    """
    threat, query = Threat(Prior.uniform(m)), np.linspace(0.0, 1.0, m)

    def exact(limit: Limit) -> Pair:
        answer = calibrate(Laplace, limit, precision=_PRECISION, query=query)
        if answer.value is None:
            raise NumericsError(f"no noise was found: {answer.reason}")
        return 1.0 / answer.value, answer.cost["error"]

    rows: list[dict[str, Cell]] = []
    for limit in limits:
        progress(f"rad:fig2: limit {limit:g}")
        possible = limit > 1.0 / m + _ROUNDING
        answers = (
            exact(Limit(threat, rad=limit)),
            _by_equation_3(limit, 1.0 / m) if possible else (None, None),
            _by_equation_3(limit + 1.0 / m, 1.0 / m),
            exact(Limit(threat, success=limit)) if possible else (None, None),
        )
        cells = [number for answer in answers for number in answer]
        rows.append(dict(zip(_COLUMNS, (limit, *cells), strict=True)))
    return Table(_COLUMNS, tuple(rows))


def _by_equation_3(limit: float, baseline: float) -> Pair:
    """Return the largest epsilon at which 1 - f(baseline), f the curve of Laplace noise, keeps the limit.

    Not by ``calibrate``, which knows tighter bounds than the one that the paper compares with.
    """

    def above(epsilon: float) -> float:
        promise = Laplace(1.0 / epsilon, sensitivity=1.0, neighbours="replace-one").at(None).privacy("replace-one")
        if promise is None or promise.curve is None:
            raise NumericsError("Laplace noise has no trade-off curve. Please report this.")
        return 1.0 - promise.curve.at(baseline) - limit

    epsilon = float(brentq(above, 1e-6, 100.0, xtol=1e-12))
    return epsilon, -math.log(0.05) / epsilon


@canvas.styled
def draw(table: Table) -> Figure:
    """Return Figure 2: the error against the limit."""
    figure, axes = canvas.panels(1, 1, 7.8, 3.9)
    panel = axes[0, 0]
    for i, (kind, text) in enumerate(_LABELS.items()):
        canvas.curve(panel, table.numbers("limit"), table.numbers(f"{kind}_error"), i, text, markers=10)
    panel.set_yscale("log")
    canvas.label(
        panel,
        title="Noise on one of 10 equally likely numbers in [0, 1], nothing known",
        x="limit",
        y="error that 5 of 100 answers exceed",
    )
    panel.set_xlim(0.0, 0.9)
    canvas.legend(figure, *panel.get_legend_handles_labels(), columns=2)
    return figure
