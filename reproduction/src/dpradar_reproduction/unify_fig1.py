"""[UNIFY] Figures 1 and 7: the noise of DP-SGD for a risk target, f-DP beside Renyi DP.

Steps and sampling rates are those of the authors' code, which the text rounds: GPT-2 on SST-2 makes
3 x ceil(67349/256) = 792 steps; CIFAR-10 makes 99 epochs of 7 steps (75 with noise 10), after two releases of
normalisation statistics with noise multiplier 8, which count too. Accuracies are not recomputed: they need training.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from dpradar.bounds import assess
from dpradar.calibration import Limit, calibrate
from dpradar.errors import NumericsError
from dpradar.guarantees import GDP
from dpradar.guarantees.epsilon import epsilon_at
from dpradar.guarantees.renyi import RenyiBound, renyi_success
from dpradar.mechanisms import DPSGD, Composed
from dpradar.threats import Threat

from . import canvas
from .baselines import worst_gain
from .rule_values import bound_of
from .table import Table
from .unify_fig4 import levels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .table import Cell

__all__ = ["CIFAR", "GPT2", "Training", "compute", "draw", "sampled_gaussian_divergence"]

Floats = NDArray[np.float64]
DELTA = 1e-5
ORDERS = 1.0 + np.geomspace(0.02, 60.0, 120)
BASELINES = (*np.geomspace(1e-4, 0.02, 8).tolist(), *np.linspace(0.04, 0.98, 48).tolist(), 0.999)
_STEP, _REACH = 0.02, 12.0  # of the quadrature, in standard deviations of the noise
_MOST = 4.0  # times the noise of f-DP
_COLUMNS = ("run", "panel", "noise", "epsilon", "f_dp", "rdp", "rdp_same", "noise_rdp", "saved", "baseline")


@dataclass(frozen=True, slots=True)
class Training:
    """A training run of the paper: its noise multipliers with their steps, and its risk target."""

    name: str
    sample_rate: float
    steps: dict[float, int]
    usual_steps: int
    target: float
    normalisation_mu: float = 0.0
    level: str | None = None  # of the Census, for the paper's third panel

    def run(self, noise: float, steps: int) -> Any:
        """Return the whole release: training and, where there is one, the normalisation before it."""
        training = DPSGD(noise_multiplier=noise, sample_rate=self.sample_rate, steps=steps)
        if self.normalisation_mu == 0.0:
            return training
        return Composed([training, GDP(mu=self.normalisation_mu, neighbours="add-remove")])

    def renyi(self, noise: float, steps: int) -> RenyiBound:
        """Return the Renyi divergences of the same release, add-remove."""
        own = steps * sampled_gaussian_divergence(noise, self.sample_rate, ORDERS)
        own += 0.5 * self.normalisation_mu**2 * ORDERS
        return RenyiBound(tuple(ORDERS.tolist()), tuple(own.tolist()))


GPT2 = Training(
    name="GPT-2 on SST-2",
    sample_rate=256 / 67349,
    steps=dict.fromkeys((0.5715, 0.6072, 0.6366, 0.6945, 0.7498), 792),
    usual_steps=792,
    target=0.15,
    level="State",
)
CIFAR = Training(
    name="CIFAR-10 (noise 10: fewer steps)",
    sample_rate=8192 / 50000,
    steps={**dict.fromkeys((4.0, 5.0, 6.0, 8.0), 99 * 7), 10.0: 75 * 7},
    usual_steps=99 * 7,
    target=0.25,
    normalisation_mu=math.sqrt(2.0) / 8.0,
)


def sampled_gaussian_divergence(noise: float, rate: float, orders: Floats) -> Floats:
    """Return the Renyi divergences of one step of DP-SGD, the record against its absence.

    Notes
    -----
    log E[(1 - q + q e^((x - 1/2)/noise^2))^t] / (t - 1) with x ~ N(0, noise^2) (Mironov, Talwar and Zhang 2019,
    Equation (2)), by the trapezoidal rule, whose error for such an integrand is below 1e-12.

    Examples
    --------
    >>> bool(np.isclose(sampled_gaussian_divergence(2.0, 1.0, np.array([3.0]))[0], 3.0 / 8.0))
    True
    """
    x = np.arange(-_REACH * noise, float(orders.max()) + _REACH * noise, _STEP * noise)
    weight = -0.5 * (x / noise) ** 2 + math.log(_STEP / math.sqrt(2.0 * math.pi))
    inside = (x - 0.5) / noise**2 + math.log(rate)
    ratio = inside if rate == 1.0 else np.logaddexp(math.log1p(-rate), inside)
    divergences = np.empty(orders.size)
    for i, order in enumerate(orders):
        logs = weight + order * ratio
        top = float(logs.max())
        divergences[i] = (top + math.log(float(np.exp(logs - top).sum()))) / (order - 1.0)
    return np.maximum(divergences, 0.0)


def compute(
    training: Training,
    progress: Callable[[str], None] = lambda _: None,
    *,
    noises: Sequence[float] | None = None,
    baselines: Sequence[float] = BASELINES,
) -> Table:
    """Return the numbers of Figure 1 (``GPT2``) or 7 (``CIFAR``), accuracies apart.

    Panel "noise", one row per noise multiplier: epsilon at delta 10^-5, the largest gain over all baselines by f-DP
    (``f_dp``, the total variation) and by Renyi DP with the best order (``rdp``; ``rdp_same`` at the worst baseline of
    f-DP, as in the authors' code), the noise that Renyi DP needs for the risk ``f_dp``, and the share of it that f-DP
    saves. Panel "target": the same for the paper's risk target. Panel "baseline", Figure 1 only: the gain at the state
    level of the Census against the baseline. Add-remove throughout, except for the Census.

    Examples
    --------
    >>> (row,) = compute(GPT2, noises=[0.5715], baselines=[]).where(panel="noise").rows
    >>> round(row["epsilon"], 2), round(row["f_dp"], 3), round(row["saved"], 2)
    (3.95, 0.161, 0.22)
    """
    rows: list[tuple[Cell, ...]] = []
    for noise in training.steps if noises is None else noises:
        progress(f"{training.name}: noise multiplier {noise:g}")
        rows.append(_noise_row(training, noise, training.steps.get(noise, training.usual_steps)))
    progress(f"{training.name}: noise for a gain of at most {training.target:g}")
    rows.append(_target_row(training))
    rows += [_baseline_row(training.level, base) for base in baselines if training.level is not None]
    return Table(_COLUMNS, tuple(dict(zip(_COLUMNS, (training.name, *row), strict=True)) for row in rows))


def _noise_row(training: Training, noise: float, steps: int) -> tuple[Cell, ...]:
    release = training.run(noise, steps)
    # Not through assess, which would compose the run once more for replace-one.
    promise = release.at(None).privacy("add-remove")
    if promise is None or promise.tv is None:
        raise NumericsError(f"nothing is known about {release!r}")
    gain = promise.tv
    bound = training.renyi(noise, steps)
    same = renyi_success(bound, 0.5 - 0.5 * gain) - (0.5 - 0.5 * gain)
    other = _renyi_noise(training, steps, gain, noise)
    return "noise", noise, epsilon_at(promise, DELTA), gain, _worst(bound), same, other, 1.0 - noise / other, None


def _target_row(training: Training) -> tuple[Cell, ...]:
    steps, target = training.usual_steps, training.target
    limit = Limit(worst_gain=target, neighbours="add-remove")

    def build(noise: float) -> Any:
        return training.run(noise, steps)

    sigma = calibrate(build, limit).value
    if sigma is None:
        raise NumericsError(f"no noise keeps the gain within {target:g}")
    other = _renyi_noise(training, steps, target, sigma)
    return "target", sigma, None, target, None, None, other, 1.0 - sigma / other, None


def _worst(bound: RenyiBound) -> float:
    return worst_gain(lambda base: renyi_success(bound, base))[0]


def _renyi_noise(training: Training, steps: int, gain: float, least: float) -> float:
    """Return the noise for which Renyi DP allows this largest gain; f-DP needs less."""

    def excess(noise: float) -> float:
        return _worst(training.renyi(noise, steps)) - gain

    return float(brentq(excess, least, _MOST * least, xtol=1e-6 * least))


def _baseline_row(level: str, base: float) -> tuple[Cell, ...]:
    rho = next(place.rho for place in levels() if place.name == level)
    assessment = assess(GDP(mu=math.sqrt(2.0 * rho), neighbours="replace-one"), Threat.baseline(base))
    curve, old = (bound_of(assessment, "success", rule) - base for rule in ("rero-3", "zcdp"))
    return "baseline", None, None, curve, old, None, None, None, base


@canvas.styled
def draw(table: Table) -> Figure:
    """Return Figure 1 or 7: risk against noise and, for Figure 1, against the baseline."""
    third = bool(table.where(panel="baseline").rows)
    figure, axes = canvas.panels(1, 2 if third else 1, 8.2 if third else 5.2, 3.9)
    _against_noise(axes[0, 0], table)
    if third:
        own = table.where(panel="baseline")
        for i, column in enumerate(("rdp", "f_dp")):
            canvas.curve(axes[0, 1], own.numbers("baseline"), own.numbers(column), i, None, markers=8)
        canvas.label(axes[0, 1], title="Census, state level", x="baseline", y="gain: success − baseline")
        canvas.from_zero(axes[0, 1], 0.8)
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=2)
    return figure


def _against_noise(panel: Axes, table: Table) -> None:
    own = table.where(panel="noise")
    noise = own.numbers("noise")
    canvas.curve(panel, noise, own.numbers("rdp"), 0, "Rényi DP / zCDP (Balle et al.)", markers=len(noise))
    canvas.curve(panel, noise, own.numbers("f_dp"), 1, "f-DP, Theorems 3.3 and 3.4", markers=len(noise))
    ends = table.where(panel="target")
    height = float(ends.numbers("f_dp")[0])
    reach = [ends.numbers("noise")[0], ends.numbers("noise_rdp")[0]]
    panel.annotate("", (reach[0], height), (reach[1], height), arrowprops={"arrowstyle": "->", "color": "black"})
    panel.plot(reach, [height, height], color="black", linestyle="none", marker="|", markersize=9)
    text = f"←  {100 * ends.numbers('saved')[0]:.0f} % less noise for a gain of at most {height:g}"
    panel.text(0.03, 0.05, text, transform=panel.transAxes, fontsize=8.5)
    title = f"DP-SGD, {ends.rows[0]['run']}, worst baseline"
    canvas.label(panel, title=title, x="noise multiplier", y="largest gain: success − baseline")
    panel.set_ylim(bottom=0.0)
