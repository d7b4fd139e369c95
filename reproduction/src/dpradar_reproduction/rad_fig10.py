"""[RAD] Figures 10 and 11: continuous priors, nested Monte Carlo beside deterministic quadrature."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, betaln, stdtrit

from dpradar.bounds import assess
from dpradar.errors import UnsupportedError
from dpradar.mechanisms import Exponential
from dpradar.threats import Goal, Prior, Threat

from . import canvas
from .nested_monte_carlo import nested_monte_carlo, nested_monte_carlo_failure
from .rule_values import interval_of
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpradar.mechanisms.capabilities import ContinuousModel

    from .table import Cell

__all__ = ["BetaLaw", "calculus_monte_carlo", "compute", "draw", "guaranteed_error", "sup_density"]

Floats = NDArray[np.float64]
EPSILONS = (1.0, 5.0, 10.0)
ETAS = (0.1, 0.25, 0.5, 0.75)
DRAWS = (50, 100, 200, 400)
RUNS = 500  # the paper's J
QUICK_DRAWS, QUICK_RUNS = (50, 100, 200), 10
GRID_RUNS = 10  # the estimator that is not the paper's
GRID = 201  # guesses that the grid estimator compares
ESTIMATORS = {"calculus": 4, "grid": GRID}  # and how many candidates the paper's error bound counts for it
_CELLS = 400
_LEVEL = 0.95
_TABLE = 2**16
_COLUMNS = (
    "shape",
    "epsilon",
    "eta",
    "draws",
    "estimator",
    "runs",
    "mean",
    "deviation",
    "low",
    "high",
    "quadrature",
    "quadrature_low",
    "guaranteed_error",
)


@dataclass(frozen=True, slots=True)
class BetaLaw:
    """Beta(shape, shape) on [0, 1]; shape 1 is U(0, 1). It has the methods that a continuous prior needs.

    Examples
    --------
    >>> float(BetaLaw(1.0).cdf(0.25))
    0.25
    """

    shape: float

    def cdf(self, x: Any) -> Any:
        """Return Pr[value <= x]."""
        return betainc(self.shape, self.shape, np.clip(x, 0.0, 1.0))

    def ppf(self, q: Any) -> Any:
        """Return the quantile function at q."""
        return betaincinv(self.shape, self.shape, q)

    def density(self, x: Floats) -> Floats:
        """Return the density at x, 0 outside (0, 1)."""
        inside = (x > 0.0) & (x < 1.0)
        y = np.where(inside, x, 0.5)
        logs = (self.shape - 1.0) * (np.log(y) + np.log1p(-y)) - betaln(self.shape, self.shape)
        return np.where(inside, np.exp(logs), 0.0)


class _Tabulated:
    """The same law as 65,536 equally likely values.

    Off by far less than the noise of a Monte Carlo estimate, and many times faster to draw from.
    """

    def __init__(self, law: BetaLaw) -> None:
        self.law = law
        self.quantiles = np.asarray(law.ppf((np.arange(_TABLE) + 0.5) / _TABLE), dtype=float)

    def cdf(self, x: Any) -> Any:
        return self.law.cdf(x)

    def ppf(self, q: Any) -> Any:
        return self.quantiles[np.minimum((np.asarray(q) * _TABLE).astype(np.intp), _TABLE - 1)]


def sup_density(epsilon: float) -> float:
    """Return M, the largest density of the exponential mechanism on [0, 1]: 1/(s (1 - e^(-1/s))) with s = 2/eps.

    Examples
    --------
    >>> round(sup_density(1.0), 6)
    1.270747
    """
    return epsilon / 2.0 / -math.expm1(-epsilon / 2.0)


def calculus_monte_carlo(
    model: ContinuousModel, prior: Prior, law: BetaLaw, eta: float, draws: int, rng: np.random.Generator
) -> float:
    """Return the nested estimate of rad with the candidate guesses of [RAD] A.2, N_p = N_theta = N_z = ``draws``.

    Guarantee
    ---------
    None by itself; the paper's bound on its error is :func:`.nested_monte_carlo.nested_monte_carlo_failure`.

    Notes
    -----
    For each output the guesses that can be best are where the derivative of the expected score, which is explicit given
    the estimate of p(output), turns from positive to negative (the paper prints it the other way round), or the ends.
    Only these few compete on the second sample, so the maximum hardly picks up noise; the best of a whole grid of
    guesses does, and comes out too large.
    """
    if prior.interval is None or not model.renormalised:
        raise UnsupportedError("the estimator is for the exponential mechanism and a continuous prior")
    outputs = rng.uniform(model.low, model.high, draws)[:, None]
    average = _density(model, outputs, prior.interval.quantile(rng.random((draws, draws)))).mean(axis=1, keepdims=True)
    records = prior.interval.quantile(rng.random((draws, draws)))
    excess = _density(model, outputs, records) - average
    rows, guesses = _candidates(model, law, outputs, average, eta)
    scores = np.where(np.abs(records[rows] - guesses[:, None]) <= eta, excess[rows], 0.0).mean(axis=1)
    best = np.full(draws, -np.inf)
    np.maximum.at(best, rows, scores)
    return float((model.high - model.low) * best.mean())


def _density(model: ContinuousModel, outputs: Floats, records: Floats) -> Floats:
    mass = model.kernel.mass(model.low - records, model.high - records)
    return np.asarray(model.kernel.density(outputs - records) / mass)


def _candidates(
    model: ContinuousModel, law: BetaLaw, outputs: Floats, average: Floats, eta: float
) -> tuple[NDArray[np.intp], Floats]:
    """Return (row of the output, guess) for every guess at which the expected score has a local maximum."""
    edges = np.linspace(0.0, 1.0, _CELLS + 1)
    middles = 0.5 * (edges[1:] + edges[:-1])

    def rate(place: Floats) -> Floats:
        # What the window gains, or loses, at this end when it moves on; nothing beyond the prior's range.
        density = law.density(place)
        inside = np.clip(place, 0.0, 1.0)[None, :]
        return (_density(model, outputs, inside) - average) * density

    rising = rate(middles + eta) - rate(middles - eta) > 0.0
    top = np.empty((outputs.shape[0], edges.size), dtype=bool)
    top[:, 0], top[:, -1] = ~rising[:, 0], rising[:, -1]
    top[:, 1:-1] = rising[:, :-1] & ~rising[:, 1:]
    rows, columns = np.nonzero(top)
    return rows, edges[columns]


def guaranteed_error(draws: int, epsilon: float, blind_guess: float, candidates: int) -> float:
    """Return the error that the paper's bound promises with probability 95 %, from above.

    Examples
    --------
    >>> guaranteed_error(400, 1.0, 0.4, 4) > 0.5
    True
    """
    low, high = 0.0, 1.0

    def fails(error: float) -> bool:
        return nested_monte_carlo_failure(error, draws, sup_density(epsilon), blind_guess, candidates) > 1.0 - _LEVEL

    while fails(high):
        high *= 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if fails(middle) else (low, middle)
    return high


def compute(
    shape: float,
    progress: Callable[[str], None] = lambda _: None,
    *,
    epsilons: Sequence[float] = EPSILONS,
    etas: Sequence[float] = ETAS,
    draws: Sequence[int] = DRAWS,
    runs: int = RUNS,
    grid_runs: int = GRID_RUNS,
    rng: np.random.Generator | None = None,
) -> Table:
    """Return the numbers of Figure 10 (``shape`` 1, the prior U(0, 1)) or 11 (``shape`` 0.1, Beta(.1, .1)).

    Exponential mechanism on [0, 1] with utility -|record - output|, nothing known, success within eta. One row per
    epsilon, eta, number of draws N_p = N_theta = N_z and estimator: mean, standard deviation over the runs and the
    95 % interval of the mean (Student), the interval of the quadrature, and the error that the paper's bound guarantees
    for one run with probability 95 %. The estimators differ in the guesses that compete for each output: those found by
    calculus (the paper's, ``runs`` runs) or 201 equally spaced ones (``grid_runs`` runs).

    Examples
    --------
    >>> table = compute(1.0, epsilons=[5.0], etas=[0.2], draws=[50], runs=4, grid_runs=2)
    >>> [row["estimator"] for row in table.rows]
    ['calculus', 'grid']
    """
    source = np.random.default_rng(1) if rng is None else rng
    law = BetaLaw(shape)
    prior = Prior.continuous(law, 0.0, 1.0)
    drawn = Prior.continuous(_Tabulated(law), 0.0, 1.0)
    rows: list[dict[str, Cell]] = []
    for epsilon in epsilons:
        for eta in etas:
            progress(f"rad:fig10-11: Beta({shape:g}, {shape:g}) prior, epsilon {epsilon:g}, eta {eta:g}")
            threat = Threat(prior, goal=Goal.within(eta))
            mechanism = Exponential(epsilon=epsilon, interval=(0.0, 1.0))
            quadrature_low, quadrature = interval_of(assess(mechanism, threat).rad)
            for n in draws:
                estimates = _estimates(mechanism, drawn, law, eta, n, (runs, grid_runs), source)
                for name, values in estimates.items():
                    error = guaranteed_error(n, epsilon, threat.kappa_plus, ESTIMATORS[name])
                    cells = (shape, epsilon, eta, n, name, *_summary(values), quadrature, quadrature_low, error)
                    rows.append(dict(zip(_COLUMNS, cells, strict=True)))
    return Table(_COLUMNS, tuple(rows))


def _estimates(
    mechanism: Exponential,
    prior: Prior,
    law: BetaLaw,
    eta: float,
    draws: int,
    runs: tuple[int, int],
    rng: np.random.Generator,
) -> dict[str, Floats]:
    model = mechanism.at(prior).continuous
    if model is None or prior.interval is None:
        raise UnsupportedError("the exponential mechanism offers no density here")
    calculus = [calculus_monte_carlo(model, prior, law, eta, draws, rng) for _ in range(runs[0])]
    grid = [nested_monte_carlo(model, prior.interval, eta, draws, rng, GRID) for _ in range(runs[1])]
    return {"calculus": np.array(calculus), "grid": np.array(grid)}


def _summary(values: Floats) -> tuple[int, float, float, float, float]:
    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    reach = float(stdtrit(values.size - 1, (1.0 + _LEVEL) / 2.0)) * deviation / math.sqrt(values.size)
    return values.size, mean, deviation, mean - reach, mean + reach


@canvas.styled
def draw(table: Table) -> Figure:
    """Return Figure 10 or 11: estimates against the number of draws, one panel per epsilon."""
    epsilons, etas = table.distinct("epsilon"), table.distinct("eta")
    figure, axes = canvas.panels(1, len(epsilons), 3.2 * len(epsilons) + 0.4, 3.6)
    for column, epsilon in enumerate(epsilons):
        panel = axes[0, column]
        for i, eta in enumerate(etas):
            own = table.where(epsilon=epsilon, eta=eta)
            exact = own.numbers("quadrature")[0]
            panel.axhline(exact, color=canvas.COLOURS[i], linestyle=canvas.DASHES[1], linewidth=1.0)
            for name, side in (("calculus", 0.97), ("grid", 1.03)):
                _with_intervals(panel, own.where(estimator=name), i, side, f"η = {eta:g}, {_SHOWN[name]}")
        panel.plot([], [], color="black", linestyle=canvas.DASHES[1], linewidth=1.0, label="quadrature")
        panel.set_xscale("log")
        panel.set_xticks(table.distinct("draws"), [str(n) for n in table.distinct("draws")])
        panel.minorticks_off()
        shape = table.rows[0]["shape"]
        title = f"{'U(0, 1)' if shape == 1.0 else f'Beta({shape:g}, {shape:g})'} prior, ε = {epsilon:g}"
        canvas.label(panel, title=title, x="draws N", y="RAD: mean and 95 % interval")
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=len(etas) + 1)
    return figure


_SHOWN = {"calculus": "candidates by calculus", "grid": f"best of {GRID} guesses"}


def _with_intervals(panel: Axes, own: Table, i: int, side: float, text: str) -> None:
    mean = own.numbers("mean")
    reach = own.numbers("high") - mean
    filled = "calculus" in own.distinct("estimator")
    panel.errorbar(
        own.numbers("draws") * side,  # a little apart, so that intervals do not cover each other
        mean,
        yerr=reach,
        color=canvas.COLOURS[i],
        linestyle="-" if filled else canvas.DASHES[2],
        marker=canvas.MARKERS[i],
        markerfacecolor=canvas.COLOURS[i] if filled else "white",
        linewidth=1.2,
        capsize=2.5,
        label=text,
    )
