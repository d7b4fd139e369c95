"""[UNIFY] Figure 5: a yes/no attribute under Gaussian noise, Theorem D.1 beside Theorem 3.2, zCDP and Fano.

The text says noise scales 0.5, 1 and 2, the authors' code uses 3, 4 and 5; both are here. Their Fano bound subtracts an
information in bits from an entropy in nats, which makes it too loose; in one unit it is tighter than Theorem 3.2 nearly
everywhere. Instead of their Monte Carlo estimate of the information there is its value, by quadrature.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpradar.bounds import assess
from dpradar.bounds.fano import fano_success
from dpradar.guarantees import GDP
from dpradar.guarantees.epsilon import epsilon_at
from dpradar.guarantees.gdp import gaussian_privacy
from dpradar.threats import Prior, Threat

from . import canvas
from .rule_values import bound_of
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from .table import Cell

__all__ = ["compute", "draw", "gaussian_pair_information"]

Floats = NDArray[np.float64]
_OF_THE_TEXT, _OF_THE_CODE = (0.5, 1.0, 2.0), (3.0, 4.0, 5.0)
SIGMAS = (*_OF_THE_TEXT, *_OF_THE_CODE)
BASELINES = (*np.linspace(0.5, 0.98, 25).tolist(), 0.99, 0.999)
DELTA = 1e-5
APART = 2.0  # two records, clipped to norm 1, in opposite directions: replace-one
_REACH, _POINTS = 12.0, 6001
_COLUMNS = ("sigma", "epsilon", "baseline", "zcdp", "thm_3_2", "fano", "fano_exact", "thm_d_1")
_LABELS = {
    "zcdp": "Rényi DP, best order (Balle et al.)",
    "thm_3_2": "f-DP, Theorem 3.2",
    "fano": "Fano, bound on the information (Guo et al.)",
    "fano_exact": "Fano, information by quadrature",
    "thm_d_1": "f-DP, Theorem D.1: exact here",
}


def gaussian_pair_information(prior: float, mu: float) -> float:
    """Return the information, in nats, that N(0, 1) with probability 1 - prior or N(mu, 1) gives about which it was.

    Notes
    -----
    The trapezoidal rule on [-12, mu + 12]: its error for such integrands is below 1e-12.

    Examples
    --------
    >>> round(gaussian_pair_information(0.5, 1.0), 6)
    0.111421
    """
    x = np.linspace(-_REACH, mu + _REACH, _POINTS)
    weights = (1.0 - prior, prior)
    logs = [-0.5 * (x - centre) ** 2 - 0.5 * math.log(2.0 * math.pi) for centre in (0.0, mu)]
    mixed = np.logaddexp(*(log + math.log(weight) for log, weight in zip(logs, weights, strict=True)))
    inside = sum(weight * np.exp(log) * (log - mixed) for log, weight in zip(logs, weights, strict=True))
    return float(np.trapezoid(inside, x))


def compute(sigmas: Sequence[float] = SIGMAS, baselines: Sequence[float] = BASELINES, delta: float = DELTA) -> Table:
    """Return the numbers of Figure 5: one row per noise and baseline, with the success that each bound allows.

    The attribute has its likelier value with probability ``baseline``; the records are 2 apart (replace-one), so that
    mu = 2/sigma. ``fano_exact`` takes the information that the noise really gives, the others what mu-GDP implies.

    Examples
    --------
    >>> (row,) = compute(sigmas=[2.0], baselines=[0.5]).rows
    >>> [round(row[name], 4) for name in ("zcdp", "thm_3_2", "fano", "fano_exact", "thm_d_1")]
    [0.9844, 0.8413, 0.8182, 0.7315, 0.6915]
    """
    rows: list[dict[str, Cell]] = []
    for sigma in sigmas:
        mu = APART / sigma
        epsilon = epsilon_at(gaussian_privacy(mu, "replace-one", "Gaussian noise"), delta)
        for base in baselines:
            prior = (base, 1.0 - base)
            assessment = assess(GDP(mu=mu, neighbours="replace-one"), Threat(Prior.of(prior)))
            exact = fano_success(prior, gaussian_pair_information(1.0 - base, mu))
            zcdp, rero, fano, binary = (
                bound_of(assessment, "success", r) for r in ("zcdp", "rero-3", "fano", "binary")
            )
            rows.append(dict(zip(_COLUMNS, (sigma, epsilon, base, zcdp, rero, fano, exact, binary), strict=True)))
    return Table(_COLUMNS, tuple(rows))


@canvas.styled
def draw(table: Table) -> Figure:
    """Return Figure 5: the noise of the text above, that of the code below."""
    sigmas = table.distinct("sigma")
    columns = min(3, len(sigmas))
    figure, axes = canvas.panels(-(-len(sigmas) // columns), columns, 3.1 * columns + 0.3, 5.9)
    for place, sigma in enumerate(sigmas):
        panel = axes[divmod(place, columns)]
        own = table.where(sigma=sigma)
        for i, (column, text) in enumerate(_LABELS.items()):
            canvas.curve(panel, own.numbers("baseline"), own.numbers(column), i, text, markers=8)
        panel.plot([0.5, 1.0], [0.5, 1.0], color="#777777", linewidth=0.8, label="blind guess")
        source = "text" if sigma in _OF_THE_TEXT else "code"
        title = f"σ = {sigma:g} ({source}), ε = {own.rows[0]['epsilon']:.2f} at δ = 10⁻⁵"
        canvas.label(panel, title=title, x="probability of the likelier value", y="success")
        panel.set_ylim(0.5, 1.01)
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=2)
    return figure
