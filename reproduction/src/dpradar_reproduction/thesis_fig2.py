"""[GuerraThesis] Figure 2.1: trade-off curves of several guarantees, and what they allow an attacker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpradar.guarantees.curves import approx_curve, gaussian_curve, laplace_curve

from . import canvas
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from dpradar.guarantees.curves import TradeoffCurve

    from .table import Cell

__all__ = ["CURVES", "compute", "draw"]

EPSILON, DELTA = 1.0, 0.1
# The text names epsilon, delta, mu = 1/sigma and G_3, the weak one; the other values of mu are ours.
CURVES: Mapping[str, tuple[str, TradeoffCurve]] = {
    "pure": ("ε = 1", approx_curve(EPSILON, 0.0)),
    "approx": ("ε = 1, δ = 0.1", approx_curve(EPSILON, DELTA)),
    "laplace": ("Laplace noise, ε = 1", laplace_curve(EPSILON)),
    "g_0_5": ("Gaussian noise, µ = 0.5", gaussian_curve(0.5)),
    "g_1": ("Gaussian noise, µ = 1", gaussian_curve(1.0)),
    "g_3": ("Gaussian noise, µ = 3", gaussian_curve(3.0)),
}
POINTS = tuple(k / 200 for k in range(201))


def compute(points: Sequence[float] = POINTS) -> Table:
    """Return, for each false-positive rate, the least false-negative rate that each guarantee allows.

    Examples
    --------
    >>> compute([0.05]).numbers("g_1").round(6).tolist()
    [0.740489]
    """
    x = np.asarray(points, dtype=float)
    rates = {name: np.asarray(curve.fnr(x)) for name, (_, curve) in CURVES.items()}
    rows: list[dict[str, Cell]] = [
        {"fpr": float(fpr), **{name: float(fnr[i]) for name, fnr in rates.items()}} for i, fpr in enumerate(x)
    ]
    return Table(("fpr", *CURVES), tuple(rows))


@canvas.styled
def draw(table: Table) -> Figure:
    """Return Figure 2.1."""
    figure, axes = canvas.panels(1, 1, 6.4, 4.6)
    panel, x = axes[0, 0], table.numbers("fpr")
    panel.plot(x, 1.0 - x, color="#888888", linestyle="--", linewidth=1.0, label="nothing learned")
    for i, (name, (text, _)) in enumerate(CURVES.items()):
        canvas.curve(panel, x, table.numbers(name), i, text)
    title = "Trade-off curves: nearer to the axes is weaker"
    return canvas.finish(figure, panel, title=title, x="false-positive rate", y="false-negative rate, at least")
