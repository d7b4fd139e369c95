"""[UNIFY] Figures 4 and 9: the 2020 US Census level by level, f-DP beside zCDP.

The budgets and where each comes from are in ``data/census2020.csv``. Every level is taken as ten measurements with
discrete Gaussian noise, a record moving each by 1; so do the authors and Su, Su and Wang (2024). Their sum is nearly
Gaussian with mu = sqrt(2 rho): at the state level the total variation is 0.51979, that of the Gaussian 0.52052. It is
not quite mu-GDP, though: at baseline 0.01 the gain is 0.17095 there, that of the Gaussian 0.17087.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from dpradar.bounds import assess
from dpradar.errors import NumericsError
from dpradar.guarantees import GDP, ZCDP
from dpradar.guarantees.renyi import zcdp_success
from dpradar.mechanisms import DiscreteGaussian, Repeated
from dpradar.numerics.rounding import rounded
from dpradar.threats import Threat

from . import canvas
from .baselines import OWN, WORST, shown, worst_gain
from .rule_values import bound_of
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpradar.guarantees.curves import TradeoffCurve
    from dpradar.guarantees.privacy import HasPrivacy
    from dpradar.mechanisms.capabilities import Release

    from .table import Cell

__all__ = ["Level", "compute", "draw", "levels"]

_FILE = "census2020.csv"
_COLUMNS = ("level", "rho", "at", "baseline", "zcdp", "zcdp_curve", "gdp", "f_dp", "less")
_BARS = {
    "zcdp": ("zCDP (Balle et al.)", "//"),
    "zcdp_curve": ("zCDP, best trade-off curve (ours)", ".."),
    "f_dp": ("f-DP of the discrete Gaussian noise", ""),
}
_SHORT = {
    "Population estimates primitive geography": "Primitive\ngeography",
    "Tract subset group": "Tract subset\ngroup",
}
_WIDTH = 0.27


@dataclass(frozen=True, slots=True)
class Level:
    """A geographic level, its budget, and where the numbers come from."""

    release: str
    name: str
    share: Fraction
    total_rho: Fraction
    queries: int | None
    basis: str

    @property
    def rho(self) -> float:
        """The budget of the level."""
        return float(self.share * self.total_rho)


def levels(release: str = "dhc") -> tuple[Level, ...]:
    """Return the levels of a release, "dhc" (the paper's) or "redistricting", from the whole country down to blocks.

    Examples
    --------
    >>> [f"{level.rho:.4f}" for level in levels() if level.name == "State"]
    ['1.0001']
    >>> round(sum(level.rho for level in levels("redistricting")), 4)
    2.5562
    """
    text = (resources.files(__package__) / "data" / _FILE).read_text(encoding="utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return tuple(_level(row) for row in rows if row["release"] == release)


def _level(row: dict[str, str]) -> Level:
    return Level(
        release=row["release"],
        name=row["level"],
        share=_fraction(row["share"]),
        total_rho=_fraction(row["total_rho"]),
        queries=int(row["queries"]) if row["queries"] else None,
        basis=row["basis"],
    )


def _fraction(text: str) -> Fraction:
    over, _, under = text.partition("/")
    return Fraction(over) / Fraction(under or "1")


def compute(baselines: Sequence[float] = (), places: Sequence[Level] | None = None) -> Table:
    """Return the numbers of Figure 4, or with ``baselines`` 0.01 and 0.1 those of Figure 9.

    One row per level and baseline with the gain that each bound allows: ``zcdp`` as printed by Balle et al.,
    ``zcdp_curve`` from the best trade-off curve that rho-zCDP implies, whatever the noise, ``gdp`` for continuous
    Gaussian noise of the same rho, and ``f_dp`` for the discrete noise; ``less`` is what f-DP saves of ``zcdp``. Worst
    baselines come twice: that of f-DP for all, as in the authors' code, and that of each bound.

    Examples
    --------
    >>> (state,) = compute().where(level="State", at=OWN).rows
    >>> [round(state[name], 4) for name in ("zcdp", "gdp")]
    [0.7304, 0.5205]
    """
    chosen = levels() if places is None else places
    rows = [row for place in chosen for row in _rows(place, baselines)]
    return Table(_COLUMNS, tuple(dict(zip(_COLUMNS, row, strict=True)) for row in rows))


def _rows(place: Level, baselines: Sequence[float]) -> list[tuple[Cell, ...]]:
    rho, queries = place.rho, place.queries or 1
    # Two records that differ by 1 in every measurement: then the sum of the measurements is all that matters, exactly.
    noise = Repeated(DiscreteGaussian(sigma=math.sqrt(queries / (2.0 * rho)), query=(0.0, 1.0)), queries)
    releases = (
        ZCDP(rho=rho, neighbours="replace-one"),
        GDP(mu=math.sqrt(2.0 * rho), neighbours="replace-one"),
        noise.at(None),
    )
    # Not through assess, which would compare the noise with what lies between the two records; the paper does not.
    curves = [_curve(release) for release in releases]
    worst = [curve.gap() for curve in curves]
    rows: list[tuple[Cell, ...]] = []
    places: list[tuple[Cell, float]] = [*((b, b) for b in baselines), (WORST, 0.5 - 0.5 * worst[-1])]
    for at, base in places:
        gains = [1.0 - curve.at(base) - base for curve in curves]
        old = bound_of(assess(releases[0], Threat.baseline(base)), "success", "zcdp") - base
        rows.append((place.name, rho, at, base, old, *gains, 1.0 - gains[-1] / old))
    old = worst_gain(lambda base: zcdp_success(rho, base))[0]
    rows.append((place.name, rho, OWN, None, old, *worst, 1.0 - worst[-1] / old))
    return rows


def _curve(release: HasPrivacy | Release) -> TradeoffCurve:
    promise = release.privacy("replace-one")
    if promise is None or promise.curve is None:
        raise NumericsError(f"no trade-off curve is known for {release!r}")
    return promise.curve


@canvas.styled
def draw(table: Table) -> Figure:
    """Return Figure 4 or 9: bars for every level, one panel per baseline."""
    chosen = [at for at in table.distinct("at") if at != WORST]
    figure, axes = canvas.panels(len(chosen), 1, 9.2, 2.5 * len(chosen) + 0.7)
    for panel, at in zip(axes[:, 0], chosen, strict=True):
        _bars(panel, table.where(at=at))
        canvas.label(panel, title=shown(at), x="", y="gain: success − baseline")
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=len(_BARS))
    return figure


def _bars(panel: Axes, own: Table) -> None:
    names = [str(row["level"]) for row in own.rows]
    place = np.arange(len(names))
    for i, (column, (text, hatch)) in enumerate(_BARS.items()):
        bars = panel.bar(
            place + (i - 1) * _WIDTH,
            own.numbers(column),
            _WIDTH,
            label=text,
            color=canvas.COLOURS[i],
            edgecolor="white" if hatch else "black",
            linewidth=0.6,
            hatch=hatch,
        )
        panel.bar_label(bars, fmt=lambda gain: rounded(float(gain), 3, "up"), padding=1, fontsize=5.8)
    panel.set_xticks(place, [_SHORT.get(name, name) for name in names])
    panel.grid(visible=False, axis="x")
    panel.margins(x=0.01, y=0.12)
