"""[SauerThesis] Figures 6.1 to 6.7 and Table 6.1: attacks on randomised response (GRR) over the nodes of a road graph.

UNI and TRUE say what was reported, PRIOR the likeliest node, EST the most frequent report, CORR what a Markov model
finds possible after the last place. U-ReRo is RAD.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpradar.attacks import attack
from dpradar.attacks.attack_runs import draw_targets
from dpradar.attacks.strategies import prior_only, walk_or_report
from dpradar.bounds import assess
from dpradar.mechanisms import GRR
from dpradar.numerics.confidence_intervals import clopper_pearson
from dpradar.threats import Prior, Threat

from . import canvas
from .ldp_audits import EPSILONS, SIZES, off
from .markov_attack import Steps, terms
from .mobility_data import PRINTED, made_up_prior, real_data, town, towns
from .rule_values import bound_of
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .mobility_data import Town
    from .table import Cell

    Progress = Callable[[str], None]

__all__ = ["correlated", "draw", "estimated", "pair_bounds", "prior_known", "true_prior", "uniform"]

Floats = NDArray[np.float64]
TRIALS = 200_000
OTHERS = 499  # people beside the target in EST
RUNS = 5_000  # of EST, each with the reports of everyone
_SOME = 500  # runs of EST at once
_LOW = 0.3  # below it a panel is magnified
_MEASURED = ("place", "stand_in", "m", "epsilon", "trials", "rero", "rero_low", "rero_high", "correction", "u_rero")
_EXPECTED = ("rero_expected", "correction_expected", "u_rero_expected", "off_sd")


def _quiet(_: str) -> None:
    """Say nothing."""


def _grr_terms(grr: GRR, collision: float) -> tuple[float, float]:
    """Return ReRo and correction of saying what was reported: p, and q + (p-q) kappa."""
    return grr.keep, grr.other + grr.difference * collision


def _reported(place: str, stand_in: str, prior: Prior, epsilon: float, trials: int) -> dict[str, Cell]:
    grr = GRR(m=prior.size, epsilon=epsilon)
    run = attack(grr, Threat(prior), trials=trials, seed=round(100 * epsilon) + prior.size, strategy="report")
    rero, correction = _grr_terms(grr, prior.collision)
    cells = (
        (place, stand_in, prior.size, epsilon, trials),
        (run.success.estimate, run.success.low, run.success.high, run.false_hit.estimate, run.rad.estimate),
        (rero, correction, rero - correction, off(run.success.estimate, rero, trials)),
    )
    return dict(zip((*_MEASURED, *_EXPECTED), (cell for part in cells for cell in part), strict=True))


def uniform(
    progress: Progress = _quiet,
    *,
    sizes: Mapping[str, int] = SIZES,
    epsilons: Sequence[float] = EPSILONS,
    trials: int = TRIALS,
) -> Table:
    """Return GRR UNI (Figures 6.1 to 6.3): measured beside p and 1/m, and Corollaries 1 and 2.

    Examples
    --------
    >>> (row,) = uniform(sizes={"two nodes": 2}, epsilons=[1.0]).rows
    >>> row["correction"], abs(row["off_sd"]) < 5.0
    (0.5, True)
    """
    rows: list[dict[str, Cell]] = []
    for place, m in sizes.items():
        progress(f"GRR UNI, {place} (m = {m:,}): a uniform prior needs no data")
        prior = Prior.uniform(m)
        for epsilon in epsilons:
            assessment = assess(GRR(m=m, epsilon=epsilon), Threat(prior))
            bounds = {
                "cor_1": bound_of(assessment, "rad", "cor-5.6"),
                "cor_2": bound_of(assessment, "rad", "thesis-cor-2"),
            }
            rows.append({**_reported(place, "", prior, epsilon, trials), **bounds})
    return Table((*_MEASURED, *_EXPECTED, "cor_1", "cor_2"), tuple(rows))


def _priors(data: Path | None, progress: Progress) -> dict[str, tuple[str, Prior]]:
    """Return the priors of the two towns and what stands in for the data of the thesis."""
    if real_data(data) is not None:
        return {one.name: (one.stand_in, one.prior) for one in towns(data, progress)}
    text = "synthetic stand-in with the thesis' m, κ and κ⁺"
    progress(f"no mobility data in the data folder (DPRADAR_DATA): {text}")
    return {name: (text, made_up_prior(name)) for name in PRINTED}


def pair_bounds(pi: Floats, epsilons: Sequence[float]) -> list[tuple[float, float]]:
    """Return Theorems 7 and 8 of the thesis for GRR, for many values: all products are sorted once.

    Examples
    --------
    >>> pi = np.array([0.5, 0.3, 0.1, 0.05, 0.05])
    >>> round(pair_bounds(pi, [1.0])[0][0], 6)
    0.266197
    """
    m = pi.size
    rows, columns = np.triu_indices(m, 1)
    sums = np.concatenate([[0.0], np.cumsum(np.sort(pi[rows] * pi[columns])[::-1])])
    pairs = []
    for epsilon in epsilons:
        grr = GRR(m=m, epsilon=epsilon)
        # Each unordered pair takes up to 2 tv of the budget m(m-1)(p-q), the largest products first.
        tvs = (math.tanh(epsilon / 2.0), grr.difference)
        pairs.append((_filled(sums, tvs[0], grr.difference, m), _filled(sums, tvs[1], grr.difference, m)))
    return pairs


def _filled(sums: Floats, tv: float, per_pair: float, m: int) -> float:
    full = min(m * (m - 1) * per_pair / (2.0 * tv), float(sums.size - 1))
    whole = min(int(full + 1e-9), sums.size - 1)
    part = full - whole
    following = sums[min(whole + 1, sums.size - 1)] - sums[whole]
    return float(2.0 * tv * (sums[whole] + max(part, 0.0) * following))


def true_prior(
    data: Path | None = None,
    progress: Progress = _quiet,
    *,
    priors: Mapping[str, tuple[str, Prior]] | None = None,
    epsilons: Sequence[float] = EPSILONS,
    trials: int = TRIALS,
) -> Table:
    """Return GRR TRUE (Figure 6.4): measured beside (p-q)(1-kappa), and Theorems 7 and 8.

    Examples
    --------
    >>> from dpradar_reproduction.movement import skewed
    >>> table = true_prior(priors={"town": ("made up", skewed(200, 0.05, 0.15))}, epsilons=[6.0], trials=50_000)
    >>> bool(abs(table.rows[0]["thm_8"] - table.rows[0]["u_rero_expected"]) < 1e-12)
    True
    """
    rows: list[dict[str, Cell]] = []
    for place, (stand_in, prior) in (priors or _priors(data, progress)).items():
        bounds = pair_bounds(np.asarray(prior.probabilities), epsilons)
        for epsilon, (thm_7, thm_8) in zip(epsilons, bounds, strict=True):
            row = _reported(place, stand_in, prior, epsilon, trials)
            rows.append({**row, "thm_7": thm_7, "thm_8": thm_8, "kappa": prior.collision})
    return Table((*_MEASURED, *_EXPECTED, "thm_7", "thm_8", "kappa"), tuple(rows))


def prior_known(
    data: Path | None = None,
    progress: Progress = _quiet,
    *,
    priors: Mapping[str, tuple[str, Prior]] | None = None,
    trials: int = TRIALS,
) -> Table:
    """Return Table 6.1: PRIOR always says the likeliest node, so ReRo is its probability and U-ReRo is 0."""
    half = ("a prior of ours with largest probability 1/2", Prior.of(np.concatenate([[0.5], np.full(99, 0.5 / 99)])))
    columns = ("place", "stand_in", "largest", "printed", "rero", "rero_expected", "off_sd", "u_rero", "bound")
    printed = {"Porto": 0.11, "Beijing": 0.15, "synthetic": 0.5}
    rows: list[dict[str, Cell]] = []
    for place, (stand_in, prior) in {**(priors or _priors(data, progress)), "synthetic": half}.items():
        top = float(np.max(prior.probabilities))
        run = attack(
            GRR(m=prior.size, epsilon=1.0),
            Threat(prior),
            trials=trials,
            seed=prior.size,
            strategy=prior_only(prior.probabilities),
        )
        rero = run.success.estimate
        values = (place, stand_in, top, printed.get(place), rero, top, off(rero, top, trials), rero - top, 0.0)
        rows.append(dict(zip(columns, values, strict=True)))
    return Table(columns, tuple(rows))


def _modes(reports: NDArray[np.intp], m: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the most frequent report of every row, ties at random."""
    rows = reports.shape[0]
    flat = (np.arange(rows)[:, None] * m + reports).ravel()
    counts = np.bincount(flat, minlength=rows * m).reshape(rows, m)
    top = counts == counts.max(axis=1, keepdims=True)
    number = np.count_nonzero(top, axis=1)
    first = np.cumsum(number) - number
    return np.asarray(np.flatnonzero(top)[first + rng.integers(0, number)] % m)


