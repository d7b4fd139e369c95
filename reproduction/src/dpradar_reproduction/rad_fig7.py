"""[RAD] Figure 7: the optimal attack on GRR, OUE and SS, run, beside the exact RAD of Theorem 4.3.

Uniform prior, nothing known, so that only the number of values of the two road graphs matters.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpradar.attacks import attack
from dpradar.bounds import assess
from dpradar.threats import Prior, Threat

from . import canvas
from .attack_counts import PROTOCOLS
from .ldp_audits import EPSILONS
from .roads import BEIJING, PORTO
from .rule_values import interval_of
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from .table import Cell

__all__ = ["SIZES", "compute", "draw"]

SIZES: Mapping[str, int] = {"Porto": PORTO[0], "Geolife": BEIJING[0]}
TRIALS: Mapping[str, int] = {"GRR": 1_000_000, "OUE": 20_000, "SS": 20_000}  # a report of OUE and SS has m bits
_COLUMNS = ("place", "m", "protocol", "epsilon", "trials", "rad", "low", "high", "thm_4_3", "off_sd")


def compute(
    progress: Callable[[str], None] = lambda _: None,
    *,
    sizes: Mapping[str, int] = SIZES,
    epsilons: Sequence[float] = EPSILONS,
    trials: Mapping[str, int] = TRIALS,
    seed: int = 1,
) -> Table:
    """Return the numbers of Figure 7: one row per place, protocol and epsilon.

    ``rad`` is what the optimal attack reached in ``trials`` whole reports, with its 95 % interval; ``thm_4_3`` is the
    exact value, and ``off_sd`` the difference in standard deviations.

    Examples
    --------
    >>> (row,) = compute(sizes={"small": 50}, epsilons=[3.0], trials={"OUE": 20_000}).rows
    >>> row["low"] <= row["thm_4_3"] <= row["high"]
    True
    """
    rows: list[dict[str, Cell]] = []
    for place, m in sizes.items():
        threat = Threat(Prior.uniform(m))
        for number, (name, count) in enumerate(trials.items()):
            progress(f"attacking {name}, {place} (m = {m:,}), {count:,} reports per epsilon")
            for epsilon in epsilons:
                protocol = PROTOCOLS[name](m=m, epsilon=epsilon)
                exact = interval_of(assess(protocol, threat).rad)[1]
                rad = attack(protocol, threat, trials=count, seed=seed + 100 * number + round(epsilon)).rad
                success = exact + 1.0 / m
                spread = math.sqrt(success * (1.0 - success) / count)
                values = (place, m, name, epsilon, count, rad.estimate, rad.low, rad.high, exact)
                off = (rad.estimate - exact) / spread
                rows.append(dict(zip(_COLUMNS, (*values, off), strict=True)))
    return Table(_COLUMNS, tuple(rows))


@canvas.styled
def draw(table: Table) -> Figure:
    """Return Figure 7: lines for Theorem 4.3, markers with intervals for the attack."""
    places = table.distinct("place")
    figure, axes = canvas.panels(1, len(places), 4.2 * len(places), 3.7)
    for panel, place in zip(axes[0], places, strict=True):
        for i, name in enumerate(table.distinct("protocol")):
            own = table.where(place=place, protocol=name)
            epsilon, rad = own.numbers("epsilon"), own.numbers("rad")
            canvas.curve(panel, epsilon, own.numbers("thm_4_3"), i, f"{name}, Theorem 4.3 (exact)")
            panel.errorbar(
                epsilon,
                rad,
                yerr=[rad - own.numbers("low"), own.numbers("high") - rad],
                color=canvas.COLOURS[i],
                linestyle="none",
                marker=canvas.MARKERS[i],
                markersize=3.4,
                capsize=2.0,
                label=f"{name}, optimal attack, {own.rows[0]['trials']:,} reports",
            )
        title = f"{place}, m = {table.where(place=place).rows[0]['m']:,}"
        canvas.label(panel, title=title, x="ε", y="reconstruction advantage (RAD)")
        canvas.from_zero(panel)
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=3)
    return figure
