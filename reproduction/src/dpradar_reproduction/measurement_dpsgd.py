"""[SauerThesis] Figures 8.1 to 8.3: the white-box attack on DP-SGD, 8 and 128 candidates, uniform and skewed prior."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpradar.bounds import assess
from dpradar.guarantees.curves import gaussian_curve
from dpradar.guarantees.gdp import gaussian_privacy
from dpradar.learning import attack_gradients, candidate_risk
from dpradar.learning.experiment import experiment
from dpradar.mechanisms import DPSGD
from dpradar.threats import Prior, Threat

from . import canvas
from .paper_figure import Effort, PaperFigure
from .rad_fig4 import CLIP, DELTA, STEPS, candidates, models_for, training_for
from .rule_values import bound_of
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from dpradar.guarantees.privacy import Privacy, Relation
    from dpradar.learning import Candidates
    from dpradar.results.attack import Estimate

    from .paper_figure import Bar, Progress
    from .table import Cell

__all__ = ["EPSILONS", "FIGURES", "MEASUREMENT_8", "Setting", "compute", "draw", "furthest_pair"]

EPSILONS = (1.0, 5.0, 10.0, 20.0, 50.0)
HALF, REST = 7, 1  # of 20 runs: 0.35 for each of the pair, 0.05 for each of the other six
_DRAWS = 400_000  # for the skewed prior and orthogonal gradients, where no closed form is known
_COLUMNS = (
    "data",
    "network",
    "candidates",
    "prior",
    "epsilon",
    "noise_multiplier",
    "runs",
    *("rero", "rero_low", "rero_high"),
    *("correction", "correction_low", "correction_high"),
    *("u_rero", "u_rero_low", "u_rero_high"),
    *("rero_best", "rero_best_low", "rero_best_high"),
    *("rad_best", "rad_best_low", "rad_best_high"),
    "rero_orthogonal",
    "rad_orthogonal",
    "rero_bound",
    "rad_bound",
    "general_bound_printed",
    "curve_bound_printed",
    "collision",
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One panel: the images, how many candidates, their prior, and how many models the thesis trained for each."""

    name: str
    candidates: int
    models: int
    quick: int
    skewed: bool = False

    @property
    def text(self) -> str:
        """What the panel is called."""
        return f"{self.name}, {self.candidates} candidates, {'skewed' if self.skewed else 'uniform'} prior"


FIGURES: Mapping[str, tuple[Setting, ...]] = {
    "8.1": (Setting("mnist", 8, models=40, quick=5), Setting("mnist", 128, models=3, quick=1)),
    "8.2": (Setting("fashion-mnist", 8, models=10, quick=5),),
    "8.3": (
        Setting("mnist", 8, models=40, quick=5, skewed=True),
        Setting("fashion-mnist", 8, models=10, quick=5, skewed=True),
    ),
}


def furthest_pair(distances: Any) -> tuple[int, int]:
    """Return the candidate that is most like the others, and the one that is least like it.

    Examples
    --------
    >>> furthest_pair([[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]])
    (1, 2)
    """
    table = np.asarray(distances, dtype=float)
    first = int(table.sum(axis=1).argmin())
    return first, int(table[first].argmax())


def _turn(pair: tuple[int, int] | None, m: int) -> list[int]:
    """Return the targets of as many runs as it takes for each candidate to have its share."""
    if pair is None:
        return list(range(m))
    return [*pair * HALF, *(z for z in range(m) if z not in pair for _ in range(REST))]


def compute(
    settings: Sequence[Setting],
    data: Path | None,
    progress: Progress,
    *,
    epsilons: Sequence[float] = EPSILONS,
    effort: Effort | None = None,
    keep: Path | None = None,
    bar: Bar | None = None,
) -> Table:
    """Return the numbers of a figure: one row for each panel and epsilon.

    ``rero``, ``correction`` and ``u_rero`` are those of the thesis' attack, the candidate with the largest sum of inner
    products; ``rero_best`` and ``rad_best`` those of the exact attack, which knows the prior. ``rero_orthogonal`` and
    ``rad_orthogonal`` are what the exact attack reaches on orthogonal gradients of norm C. ``rero_bound`` is 1 -
    f(largest probability), ``rad_bound`` the tightest bound that holds (replace-one). The two printed ones,
    Corollary 1 or Theorem 7 and Corollary 2 or Theorem 8, take the add/remove noise for replace-one, as the thesis
    does. ``collision`` is the sum of squared probabilities, to which the correction of a perfect attack tends.

    The skewed prior has 0.35 on each of a pair, chosen from one training for each candidate at the largest epsilon with
    randomness of its own, and 0.05 on each of the others; each candidate is the target of its share of the runs.
    """
    effort = effort or Effort()
    plans = [_Plan(setting, effort) for setting in settings]
    records = [candidates(data, plan.setting.name, plan.setting.candidates) for plan in plans]
    work = _Work(effort, keep, bar, sum(plan.trainings(len(epsilons)) for plan in plans))
    rows: list[dict[str, Cell]] = []
    for plan, some in zip(plans, records, strict=True):
        pair = work.pair(plan, some, max(epsilons)) if plan.setting.skewed else None
        turn = _turn(pair, plan.setting.candidates)
        shares = np.bincount(turn, minlength=plan.setting.candidates) / len(turn)
        threat = Threat(Prior.of(shares) if plan.setting.skewed else Prior.uniform(plan.setting.candidates))
        rows += [work.row(plan, some, threat, turn, epsilon) for epsilon in epsilons]
        progress(f"{plan.setting.text}: {plan.runs:,} trainings for each epsilon")
    return Table(_COLUMNS, tuple(rows))