def estimated(
    data: Path | None = None,
    progress: Progress = _quiet,
    *,
    priors: Mapping[str, tuple[str, Prior]] | None = None,
    epsilons: Sequence[float] = EPSILONS,
    runs: int = RUNS,
) -> Table:
    """Return GRR EST (Figure 6.5): the most frequent of 500 reports, the target's among them.

    The 499 others are drawn once; everyone's report is drawn anew in every run. The estimated frequency grows with the
    count, so its mode is that of the reports. The correction given a guess is its probability, and needs no sampling.
    """
    columns = (*_MEASURED, "u_rero_sd", "blind_guess")
    rows: list[dict[str, Cell]] = []
    for place, (stand_in, prior) in (priors or _priors(data, progress)).items():
        rng, pi = np.random.default_rng(prior.size), np.asarray(prior.probabilities)
        others = draw_targets(Threat(prior), OTHERS, rng)
        progress(f"GRR EST, {place}: {runs:,} runs of {OTHERS + 1} reports for every epsilon")
        for epsilon in epsilons:
            release = GRR(m=prior.size, epsilon=epsilon)
            right, about_others = np.empty(runs, dtype=bool), np.empty(runs)
            for start in range(0, runs, _SOME):
                some = slice(start, min(start + _SOME, runs))
                targets = draw_targets(Threat(prior), some.stop - start, rng)
                people = np.column_stack([np.tile(others, (targets.size, 1)), targets])
                guess = _modes(release.sample(people.ravel(), rng).reshape(people.shape), prior.size, rng)
                right[some], about_others[some] = guess == targets, pi[guess]
            hits = int(right.sum())
            low, high = clopper_pearson(hits, runs, 0.05)
            gain = right - about_others
            cells = (
                (place, stand_in, prior.size, epsilon, runs, hits / runs, low, high, float(about_others.mean())),
                (float(gain.mean()), float(gain.std(ddof=1) / math.sqrt(runs)), float(pi.max())),
            )
            rows.append(dict(zip(columns, (cell for part in cells for cell in part), strict=True)))
    return Table(columns, tuple(rows))


