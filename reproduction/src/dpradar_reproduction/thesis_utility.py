"""[GuerraThesis] Figures 6.6 to 6.9, Table 6.2: errors of calibrated noise on the data sets, printed and corrected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpradar.correlated import Chain, GaussianGroups, fit, leakage
from dpradar.correlated.gaussian import equal_variances, h, largest_correlation, reach
from dpradar.correlated.gaussian_lower_bound import gaussian_lower
from dpradar.correlated.leakage_theorems import invert_leakage
from dpradar.correlated.markov import gamma, row_and_column_ratios, steps
from dpradar.correlated.noise_simulation import simulate

from . import canvas, thesis_data
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from .table import Cell

__all__ = ["draw", "gaussian", "markov", "table"]

Floats = NDArray[np.float64]
EPSILONS = tuple(float(x) for x in range(1, 21))
RUNS = 1_000
_COLUMNS = (
    "data", "epsilon", "mechanism", "dp_epsilon", "scale", "leakage_low", "leakage_high", "error", "error_measured",
    "mape", "mape_measured",
)  # fmt: skip
_TABLE = (
    "data", "n_printed", "n", "m_printed", "m", "parameter", "printed", "recomputed", "adds_printed", "adds_recomputed",
    "adds_tighter", "sensitivity", "note",
)  # fmt: skip
GENERAL, PRINTED, CORRECTED, OURS, DP = "any dependence", "printed", "corrected", "tighter", "independent (DP)"
_LOG_20 = math.log(20.0)
# Where the files are missing: what was computed from them, as in Table 6.2 or recomputed by us.
_IQ = ((20.41068849, 15.0), 0.448275842)
_GALTON = ((3.582918, 2.470256, 2.307025), (0.275354, 0.201655, 0.073665))


def _from_moments(sd: Sequence[float], rho: Sequence[float]) -> Floats:
    R = np.eye(len(sd))
    R[np.triu_indices(len(sd), 1)] = rho
    R = R + R.T - np.eye(len(sd))
    return np.asarray(R * np.outer(sd, sd))


@dataclass(frozen=True, slots=True)
class _Sum:
    """A clipped sum over Gaussian groups."""

    name: str
    model: GaussianGroups
    clip: tuple[float, float]
    rho_printed: float
    answer: float | None


def _sums(data: Path | None) -> list[_Sum]:
    pairs, families, drawn = thesis_data.mothers(data), thesis_data.galton(data), thesis_data.synthetic()

    def one(
        name: str, rows: Floats | None, S: Floats, clip: tuple[float, float], rho: float, of: Floats | None
    ) -> _Sum:
        means = None if rows is None else rows.mean(axis=0)
        answer = None if of is None else float(np.clip(of, *clip).sum())
        return _Sum(name, GaussianGroups(S, means=means), clip, rho, answer)

    trio = None if families is None else families.trios
    S_galton = _from_moments(*_GALTON) if trio is None else np.cov(trio.T)
    S_iq = _from_moments(_IQ[0], (_IQ[1],)) if pairs is None else np.cov(pairs.T)
    S_drawn = 225.0 * np.array([[1.0, 0.45], [0.45, 1.0]])
    return [
        one("Galton", trio, S_galton, (0.0, 100.0), 0.275, None if families is None else families.first),
        one("FamilyIQ", pairs, S_iq, (40.0, 160.0), 0.4483, pairs),
        one("SyntheticIQ", drawn, S_drawn, (40.0, 160.0), 0.45, drawn),
    ]


def gaussian(
    data: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
    *,
    epsilons: Sequence[float] = EPSILONS,
    runs: int = RUNS,
) -> Table:
    """Return Figures 6.6 and 6.8: sums of heights and IQ scores, noise by the general, printed and corrected factor.

    ``leakage_high`` is Lemma 6.10 on the estimated covariance, ``leakage_low`` what some attacker reaches under the
    model: where it exceeds ``epsilon`` the noise is too small. ``mape`` needs the data.

    Examples
    --------
    >>> found = gaussian(epsilons=[1.0], runs=10)
    >>> round(float(found.numbers("error", data="FamilyIQ", mechanism="printed")[0]), 2)
    520.65
    """
    rng = np.random.default_rng(thesis_data.SEED)
    rows: list[dict[str, Cell]] = []
    for one in _sums(data):
        if one.answer is None:
            progress(f"{one.name}: no data, so that only errors are computed, from the moments of the data")
        m, span = one.model.size, one.clip[1] - one.clip[0]
        exact = reach(one.model.covariances[0]).value or float(m)
        factors = {GENERAL: float(m), PRINTED: h(m, one.rho_printed), CORRECTED: exact, DP: 1.0}
        for epsilon in epsilons:
            for mechanism, factor in factors.items():
                level = epsilon / factor
                low = gaussian_lower(one.model, level, one.clip, one.clip) if one.model.means is not None else None
                leak = (low, min(exact, float(m)) * level)
                rows.append(_row(one.name, epsilon, mechanism, (level, span), leak, one.answer, (runs, rng)))
    return Table(_COLUMNS, tuple(rows))


def _row(
    name: str,
    epsilon: float,
    mechanism: str,
    noise: tuple[float, float],
    leak: tuple[float | None, float | None],
    answer: float | list[float] | None,
    drawn: tuple[int, np.random.Generator],
) -> dict[str, Cell]:
    level, span = noise
    if level <= 0.0:
        empty: tuple[Cell, ...] = (name, epsilon, mechanism, *(None for _ in _COLUMNS[3:]))
        return dict(zip(_COLUMNS, empty, strict=True))
    run = simulate(1.0 if answer is None else answer, span / level, runs=drawn[0], rng=drawn[1])
    has_answer = answer is not None
    cells = (
        name, epsilon, mechanism, level, span / level, *leak, run.error_exact, run.error,
        run.mape_exact if has_answer else None, run.mape if has_answer else None,
    )  # fmt: skip
    return dict(zip(_COLUMNS, cells, strict=True))


@dataclass(frozen=True, slots=True)
class _Count:
    """A count over a chain: printed gamma, and the matrix from data or as printed."""

    name: str
    ratio_printed: float
    chain: Chain
    answer: float | list[float] | None


def _counts(data: Path | None, progress: Callable[[str], None]) -> list[_Count]:
    series = thesis_data.activity(data)
    counts: list[_Count] = []
    if series is None:
        progress("Activity: no data; the printed matrix is used, and the expected count")
        P = thesis_data.matrix("Activity")
        counts = [_count(name, "Activity", Chain(P, n)) for name, n in (("Activity", 17_568), ("single day", 288))]
    else:
        states, days = series
        P = np.asarray(fit(states, missing="drop").model.transitions)  # type: ignore[union-attr]
        whole = [s for s in states if s is not None]
        ratio = thesis_data.PRINTED_RATIOS["Activity"]
        counts = [
            _Count("Activity", ratio, Chain(P, len(whole)), float(sum(whole))),
            _Count("single day", ratio, Chain(P, 288), [float(d) for d in days if d > 0]),
        ]
    progress("Electricity: the data are not to be had; printed matrices, and the expected count")
    return [*counts, *(_count(name, name, Chain(thesis_data.matrix(name), 731)) for name in ("E70", "E80", "E90"))]


def _count(name: str, key: str, chain: Chain) -> _Count:
    return _Count(name, thesis_data.PRINTED_RATIOS[key], chain, float(chain.length * chain.stationary[1]))


def markov(
    data: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
    *,
    epsilons: Sequence[float] = EPSILONS,
    runs: int = RUNS,
) -> Table:
    """Return Figures 6.7 and 6.9: counts over Activity and Electricity, noise by five theorems.

    ``printed`` takes gamma from Table 6.2, ``corrected`` from the matrix, ``tighter`` follows the chain step by step;
    cells are empty where a theorem allows no noise for that epsilon. ``leakage_high`` is exact.

    Examples
    --------
    >>> found = markov(epsilons=[10.0], runs=10)
    >>> [round(float(x), 3) for x in found.numbers("error", data="E80")]
    [218.988, 0.75, 0.751, 0.434, 0.3]
    """
    rng = np.random.default_rng(thesis_data.SEED)
    rows: list[dict[str, Cell]] = []
    for one in _counts(data, progress):
        chain, n = one.chain, one.chain.length
        ratio = gamma(np.asarray(chain.transitions))
        for epsilon in epsilons:
            levels = {
                GENERAL: epsilon / n,
                PRINTED: epsilon - 4.0 * math.log(one.ratio_printed),
                CORRECTED: epsilon - 4.0 * math.log(ratio),
                OURS: invert_leakage(lambda e, c=chain: steps(c, e)[0], epsilon, epsilon / (2.0 * n)),  # type: ignore[misc]
                DP: epsilon,
            }
            for mechanism, level in levels.items():
                leak = (None, steps(chain, level)[0]) if level > 0.0 else (None, None)
                rows.append(_row(one.name, epsilon, mechanism, (level, 1.0), leak, one.answer, (runs, rng)))
    return Table(_COLUMNS, tuple(rows))


def draw(column: str) -> Callable[[Table], Figure]:
    """Return what draws the errors ("error") or the relative errors ("mape"): lines by law, points by simulation."""
    title = {"error": "error, 95 of 100", "mape": "mean |error / answer|"}[column]

    @canvas.styled
    def drawn(table: Table) -> Figure:
        names = [name for name in table.distinct("data") if np.isfinite(table.numbers(column, data=name)).any()]
        figure, axes = canvas.panels(1, max(len(names), 1), 2.9 * max(len(names), 1) + 0.4, 3.7)
        for panel, name in zip(axes[0], names, strict=False):
            for i, mechanism in enumerate(table.distinct("mechanism")):
                own = table.where(data=name, mechanism=mechanism)
                x = own.numbers("epsilon")
                canvas.curve(panel, x, own.numbers(column), i, str(mechanism))
                panel.plot(x, own.numbers(f"{column}_measured"), ".", color=canvas.COLOURS[i % len(canvas.COLOURS)])
            panel.set_yscale("log")
            canvas.label(panel, title=str(name), x="leakage allowed", y=title)
        canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=5)
        return figure

    return drawn


def table(data: Path | None = None, progress: Callable[[str], None] = lambda _: None) -> Table:
    """Return Table 6.2: printed and recomputed sizes and parameters, and what correlation adds to the leakage.

    ``adds`` is a factor on epsilon for sums and a summand for counts; ``adds_tighter`` is Lemma 6.10 for sums, and the
    summand of the tighter form of Theorem 6.20 for counts.

    Examples
    --------
    >>> found = table()
    >>> [row["recomputed"].__round__(3) for row in found.rows if row["data"] == "E70"]
    [5.705]
    """
    rows = [*_sum_rows(data), *_chain_rows(data, progress)]
    return Table(_TABLE, tuple(dict(zip(_TABLE, row, strict=True)) for row in rows))


def _sum_rows(data: Path | None) -> list[tuple[Cell, ...]]:
    pairs, families = thesis_data.mothers(data), thesis_data.galton(data)
    sizes = {"Galton": (897, 3), "FamilyIQ": (868, 2), "SyntheticIQ": (20_000, 2)}
    in_data = {
        "Galton": None if families is None else families.first.size,
        "FamilyIQ": None if pairs is None else pairs.size,
        "SyntheticIQ": 20_000,
    }
    rows: list[tuple[Cell, ...]] = []
    for one in _sums(data):
        S, m = one.model.covariances[0], one.model.size
        note = "" if equal_variances(S) else "variances differ, so Theorem 6.14 may not be used"
        rho = largest_correlation(S)
        printed = (one.name, sizes[one.name][0], in_data[one.name], sizes[one.name][1], m)
        adds = (h(m, one.rho_printed), h(m, rho) if equal_variances(S) else None, reach(S).value)
        rows.append((*printed, "rho", one.rho_printed, rho, *adds, one.clip[1] - one.clip[0], note))
    if families is not None:
        whole = fit(families.persons, group="family", value="height", role="role", clip=(0.0, 100.0), model="gaussian")
        answer = leakage(whole, 1.0)
        size, records = whole.model.size, whole.model.records  # type: ignore[union-attr]
        note = "brothers and sisters of all children kept"
        best = next(t.bound.value for t in answer.theorems if t.rule == "lemma-6.10" and t.bound is not None)
        strongest = max(largest_correlation(one) for one in whole.model.covariances)  # type: ignore[union-attr]
        named = ("Galton, all children", None, records, None, size, "rho", None, strongest)
        rows.append((*named, None, None, best, 100.0, note))
    return rows


def _chain_rows(data: Path | None, progress: Callable[[str], None]) -> list[tuple[Cell, ...]]:
    printed = {"Activity": 17_568, "single day": 288, "E70": 731, "E80": 731, "E90": 731}
    notes = {
        "Activity": "17,568 rows of which 2,304 are missing",
        "E70": "the printed matrix gives 5.705",
        "E80": "daily, not hourly",
    }
    rows: list[tuple[Cell, ...]] = []
    for one in _counts(data, progress):
        P = np.asarray(one.chain.transitions)
        row, column = row_and_column_ratios(P)
        tight = 2.0 * math.log(row) + 2.0 * math.log(column)
        ratio = gamma(P)
        named = (one.name, printed[one.name], one.chain.length, printed[one.name], one.chain.length, "gamma")
        adds = (4.0 * math.log(one.ratio_printed), 4.0 * math.log(ratio), tight)
        rows.append((*named, one.ratio_printed, ratio, *adds, 1.0, notes.get(one.name, "")))
    return rows
