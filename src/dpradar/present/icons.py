"""Icon arrays: one square a person. Fill, hatching and outline tell the kinds apart without colour."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .page import Icons

__all__ = ["icons_svg"]

_COLUMNS, _PITCH, _SIZE = 10, 12, 10
_WIDE, _CELL = 100, 1.2  # ten thousand people: too small to draw one by one
_BOX = 121
_SPECK, _RING = 12, 9.0  # areas of so few people get a ring


def _squares(first: int, last: int) -> str:
    """Return a path of squares number ``first`` to ``last``, row by row."""
    at = [(1 + _PITCH * (i % _COLUMNS), 1 + _PITCH * (i // _COLUMNS)) for i in range(first, last)]
    return "".join(f"M{x} {y}h{_SIZE}v{_SIZE}h-{_SIZE}z" for x, y in at)


def _stripes(first: int, last: int) -> str:
    at = [(1 + _PITCH * (i % _COLUMNS), 1 + _PITCH * (i // _COLUMNS)) for i in range(first, last)]
    half = _SIZE // 2
    return "".join(
        f"M{x} {y + half}l{half} -{half}M{x} {y + _SIZE}l{_SIZE} -{_SIZE}M{x + half} {y + _SIZE}l{half} -{half}"
        for x, y in at
    )


def _few(icons: Icons) -> str:
    """Return a hundred squares."""
    anyway, right = icons.right_anyway, icons.right_anyway + icons.extra
    rest = "w" if icons.rest_is_wrong else "u"
    parts = [(rest, _squares(right, icons.total)), ("a", _squares(0, anyway))]
    parts += [("x", _squares(anyway, right)), ("h", _stripes(anyway, right))]
    return "".join(f'<path class="{kind}" d="{path}"/>' for kind, path in parts if path)


def _region(first: int, last: int) -> list[tuple[float, float, float, float]]:
    """Return squares number ``first`` to ``last`` as at most three rectangles (x, y, width, height)."""
    rectangles: list[tuple[float, float, float, float]] = []
    while first < last:
        row, column = divmod(first, _WIDE)
        rows = (last - first) // _WIDE if column == 0 else 0
        count = rows * _WIDE if rows else min(last - first, _WIDE - column)
        wide, high = (_WIDE, rows) if rows else (count, 1)
        rectangles.append((1 + _CELL * column, 1 + _CELL * row, _CELL * wide, _CELL * high))
        first += count
    return rectangles


def _path(region: list[tuple[float, float, float, float]]) -> str:
    return "".join(f"M{x:.4g} {y:.4g}h{wide:.4g}v{high:.4g}h-{wide:.4g}z" for x, y, wide, high in region)


def _hatched(region: list[tuple[float, float, float, float]]) -> str:
    step = 4 * _CELL
    return "".join(
        f"M{x + step * i:.4g} {y:.4g}v{high:.4g}" for x, y, wide, high in region for i in range(1, int(wide / step) + 1)
    )


def _many(icons: Icons) -> str:
    """Return ten thousand squares as areas."""
    anyway, right = icons.right_anyway, icons.right_anyway + icons.extra
    before, extra = _region(0, anyway), _region(anyway, right)
    parts = [("w" if icons.rest_is_wrong else "u", _path(_region(0, icons.total))), ("a", _path(before))]
    parts += [("x", _path(extra)), ("h", _hatched(extra))]
    drawn = "".join(f'<path class="{kind}" d="{path}"/>' for kind, path in parts if path)
    return drawn + (_ring(extra[0]) if 0 < icons.extra <= _SPECK else "")


def _ring(spot: tuple[float, float, float, float]) -> str:
    """Return a ring around an area that is too small to be found."""
    x, y, wide, high = spot
    centre = f'cx="{max(x + wide / 2, _RING):.4g}" cy="{max(y + high / 2, _RING):.4g}"'
    return f'<circle class="ci" {centre} r="{_RING - 1:g}"/>'


def icons_svg(icons: Icons) -> str:
    """Return an icon array as SVG; its label says the same.

    Examples
    --------
    >>> from dpradar.present.page import Icons
    >>> svg = icons_svg(Icons(total=100, right_anyway=10, extra=3, alt="10 right anyway, 3 more."))
    >>> svg.count('aria-label="10 right anyway, 3 more."'), "http" in svg
    (1, False)
    """
    alt = escape(icons.alt, quote=True)
    drawn = _few(icons) if icons.total == _COLUMNS**2 else _many(icons)
    box = f"0 0 {_BOX} {_BOX}"
    return f'<svg class="icons" viewBox="{box}" role="img" aria-label="{alt}"><title>{alt}</title>{drawn}</svg>'
