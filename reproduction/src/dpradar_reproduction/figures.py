"""The figures of the sources, recomputed: numbers as CSV, pictures as SVG."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpradar.errors import ParameterError

from . import (
    canvas,
    ldp_audits,
    model_tables,
    rad_fig1,
    rad_fig2,
    rad_fig3,
    rad_fig4,
    rad_fig6,
    rad_fig7,
    rad_fig10,
    unify_fig1,
    unify_fig2,
    unify_fig3,
    unify_fig4,
    unify_fig5,
    unify_fig6,
)
from .baselines import GIVEN
from .figure_names import names
from .measurement import MEASUREMENT
from .paper_figure import KEPT_PARTS, Effort, PaperFigure, printed
from .thesis import THESIS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .table import Table

__all__ = ["FIGURES", "Effort", "PaperFigure", "names", "reproduce"]


_LIMITED = (
    "the estimates of [RAD] have no confidence limit and a ceiling of their own, ln((m-1)(N-1)) at N = 10^6 attacks; "
    "LDP-Auditor's is 12.025 (printed 12.25); OUE's exact value flattens, so its inversion is undefined or off above "
    "epsilon 12"
)


def _rad_audit(place: str) -> PaperFigure:
    return PaperFigure(
        f"audits of GRR, SS and OUE on {place}: Theorem 4.3, Corollary 5.6, LDP-Auditor",
        lambda _, progress: ldp_audits.compute(("GRR", "SS", "OUE"), progress, sizes={place: rad_fig7.SIZES[place]}),
        ldp_audits.draw,
        _LIMITED,
    )


def _gradients(name: str) -> PaperFigure:
    def compute(data: Path | None, progress: Callable[[str], None], keep: Path, bar: Any, effort: Effort) -> Table:
        return rad_fig4.compute(data, progress, name=name, effort=effort, keep=keep, bar=bar)

    what = f"the exact attack on DP-SGD, {name}: RAD and ReRo with nothing, the label and everything known"
    note = "the printed bound takes the add/remove noise for replace-one, and the exact attack can exceed it"
    return PaperFigure(what, None, rad_fig4.draw, note, compute, trains=True)


def _nested(shape: float, law: str) -> PaperFigure:
    def compute(_: Path | None, progress: Callable[[str], None], __: Path, ___: Any, effort: Effort) -> Table:
        if effort.quick:
            return rad_fig10.compute(shape, progress, draws=rad_fig10.QUICK_DRAWS, runs=rad_fig10.QUICK_RUNS)
        return rad_fig10.compute(shape, progress)

    return PaperFigure(f"nested Monte Carlo, prior {law}", None, rad_fig10.draw, "", compute)


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
    "rad:fig4": _gradients("mnist"),
    "rad:fig5": _gradients("fashion-mnist"),
    "rad:fig6": PaperFigure("RAD and ReRo of Laplace noise on working hours", rad_fig6.compute, rad_fig6.draw),
    "rad:fig7": PaperFigure(
        "the optimal attack on GRR, OUE and SS, run, beside Theorem 4.3",
        lambda _, progress: rad_fig7.compute(progress),
        rad_fig7.draw,
    ),
    "rad:fig8": _rad_audit("Porto"),
    "rad:fig9": _rad_audit("Geolife"),
    "rad:fig10": _nested(1.0, "U(0, 1)"),
    "rad:fig11": _nested(0.1, "Beta(.1, .1)"),
    "rad:table2": model_tables.TABLE_2,
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
    **MEASUREMENT,
    **THESIS,
}


def reproduce(
    name: str,
    out: Path,
    data: Path | None = None,
    progress: Callable[[str], None] | None = None,
    *,
    effort: Effort | None = None,
    bar: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Recompute a figure or table and write its numbers (CSV) and its picture (SVG) into the folder ``out``.

    A table has no picture: its rows are printed through ``progress``.

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
    effort
        How much of what takes long (trainings): ``Effort(quick=True)`` is a small version with wide intervals; models
        for each candidate, their network, and how many processes. The numbers do not depend on the processes.
    bar
        Called with how much is done of what takes long. Finished parts are kept in the folder ``<name>.partial`` of
        ``out``; when interrupted, calling again goes on where it was.

    Returns
    -------
    list of Path
        The CSV file and, for a figure, the SVG file.

    Examples
    --------
    >>> import tempfile
    >>> reproduce("rad:fig0", Path(tempfile.mkdtemp()))
    Traceback (most recent call last):
        ...
    dpradar.errors.ParameterError: figure must be one of rad:fig1, rad:fig2, ...; got 'rad:fig0'. Did you mean ...
    """
    full_name = name if name in FIGURES else str(name).replace("_", ".")  # table8_1 is table8.1
    figure = FIGURES.get(full_name)
    if figure is None:
        near = difflib.get_close_matches(str(name).lower(), FIGURES, n=1)
        raise ParameterError(
            "figure", f"one of {', '.join(FIGURES)}", repr(name), f"Did you mean {near[0]}?" if near else ""
        )
    effort = effort or Effort()
    if not figure.trains and (effort.models is not None or effort.network != Effort().network):
        trained = ", ".join(one for one, its in FIGURES.items() if its.trains)
        raise ParameterError("reproduce", f"without models and network, which are for {trained}", repr(full_name))
    if figure.draw is not None:
        canvas.need_matplotlib()  # before the numbers, which may take a while
    tell = progress or (lambda _: None)
    name = full_name
    tell(f"{name}: {figure.what}")
    folder = Path(out)
    stem = name.replace(":", "-") + ("" if effort.network == Effort().network else f"-{effort.network}")
    if figure.compute is not None:
        table = figure.compute(data, tell)
    elif figure.compute_long is not None:
        parts = folder / f"{stem}.partial"
        if parts.is_dir() and any(parts.iterdir()):
            tell(f"{name}: {KEPT_PARTS}")
        table = figure.compute_long(data, tell, parts, bar, effort)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{stem}.csv"]
    table.write_csv(files[0])
    if figure.draw is None:
        for line in printed(table):
            tell(line)
    else:
        files.append(folder / f"{stem}.svg")
        canvas.write_svg(figure.draw(table), files[1])
    if figure.note:
        tell(f"{name}: {figure.note}")
    return files
