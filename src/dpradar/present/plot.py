"""Figures for papers and slides, drawn by matplotlib on axes that can be given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra
from .pages import page_of

if TYPE_CHECKING:
    from ..results import Assessment

__all__ = ["plot_assessment"]


def plot_assessment(result: Assessment, ax: Any = None) -> Any:
    """Draw success against the blind guess with the threat on it, and return the axes.

    Examples
    --------
    >>> import dpradar as dr, matplotlib
    >>> matplotlib.use("agg")
    >>> axes = plot_assessment(dr.assess(dr.GRR(m=10, epsilon=1.0), dr.Threat(dr.Prior.uniform(10))))
    >>> axes.get_xlabel()
    'success of the blind guess'
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "report") from None
    if ax is None:
        # A figure without pyplot: nothing stays open, and no window is needed.
        ax = Figure(figsize=(4.2, 3.6), layout="constrained").add_subplot()
    ax.plot([0.0, 1.0], [0.0, 1.0], linestyle="--", linewidth=1.0, color="0.4", label="nothing learned")
    curve = page_of(result).curve
    if curve is not None:
        for line in curve.lines:
            ax.plot(*zip(*line.points, strict=True), linewidth=2.0, label="no attacker can be above")
        for mark in curve.marks:
            ax.plot([mark.x], [mark.y], marker="o", linestyle="none", color="black", label="this threat")
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), xlabel="success of the blind guess", ylabel="success after the release")
    ax.set_aspect("equal")
    ax.legend(loc="lower right", frameon=False)
    return ax
