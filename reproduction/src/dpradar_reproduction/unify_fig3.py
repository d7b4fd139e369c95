"""[UNIFY] Figure 3: reconstruction under Gaussian noise, f-DP beside Renyi DP of order 2 and zCDP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpradar.bounds import assess
from dpradar.guarantees import GDP, RDP
from dpradar.guarantees.epsilon import epsilon_at
from dpradar.guarantees.gdp import gaussian_privacy
from dpradar.guarantees.renyi import RenyiBound, renyi_success, zcdp_success
from dpradar.threats import Threat

from . import canvas
from .baselines import GIVEN, OWN, WORST, shown, worst_gain
from .rule_values import bound_of
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from .table import Cell

__all__ = ["compute", "draw"]

SIGMAS = tuple(np.geomspace(0.15, 5.0, 40).tolist())  # the authors' range, with more points
DELTA = 1e-5
ORDER = 2.0
_COLUMNS = ("sigma", "epsilon", "at", "baseline", "rdp", "zcdp", "f_dp")
_LABELS = {"rdp": "Rényi DP, order 2 (Balle et al.)", "zcdp": "zCDP (Balle et al.)", "f_dp": "f-DP, Theorem 3.3"}


def compute(sigmas: Sequence[float] = SIGMAS, delta: float = DELTA) -> Table:
    """Return the numbers of Figure 3: one row per noise and baseline, with the gain that each bound allows.

    Gaussian noise with standard deviation sigma on a number that moves by at most 1 under add-remove: mu = 1/sigma,
    rho = mu^2/2, epsilon at ``delta``. ``at`` is a baseline or says which is the worst one: that of f-DP for all three
    bounds, as in the authors' code, or that of each bound.

    Examples
    --------
    >>> (row,) = compute(sigmas=[1.0]).where(at=0.1).rows
    >>> [round(row[name], 4) for name in ("rdp", "zcdp", "f_dp")]
    [0.4214, 0.4186, 0.2891]
    """
    rows = [row for sigma in sigmas for row in _rows(sigma, delta)]
    return Table(_COLUMNS, tuple(dict(zip(_COLUMNS, row, strict=True)) for row in rows))


def _rows(sigma: float, delta: float) -> list[tuple[Cell, ...]]:
    mu = 1.0 / sigma
    epsilon = epsilon_at(gaussian_privacy(mu, "add-remove", "Gaussian noise"), delta)
    worst = assess(GDP(mu=mu, neighbours="add-remove")).worst_gain
    tv = 1.0 if worst is None else worst.value
    rows: list[tuple[Cell, ...]] = []
    places: list[tuple[Cell, float]] = [*((b, b) for b in GIVEN), (WORST, 0.5 - 0.5 * tv)]
    for at, baseline in places:
        rows.append((sigma, epsilon, at, baseline, *_gains(mu, baseline)))
    bound, rho = RenyiBound((ORDER,), (ORDER * 0.5 * mu * mu,)), 0.5 * mu * mu
    fixed = worst_gain(lambda base: renyi_success(bound, base))[0]
    best = worst_gain(lambda base: zcdp_success(rho, base))[0]
    rows.append((sigma, epsilon, OWN, None, fixed, best, tv))
    return rows


def _gains(mu: float, baseline: float) -> tuple[float, float, float]:
    threat = Threat.baseline(baseline)
    one_order = RDP(orders=(ORDER,), epsilons=(ORDER * 0.5 * mu * mu,), neighbours="add-remove")
    fixed = bound_of(assess(one_order, threat), "success", "rdp")
    assessment = assess(GDP(mu=mu, neighbours="add-remove"), threat)
    best, curve = (bound_of(assessment, "success", rule) for rule in ("zcdp", "rero-3"))
    return fixed - baseline, best - baseline, curve - baseline


@canvas.styled
def draw(table: Table) -> Figure:
    """Return Figure 3: one panel per baseline."""
    chosen = [at for at in table.distinct("at") if at != WORST]
    figure, axes = canvas.panels(1, len(chosen), 3.1 * len(chosen) + 0.3, 3.5)
    for panel, at in zip(axes[0], chosen, strict=True):
        own = table.where(at=at)
        for i, (column, text) in enumerate(_LABELS.items()):
            canvas.curve(panel, own.numbers("epsilon"), own.numbers(column), i, text, markers=9)
        canvas.label(panel, title=shown(at), x="ε at δ = 10⁻⁵", y="gain: success − baseline")
        canvas.from_zero(panel, 1.02)
        panel.set_xlim(0.0, 36.0)
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=len(_LABELS))
    return figure