@dataclass(frozen=True, slots=True)
class _Plan:
    setting: Setting
    effort: Effort

    @property
    def runs(self) -> int:
        """As many as asked for; for a skewed prior up to the next number that gives everyone their share."""
        setting = self.setting
        runs = models_for(self.effort, setting.models, setting.quick) * setting.candidates
        whole = len(_turn((0, 1) if setting.skewed else None, setting.candidates))
        return -(-runs // whole) * whole

    def trainings(self, epsilons: int) -> int:
        return epsilons * self.runs + (self.setting.candidates if self.setting.skewed else 0)


@dataclass(slots=True)
class _Work:
    """Trainings, and how far they are."""

    effort: Effort
    keep: Path | None
    bar: Bar | None
    total: int
    done: int = 0

    def train(self, training: Any, records: Candidates, runs: int, **options: Any) -> tuple[NDArray[np.intp], Any]:
        before = self.done

        def moved(finished: int, _: int) -> None:
            if self.bar is not None:
                self.bar(before + finished, self.total)

        outcome = experiment(
            training, records, runs, keep=self.keep, workers=self.effort.workers, progress=moved, **options
        )
        self.done += runs
        return outcome

    def pair(self, plan: _Plan, records: Candidates, epsilon: float) -> tuple[int, int]:
        training = training_for(epsilon, name=plan.setting.name, network=self.effort.network)
        return furthest_pair(self.train(training, records, plan.setting.candidates, seed=2)[1].distances)

    def row(self, plan: _Plan, records: Candidates, threat: Threat, turn: list[int], epsilon: float) -> dict[str, Cell]:
        training = training_for(epsilon, name=plan.setting.name, network=self.effort.network)
        targets, scores = self.train(training, records, plan.runs, seed=1, order=turn)
        theirs = attack_gradients(scores, targets, threat, rule="printed")  # with nothing known: the largest sum
        return {
            "data": plan.setting.name,
            "network": self.effort.network,
            "candidates": plan.setting.candidates,
            "prior": "skewed" if plan.setting.skewed else "uniform",
            "epsilon": epsilon,
            "noise_multiplier": training.noise_multiplier,
            "runs": plan.runs,
            **_three("rero", theirs.success),
            **_three("correction", theirs.false_hit),
            **_three("u_rero", theirs.rad),
            **_three("rero_best", attack_gradients(scores, targets, threat, maximise="success").success),
            **_three("rad_best", attack_gradients(scores, targets, threat).rad),
            **_orthogonal(training.noise_multiplier, threat),
            **_bounds(epsilon, training.noise_multiplier, threat),
            "collision": float(np.square(threat.finite.probabilities).sum()),
        }


def _three(name: str, estimate: Estimate) -> dict[str, Cell]:
    return {name: estimate.estimate, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def _orthogonal(sigma: float, threat: Threat) -> dict[str, Cell]:
    """Return what the exact attack reaches on orthogonal gradients of norm C; all steps together are one."""
    together = CLIP * np.eye(threat.finite.size)
    risk = candidate_risk(together, threat, clip=CLIP, noise_multiplier=sigma / STEPS**0.5, draws=_DRAWS, seed=1)
    return {"rero_orthogonal": risk.success.estimate, "rad_orthogonal": risk.rad.estimate}


@dataclass(frozen=True, slots=True)
class _AsPrinted:
    """The add/remove guarantee of full-batch DP-SGD, taken for replace-one: not what holds, but what is printed."""

    epsilon: float
    mu: float

    def privacy(self, relation: Relation) -> Privacy | None:
        if relation != "replace-one":
            return None
        promise = gaussian_privacy(self.mu, relation, "DP-SGD, add-remove noise taken for replace-one")
        return replace(promise, epsilon=self.epsilon, delta=DELTA)


def _bounds(epsilon: float, sigma: float, threat: Threat) -> dict[str, Cell]:
    mu, largest = STEPS**0.5 / sigma, float(threat.finite.probabilities.max())
    rules = ("cor-5.6", "thesis-cor-2") if threat.finite.is_uniform else ("thesis-thm-7", "thesis-thm-8")
    wrong = assess(_AsPrinted(epsilon, mu), threat)
    general, curve = (bound_of(wrong, "rad", rule) for rule in rules)
    holds = assess(DPSGD(noise_multiplier=sigma, sample_rate=1.0, steps=STEPS), threat).rad
    return {
        "rero_bound": 1.0 - float(gaussian_curve(mu).at(largest)),
        "rad_bound": None if holds is None else holds.value,
        "general_bound_printed": general,
        "curve_bound_printed": curve,
    }


@canvas.styled
def draw(table: Table) -> Figure:
    """Return the picture: one panel for each set of images, candidates and prior."""
    keys = list(dict.fromkeys((row["data"], row["candidates"], row["prior"]) for row in table.rows))
    figure, panels = canvas.panels(1, len(keys), 1.5 + 4.0 * len(keys), 4.2)
    for axes, (name, count, prior) in zip(panels[0], keys, strict=True):
        some = table.where(data=name, candidates=count, prior=prior)
        _panel(axes, some, "Corollary" if prior == "uniform" else "Theorem")
        canvas.label(axes, title=f"{name}, m = {count}, {prior} prior", x="ε at δ = 10⁻⁵ (add/remove)", y="risk")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    canvas.legend(figure, handles, labels, columns=3)
    return figure


def _panel(axes: Axes, table: Table, kind: str) -> None:
    x = table.numbers("epsilon")
    numbers = {"Corollary": ("1", "2"), "Theorem": ("7", "8")}[kind]
    lines = (
        ("rero_bound", "ReRo, bound 1 - f(κ⁺)"),
        ("rad_bound", "U-ReRo, bound that holds"),
        ("curve_bound_printed", f"{kind} {numbers[1]} as printed (add/remove)"),
        ("general_bound_printed", f"{kind} {numbers[0]} as printed (add/remove)"),
        ("rad_orthogonal", "U-ReRo, orthogonal gradients"),
    )
    for number, (column, text) in enumerate(lines):
        canvas.curve(axes, x, table.numbers(column), number, text)
    points = (("rero", "ReRo, thesis' attack"), ("u_rero", "U-ReRo, thesis' attack"), ("rad_best", "RAD, exact attack"))
    for number, (column, text) in enumerate(points):
        y, low, high = (table.numbers(f"{column}{end}") for end in ("", "_low", "_high"))
        style: dict[str, Any] = {"color": canvas.COLOURS[number], "marker": canvas.MARKERS[number], "linestyle": "none"}
        axes.errorbar(x, y, yerr=np.array([y - low, high - y]), capsize=2.0, label=text, **style)
    axes.set_xscale("log")
    axes.set_ylim(0.0, 1.03)


def _figure(number: str, what: str, note: str) -> PaperFigure:
    def compute_long(data: Path | None, progress: Progress, keep: Path, bar: Bar | None, effort: Effort) -> Table:
        return compute(FIGURES[number], data, progress, effort=effort, keep=keep, bar=bar)

    return PaperFigure(f"white-box attack on DP-SGD, {what}", None, draw, note, compute_long, trains=True)


_ADJACENCY = (
    "Corollaries 1, 2 and Theorems 7, 8 are printed with the add/remove noise, U-ReRo replaces a record: orthogonal "
    "gradients exceed Corollary 2 (m = 8, epsilon 20: 0.836 against 0.801)"
)
MEASUREMENT_8: Mapping[str, PaperFigure] = {
    "measurement:fig8.1": _figure("8.1", "MNIST, 8 and 128 candidates, uniform prior", _ADJACENCY),
    "measurement:fig8.2": _figure(
        "8.2", "Fashion-MNIST, 8 candidates, uniform prior", f"{_ADJACENCY}; the thesis' network is --network convnet"
    ),
    "measurement:fig8.3": _figure(
        "8.3",
        "MNIST and Fashion-MNIST, 8 candidates, prior .35, .35, .05 x 6",
        "the correction of a perfect attack tends to the collision probability, 0.26 (printed 0.35, which is the best "
        "blind guess), so U-ReRo tends to 0.74; guessing without the prior is not the best attack",
    ),
}
