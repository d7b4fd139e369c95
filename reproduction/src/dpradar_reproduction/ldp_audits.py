"""[RAD] Figures 8 and 9, [SauerThesis] Figures 10.1 to 10.5: from how often an attack is right back to epsilon.

For each protocol: the inversion of Corollary 1 (= [RAD] Corollary 5.6, which holds for every mechanism), with and
without a confidence limit; the inversion of the protocol's own exact value ([RAD] Section 6); and LDP-Auditor. Only the
number of values matters: 3,052 for Porto and 5,356 for Beijing (Geolife).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpradar.attacks import attack
from dpradar.audits.epsilon_inversion import epsilon_from_uniform, ldp_auditor
from dpradar.bounds import assess
from dpradar.numerics.confidence_intervals import clopper_pearson_low
from dpradar.threats import Prior, Threat

from . import canvas
from .attack_counts import PROTOCOLS, Held, held_of
from .roads import BEIJING, PORTO
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .table import Cell

__all__ = ["EPSILONS", "FEW_EPSILONS", "SIZES", "audited", "compute", "draw", "exact_success"]

Floats = NDArray[np.float64]
SIZES: Mapping[str, int] = {"Porto": PORTO[0], "Beijing": BEIJING[0]}
EPSILONS = tuple(float(k) for k in range(1, 21))
FEW_EPSILONS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0)  # where every value is dear: SHE
TRIALS = 1_000_000
REPEATS = 5
REPORTS = 10_000  # whole reports per setting, which cost m bits each
SLOW_REPORTS: Mapping[str, int] = {"SHE": 1_500}  # m Laplace draws each
LARGEST: Mapping[str, float] = {"OLH": 10.0}  # as in the thesis: the hash function has e^epsilon values
TAIL = 0.005  # of the confidence limit on success
_MOST_EPSILON, _PRECISION = 60.0, 1e-9
# The exact value of SHE is an integral: its inverse is read off a smooth curve through a grid.
_GRID = np.concatenate([np.arange(0.05, 1.0, 0.19), np.arange(1.0, 27.0, 0.5)])
_COLUMNS = (
    "place",
    "m",
    "protocol",
    "epsilon",
    "trials",
    "repeats",
    "success",
    "success_expected",
    "off_sd",
    "cor_1",
    "cor_1_sd",
    "cor_1_expected",
    "cor_1_undefined",
    "cor_1_lower",
    "own",
    "own_sd",
    "own_undefined",
    "ldp_auditor",
    "ldp_auditor_sd",
    "ldp_auditor_expected",
    "reports",
    "reports_success",
    "reports_off_sd",
)


def exact_success(protocol: Any) -> float:
    """Return Pr[the best guess is right] under a uniform prior: the exact RAD of Theorem 4.3 plus 1/m.

    Examples
    --------
    >>> from dpradar.mechanisms import GRR
    >>> round(exact_success(GRR(m=3052, epsilon=8.0)) - 1 / 3052, 6)
    0.493866
    """
    bound = assess(protocol, Threat(Prior.uniform(protocol.m))).rad
    return float("nan") if bound is None else bound.value + 1.0 / protocol.m


def off(measured: float, expected: float, trials: int) -> float:
    """Return by how many standard deviations a share of ``trials`` is off the probability expected."""
    spread = math.sqrt(max(expected * (1.0 - expected), 0.0) / trials)
    return (measured - expected) / spread if spread > 0.0 else 0.0


def mean_and_sd(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Return the mean and the standard deviation of those values that there are."""
    numbers = np.array([value for value in values if value is not None], dtype=float)
    if numbers.size == 0:
        return None, None
    return float(numbers.mean()), float(numbers.std(ddof=1)) if numbers.size > 1 else 0.0


def audited(success: Sequence[float], m: int, trials: int) -> dict[str, Cell]:
    """Return the epsilons of Corollary 1 for measured successes; undefined where the attack never failed.

    Examples
    --------
    >>> audited([0.5, 1.0], 100, 1000)["cor_1_undefined"]
    1
    """
    points = [epsilon_from_uniform(s - 1.0 / m, m) if s < 1.0 else None for s in success]
    limits = [clopper_pearson_low(round(s * trials), trials, TAIL) for s in success]
    lower = [max(0.0, epsilon_from_uniform(s - 1.0 / m, m) or 0.0) for s in limits]
    mean, sd = mean_and_sd(points)
    undefined = sum(point is None for point in points)
    return {
        "cor_1": mean,
        "cor_1_sd": sd,
        "cor_1_undefined": undefined,
        "cor_1_lower": mean_and_sd(lower)[0],
    }


