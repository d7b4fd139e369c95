"""The printed table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .measure import Row

__all__ = ["header", "line", "summary"]

_COLUMNS = (("name", 33), ("median", 8), ("best", 8), ("goal", 8), ("error", 8), ("peak", 7), ("met", 4), ("ratio", 9))
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    scale, unit = next(((s, u) for s, u in _UNITS if value >= s), _UNITS[-1])
    return f"{value / scale:.3g} {unit}"


def _ratio(row: Row) -> str:
    if row.ratio is None:
        return ""
    if row.extrapolated:
        return f"~1e{math.log10(row.ratio):.0f}x"
    return f"{row.ratio:.2g}x" if row.ratio >= 0.01 else f"{row.ratio:.0e}x"


def _cells(cells: Sequence[str]) -> str:
    padded = [
        cell.ljust(width) if name in ("name", "met") else cell.rjust(width)
        for cell, (name, width) in zip(cells, _COLUMNS, strict=True)
    ]
    return "  ".join(padded)


def header() -> str:
    """Return the two lines above the table."""
    return _cells([name for name, _ in _COLUMNS]) + "  what\n" + "-" * 150


def line(row: Row) -> str:
    """Return one line of the table."""
    met = {True: "yes", False: "NO", None: ""}[row.met]
    goal = "" if row.seconds_goal is None else f"< {_seconds(row.seconds_goal)}"
    error = "" if row.error is None else f"{row.error:.1e}"
    peak = "" if row.megabytes is None or row.megabytes_goal is None else f"{row.megabytes:.0f} MB"
    peer = " / " in row.name
    name = f"  {row.name.split(' / ')[1]}" if peer else row.name
    cells = _cells([name, _seconds(row.seconds), _seconds(row.best), goal, error, peak, met, _ratio(row)])
    return f"{cells}  {row.note if peer else row.what}".rstrip()


def summary(rows: Sequence[Row]) -> str:
    """Return what the table says in a few lines."""
    judged = [row for row in rows if row.met is not None]
    missed = [row.name for row in judged if not row.met]
    notes = [f"{len(judged) - len(missed)} of {len(judged)} goals met."] if judged else []
    notes += [f"missed: {', '.join(missed)}."] if missed else []
    notes += [
        "median, best: over the runs after one to warm up; the goal is for the median.",
        "ratio: (median of the peer) / (median of the case above it).",
    ]
    goals = sorted({f"error < {row.error_goal:g}" for row in rows if row.error_goal is not None})
    memory = sorted({f"peak < {row.megabytes_goal:g} MB" for row in rows if row.megabytes_goal is not None})
    if goals or memory:
        notes.append(f"also asked where shown: {', '.join([*goals, *memory])}.")
    notes += [f"peak: {by}, everything included." for by in sorted({r.memory_by for r in rows if r.memory_by})]
    return "\n".join(notes)
