"""[SauerThesis] Figures 6.8 to 6.14: attacks on the exponential mechanism (EM) over the nodes of a road graph.

UNI says what was reported, CORR what a Markov model finds possible after the last place; a guess is right when it is at
most eta hops from the target. U-ReRo is RAD.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dpradar.attacks import attack
from dpradar.attacks.strategies import walk_or_report
from dpradar.bounds import assess
from dpradar.mechanisms import Exponential
from dpradar.numerics.confidence_intervals import clopper_pearson
from dpradar.threats import Prior, Threat

from . import canvas
from .hop_noise import HopNoise
from .ldp_audits import EPSILONS, off
from .markov_attack import Steps, terms
from .measurement_grr import off_both
from .mobility_data import town
from .roads import Roads
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .hop_noise import Law
    from .mobility_data import Town
    from .table import Cell

    Progress = Callable[[str], None]

__all__ = ["correlated", "draw", "small_graph", "uniform"]

TRIALS = 20_000
_LOW = 0.1  # below it a panel is magnified
FEW = (1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0)
_COLUMNS = (
    "place",
    "stand_in",
    "m",
    "diameter",
    "epsilon",
    "eta",
    "trials",
    "rero",
    "rero_low",
    "rero_high",
    "correction",
    "u_rero",
    "rero_expected",
    "correction_expected",
    "u_rero_expected",
    "off_sd",
    "tv_low",
    "tv_high",
    "bound",
)


def _quiet(_: str) -> None:
    """Say nothing."""


def _towns(names: Iterable[str], data: Path | None, progress: Progress, places: Sequence[Town] | None) -> list[Town]:
    return [town(name, data, progress) for name in names] if places is None else list(places)


def _cells(
    one: Town, noise: HopNoise, epsilon: float, eta: int, trials: int, rero: float, correction: float
) -> tuple[Cell, ...]:
    low, high = clopper_pearson(round(rero * trials), trials, 0.05)
    place = (one.name, one.stand_in, one.roads.size, noise.diameter)
    return (*place, epsilon, eta, trials, rero, low, high, correction, rero - correction)


def corollary_1(m: int, epsilon: float) -> float:
    """Return (e^eps-1)/(e^eps+m-1) (m-1)/m."""
    return -math.expm1(-epsilon) / (1.0 + (m - 1) * math.exp(-epsilon)) * (m - 1) / m


def uniform(
    names: Iterable[str] = ("Porto", "Beijing"),
    data: Path | None = None,
    progress: Progress = _quiet,
    *,
    exact_only: bool = False,
    places: Sequence[Town] | None = None,
    epsilons: Sequence[float] = FEW,
    trials: int = TRIALS,
) -> Table:
    """Return EM UNI (Figure 6.8 with ``exact_only``: eta = 0; Figures 6.10 and 6.11: every eta of a town).

    Measured beside the exact terms; the correction given a guess is the share of nodes it is right for, and is not
    sampled. ``bound`` is Corollary 1 for eta = 0 and Theorem 6 with the mechanism's total variation (from above, where
    not all pairs could be compared) else.
    """
    rows: list[dict[str, Cell]] = []
    for one in _towns(names, data, progress, places):
        m, noise = one.roads.size, HopNoise.of(one.roads)
        etas = one.etas[:1] if exact_only else one.etas
        around = {eta: noise.within(eta) / m for eta in etas}
        progress(f"EM UNI, {one.name}: {trials:,} reports for every epsilon, diameter {noise.diameter} hops")
        rng = np.random.default_rng(m)
        for epsilon in epsilons:
            law = noise.law(epsilon)
            targets = rng.integers(0, m, size=trials)
            guess, marginal = law.reports(targets, rng), law.marginal(np.full(m, 1.0 / m))
            tv = law.total_variation()
            for eta in etas:
                rero = float(np.mean(noise.hops[targets, guess] <= eta))
                expected, correction = law.success(eta), float(marginal @ around[eta])
                bound = corollary_1(m, epsilon) if eta == 0 else tv[1] * (1.0 - 1.0 / m)
                cells = (
                    *_cells(one, noise, epsilon, eta, trials, rero, float(around[eta][guess].mean())),
                    *(expected, correction, expected - correction, off(rero, expected, trials), *tv, bound),
                )
                rows.append(dict(zip(_COLUMNS, cells, strict=True)))
    return Table(_COLUMNS, tuple(rows))


def small_graph(
    progress: Progress = _quiet, *, epsilons: Sequence[float] = EPSILONS, trials: int = 5 * TRIALS
) -> Table:
    """Return EM UNI on a made-up graph of 50 nodes with diameter 11 (Figure 6.9), run through the library's attack.

    ``optimal`` is the exact largest RAD of any attack on this mechanism.
    """
    roads = Roads.synthetic(50, seed=1)
    progress(f"EM UNI on {roads!r}")
    noise, prior = HopNoise.of(roads), Prior.uniform(roads.size)
    rows: list[dict[str, Cell]] = []
    for epsilon in epsilons:
        mechanism = Exponential(epsilon=epsilon, utility=-roads.hops.astype(float))
        run = attack(mechanism, Threat(prior), trials=trials, seed=round(epsilon), strategy="report")
        law = noise.law(epsilon)
        expected, tv = law.success(0), law.total_variation()
        best = assess(mechanism, Threat(prior)).rad
        place = ("synthetic", "50 made-up places", roads.size, roads.diameter, epsilon, 0, trials)
        success = run.success
        cells = (
            (*place, success.estimate, success.low, success.high, run.false_hit.estimate, run.rad.estimate),
            (expected, 1.0 / roads.size, expected - 1.0 / roads.size, off(success.estimate, expected, trials)),
            (*tv, corollary_1(roads.size, epsilon), None if best is None else best.value),
        )
        rows.append(dict(zip((*_COLUMNS, "optimal"), (cell for part in cells for cell in part), strict=True)))
    return Table((*_COLUMNS, "optimal"), tuple(rows))


def correlated(
    names: Iterable[str] = ("Porto", "Beijing"),
    data: Path | None = None,
    progress: Progress = _quiet,
    *,
    exact_only: bool = False,
    places: Sequence[Town] | None = None,
    epsilons: Sequence[float] = FEW,
    trials: int = TRIALS,
) -> Table:
    """Return EM CORR with threshold 0 (Figure 6.12 with ``exact_only``; Figures 6.13 and 6.14: every eta).

    Measured beside the exact terms, and Theorem 9 with the mechanism's total variation.
    """
    rows: list[dict[str, Cell]] = []
    for one in _towns(names, data, progress, places):
        noise, records = HopNoise.of(one.roads), one.records
        steps, now = Steps.of(records, one.transitions), records.law_of_now(one.roads.size)
        progress(f"EM CORR, {one.name}: {trials:,} reports for every epsilon, {records.now.size:,} steps held out")
        rng, etas = np.random.default_rng(one.roads.size), one.etas[:1] if exact_only else one.etas
        for epsilon in epsilons:
            law = noise.law(epsilon)
            guesses, marginal, tv = _walked(one, law, trials, rng), law.marginal(now), law.total_variation()
            bound = tv[1] * (1.0 - float(now @ now))
            for eta in etas:
                expected = terms(
                    records,
                    steps,
                    0.0,
                    likely=law.likely,
                    law=marginal,
                    near=lambda v, y, eta=eta, hops=noise.hops: hops[v, y] <= eta,  # type: ignore[misc]
                )
                rero, correction = (float(np.mean(noise.hops[true, guess] <= eta)) for true, guess in guesses)
                cells = (
                    *_cells(one, noise, epsilon, eta, trials, rero, correction),
                    *(*expected, expected[0] - expected[1], off_both((rero, correction), expected, trials)),
                    *(*tv, bound),
                )
                rows.append(dict(zip(_COLUMNS, cells, strict=True)))
    return Table(_COLUMNS, tuple(rows))


def _walked(one: Town, law: Law, trials: int, rng: np.random.Generator) -> list[tuple[Any, Any]]:
    """Run CORR on targets, and on people who did not send the report: (true places, guesses) of both."""
    records, guess = one.records, walk_or_report(one.transitions, 0.0)
    mine, other, sender = rng.choice(records.now.size, size=(3, trials), p=records.weight)
    about = guess(law.reports(records.now[mine], rng), records.last[mine], rng)
    stranger = guess(law.reports(records.now[sender], rng), records.last[other], rng)
    return [(records.now[mine], about), (records.now[other], stranger)]


@canvas.styled
def draw(table: Table) -> Figure:
    """Return ReRo and U-ReRo against epsilon: one panel per place and eta; lines are exact, markers measured."""
    panels = list(dict.fromkeys((row["place"], row["eta"]) for row in table.rows))
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = canvas.panels(rows, columns, 3.6 * columns + 0.5, 3.0 * rows + 1.0)
    for panel in axes.ravel()[len(panels) :]:
        panel.set_visible(False)
    for panel, (place, eta) in zip(axes.ravel(), panels, strict=False):
        own = table.where(place=place, eta=eta)
        _panel(panel, own)
        row = own.rows[0]
        canvas.label(panel, title=f"{place}, η = {eta} of {row['diameter']} hops", x="ε", y="probability")
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=4)
    figure.suptitle("; ".join(dict.fromkeys(f"{row['place']}: {row['stand_in']}" for row in table.rows)), fontsize=8)
    return figure


def _panel(panel: Axes, own: Table) -> None:
    epsilon = own.numbers("epsilon")
    for i, (column, text) in enumerate((("rero", "ReRo"), ("correction", "correction"), ("u_rero", "U-ReRo"))):
        canvas.curve(panel, epsilon, own.numbers(f"{column}_expected"), i, f"{text}, exact")
        style: dict[str, Any] = {"color": canvas.COLOURS[i], "linestyle": "none", "marker": canvas.MARKERS[i]}
        panel.plot(epsilon, own.numbers(column), label=f"{text}, measured", markersize=3.2, **style)
    panel.plot(
        epsilon, own.numbers("bound"), color="black", linestyle=canvas.DASHES[2], linewidth=0.9, label="bound on U-ReRo"
    )
    if "optimal" in own.columns:
        panel.plot(epsilon, own.numbers("optimal"), color="black", linewidth=0.9, label="best attack (exact)")
    highest = float(own.numbers("rero_high").max())
    canvas.from_zero(panel, 1.02 if highest > _LOW else 1.5 * highest)