@lru_cache(maxsize=4)
def _own_curve(name: str, m: int) -> tuple[Floats, Floats]:
    success = np.array([exact_success(PROTOCOLS[name](m=m, epsilon=float(epsilon))) for epsilon in _GRID])
    return np.log(success) - np.log1p(-success), _GRID


def own_epsilons(success: Sequence[float], protocol: Any, name: str) -> list[float | None]:
    """Return the epsilons at which the protocol itself is attacked as successfully; None above what it can reach.

    As :func:`dpradar.audits.epsilon_inversion.epsilon_from_own_curve`,
    by the closed form instead of a whole assessment.

    Examples
    --------
    >>> from dpradar.mechanisms import OUE
    >>> protocol = OUE(m=20, epsilon=3.0)
    >>> [round(epsilon, 6) for epsilon in own_epsilons([exact_success(protocol), 0.0], protocol, "OUE")]
    [3.0, 0.0]
    """
    kind, m = type(protocol), int(protocol.m)
    if isinstance(held_of(protocol), Held):
        return [_inverse(lambda epsilon: _closed(kind(m=m, epsilon=epsilon)), s) for s in success]
    from scipy.interpolate import PchipInterpolator

    odds, grid = _own_curve(name, m)
    inverse = PchipInterpolator(odds, grid)
    logs = [math.log(s) - math.log1p(-s) if 0.0 < s < 1.0 else math.inf * (s - 0.5) for s in success]
    return [None if x > odds[-1] else float(inverse(max(x, odds[0]))) for x in logs]


def _closed(protocol: Any) -> float:
    seen = held_of(protocol)
    return seen.success if isinstance(seen, Held) else exact_success(protocol)


def _inverse(increasing: Callable[[float], float], value: float) -> float | None:
    """Return where an increasing function of epsilon, with or without jumps, reaches a value; None if not up to 60."""
    low, high = 0.0, 1.0
    while increasing(high) < value:
        low, high = high, 2.0 * high
        if high > _MOST_EPSILON:
            return None
    while high - low > _PRECISION:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if increasing(middle) < value else (low, middle)
    return low


def _row(place: str, m: int, name: str, epsilon: float, settings: Mapping[str, int], seed: int) -> dict[str, Cell]:
    protocol = PROTOCOLS[name](m=m, epsilon=epsilon)
    seen, exact = held_of(protocol), exact_success(protocol)
    trials, repeats = settings["trials"], settings["repeats"]
    root = np.random.SeedSequence([seed, m, list(PROTOCOLS).index(name), round(1000 * epsilon)])
    rng = np.random.default_rng(root)
    hits = [seen.hits(trials, rng) for _ in range(repeats)]
    success = [count / trials for count in hits]
    pairs = [(seen.hits(trials, rng), seen.false_hits(trials, rng)) for _ in range(repeats)]
    auditor = mean_and_sd([ldp_auditor(*pair, trials) for pair in pairs])
    own = own_epsilons(success, protocol, name)
    whole = int(root.generate_state(1)[0])
    reports = min(settings["reports"], SLOW_REPORTS.get(name, settings["reports"]))
    run = attack(protocol, Threat(Prior.uniform(m)), trials=reports, seed=whole) if reports else None
    average = sum(hits) / (trials * repeats)
    return {
        "place": place,
        "m": m,
        "protocol": name,
        "epsilon": epsilon,
        "trials": trials,
        "repeats": repeats,
        "success": average,
        "success_expected": exact,
        "off_sd": off(average, exact, trials * repeats),
        **audited(success, m, trials),
        "cor_1_expected": epsilon_from_uniform(exact - 1.0 / m, m),
        "own": mean_and_sd(own)[0],
        "own_sd": mean_and_sd(own)[1],
        "own_undefined": sum(value is None for value in own),
        "ldp_auditor": auditor[0],
        "ldp_auditor_sd": auditor[1],
        # A wrong guess is each of the other values equally often.
        "ldp_auditor_expected": ldp_auditor(round(trials * exact), round(trials * (1.0 - exact) / (m - 1)), trials),
        "reports": reports,
        "reports_success": None if run is None else run.success.estimate,
        "reports_off_sd": None if run is None else off(run.success.estimate, exact, reports),
    }


