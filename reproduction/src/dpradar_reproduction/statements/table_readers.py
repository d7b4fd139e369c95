"""Small functions that read one number from a table: what statements are compared by."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ..table import Cell, Table
    from .statement import Reader

__all__ = [
    "FEW_SD",
    "NONE_BELOW",
    "cell",
    "enough",
    "first_above",
    "largest",
    "largest_gap",
    "last_within",
    "least_margin",
    "off",
    "shortest_ratio",
    "smallest",
    "text_number",
    "within",
]

ROUNDING = 1e-9
NONE_BELOW = (-ROUNDING, math.inf)  # a difference that is nowhere negative
# The largest of 120 independent normal numbers exceeds 4.5 standard deviations once in 1,200 times.
FEW_SD = (0.0, 4.5)


def _numbers(table: Table, column: str, rows: dict[str, Cell]) -> NDArray[np.float64]:
    numbers = table.numbers(column, **rows)
    return numbers[~np.isnan(numbers)]


def cell(column: str, **rows: Cell) -> Reader:
    """Read the number of the only row.

    Examples
    --------
    >>> from dpradar_reproduction.table import Table
    >>> table = Table(("epsilon", "rad"), ({"epsilon": 1.0, "rad": 0.25}, {"epsilon": 2.0, "rad": 0.5}))
    >>> cell("rad", epsilon=2.0)(table)
    0.5
    """

    def read(table: Table) -> float:
        (number,) = table.numbers(column, **rows)
        return float(number)

    return read


def largest(column: str, **rows: Cell) -> Reader:
    """Read the largest number of a column."""
    return lambda table: float(_numbers(table, column, rows).max())


def smallest(column: str, **rows: Cell) -> Reader:
    """Read the smallest number of a column."""
    return lambda table: float(_numbers(table, column, rows).min())


def off(table: Table) -> float:
    """Read how far measured numbers are from expected ones at most, in standard deviations."""
    return float(np.abs(_numbers(table, "off_sd", {})).max())


def least_margin(above: str | Sequence[str], below: str | Sequence[str], **rows: Cell) -> Reader:
    """Read the least difference between columns that should be above and columns that should be below.

    Examples
    --------
    >>> from dpradar_reproduction.table import Table
    >>> table = Table(("a", "b", "c"), ({"a": 3.0, "b": 2.0, "c": 1.0}, {"a": 2.5, "b": 2.0, "c": 1.0}))
    >>> least_margin("a", ["b", "c"])(table)
    0.5
    """
    high, low = ([one] if isinstance(one, str) else list(one) for one in (above, below))

    def read(table: Table) -> float:
        part = table.where(**rows)
        uppers = np.min([part.numbers(name) for name in high], axis=0)
        lowers = np.max([part.numbers(name) for name in low], axis=0)
        return float(np.nanmin(uppers - lowers))

    return read


def largest_gap(one: str, other: str, *, relative: bool = False, **rows: Cell) -> Reader:
    """Read the largest distance between two columns, as a share of the second one when ``relative``."""

    def read(table: Table) -> float:
        part = table.where(**rows)
        first, second = part.numbers(one), part.numbers(other)
        return float(np.nanmax(np.abs(first - second) / (second if relative else 1.0)))

    return read


def shortest_ratio(over: str, under: str, **rows: Cell) -> Reader:
    """Read the smallest quotient of two columns."""

    def read(table: Table) -> float:
        part = table.where(**rows)
        return float(np.nanmin(part.numbers(over) / part.numbers(under)))

    return read


def last_within(position: str, column: str, limit: float, **rows: Cell) -> Reader:
    """Read up to which position (a number of queries, an epsilon) a column stays within a limit.

    Examples
    --------
    >>> from dpradar_reproduction.table import Table
    >>> table = Table(("queries", "gain"), tuple({"queries": k, "gain": 0.1 * k} for k in range(1, 5)))
    >>> last_within("queries", "gain", 0.25)(table)
    2.0
    """

    def read(table: Table) -> float:
        part = table.where(**rows)
        return float(part.numbers(position)[part.numbers(column) <= limit].max())

    return read


def first_above(position: str, one: str, other: str, **rows: Cell) -> Reader:
    """Read at which position the first column gets above the second one, between rows by a straight line.

    Examples
    --------
    >>> from dpradar_reproduction.table import Table
    >>> table = Table(("x", "a", "b"), ({"x": 0.0, "a": 0.0, "b": 1.0}, {"x": 1.0, "a": 2.0, "b": 1.0}))
    >>> first_above("x", "a", "b")(table)
    0.5
    """

    def read(table: Table) -> float:
        part = table.where(**rows)
        at, difference = part.numbers(position), part.numbers(one) - part.numbers(other)
        (after,) = np.flatnonzero((difference[1:] > 0.0) & (difference[:-1] <= 0.0))[:1] + 1
        share = -difference[after - 1] / (difference[after] - difference[after - 1])
        return float(at[after - 1] + share * (at[after] - at[after - 1]))

    return read


def enough(column: str, least: int, read: Reader) -> Reader:
    """Read only where every row rests on enough draws; the quick version has too few for some questions."""
    return lambda table: read(table) if _numbers(table, column, {}).min() >= least else None


def text_number(column: str, pick: Callable[[list[float]], float], **rows: Cell) -> Reader:
    """Read a number out of a cell of text, such as the 0.8 of "0, 0.1, 0.8 of the diameter".

    Examples
    --------
    >>> from dpradar_reproduction.table import Table
    >>> text_number("here", max)(Table(("here",), ({"here": "1,000 targets, 5 each"},)))
    1000.0
    """

    def read(table: Table) -> float:
        (row,) = table.where(**rows).rows
        numbers = re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", str(row[column]))
        return pick([float(text.replace(",", "")) for text in numbers])

    return read


def within(read: Reader, **limits: tuple[float, float]) -> Reader:
    """Read only the rows whose columns lie within limits, both included.

    Examples
    --------
    >>> from dpradar_reproduction.table import Table
    >>> table = Table(("epsilon", "rad"), ({"epsilon": 1.0, "rad": 0.25}, {"epsilon": 2.0, "rad": 0.5}))
    >>> within(largest("rad"), epsilon=(0.0, 1.0))(table)
    0.25
    """

    def inner(table: Table) -> float | None:
        inside = np.ones(len(table.rows), dtype=bool)
        for name, (low, high) in limits.items():
            numbers = table.numbers(name)
            inside &= (low <= numbers) & (numbers <= high)
        rows = [row for row, keep in zip(table.rows, inside, strict=True) if keep]
        return read(type(table)(table.columns, tuple(rows)))

    return inner