def correlated(
    threshold: float,
    data: Path | None = None,
    progress: Progress = _quiet,
    *,
    places: Sequence[Town] | None = None,
    epsilons: Sequence[float] = EPSILONS,
    trials: int = TRIALS,
) -> Table:
    """Return GRR CORR (Figure 6.6: threshold 0, Figure 6.7: 0.1), measured beside the exact terms, and Theorem 9.

    Saying what was reported, without the Markov model, has a U-ReRo of exactly ``thm_9``: CORR is not the best attack.
    """
    columns = (*_MEASURED, *_EXPECTED, "threshold", "kappa", "thm_9")
    rows: list[dict[str, Cell]] = []
    chosen = [town(name, data, progress) for name in PRINTED] if places is None else places
    for one in chosen:
        m, records = one.roads.size, one.records
        progress(f"GRR CORR, {one.name}, threshold {threshold:g}: {records.now.size:,} different steps held out")
        steps, law = Steps.of(records, one.transitions), records.law_of_now(m)
        kappa = float(law @ law)
        for epsilon in epsilons:
            grr = GRR(m=m, epsilon=epsilon)
            expected = terms(
                records,
                steps,
                threshold,
                likely=lambda v, y, grr=grr: np.where(v == y, grr.keep, grr.other),  # type: ignore[misc]
                law=grr.other + grr.difference * law,
                near=lambda v, y: v == y,
            )
            measured = _walked(one, grr, threshold, trials, np.random.default_rng([m, round(100 * epsilon)]))
            bound = grr.difference * (1.0 - kappa)
            cells: tuple[Cell, ...] = (one.name, one.stand_in, m, epsilon, trials, *_with_limits(*measured, trials))
            rest: tuple[Cell, ...] = (*expected, expected[0] - expected[1], off_both(measured, expected, trials))
            values = (*cells, *rest, threshold, kappa, bound)
            rows.append(dict(zip(columns, values, strict=True)))
    return Table(columns, tuple(rows))


