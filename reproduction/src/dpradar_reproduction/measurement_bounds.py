"""[SauerThesis] Figures 4.1 to 4.3: the bounds of the thesis beside those of Guerra-Balboa et al. (WPES 2024).

m = 100 values and delta = 1e-5. The text does not say which priors and which mechanisms the figures show: the priors
here are uniform and two skewed ones, the mechanisms randomised response (delta = 0) and Gaussian noise with exactly
this delta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpradar.bounds.approx_black_box import approx_black_box
from dpradar.bounds.rad import pairwise_knapsack
from dpradar.errors import NumericsError
from dpradar.guarantees.approx import tv_of_approx
from dpradar.guarantees.curves import approx_curve, gaussian_curve
from dpradar.mechanisms import GRR
from dpradar.threats import Prior

from . import canvas
from .movement import skewed
from .rad_fig1 import gaussian_sigma
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from dpradar.guarantees.curves import TradeoffCurve

    from .table import Cell

__all__ = ["PRIORS", "compute", "draw", "theorem_4", "theorem_5"]

SIZE = 100
DELTA = 1e-5
EPSILONS = (0.25, 0.5, 0.75, *(float(k) / 2.0 for k in range(2, 21)))
PRIORS: Mapping[str, tuple[float, float] | None] = {
    "uniform": None,
    "largest 0.2": (0.06, 0.2),
    "largest 0.5": (0.26, 0.5),
}
_COLUMNS = (
    "prior",
    "kappa",
    "kappa_plus",
    "epsilon",
    "thm_4",
    "thm_5",
    "thm_6",
    "thm_6_grr",
    "thm_6_gaussian",
    "thm_7",
    "thm_8_grr",
    "thm_8_gaussian",
    "cor_1",
    "cor_2",
    "cor_2_grr",
    "cor_2_gaussian",
    "largest",
)


def theorem_4(kappa_plus: float, epsilon: float, delta: float, m: int) -> float:
    """Return min{kappa+ (e^eps-1) + delta m, (e^eps-1)/(e^eps+1)}, any goal, nothing known (WPES 2024, as printed).

    The second term should have 2 delta in it: (e^eps-1+2 delta)/(e^eps+1) is the largest total variation.

    Examples
    --------
    >>> round(theorem_4(0.01, 1.0, 1e-5, 100), 6)
    0.018183
    """
    return min(kappa_plus * math.expm1(epsilon) + delta * m, math.tanh(epsilon / 2.0))


def theorem_5(kappa_plus: float, kappa_minus: float, epsilon: float, delta: float, m: int) -> float:
    """Return the bound of WPES 2024 for exact guesses: Theorem 4 with another second term.

    Examples
    --------
    >>> [round(theorem_5(0.01, 0.01, epsilon, 1e-5, 100), 5) for epsilon in (1.0, 5.0, 8.0)]
    [0.01818, 0.97675, 0.98934]
    """
    second = kappa_plus * (m - 1) * math.tanh(epsilon / 2.0) + kappa_plus - kappa_minus
    return min(kappa_plus * math.expm1(epsilon) + delta * m, second)


@dataclass(frozen=True, slots=True)
class _Promise:
    """A trade-off curve and a total variation under (epsilon, delta)."""

    curve: TradeoffCurve
    tv: float
    epsilon: float
    delta: float

    def per_pair(self, m: int) -> float:
        """Return the largest 1 - f(x) - x over the interval of Lemma 3."""
        shrink = math.exp(-self.epsilon)
        low = (1.0 - self.delta) * shrink / (1.0 + (m - 1) * shrink)
        high = (1.0 + self.delta * shrink) / (m - 1 + shrink)
        return self.curve.gap(low, min(high, 1.0))


def _promises(epsilon: float, delta: float, m: int) -> tuple[_Promise, _Promise, _Promise]:
    """Return what randomised response, Gaussian noise, and (epsilon, delta) alone promise."""
    grr = GRR(m=m, epsilon=epsilon)
    guarantee = grr.privacy("replace-one")
    if guarantee is None or guarantee.curve is None:
        raise NumericsError(f"no trade-off curve is known for {grr!r}")
    mu = 1.0 / gaussian_sigma(epsilon, delta)
    noise = gaussian_curve(mu)
    return (
        _Promise(guarantee.curve, grr.difference, epsilon, 0.0),
        _Promise(noise, noise.gap(), epsilon, delta),
        _Promise(approx_curve(epsilon, delta), tv_of_approx(epsilon, delta), epsilon, delta),
    )


def _prior(shape: tuple[float, float] | None, m: int) -> Prior:
    return Prior.uniform(m) if shape is None else skewed(m, *shape)


def _row(name: str, prior: Prior, epsilon: float, delta: float, *, largest: bool) -> dict[str, Cell]:
    pi = np.asarray(prior.probabilities)
    m, kappa = pi.size, float(pi @ pi)
    high, low = float(pi.max()), float(pi.min())
    grr, noise, any_ = _promises(epsilon, delta, m)
    shrink = math.exp(-epsilon)
    per_pair = (-math.expm1(-epsilon) + m * delta * shrink) / (1.0 + (m - 1) * shrink)
    uniform = name == "uniform"
    corollaries = (per_pair, any_.per_pair(m), grr.per_pair(m), noise.per_pair(m))
    values = (
        name,
        kappa,
        high,
        epsilon,
        theorem_4(high, epsilon, delta, m),
        theorem_5(high, low, epsilon, delta, m),
        *((1.0 - kappa) * promise.tv for promise in (any_, grr, noise)),
        pairwise_knapsack(pi, any_.tv, per_pair),
        *(pairwise_knapsack(pi, promise.tv, promise.per_pair(m)) for promise in (grr, noise)),
        *((value * (m - 1) / m if uniform else None) for value in corollaries),
        approx_black_box(pi, epsilon, delta)[1] if uniform and largest else None,
    )
    return dict(zip(_COLUMNS, values, strict=True))


def compute(
    epsilons: Sequence[float] = EPSILONS,
    *,
    priors: Mapping[str, tuple[float, float] | None] = PRIORS,
    m: int = SIZE,
    delta: float = DELTA,
    largest: bool = True,
) -> Table:
    """Return all bounds of Figures 4.1 to 4.3: one row per prior and epsilon.

    ``thm_6`` is TV (1 - kappa) with the largest total variation under (epsilon, delta), and with that of randomised
    response and of Gaussian noise; ``thm_7`` (with e^eps + 1, not the printed e^eps + 2) and ``thm_8`` for exact
    guesses; ``cor_1`` and ``cor_2`` for the uniform prior, ``cor_2`` also with the curve that (epsilon, delta) alone
    implies; ``largest`` is ours, what the worst mechanism of all reaches (uniform prior).

    Examples
    --------
    >>> (row,) = compute([5.0], priors={"uniform": None}).rows
    >>> round(row["thm_5"], 5), round(row["cor_1"], 5)
    (0.97675, 0.58986)
    """
    priors_by_name = {name: _prior(shape, m) for name, shape in priors.items()}
    rows = [
        _row(name, prior, epsilon, delta, largest=largest)
        for name, prior in priors_by_name.items()
        for epsilon in epsilons
    ]
    return Table(_COLUMNS, tuple(rows))


_LINES: Mapping[str, Mapping[str, str]] = {
    "4.1": {
        "thm_4": "Theorem 4 (WPES 2024)",
        "thm_6": "Theorem 6, black box",
        "thm_6_grr": "Theorem 6, randomised response",
        "thm_6_gaussian": "Theorem 6, Gaussian noise",
    },
    "4.2": {
        "thm_5": "Theorem 5 (WPES 2024)",
        "thm_7": "Theorem 7, black box",
        "thm_8_grr": "Theorem 8, randomised response",
        "thm_8_gaussian": "Theorem 8, Gaussian noise",
    },
    "4.3": {
        "thm_5": "Theorem 5 (WPES 2024)",
        "cor_1": "Corollary 1, black box",
        "cor_2": "Corollary 2, curve of (ε, δ) alone",
        "cor_2_grr": "Corollary 2, randomised response",
        "cor_2_gaussian": "Corollary 2, Gaussian noise",
    },
}


@canvas.styled
def draw_4_1(table: Table) -> Figure:
    """Return Figure 4.1."""
    return _drawn(table, "4.1")


@canvas.styled
def draw_4_2(table: Table) -> Figure:
    """Return Figure 4.2."""
    return _drawn(table, "4.2")


@canvas.styled
def draw_4_3(table: Table) -> Figure:
    """Return Figure 4.3."""
    return _drawn(table, "4.3")


draw = {"4.1": draw_4_1, "4.2": draw_4_2, "4.3": draw_4_3}


def _drawn(table: Table, number: str) -> Figure:
    names = ["uniform"] if number == "4.3" else table.distinct("prior")
    figure, axes = canvas.panels(1, len(names), 3.4 * len(names) + 1.0, 3.9)
    for panel, name in zip(axes[0], names, strict=True):
        own = table.where(prior=name)
        epsilon, row = own.numbers("epsilon"), own.rows[0]
        for i, (column, text) in enumerate(_LINES[number].items()):
            canvas.curve(panel, epsilon, own.numbers(column), i, text)
        if number == "4.3" and row["largest"] is not None:
            panel.plot(epsilon, own.numbers("largest"), "kx", markersize=4, label="largest of any mechanism (ours)")
        title = f"{name} prior: κ = {row['kappa']:.2g}, κ⁺ = {row['kappa_plus']:.2g}"
        canvas.label(panel, title=title, x="ε (δ = 10⁻⁵, m = 100)", y="bound on U-ReRo (RAD)")
        canvas.from_zero(panel)
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=3)
    return figure
