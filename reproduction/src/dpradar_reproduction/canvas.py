"""Figures as SVG: the only place of this package that needs matplotlib."""

from __future__ import annotations

import io
import re
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal

from dpradar.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from .table import Table

    Draw = Callable[[Table], Figure]

__all__ = [
    "COLOURS",
    "DASHES",
    "MARKERS",
    "curve",
    "finish",
    "from_zero",
    "label",
    "legend",
    "need_matplotlib",
    "panels",
    "styled",
    "write_svg",
]

# Okabe and Ito's palette, which colour-blind readers can tell apart; in black and white dashes and markers do it.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (1, 1.3)), (0, (6, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")

_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: it can be searched, copied and read aloud
    "svg.hashsalt": "dpradar",  # ids inside the file are the same on every run
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],  # matplotlib ships it, so that widths do not depend on the machine
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "legend.handlelength": 3.2,  # long enough to see the dashes
}


def need_matplotlib() -> None:
    """Raise MissingExtra when matplotlib is not installed."""
    try:
        import matplotlib as _  # noqa: F401
    except ImportError:
        raise MissingExtra("matplotlib", "report") from None


def styled(draw: Draw) -> Draw:
    """Let a function draw in the house style, and leave the caller's own style alone."""

    @wraps(draw)
    def drawn(table: Table) -> Figure:
        need_matplotlib()
        from matplotlib import rc_context

        with rc_context(_STYLE):
            return draw(table)

    return drawn


def panels(rows: int, columns: int, width: float, height: float) -> tuple[Figure, NDArray[np.object_]]:
    """Return a figure and its axes as a rows x columns array."""
    # No pyplot: nothing here depends on, or changes, the backend of the caller.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def label(axes: Axes, *, title: str, x: str, y: str) -> None:
    """Name a panel and its axes."""
    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def curve(panel: Axes, x: Any, y: Any, i: int, text: str | None, *, markers: int = 0) -> None:
    """Draw the i-th curve of a panel in its own colour and dashes, with about so many markers on it."""
    style: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i % len(DASHES)]}
    if markers:
        every = max(1, len(x) // markers)
        # Shifted, so that markers of equal curves do not hide each other.
        style |= {"marker": MARKERS[i % len(MARKERS)], "markevery": (i % every, every)}
    panel.plot(x, y, label=text, **style)


def from_zero(panel: Axes, top: float = 1.0) -> None:
    """Let both axes begin at 0, and the upright one end at ``top``."""
    panel.set_ylim(0.0, top)
    panel.set_xlim(left=0.0)


def legend(figure: Figure, handles: Any, labels: Any, *, columns: int, above: bool = False) -> None:
    """Put the legend below the panels (or above), in fewer columns where so many do not fit into the figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    place: Literal["outside upper center", "outside lower center"]
    place = "outside upper center" if above else "outside lower center"
    for count in range(columns, 0, -1):
        box = figure.legend(handles, labels, loc=place, ncols=count)
        if count == 1 or box.get_window_extent(renderer).width <= figure.bbox.width:
            return
        box.remove()


def finish(figure: Figure, panel: Axes, *, title: str, x: str, y: str) -> Figure:
    """Name the only panel of a figure of probabilities, put the legend beside it, and return the figure."""
    label(panel, title=title, x=x, y=y)
    from_zero(panel)
    figure.legend(loc="outside right center")
    return figure


def write_svg(figure: Figure, path: Path) -> None:
    """Write the figure with the same bytes on every run: no date, no program name, fixed ids."""
    from matplotlib import rc_context

    buffer = io.StringIO()
    nameless = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with rc_context(_STYLE):
        figure.savefig(buffer, format="svg", metadata=nameless)
    # The document type names an address that no reader of SVG needs.
    text = re.sub(r"<!DOCTYPE[^>]*>\s*", "", buffer.getvalue())
    path.write_text(text, encoding="utf-8", newline="\n")
