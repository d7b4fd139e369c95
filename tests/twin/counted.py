"""Priors counted in a table by hand: rows, weights, bins, missing values; and what suppression leaves open.

A table is a list of rows, each a tuple of plain values. NaN and None are the same missing value. Nothing here is
shared with dpradar.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Cell = tuple[Any, ...]


def plain(value: Any) -> Any:
    """A value as a category: every missing value is None."""
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else value


def width_bin(width: str) -> Callable[[Any], Any]:
    """The bin [k w, (k + 1) w) of a number read as the decimal it is printed as: 0.3 is in [0.3, 0.4) for w = 0.1."""
    step = Fraction(width)
    return lambda x: None if plain(x) is None else math.floor(Fraction(repr(x)) / step)


def edges_bin(edges: Sequence[float]) -> Callable[[Any], Any]:
    """The number of the bin [e_i, e_i+1) of a number, the last one closed."""

    def find(x: Any) -> Any:
        if plain(x) is None:
            return None
        inside = [i for i in range(len(edges) - 1) if edges[i] <= x < edges[i + 1]]
        return inside[0] if inside else len(edges) - 2

    return find


def cells(rows: Sequence[Cell], weights: Sequence[Any] | None = None) -> dict[Cell, tuple[int, Fraction]]:
    """Rows and weight of every cell, in order of appearance."""
    table: dict[Cell, tuple[int, Fraction]] = {}
    for row, weight in zip(rows, weights or [1] * len(rows), strict=True):
        key = tuple(map(plain, row))
        count, total = table.get(key, (0, Fraction(0)))
        table[key] = count + 1, total + Fraction(weight)
    return table


def prior(rows: Sequence[Cell], weights: Sequence[Any] | None = None) -> dict[Cell, Fraction]:
    """The share of every cell."""
    counted = cells(rows, weights)
    total = sum((w for _, w in counted.values()), Fraction(0))
    return {cell: w / total for cell, (_, w) in counted.items()}


def suppressed(rows: Sequence[Cell], fewest: int, weights: Sequence[Any] | None = None) -> set[Cell]:
    """The cells with fewer rows."""
    return {cell for cell, (count, _) in cells(rows, weights).items() if count < fewest}
