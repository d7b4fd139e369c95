"""The figures of the sources, recomputed: numbers as CSV, pictures as SVG."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ParameterError
from . import canvas, rad_fig1, rad_fig3, rad_fig6, rad_fig10

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
}


def names() -> tuple[str, ...]:
    """Return the names of the figures that can be reproduced.

    Examples
    --------
    >>> names()
    ('rad:fig1', 'rad:fig3', 'rad:fig6', 'rad:fig10', 'rad:fig11')
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
    >>> reproduce("rad:fig2", Path(tempfile.mkdtemp()))
    Traceback (most recent call last):
        ...
    dpradar.errors.ParameterError: figure must be one of rad:fig1, rad:fig3, ...; got 'rad:fig2'. Did you mean ...
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
