"""Drawings as SVG: success against the blind guess, a varied parameter, and what was measured under a bound."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .page import Chart, Curve, Line, Mark, Scale

__all__ = ["chart_svg", "curve_svg", "scale_svg"]

_WIDTH, _HEIGHT = 384.0, 308.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 368.0, 12.0, 262.0
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_KINDS = 4  # of strokes; more lines than that repeat them
_LOG = 20.0  # a range this wide is drawn on a logarithmic axis
_NEAR = 18.0  # dots closer than this share a label
_THIN = 0.4  # points closer than this on the page are one

Point = tuple[float, float]


def _x(share: float) -> float:
    return _LEFT + (_RIGHT - _LEFT) * share


def _y(share: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * share


def _path(points: Sequence[Point]) -> str:
    """Return a line; points that fall together on the page are left out, the last one never."""
    distinct: list[Point] = []
    for i, point in enumerate(points):
        last = i == len(points) - 1
        if not distinct or last or math.dist(distinct[-1], point) > _THIN:
            distinct.append(point)
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in distinct)


def _text(x: float, y: float, label: str, kind: str = "", more: str = "") -> str:
    name = f' class="{kind}"' if kind else ""
    return f'<text{name} x="{x:.1f}" y="{y:.1f}"{more}>{escape(label)}</text>'


def _frame(x_title: str, y_title: str) -> str:
    middle = (_TOP + _BOTTOM) / 2
    turned = f' transform="rotate(-90 12 {middle:.1f})"'
    grid = "".join(f"M{_LEFT} {_y(t):.1f}H{_RIGHT}" for t in _TICKS)
    ticks = "".join(_text(_LEFT - 6, _y(t) + 4, f"{100 * t:g}", "e") for t in _TICKS)
    titles = _text((_LEFT + _RIGHT) / 2, _HEIGHT - 6, x_title, "c") + _text(12, middle, y_title, "c", turned)
    return f'<path class="g" d="{grid}"/>{ticks}{titles}'


def _svg(kind: str, alt: str, inside: str, width: float = _WIDTH, height: float = _HEIGHT) -> str:
    label = escape(alt, quote=True)
    return (
        f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{label}">'
        f"<title>{label}</title>{inside}</svg>"
    )


def _bar(mark: Mark) -> str:
    """Return the interval of an attack."""
    if mark.low is None or mark.high is None:
        return ""
    x, low, high = _x(mark.x), _y(mark.low), _y(mark.high)
    return f'<path class="ci" d="M{x:.1f} {low:.1f}V{high:.1f}M{x - 5:.1f} {low:.1f}h10M{x - 5:.1f} {high:.1f}h10"/>'


def _marks(marks: Sequence[Mark]) -> str:
    """Return the threats as dots with their numbers; dots that fall together share one label."""
    groups: list[list[Mark]] = []
    for mark in sorted(marks, key=lambda one: one.number):
        near = [group for group in groups if math.dist(_spot(group[0]), _spot(mark)) < _NEAR]
        if near:
            near[0].append(mark)
        else:
            groups.append([mark])
    dots = "".join(f'<circle class="k" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>' for x, y in map(_spot, marks))
    return "".join(map(_bar, marks)) + dots + "".join(_numbers(group) for group in groups if group[0].number)


def _spot(mark: Mark) -> Point:
    return _x(mark.x), _y(mark.y)


def _numbers(group: Sequence[Mark]) -> str:
    """Return the numbers of some threats in a box right below their dots, which keeps clear of the curve above."""
    label = ", ".join(str(mark.number) for mark in group)
    width = 7.0 + 6.4 * len(label)
    x, y = min(_spot(group[0])[0] + 4.0, _RIGHT - width), min(_spot(group[0])[1] + 6.0, _BOTTOM - 16.0)
    box = f'<rect class="k" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="16" rx="4"/>'
    return box + _text(x + width / 2, y + 12, label, "m")


def _drawn(lines: Sequence[Line], place: Callable[[Point], Point]) -> str:
    return "".join(
        f'<path class="l l{i % _KINDS}" d="{_path([place(point) for point in line.points])}"/>'
        for i, line in enumerate(lines)
    )


def curve_svg(curve: Curve) -> str:
    """Return success against the blind guess: the diagonal is what nothing learned would be.

    Examples
    --------
    >>> from dpradar.present.page import Curve, Line
    >>> line = Line(name="a", points=((0.0, 0.0), (0.2, 0.5), (1.0, 1.0)))
    >>> svg = curve_svg(Curve(lines=(line,), marks=(), alt="A curve."))
    >>> svg.count("<path"), svg.count('role="img"')
    (4, 1)
    """

    def place(point: Point) -> Point:
        return _x(point[0]), _y(point[1])

    area = ""
    if len(curve.lines) == 1:
        area = f'<path class="f" d="{_path([place(point) for point in curve.lines[0].points])}z"/>'
    diagonal = f'<path class="d" d="M{_LEFT} {_BOTTOM}L{_RIGHT} {_TOP}"/>'
    ticks = "".join(_text(_x(t), _BOTTOM + 16, f"{100 * t:g}", "c") for t in _TICKS)
    x, y = _x(0.84), _y(0.76)
    slope = math.degrees(math.atan2(_TOP - _BOTTOM, _RIGHT - _LEFT))
    label = _text(x, y, "nothing learned", "c q", f' transform="rotate({slope:.1f} {x:.1f} {y:.1f})"')
    frame = _frame("right when guessing blindly, of 100", "right after the release, at most")
    drawn = f"{area}{diagonal}{label}{_drawn(curve.lines, place)}{_marks(curve.marks)}"
    return _svg("curve", curve.alt, f"{frame}{ticks}{drawn}")


def chart_svg(chart: Chart) -> str:
    """Return what taking part adds against the parameter that was varied."""
    values = [x for line in chart.lines for x, _ in line.points]
    low, high = min(values), max(values)
    logarithmic = low > 0.0 and high / low >= _LOG

    def share(value: float) -> float:
        if high == low:
            return 0.5
        if logarithmic:
            return math.log(value / low) / math.log(high / low)
        return (value - low) / (high - low)

    def place(point: Point) -> Point:
        return _x(share(point[0])), _y(point[1])

    ends = [low, math.sqrt(low * high) if logarithmic else (low + high) / 2, high]
    ticks = "".join(_text(_x(share(value)), _BOTTOM + 16, f"{value:.3g}", "c") for value in dict.fromkeys(ends))
    frame = _frame(chart.parameter, "taking part adds, of 100")
    here = ""
    if chart.at is not None and low <= chart.at <= high:
        here = f'<path class="d" d="M{_x(share(chart.at)):.1f} {_TOP}V{_BOTTOM}"/>'
    return _svg("curve", chart.alt, f"{frame}{ticks}{here}{_drawn(chart.lines, place)}")


def scale_svg(scale: Scale) -> str:
    """Return a bound and what was measured below it on one axis."""
    left, right, middle = 4.0, 336.0, 30.0

    def at(value: float) -> float:
        return left + (right - left) * min(value / scale.end, 1.0)

    def side(x: float) -> str:
        return "e" if x > (left + right) / 2 else "s"

    parts = [f'<path class="g" d="M{left} {middle}H{right}"/>', _text(left, middle + 24, "0", "s q")]
    if scale.upper is not None:
        x = at(scale.upper)
        label = _text(x + (-5 if side(x) == "e" else 5), 12, scale.upper_text, side(x))
        parts.append(f'<path class="b" d="M{x:.1f} {middle - 14}v22"/>{label}')
    low, high = at(scale.low), right if scale.high is None else at(scale.high)
    ends = f"M{low:.1f} {middle - 5}v10M{low:.1f} {middle}H{high:.1f}"
    ends += "m-6 -5l6 5l-6 5" if scale.high is None else f"M{high:.1f} {middle - 5}v10"
    label = _text(high if side(low) == "e" else low, middle + 24, scale.lower_text, side(low))
    parts.append(f'<path class="ci" d="{ends}"/>{label}')
    return _svg("scale", scale.alt, "".join(parts), 340.0, 60.0)
