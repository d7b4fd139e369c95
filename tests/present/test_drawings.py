"""Drawings show the numbers they stand for."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpradar.present.curve import chart_svg, curve_svg, scale_svg
from dpradar.present.icons import icons_svg
from dpradar.present.page import Chart, Curve, Icons, Line, Mark, Scale, Table
from tests.present.page_reader import Reader

LINE = Line(name="a", points=((0.0, 0.0), (0.2, 0.5), (1.0, 1.0)))


def path(svg: str, kind: str) -> str:
    match = re.search(rf'<path class="{kind}" d="([^"]*)"', svg)
    return match.group(1) if match else ""


def squares(svg: str, kind: str) -> int:
    return path(svg, kind).count("z")


@given(st.integers(0, 100), st.integers(0, 100))
def test_a_hundred_squares_are_counted_out(anyway, extra):
    extra = min(extra, 100 - anyway)
    svg = icons_svg(Icons(total=100, right_anyway=anyway, extra=extra, alt="x"))
    assert [squares(svg, kind) for kind in "axw"] == [anyway, extra, 100 - anyway - extra]


def area(path_of: str) -> float:
    sizes = re.findall(r"h([\d.]+)v([\d.]+)h-", path_of)
    return sum(float(wide) * float(high) for wide, high in sizes) / 1.2**2


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_ten_thousand_squares_have_the_right_area(anyway, extra):
    extra = min(extra, 10_000 - anyway)
    svg = icons_svg(Icons(total=10_000, right_anyway=anyway, extra=extra, alt="x"))
    for kind, count in (("a", anyway), ("x", extra), ("w", 10_000)):
        assert area(path(svg, kind)) == pytest.approx(count, abs=0.5 + 2e-3 * count)
    assert len(svg) < 2_000


def test_what_is_right_because_of_the_release_is_hatched_and_the_unknown_rest_is_dashed():
    svg = icons_svg(Icons(total=100, right_anyway=0, extra=3, alt="x", rest_is_wrong=False))
    assert path(svg, "h").count("M") == 3 * squares(svg, "x")
    assert squares(svg, "u") == 97
    assert squares(svg, "w") == 0


def test_a_speck_among_ten_thousand_gets_a_ring():
    assert "<circle" in icons_svg(Icons(total=10_000, right_anyway=50, extra=2, alt="x"))
    assert "<circle" not in icons_svg(Icons(total=10_000, right_anyway=50, extra=500, alt="x"))


def test_every_kind_of_square_differs_in_more_than_colour():
    from dpradar.present.html import stylesheet

    rules = {kind: re.search(rf"^\.dpr \.{kind} \{{(.*?)\}}", stylesheet(), flags=re.M).group(1) for kind in "axwu"}
    assert "fill: none" not in rules["a"] + rules["x"]
    assert "stroke" not in rules["a"]
    assert "stroke: var(--strong)" in rules["x"]
    assert "fill: none" in rules["w"]
    assert "fill: none" in rules["u"]
    assert "dasharray" in rules["u"]
    assert "dasharray" not in rules["w"]


def test_marks_stand_where_the_numbers_say():
    mark = Mark(number=1, x=0.5, y=0.75, text="one")
    svg = curve_svg(Curve(lines=(LINE,), marks=(mark,), alt="x"))
    assert 'cx="207.0" cy="74.5"' in svg  # half of 46..368 and a quarter of 12..262 from the top


def test_marks_that_fall_together_share_a_label():
    marks = [Mark(number=i, x=0.5 + i / 200, y=0.75, text="x") for i in (1, 2)]
    far = Mark(number=3, x=0.1, y=0.3, text="x")
    read = Reader(curve_svg(Curve(lines=(LINE,), marks=(*marks, far), alt="x")))
    assert [text for tag, text in read.texts if re.fullmatch(r"[\d, ]+", text)][-2:] == ["1, 2", "3"]
    assert read.names().count("circle") == 3


def test_the_interval_of_an_attack_is_drawn():
    plain = Mark(number=1, x=0.5, y=0.75, text="one")
    attacked = Mark(number=1, x=0.5, y=0.75, text="one", low=0.6, high=0.7)
    drawn = [curve_svg(Curve(lines=(LINE,), marks=(mark,), alt="x")) for mark in (plain, attacked)]
    assert [svg.count('class="ci"') for svg in drawn] == [0, 1]


def test_lines_have_strokes_of_their_own():
    svg = curve_svg(Curve(lines=(LINE, LINE, LINE), marks=(), alt="x"))
    assert [f'class="l l{i}"' in svg for i in range(4)] == [True, True, True, False]


@pytest.mark.parametrize(
    ("points", "where"), [(((1.0, 0.0), (2.0, 1.0), (3.0, 1.0)), 207.0), (((0.1, 0.0), (1.0, 1.0), (10.0, 1.0)), 207.0)]
)
def test_a_wide_range_is_drawn_by_its_logarithm(points, where):
    table = Table(caption="t", headings=("x",), rows=())
    svg = chart_svg(Chart(title="t", parameter="epsilon", lines=(Line(name="a", points=points),), alt="x", table=table))
    assert f"L{where:.1f} 12.0" in svg


def test_one_value_alone_can_be_drawn():
    table = Table(caption="t", headings=("x",), rows=())
    line = Line(name="a", points=((2.0, 0.5),))
    svg = chart_svg(Chart(title="t", parameter="epsilon", lines=(line,), alt="x", table=table, at=2.0))
    assert Reader(svg).wrong == []


@pytest.mark.parametrize("high", [0.3, None])
def test_what_was_found_is_drawn_beside_the_bound(high):
    scale = Scale(end=0.5, upper=0.4, low=0.2, high=high, upper_text="bound 0.4", lower_text="found", alt="x")
    svg = scale_svg(scale)
    assert "M269.6 16" in path(svg, "b")  # 4 + 332 * 0.8
    assert path(svg, "ci").startswith("M136.8 25")


def test_texts_in_drawings_are_escaped():
    bad = '"><script>&'
    mark = Mark(number=1, x=0.5, y=0.5, text=bad)
    scale = Scale(end=1.0, upper=0.5, low=0.1, high=0.2, upper_text=bad, lower_text=bad, alt=bad)
    table = Table(caption="t", headings=("x",), rows=())
    drawn = [
        icons_svg(Icons(total=100, right_anyway=1, extra=1, alt=bad)),
        curve_svg(Curve(lines=(LINE,), marks=(mark,), alt=bad)),
        scale_svg(scale),
        chart_svg(Chart(title=bad, parameter=bad, lines=(LINE,), alt=bad, table=table)),
    ]
    for svg in drawn:
        read = Reader(svg)
        assert "script" not in read.names()
        assert read.all("svg")[0]["aria-label"] == bad
