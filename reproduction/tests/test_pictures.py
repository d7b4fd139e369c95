"""[SauerThesis] Figures 5.1 and 7.1, [GuerraThesis] Tables 3.2 and 6.1."""

from __future__ import annotations

import gzip
import math

import numpy as np
import pytest

from dpradar.errors import ParameterError
from dpradar_reproduction import canvas, figures, measurement_pictures, thesis_tables
from dpradar_reproduction.mobility_data import town_of
from dpradar_reproduction.model_tables import ADULT_SEX
from dpradar_reproduction.roads import Roads
from dpradar_reproduction.trips import synthetic_trips


def test_visits_are_the_prior_at_its_places():
    roads = Roads.synthetic(60, seed=1)
    small = town_of("small", "made up", roads, synthetic_trips(roads, 60, 20, seed=1))
    table = measurement_pictures.visits(places=[small])
    assert table.numbers("probability").tolist() == list(small.prior.probabilities)
    assert table.numbers("probability").sum() == pytest.approx(1.0)
    assert table.numbers("x").tolist() == roads.nodes[:, 0].tolist()
    drawn = measurement_pictures.draw_visits(table)
    sizes = drawn.axes[0].collections[0].get_sizes()
    assert np.argmax(sizes) == np.argmax(small.prior.probabilities)


def test_degrees_are_drawn_with_east_to_the_right():
    nodes = [(41.0, -8.6), (41.1, -8.5), (41.2, -8.4)]
    edges = [(0, 1), (1, 0), (1, 2), (2, 1)]
    roads = Roads.of(nodes, edges, "A line.", unit="degrees")
    town = town_of("line", "made up", roads, [np.array([0, 1, 2, 1])] * 12)
    table = measurement_pictures.visits(places=[town])
    assert table.numbers("x").tolist() == [-8.6, -8.5, -8.4]
    assert table.numbers("y").tolist() == [41.0, 41.1, 41.2]
    aspect = measurement_pictures.draw_visits(table).axes[0].get_aspect()
    assert aspect == pytest.approx(1.0 / math.cos(math.radians(41.1)))


def test_shares_of_sensitive_values(tmp_path):
    (tmp_path / "adult").mkdir()
    person = "39, Private, 1, HS-grad, 9, Never-married, Sales, Wife, White, {}, 0, 0, 40, Cuba, <=50K"
    lines = [person.format("Male")] * 3 + [person.format("Female")]
    for file in ("adult.data.gz", "adult.test.gz"):
        with gzip.open(tmp_path / "adult" / file, "wt") as out:
            out.write("\n".join(lines) + "\n")
    table = measurement_pictures.sensitive(tmp_path, surveys=[ADULT_SEX])
    assert [(row["value"], row["share"], row["records"]) for row in table.rows] == [
        ("Male", 0.75, 8),
        ("Female", 0.25, 8),
    ]
    bars = measurement_pictures.draw_sensitive(table).axes[0].patches
    assert [bar.get_height() for bar in bars] == [0.75, 0.25]


def test_without_data_the_message_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.delenv("DPRADAR_DATA", raising=False)
    with pytest.raises(ParameterError, match=r"census/acs\.csv\.gz"):
        figures.reproduce("measurement:fig7.1", tmp_path)


@pytest.mark.parametrize(("r", "leakage"), [(3, 1.457635), (10, 1.795535), (100, 1.976852), (1000, 1.997653)])
def test_two_records(r, leakage):
    """The ratio of the answers (0, 0) by hand: Example 6.4."""
    (row,) = thesis_tables.two_records([r]).rows
    assert sum(row[name] for name in ("p_00", "p_01", "p_10", "p_11")) == pytest.approx(1.0)
    first, e = row["p_00"] + row["p_01"], math.e
    above = (row["p_00"] * e**2 + row["p_01"] * e) / first
    below = (row["p_10"] * e + row["p_11"]) / (1.0 - first)
    assert math.log(above / below) == pytest.approx(leakage, abs=1e-6)
    assert leakage - 1e-6 <= row["leakage"] <= row["bound"] == 2.0


def test_survey_of_mechanisms():
    table = thesis_tables.mechanisms()
    assert len(table.rows) == 17
    assert [row["rules"] is not None for row in table.rows] == [row["thesis"] == "wrong" for row in table.rows]


@pytest.mark.parametrize(("width", "columns"), [(4.0, 1), (9.0, 3), (30.0, 4)])
def test_legends_fit_into_their_figure(width, columns):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure, axes = canvas.panels(1, 1, width, 3.0)
    for k in range(7):
        axes[0, 0].plot([0, 1], [0, k], label=f"a curve with a long name, {k}")
    canvas.legend(figure, *axes[0, 0].get_legend_handles_labels(), columns=4)
    (legend,) = figure.legends
    assert legend.get_window_extent(FigureCanvasAgg(figure).get_renderer()).width <= figure.bbox.width
    assert legend._ncols == columns
