"""[SauerThesis] Figures 10.6 to 10.9: audits of four wrong implementations.

GRR whose lie may be the truth; GRR that keeps the value with probability p + 0.1; and the unary encodings of pure-LDP
1.1.2, which do not clear the true bit when it loses its coin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpradar.audits.epsilon_inversion import epsilon_from_uniform
from dpradar.numerics.confidence_intervals import clopper_pearson_low

from . import canvas
from .attack_counts import PROTOCOLS, Held, held_of
from .ldp_audits import EPSILONS, REPEATS, SIZES, TAIL, TRIALS, audited, exact_success, mean_and_sd, off, own_epsilons
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .table import Cell

__all__ = ["BUGS", "Bug", "compute", "draw"]

LOW_EPSILONS = (0.25, 0.5, 0.75, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0)
_MOSTLY = 0.5  # of the repeats
_COLUMNS = (
    "place",
    "m",
    "bug",
    "epsilon",
    "true_epsilon",
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
    "seen_by_estimate",
    "seen_by_cor_1",
    "seen_by_own",
)


@dataclass(frozen=True, slots=True)
class Bug:
    """A wrong implementation of a protocol: what it is called, and what the attack sees of it instead."""

    what: str
    protocol: str
    wrong: Callable[[Held], Held]
    epsilons: tuple[float, ...]

    def reports(self, m: int, epsilon: float) -> Held:
        """Return what the attack sees of the wrong implementation."""
        right = held_of(PROTOCOLS[self.protocol](m=m, epsilon=epsilon))
        if not isinstance(right, Held):
            message = f"{self.protocol} has no reports that hold values"
            raise TypeError(message)
        return self.wrong(right)


def _full_domain(right: Held) -> Held:
    return Held(right.m, right.own + (1.0 - right.own) / right.m, size=1)


def _keeps_more(right: Held) -> Held:
    return Held(right.m, min(1.0, right.own + 0.1), size=1)


def _not_cleared(right: Held) -> Held:
    return Held(right.m, right.own + (1.0 - right.own) * right.other, right.other)


BUGS: Mapping[str, Bug] = {
    "10.6": Bug("GRR, the lie may be the truth", "GRR", _full_domain, (0.25, 0.5, *EPSILONS)),
    "10.7": Bug("GRR, p + 0.1", "GRR", _keeps_more, EPSILONS),
    "10.8": Bug("SUE of pure-LDP 1.1.2", "SUE", _not_cleared, LOW_EPSILONS),
    "10.9": Bug("OUE of pure-LDP 1.1.2", "OUE", _not_cleared, LOW_EPSILONS),
}


def true_epsilon(reports: Held) -> float | None:
    """Return the epsilon that the wrong implementation has; None when a value is never denied.

    Examples
    --------
    >>> round(true_epsilon(BUGS["10.8"].reports(100, 1.0)), 3)
    1.68
    """
    own, other = reports.own, reports.other
    if own >= 1.0:
        return None
    if reports.size is not None:
        return math.log(own * (reports.m - 1) / (1.0 - own))
    return math.log(own * (1.0 - other) / (other * (1.0 - own)))


def _row(bug: Bug, place: str, m: int, epsilon: float, settings: tuple[int, int, int]) -> dict[str, Cell]:
    trials, repeats, seed = settings
    reports = bug.reports(m, epsilon)
    exact = reports.success
    rng = np.random.default_rng([seed, m, round(1000 * epsilon)])
    hits = [reports.hits(trials, rng) for _ in range(repeats)]
    success = [count / trials for count in hits]
    protocol = PROTOCOLS[bug.protocol](m=m, epsilon=epsilon)
    own = own_epsilons(success, protocol, bug.protocol)
    average = sum(hits) / (trials * repeats)
    lows = [clopper_pearson_low(count, trials, TAIL) for count in hits]
    points: list[Any] = [epsilon_from_uniform(s - 1.0 / m, m) if s < 1.0 else math.inf for s in success]
    limits = [epsilon_from_uniform(s - 1.0 / m, m) or 0.0 for s in lows]
    return {
        "place": place,
        "m": m,
        "bug": bug.what,
        "epsilon": epsilon,
        "true_epsilon": true_epsilon(reports),
        "trials": trials,
        "repeats": repeats,
        "success": average,
        "success_expected": exact,
        "off_sd": off(average, exact, trials * repeats),
        **audited(success, m, trials),
        "cor_1_expected": epsilon_from_uniform(exact - 1.0 / m, m) if exact < 1.0 else None,
        "own": mean_and_sd(own)[0],
        "own_sd": mean_and_sd(own)[1],
        "own_undefined": sum(value is None for value in own),
        "seen_by_estimate": sum(point > epsilon for point in points) / repeats,
        "seen_by_cor_1": sum(limit > epsilon for limit in limits) / repeats,
        "seen_by_own": sum(low > exact_success(protocol) for low in lows) / repeats,
    }


def compute(
    figure: str,
    progress: Callable[[str], None] = lambda _: None,
    *,
    sizes: Mapping[str, int] = SIZES,
    epsilons: Sequence[float] | None = None,
    trials: int = TRIALS,
    repeats: int = REPEATS,
    seed: int = 1,
) -> Table:
    """Return the audit of the wrong implementation of a figure: one row per place and epsilon.

    Columns as in :func:`.ldp_audits.compute`; further ``true_epsilon``, which the implementation has, and
    the share of the repeats that see the bug: by the point estimate above epsilon, as in the thesis (right code exceeds
    it half of the time, too); by a valid lower bound (99.5 %) of Corollary 1; and by the same limit on success above
    what the right protocol allows.

    Examples
    --------
    >>> (row,) = compute("10.6", sizes={"Porto": 3052}, epsilons=[1.0]).rows
    >>> round(row["cor_1_expected"], 4), row["seen_by_own"]
    (1.3135, 1.0)
    """
    bug = BUGS[figure]
    rows: list[Mapping[str, Cell]] = []
    for place, m in sizes.items():
        progress(f"auditing {bug.what}, {place} (m = {m:,})")
        chosen = bug.epsilons if epsilons is None else epsilons
        rows += [_row(bug, place, m, epsilon, (trials, repeats, seed)) for epsilon in chosen]
    return Table(_COLUMNS, tuple(rows))


@canvas.styled
def draw(table: Table) -> Figure:
    """Return one panel per place: audited against claimed epsilon."""
    places = table.distinct("place")
    figure, axes = canvas.panels(1, len(places), 4.2 * len(places), 3.9)
    for panel, place in zip(axes[0], places, strict=True):
        own = table.where(place=place)
        _panel(panel, own)
        canvas.label(panel, title=f"{own.rows[0]['bug']}, {place}", x="claimed ε", y="audited ε")
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=3)
    return figure


def _panel(panel: Axes, own: Table) -> None:
    epsilon = own.numbers("epsilon")
    panel.plot(epsilon, epsilon, color="#888888", linewidth=1.0, label="claimed ε")
    columns = (
        ("cor_1_expected", "Corollary 1, expected"),
        ("true_epsilon", "ε of the wrong code"),
    )
    for i, (column, text) in enumerate(columns):
        panel.plot(
            epsilon, own.numbers(column), color=canvas.COLOURS[i], linestyle=canvas.DASHES[i], linewidth=1.0, label=text
        )
    marks = (("cor_1", "cor_1_sd", "Corollary 1, mean and sd"), ("own", "own_sd", "own exact value inverted"))
    for i, (column, spread, text) in enumerate(marks):
        style: dict[str, Any] = {"linestyle": "none", "marker": canvas.MARKERS[i], "markersize": 3.6, "capsize": 2.0}
        colour = canvas.COLOURS[2 * i]
        panel.errorbar(epsilon, own.numbers(column), yerr=own.numbers(spread), color=colour, label=text, **style)
    seen = own.numbers("seen_by_own") > _MOSTLY
    panel.plot(
        epsilon[seen],
        np.zeros(int(seen.sum())),
        color="black",
        linestyle="none",
        marker="^",
        clip_on=False,
        label="bug seen by the own value, 99.5 %",
    )
