"""[RAD] Figure 6: Laplace noise on hours per week, how far off a guess may be, and what that does to RAD and ReRo."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpradar.bounds import assess
from dpradar.errors import ParameterError
from dpradar.guarantees.curves import laplace_curve
from dpradar.mechanisms import Laplace
from dpradar.threats import Goal, Prior, Threat

from . import canvas
from .rule_values import bound_of, interval_of
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from .table import Cell

__all__ = ["adult_hours", "compute", "data_file", "draw", "priors"]

ETAS = (0, 40, 80, 100)  # of the paper
FINE_ETAS = (*range(50), *range(50, 99, 2), 99, 100)  # every hour where the peaks are
EPSILONS = (0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0)
FINE_EPSILONS = (1.0, 10.0, 20.0)  # at which RAD is followed along every eta
HOURS = 100
_FILE = Path("adult") / "adult.data.gz"
_VARIABLE = "DPRADAR_DATA"
_HOURS_COLUMN = 12
_FLAT = 1e-3  # a curve that rises less than this above its median has no peak worth marking
_COLUMNS = (
    "prior",
    "epsilon",
    "eta",
    "rad",
    "rad_low",
    "rero",
    "rero_low",
    "rero_bound",
    "rero_bound_ours",
    "blind_guess",
)


def data_file(data: Path | None = None) -> Path | None:
    """Return the Adult file below ``data``, or below the folder that DPRADAR_DATA names; None where there is none."""
    folder = os.environ.get(_VARIABLE) if data is None else data
    file = None if not folder else Path(folder) / _FILE
    return file if file is not None and file.is_file() else None


def adult_hours(file: Path) -> NDArray[np.float64]:
    """Return how often each number of hours per week 0..100 stands in Adult, as probabilities.

    The file is that of the UCI repository, compressed: no header, fields separated by a comma and a blank.
    """
    counts = np.zeros(HOURS + 1)
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            fields = line.split(",")
            try:
                hours = int(fields[_HOURS_COLUMN])
            except (IndexError, ValueError):
                # The line itself stays out of the message: it is about a person.
                raise ParameterError(
                    "reproduce.data",
                    "the Adult file, with hours per week in column 13",
                    f"line {number} of {file.name}",
                ) from None
            counts[min(max(hours, 0), HOURS)] += 1.0
    if counts.sum() == 0.0:
        raise ParameterError("reproduce.data", "the Adult file, with at least one record", f"an empty {file.name}")
    return np.asarray(counts / counts.sum())


def priors(file: Path | None) -> dict[str, Prior]:
    """Return the priors of Figure 6 over the hours 0..100; the empirical one only where there is a file."""
    ends = np.zeros(HOURS + 1)
    ends[[0, -1]] = 0.5
    priors_by_name = {"uniform": Prior.uniform(HOURS + 1), "two-point": Prior.of(ends)}
    if file is not None:
        priors_by_name["empirical"] = Prior.of(adult_hours(file))
    return priors_by_name


def compute(
    data: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
    *,
    epsilons: Sequence[float] = EPSILONS,
    fine_epsilons: Sequence[float] = FINE_EPSILONS,
    fine_etas: Sequence[float] = FINE_ETAS,
) -> Table:
    """Return the numbers of Figure 6: one row per prior, epsilon and eta.

    Laplace noise of scale 100/epsilon on one person's hours, output clamped to [0, 100], nothing known, success within
    eta hours. The paper's four eta for all of ``epsilons``; every one of ``fine_etas`` for ``fine_epsilons``. ``rad``
    and ``rero`` (success) are exact; ``rero_bound`` is 1 - f(blind guess) as in the paper ([RAD] Equation (3)), f being
    the trade-off curve of two records at distance 100; ``rero_bound_ours`` compares with the output for 50 hours
    instead, which is as valid and tighter.

    Examples
    --------
    >>> table = compute(epsilons=[1.0], fine_epsilons=[])
    >>> table.numbers("rad", prior="uniform").round(5).tolist()
    [0.00494, 0.11028, 0.06573, 0.0]
    """
    file = data_file(data)
    if file is None:
        progress(f"rad:fig6: no {_FILE.as_posix()} in the data folder ({_VARIABLE}): the empirical prior is left out")
    cells = {(epsilon, float(eta)) for epsilon in epsilons for eta in ETAS}
    cells |= {(epsilon, float(eta)) for epsilon in fine_epsilons for eta in fine_etas}
    rows: list[Mapping[str, Cell]] = []
    for name, prior in priors(file).items():
        progress(f"rad:fig6: {name} prior, {len(cells)} settings")
        rows += [_row(name, prior, epsilon, eta) for epsilon, eta in sorted(cells)]
    return Table(_COLUMNS, tuple(rows))


def _row(name: str, prior: Prior, epsilon: float, eta: float) -> dict[str, Cell]:
    threat = Threat(prior, goal=Goal.within(eta))
    risk = assess(Laplace(scale=HOURS / epsilon, truncate=(0.0, float(HOURS))), threat)
    rad_low, rad = interval_of(risk.rad)
    rero_low, rero = interval_of(risk.success)
    printed = 1.0 - laplace_curve(epsilon).at(threat.kappa_plus)
    ours = bound_of(risk, "success", "rero-3")
    values = (name, epsilon, eta, rad, rad_low, rero, rero_low, printed, ours, threat.kappa_plus)
    return dict(zip(_COLUMNS, values, strict=True))


@canvas.styled
def draw(table: Table) -> Figure:
    """Return Figure 6: RAD and ReRo against epsilon, and RAD against eta, one column per prior."""
    names = table.distinct("prior")
    figure, axes = canvas.panels(3, len(names), 3.7 * len(names) + 0.3, 8.6)
    for column, name in enumerate(names):
        own = table.where(prior=name)
        _against_epsilon(axes[0, column], own, "rad")
        _against_epsilon(axes[1, column], own, "rero")
        _against_eta(axes[2, column], own)
        canvas.label(axes[0, column], title=f"{name} prior", x="ε", y="RAD, exact")
        canvas.label(axes[1, column], title="", x="ε", y="ReRo (success): exact, and bound")
        canvas.label(axes[2, column], title="", x="η, hours a guess may be off", y="RAD, exact")
        for row in range(3):
            axes[row, column].set_ylim(-0.02, 1.04 if row == 1 else 0.75)
    canvas.legend(figure, *axes[1, 0].get_legend_handles_labels(), columns=len(ETAS) + 1, above=True)
    return figure


def _against_epsilon(panel: Axes, own: Table, quantity: str) -> None:
    for i, eta in enumerate(ETAS):
        line = own.where(eta=float(eta))
        epsilon = line.numbers("epsilon")
        style: dict[str, Any] = {"color": canvas.COLOURS[i], "marker": canvas.MARKERS[i], "markevery": (i, len(ETAS))}
        panel.plot(epsilon, line.numbers(quantity), linestyle="-", label=f"η = {eta}", **style)
        if quantity == "rero":
            bound = line.numbers("rero_bound")
            panel.plot(epsilon, bound, linestyle=canvas.DASHES[1], linewidth=1.1, markerfacecolor="white", **style)
    if quantity == "rero":
        panel.plot(
            [],
            [],
            color="black",
            linestyle=canvas.DASHES[1],
            marker="o",
            markerfacecolor="white",
            linewidth=1.1,
            label="ReRo bound 1 − f(κ⁺), hollow",
        )


def _against_eta(panel: Axes, own: Table) -> None:
    lines = {epsilon: own.where(epsilon=epsilon) for epsilon in own.distinct("epsilon")}
    fine = {epsilon: line for epsilon, line in lines.items() if len(line.rows) > len(ETAS)}
    for i, (epsilon, line) in enumerate(fine.items()):
        eta, rad = line.numbers("eta"), line.numbers("rad")
        top = int(rad.argmax())
        peaked = rad[top] - np.median(rad) > _FLAT
        text = f"ε = {epsilon:g}" + (f", peak × at η = {eta[top]:g}" if peaked else "")
        panel.plot(eta, rad, color=canvas.COLOURS[i], linestyle=canvas.DASHES[i], label=text)
        paper = np.isin(eta, ETAS)
        panel.plot(eta[paper], rad[paper], color=canvas.COLOURS[i], linestyle="none", marker=canvas.MARKERS[i])
        if peaked:
            panel.plot(eta[top], rad[top], color="black", linestyle="none", marker="x", markersize=6.5)
    panel.legend(loc="upper right")