def compute(
    protocols: Iterable[str],
    progress: Callable[[str], None] = lambda _: None,
    *,
    sizes: Mapping[str, int] = SIZES,
    epsilons: Sequence[float] = EPSILONS,
    trials: int = TRIALS,
    repeats: int = REPEATS,
    reports: int = REPORTS,
    seed: int = 1,
) -> Table:
    """Return the audits of the given protocols: one row per place, protocol and epsilon.

    ``success``: the share of right guesses in ``repeats`` times ``trials`` attacks, beside the exact one and the
    difference in standard deviations. ``cor_1``: mean and standard deviation of the ``repeats`` inversions of
    Corollary 1, what it gives for the exact success, how many were undefined (the attack never failed), and the mean
    of valid lower bounds (Clopper and Pearson, one-sided 99.5 %). ``own``: the same for the inversion of the protocol's
    own exact value. ``ldp_auditor``: from two inputs, ``trials`` attacks on each. These attacks are drawn through what
    the guess depends on (:mod:`.attack_counts`); ``reports`` whole reports are drawn and attacked beside.

    Examples
    --------
    >>> (row,) = compute(["GRR"], sizes={"a hundred": 100}, epsilons=[3.0], trials=10_000, repeats=2, reports=0).rows
    >>> abs(row["cor_1"] - 3.0) < 0.2
    True
    """
    settings = {"trials": trials, "repeats": repeats, "reports": reports}
    rows: list[Mapping[str, Cell]] = []
    for name in protocols:
        for place, m in sizes.items():
            progress(f"auditing {name}, {place} (m = {m:,})")
            within = [epsilon for epsilon in epsilons if epsilon <= LARGEST.get(name, math.inf)]
            rows += [_row(place, m, name, epsilon, settings, seed) for epsilon in within]
    return Table(_COLUMNS, tuple(rows))


@canvas.styled
def draw(table: Table) -> Figure:
    """Return one panel per place and protocol: epsilon found against epsilon used."""
    places, protocols = table.distinct("place"), table.distinct("protocol")
    # One place: protocols side by side; several: one row per protocol.
    shape = (1, len(protocols)) if len(places) == 1 else (len(protocols), len(places))
    figure, axes = canvas.panels(*shape, 3.9 * shape[1], 3.3 * shape[0] + 0.6)
    cells = [(name, place) for name in protocols for place in places]
    for panel, (name, place) in zip(axes.ravel(), cells, strict=True):
        own = table.where(place=place, protocol=name)
        _panel(panel, own)
        row = own.rows[0]
        how = f"{row['repeats']} × {row['trials']:,} attacks\nwhole reports as a check: {row['reports']:,}"
        canvas.label(panel, title=f"{name}, {place}, m = {row['m']:,}\n{how}", x="ε", y="audited ε")
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=3)
    return figure


def _panel(panel: Axes, own: Table) -> None:
    epsilon = own.numbers("epsilon")
    panel.plot(epsilon, epsilon, color="#888888", linewidth=1.0, label="ε itself")
    panel.plot(
        epsilon, own.numbers("cor_1_expected"), color=canvas.COLOURS[0], linewidth=1.0, label="Corollary 1, expected"
    )
    lines = (
        ("cor_1", "cor_1_sd", "Corollary 1, mean and sd of the repeats"),
        ("own", "own_sd", "own exact value inverted (Theorem 4.3)"),
        ("ldp_auditor", "ldp_auditor_sd", "LDP-Auditor"),
    )
    for i, (column, spread, text) in enumerate(lines):
        panel.errorbar(
            epsilon,
            own.numbers(column),
            yerr=own.numbers(spread),
            color=canvas.COLOURS[i],
            linestyle="none",
            marker=canvas.MARKERS[i],
            markersize=3.6,
            capsize=2.0,
            label=text,
        )
    panel.plot(
        epsilon,
        own.numbers("cor_1_lower"),
        color=canvas.COLOURS[3],
        linestyle=canvas.DASHES[2],
        label="Corollary 1, valid lower bound (99.5 %)",
    )
