"""The printed table."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .compare import Comparison
    from .measure import Row

__all__ = ["comparison_line", "header", "line", "summary"]

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
    least = ">" if row.stopped else ""
    return least + (_times(row.ratio) if row.ratio >= 0.01 else f"{row.ratio:.0e}x")


def _times(ratio: float) -> str:
    return f"{ratio:.0f}x" if ratio >= 100.0 else f"{ratio:.2g}x"


def _goal(row: Row) -> str:
    if row.ratio_goal is not None and row.ratio is not None:
        return f">= {row.ratio_goal:g}x"
    return "" if row.seconds_goal is None else f"< {_seconds(row.seconds_goal)}"


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
    error = "" if row.error is None else f"{row.error:.1e}"
    peak = "" if row.megabytes is None or row.megabytes_goal is None else f"{row.megabytes:.0f} MB"
    peer = " / " in row.name
    name = f"  {row.name.split(' / ')[1]}" if peer else row.name
    median = ("> " if row.stopped else "") + _seconds(row.seconds)
    cells = _cells([name, median, _seconds(row.best), _goal(row), error, peak, met, _ratio(row)])
    text = row.note if peer else "; ".join(part for part in (row.what, row.note) if part)
    return f"{cells}  {text}".rstrip()


def _medians(rows: Sequence[Row]) -> list[str]:
    """Return the median ratio of every group beside each of its peers."""
    by_group: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.group is not None and row.ratio is not None:
            by_group.setdefault((row.group, row.name.split(" / ")[1]), []).append(row)
    lines = []
    for (group, peer), of in by_group.items():
        ratios = sorted(row.ratio for row in of if row.ratio is not None)
        least = "at least " if any(row.stopped for row in of) else ""
        spread = f"from {_times(ratios[0])} to {_times(ratios[-1])}"
        lines.append(f"{group} beside {peer}: median ratio {least}{_times(statistics.median(ratios))}, {spread}.")
    return lines


def summary(rows: Sequence[Row]) -> str:
    """Return what the table says in a few lines."""
    judged = [row for row in rows if row.met is not None]
    missed = [row.name for row in judged if not row.met]
    notes = [f"{len(judged) - len(missed)} of {len(judged)} goals met."] if judged else []
    notes += [f"missed: {', '.join(missed)}."] if missed else []
    notes += _medians(rows)
    notes += [
        "median, best: over the runs after one to warm up; the goal is for the median. Peers that take long run once.",
        "ratio: (median of the peer) / (median of the case above it).",
    ]
    goals = sorted({f"error < {row.error_goal:g}" for row in rows if row.error_goal is not None})
    memory = sorted({f"peak < {row.megabytes_goal:g} MB" for row in rows if row.megabytes_goal is not None})
    if goals or memory:
        notes.append(f"also asked where shown: {', '.join([*goals, *memory])}.")
    notes += [f"peak: {by}, everything included." for by in sorted({r.memory_by for r in rows if r.memory_by})]
    return "\n".join(notes)


def comparison_line(result: Comparison) -> str:
    """Return one line about two versions of the library."""
    if result.ratio is None:
        return f"{result.name:33s}  not measured: {result.note}"
    mark = "  slower" if result.is_slower else ""
    return (
        f"{result.name:33s}  {_seconds(result.before):>8s} -> {_seconds(result.after):>8s}"
        f"  x{result.ratio:.2f}  ({result.rounds} rounds){mark}"
    )