def _with_limits(rero: float, correction: float, trials: int) -> tuple[float, ...]:
    low, high = clopper_pearson(round(rero * trials), trials, 0.05)
    return rero, low, high, correction, rero - correction


def off_both(measured: tuple[float, float], expected: tuple[float, float], trials: int) -> float:
    """Return by how many standard deviations a difference of two independent shares is off."""
    spread = math.sqrt(sum(max(share * (1.0 - share), 0.0) for share in expected) / trials)
    return (measured[0] - measured[1] - (expected[0] - expected[1])) / spread if spread > 0.0 else 0.0


def _walked(one: Town, grr: GRR, threshold: float, trials: int, rng: np.random.Generator) -> tuple[float, float]:
    """Run CORR on targets, and on people who did not send the report."""
    records, guess = one.records, walk_or_report(one.transitions, threshold)
    mine, other, sender = rng.choice(records.now.size, size=(3, trials), p=records.weight)
    about: Any = guess(grr.sample(records.now[mine], rng), records.last[mine], rng)
    stranger: Any = guess(grr.sample(records.now[sender], rng), records.last[other], rng)
    return float(np.mean(about == records.now[mine])), float(np.mean(stranger == records.now[other]))


_BOUNDS = {
    "cor_1": "Corollary 1",
    "cor_2": "Corollary 2, GRR",
    "thm_7": "Theorem 7 (ε only)",
    "thm_8": "Theorem 8, GRR",
    "thm_9": "Theorem 9, GRR",
    "blind_guess": "best blind guess",
}


@canvas.styled
def draw(table: Table) -> Figure:
    """Return ReRo and U-ReRo against epsilon, one panel per place; lines are exact, markers measured."""
    places = table.distinct("place")
    figure, axes = canvas.panels(1, len(places), 4.3 * len(places) + 0.4, 3.9)
    for panel, place in zip(axes[0], places, strict=True):
        own = table.where(place=place)
        _panel(panel, own)
        stand_in = f"\n{own.rows[0]['stand_in']}" if own.rows[0]["stand_in"] else ""
        canvas.label(panel, title=f"{place}, m = {own.rows[0]['m']:,}{stand_in}", x="ε", y="probability")
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=4)
    return figure


def _panel(panel: Axes, own: Table) -> None:
    epsilon = own.numbers("epsilon")
    for i, (column, text) in enumerate((("rero", "ReRo"), ("correction", "correction"), ("u_rero", "U-ReRo"))):
        if f"{column}_expected" in own.columns:
            canvas.curve(panel, epsilon, own.numbers(f"{column}_expected"), i, f"{text}, exact")
        style: dict[str, Any] = {"color": canvas.COLOURS[i], "linestyle": "none", "marker": canvas.MARKERS[i]}
        panel.plot(epsilon, own.numbers(column), label=f"{text}, measured", markersize=3.4, **style)
    for i, (column, text) in enumerate(_BOUNDS.items()):
        if column in own.columns:
            style = {"color": "black", "linestyle": canvas.DASHES[1 + i % 3], "linewidth": 0.9}
            panel.plot(epsilon, own.numbers(column), label=text, **style)
    highest = float(own.numbers("rero_high").max())
    canvas.from_zero(panel, 1.02 if highest > _LOW else 1.5 * highest)
