"""[UNIFY] Figures 2, 8 and 10: singling out, the strong adversary beside the average data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpradar.errors import UnsupportedError
from dpradar.guarantees.epsilon import epsilon_at
from dpradar.mechanisms import Gaussian, Laplace
from dpradar.notions import classic_singling_out, isolation_baseline, predicate_singling_out, singling_out

from . import canvas
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from .table import Cell

__all__ = ["GAUSSIAN", "LAPLACE", "compute", "draw"]

GAUSSIAN = {"Gaussian": tuple(np.geomspace(0.3, 10.0, 40).tolist())}  # sigma: the authors' range, with more points
LAPLACE = {"Laplace": tuple(np.geomspace(0.1333, 8.0, 40).tolist())}  # scale, likewise
RECORDS = (500, 1000, 5000)
WEIGHT = 1.0 / 5000.0
APART = 2.0  # a number that moves by at most 1 under add-remove moves by at most 2 under replace-one
DELTAS = {"Gaussian": 1e-5, "Laplace": 0.0}
_COLUMNS = ("mechanism", "noise", "epsilon", "records", "base_pso", "pso", "pso_f", "spso")
_LABELS = {
    "pso": "PSO, Theorem B.1 (Cohen and Nissim)",
    "pso_f": "PSO, Theorem F.2 (f-DP)",
    "spso": "SPSO, Theorem 3.3 (f-DP)",
}
_WIDEST = {"Gaussian": 50.0, "Laplace": 15.0}  # the authors' axes


def compute(
    noise: Mapping[str, Sequence[float]] = GAUSSIAN, records: Sequence[int] = RECORDS, weight: float = WEIGHT
) -> Table:
    """Return the numbers of Figure 2 (Gaussian noise), 8 (Laplace) or 10 (both): one row per noise and data set size.

    Every bound is given as a gain, success minus baseline: ``spso`` with baseline ``weight``, the two of PSO with
    ``base_pso`` = n w (1-w)^(n-1). A success stops at 1, so a useless PSO bound is the gain 1 - base_pso. Replace-one;
    epsilon at delta 10^-5 for Gaussian noise and at 0 for Laplace noise.

    Examples
    --------
    >>> (row,) = compute({"Laplace": [0.5]}, records=[500]).rows
    >>> round(row["epsilon"], 6), round(row["spso"], 6), round(row["pso"], 6)
    (4.0, 0.01072, 0.909499)
    """
    rows: list[dict[str, Cell]] = []
    for mechanism, amounts in noise.items():
        for amount in amounts:
            release, epsilon = _release(mechanism, amount)
            spso = singling_out(release, weight, neighbours="replace-one").value - weight
            for n in records:
                base = isolation_baseline(weight, n)
                delta = DELTAS[mechanism]
                old = classic_singling_out(release, weight, n, delta=delta, neighbours="replace-one").value
                new = predicate_singling_out(release, weight, n, neighbours="replace-one").value
                cells = (mechanism, amount, epsilon, n, base, old - base, new - base, spso)
                rows.append(dict(zip(_COLUMNS, cells, strict=True)))
    return Table(_COLUMNS, tuple(rows))


def _release(mechanism: str, amount: float) -> tuple[Gaussian | Laplace, float]:
    release = (
        Gaussian(sigma=amount, sensitivity=APART, neighbours="replace-one")
        if mechanism == "Gaussian"
        else Laplace(scale=amount, sensitivity=APART, neighbours="replace-one")
    )
    promise = release.at(None).privacy("replace-one")
    if promise is None:
        raise UnsupportedError(f"{release!r} promises nothing under replace-one")
    return release, epsilon_at(promise, DELTAS[mechanism])


@canvas.styled
def draw(table: Table) -> Figure:
    """Return Figure 2, 8 or 10: one row per kind of noise, one panel per data set size."""
    kinds, sizes = table.distinct("mechanism"), table.distinct("records")
    figure, axes = canvas.panels(len(kinds), len(sizes), 3.1 * len(sizes) + 0.3, 2.9 * len(kinds) + 0.6)
    for row, kind in enumerate(kinds):
        for column, n in enumerate(sizes):
            panel, own = axes[row, column], table.where(mechanism=kind, records=n)
            for i, (name, text) in enumerate(_LABELS.items()):
                canvas.curve(panel, own.numbers("epsilon"), own.numbers(name), i, text, markers=10)
            at = " at δ = 10⁻⁵" if kind == "Gaussian" else ""
            canvas.label(panel, title=f"{kind} noise, n = {n}", x=f"ε{at}", y="gain: success − baseline")
            canvas.from_zero(panel, 1.02)
            panel.set_xlim(0.0, _WIDEST[str(kind)])
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=len(_LABELS))
    return figure
