"""[SauerThesis] Figures 5.1 and 7.1: how often places are visited, and how frequent sensitive values are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import canvas
from .mobility_data import PRINTED, town
from .model_tables import ACS, ADULT_SEX, survey_columns
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from .mobility_data import Town
    from .model_tables import Survey
    from .table import Cell

    Progress = Callable[[str], None]

__all__ = ["draw_sensitive", "draw_visits", "sensitive", "visits"]

_VISITS = ("place", "stand_in", "node", "x", "y", "unit", "probability")
_VALUES = ("table", "stand_in", "sensitive", "value", "share", "records")
_LARGEST_DOT = 260.0  # square points, of the most visited node


def _quiet(_: str) -> None:
    """Say nothing."""


def visits(data: Path | None = None, progress: Progress = _quiet, *, places: Sequence[Town] | None = None) -> Table:
    """Return Figure 5.1: where the nodes of the two towns are, and the share of all visits that each receives."""
    rows: list[dict[str, Cell]] = []
    for one in [town(name, data, progress) for name in PRINTED] if places is None else places:
        # Degrees are latitude and longitude; made-up places are x and y.
        x, y = (one.roads.nodes[:, 1], one.roads.nodes[:, 0]) if one.roads.unit == "degrees" else one.roads.nodes.T
        for node, probability in enumerate(np.asarray(one.prior.probabilities)):
            values = (one.name, one.stand_in, node, float(x[node]), float(y[node]), one.roads.unit, float(probability))
            rows.append(dict(zip(_VISITS, values, strict=True)))
    return Table(_VISITS, tuple(rows))


@canvas.styled
def draw_visits(table: Table) -> Figure:
    """Return Figure 5.1: a dot for each node, its area in proportion to the visits."""
    places = table.distinct("place")
    figure, axes = canvas.panels(1, len(places), 4.6 * len(places), 4.4)
    for panel, place in zip(axes[0], places, strict=True):
        own = table.where(place=place)
        share = own.numbers("probability")
        panel.scatter(
            own.numbers("x"),
            own.numbers("y"),
            s=_LARGEST_DOT * share / share.max(),
            color=canvas.COLOURS[0],
            alpha=0.55,
            linewidths=0.0,
            rasterized=True,  # thousands of circles would be a large file
        )
        # A degree of longitude is shorter than one of latitude.
        degrees = own.rows[0]["unit"] == "degrees"
        panel.set_aspect(1.0 / np.cos(np.radians(own.numbers("y").mean())) if degrees else 1.0, adjustable="datalim")
        panel.set_xticks([])
        panel.set_yticks([])
        canvas.label(panel, title=f"{place}: {own.rows[0]['stand_in']}", x="", y="")
    return figure


def sensitive(
    data: Path | None = None, progress: Progress = _quiet, *, surveys: Sequence[Survey] = (ACS, ADULT_SEX)
) -> Table:
    """Return Figure 7.1: how frequent each sensitive value is, in the tables that stand in."""
    rows: list[dict[str, Cell]] = []
    for survey in surveys:
        column = survey_columns(survey, data)[survey.sensitive]
        progress(f"measurement:fig7.1: {survey.stand_in} stands in for {survey.name}")
        names, number = np.unique(column.astype(str), return_counts=True)
        for i in np.argsort(-number, kind="stable"):
            share, size = float(number[i] / column.size), int(column.size)
            values = (survey.name, survey.stand_in, survey.sensitive, str(names[i]), share, size)
            rows.append(dict(zip(_VALUES, values, strict=True)))
    return Table(_VALUES, tuple(rows))


@canvas.styled
def draw_sensitive(table: Table) -> Figure:
    """Return Figure 7.1: one bar for each value."""
    names = table.distinct("table")
    figure, axes = canvas.panels(1, len(names), 4.2 * len(names), 3.2)
    for panel, name in zip(axes[0], names, strict=True):
        own = table.where(table=name)
        places = np.arange(len(own.rows))
        panel.bar(places, own.numbers("share"), color=canvas.COLOURS[0])
        panel.set_xticks(places, [str(row["value"]) for row in own.rows])
        first = own.rows[0]
        title = f"{first['sensitive']} of {first['stand_in']}, in place of {name}"
        canvas.label(panel, title=title, x=str(first["sensitive"]), y="share of records")
        panel.set_ylim(0.0, 1.0)
    return figure
