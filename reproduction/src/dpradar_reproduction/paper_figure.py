"""What a reproduced figure or table is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.figure import Figure

    from .table import Table

    Progress = Callable[[str], None]
    Bar = Callable[[int, int], None]

__all__ = ["KEPT_PARTS", "Effort", "PaperFigure", "printed", "printed_cell"]

KEPT_PARTS = "parts that were kept from earlier are used where they fit; the time is that of the rest"


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is computed of what takes long: ``models`` trained for each candidate, by how many processes."""

    quick: bool = False
    models: int | None = None  # None: as many as in the source, or few when quick
    network: str = "mlp"
    workers: int = 1


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """A figure: what it shows, its numbers (from the data folder, saying how far they are), and its picture.

    A table has no picture: ``draw`` is None, and its rows are printed. ``note`` says what the source claims that does
    not hold. What takes long is computed by ``compute_long`` in shards that are kept in a folder, so that it can be
    interrupted; its last argument says how much. ``trains``: the number of models and their network may be chosen.
    """

    what: str
    compute: Callable[[Path | None, Progress], Table] | None
    draw: Callable[[Table], Figure] | None
    note: str = ""
    compute_long: Callable[[Path | None, Progress, Path, Bar | None, Effort], Table] | None = None
    trains: bool = False


def printed(table: Table) -> list[str]:
    """Return the lines of a table as text, columns below each other.

    Examples
    --------
    >>> from dpradar_reproduction.table import Table
    >>> printed(Table(("eta", "share"), ({"eta": 9, "share": 0.25}, {"eta": 26, "share": None})))
    ['eta  share', '9    0.25', '26   -']
    """
    cells = [[printed_cell(row[name]) for name in table.columns] for row in table.rows]
    lines = [list(table.columns), *cells]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.columns))]
    joined = ("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) for line in lines)
    return [line.rstrip() for line in joined]


def printed_cell(cell: object) -> str:
    """Return a cell as text: numbers with four digits, nothing as a dash."""
    if cell is None:
        return "-"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
