"""The figures of the sources, recomputed: numbers as CSV, pictures as SVG."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ParameterError
from . import (
    canvas,
    rad_fig1,
    rad_fig2,
    rad_fig3,
    rad_fig6,
    rad_fig10,
    unify_fig1,
    unify_fig2,
    unify_fig3,
    unify_fig4,
    unify_fig5,
    unify_fig6,
)
from .baselines import GIVEN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure

    from .table import Table

    Progress = Callable[[str], None]

__all__ = ["FIGURES", "PaperFigure", "names", "reproduce"]


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """A figure: what it shows, its numbers (from the data folder, saying how far they are), and its picture."""

    what: str
    compute: Callable[[Path | None, Progress], Table]
    draw: Callable[[Table], Figure]


FIGURES: Mapping[str, PaperFigure] = {
    "rad:fig1": PaperFigure(
        "Theorems 4.3 and 4.2 for five mechanisms", lambda _, __: rad_fig1.compute(), rad_fig1.draw
    ),
    "rad:fig2": PaperFigure(
        "Laplace noise for a limit on RAD or on ReRo",
        lambda _, progress: rad_fig2.compute(progress=progress),
        rad_fig2.draw,
    ),
    "rad:fig3": PaperFigure(
        "black-box bounds under (epsilon, delta)-DP", lambda _, __: rad_fig3.compute(), rad_fig3.draw
    ),
    "rad:fig6": PaperFigure("RAD and ReRo of Laplace noise on working hours", rad_fig6.compute, rad_fig6.draw),
    "rad:fig10": PaperFigure(
        "nested Monte Carlo, prior U(0, 1)", lambda _, progress: rad_fig10.compute(1.0, progress), rad_fig10.draw
    ),
    "rad:fig11": PaperFigure(
        "nested Monte Carlo, prior Beta(.1, .1)", lambda _, progress: rad_fig10.compute(0.1, progress), rad_fig10.draw
    ),
    "unify:fig1": PaperFigure(
        "noise of DP-SGD for a risk target, f-DP and Renyi DP: GPT-2 on SST-2",
        lambda _, progress: unify_fig1.compute(unify_fig1.GPT2, progress),
        unify_fig1.draw,
    ),
    "unify:fig2": PaperFigure(
        "singling out, Gaussian noise", lambda _, __: unify_fig2.compute(unify_fig2.GAUSSIAN), unify_fig2.draw
    ),
    "unify:fig3": PaperFigure(
        "reconstruction, Gaussian noise: f-DP, Renyi DP, zCDP", lambda _, __: unify_fig3.compute(), unify_fig3.draw
    ),
    "unify:fig4": PaperFigure(
        "2020 US Census by level, worst baseline", lambda _, __: unify_fig4.compute(), unify_fig4.draw
    ),
    "unify:fig5": PaperFigure(
        "a yes/no attribute: Theorems D.1 and 3.2, Renyi DP, Fano", lambda _, __: unify_fig5.compute(), unify_fig5.draw
    ),
    "unify:fig6": PaperFigure(
        "queries that a risk limit allows, Laplace noise", lambda _, __: unify_fig6.compute(), unify_fig6.draw
    ),
    "unify:fig7": PaperFigure(
        "noise of DP-SGD for a risk target, f-DP and Renyi DP: CIFAR-10",
        lambda _, progress: unify_fig1.compute(unify_fig1.CIFAR, progress),
        unify_fig1.draw,
    ),
    "unify:fig8": PaperFigure(
        "singling out, Laplace noise", lambda _, __: unify_fig2.compute(unify_fig2.LAPLACE), unify_fig2.draw
    ),
    "unify:fig9": PaperFigure(
        "2020 US Census by level, several baselines", lambda _, __: unify_fig4.compute(GIVEN), unify_fig4.draw
    ),
    "unify:fig10": PaperFigure(
        "singling out, both kinds of noise",
        lambda _, __: unify_fig2.compute(unify_fig2.GAUSSIAN | unify_fig2.LAPLACE),
        unify_fig2.draw,
    ),
}


def names() -> tuple[str, ...]:
    """Return the names of the figures that can be reproduced.

    Examples
    --------
    >>> names()
    ('rad:fig1', 'rad:fig2', 'rad:fig3', 'rad:fig6', 'rad:fig10', 'rad:fig11', 'unify:fig1', 'unify:fig2',
     'unify:fig3', 'unify:fig4', 'unify:fig5', 'unify:fig6', 'unify:fig7', 'unify:fig8', 'unify:fig9', 'unify:fig10')
    """
    return tuple(FIGURES)


def reproduce(
    name: str, out: Path, data: Path | None = None, progress: Callable[[str], None] | None = None
) -> list[Path]:
    """Recompute a figure and write its numbers (CSV) and its picture (SVG) into the folder ``out``.

    Guarantee
    ---------
    The same files, byte for byte, on every run with the same versions of the libraries.

    Parameters
    ----------
    name
        One of :func:`names`, such as ``"rad:fig1"``.
    out
        The folder to write to; made when missing.
    data
        The folder with the data sets, for figures that need one; the environment variable DPRADAR_DATA by default.
        What needs missing data is left out of the figure, and ``progress`` says so.
    progress
        Called with a line of text now and then.

    Returns
    -------
    list of Path
        The CSV file and the SVG file.

    Examples
    --------
    >>> import tempfile
    >>> reproduce("rad:fig0", Path(tempfile.mkdtemp()))
    Traceback (most recent call last):
        ...
    dpradar.errors.ParameterError: figure must be one of rad:fig1, rad:fig2, ...; got 'rad:fig0'. Did you mean ...
    """
    figure = FIGURES.get(name)
    if figure is None:
        near = difflib.get_close_matches(str(name).lower(), FIGURES, n=1)
        raise ParameterError(
            "figure", f"one of {', '.join(FIGURES)}", repr(name), f"Did you mean {near[0]}?" if near else ""
        )
    canvas.need_matplotlib()  # before the numbers, which may take a while
    tell = progress or (lambda _: None)
    tell(f"{name}: {figure.what}")
    table = figure.compute(data, tell)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    stem = name.replace(":", "-")
    files = [folder / f"{stem}.csv", folder / f"{stem}.svg"]
    table.write_csv(files[0])
    canvas.write_svg(figure.draw(table), files[1])
    return files
