"""The numbers of one figure: rows with the same columns, written as plain CSV."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Cell", "Table"]

Cell = str | int | float | None  # None = does not apply, an empty cell
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of one figure; every row has every column.

    Examples
    --------
    >>> table = Table(("epsilon", "rad"), ({"epsilon": 1.0, "rad": 0.25}, {"epsilon": 2.0, "rad": 0.5}))
    >>> table.numbers("rad", epsilon=2.0).tolist()
    [0.5]
    """

    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Cell], ...]

    @classmethod
    def read_csv(cls, path: Path) -> Table:
        """Read what :meth:`write_csv` wrote: empty cells are None, and what reads as a number is one.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "numbers.csv"
        >>> table = Table(("name", "rad", "runs"), ({"name": "GRR", "rad": 0.1, "runs": 3},))
        >>> table.write_csv(path)
        >>> Table.read_csv(path) == table
        True
        """
        with path.open(encoding="utf-8", newline="") as file:
            header, *lines = csv.reader(file)
        rows = [dict(zip(header, map(_read, line), strict=True)) for line in lines]
        return cls(tuple(header), tuple(rows))

    def where(self, **fixed: Cell) -> Table:
        """Return the rows in which the given columns have the given values."""
        rows = tuple(row for row in self.rows if all(row[name] == value for name, value in fixed.items()))
        return Table(self.columns, rows)

    def numbers(self, column: str, **fixed: Cell) -> Floats:
        """Return one column as numbers, of the rows in which the given columns have the given values."""
        return np.array([row[column] for row in self.where(**fixed).rows], dtype=float)

    def distinct(self, column: str) -> list[Cell]:
        """Return the different values of a column in order of appearance."""
        return list(dict.fromkeys(row[column] for row in self.rows))

    def write_csv(self, path: Path) -> None:
        """Write a header and the rows; numbers keep every digit, so that reading them back gives the same numbers."""
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows([_written(row[name]) for name in self.columns] for row in self.rows)


def _written(cell: Cell) -> str:
    if cell is None:
        return ""
    return repr(float(cell)) if isinstance(cell, float) else str(cell)


def _read(text: str) -> Cell:
    if not text:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
