"""Advice on granularities for a stream: what each hides, and what a guarantee under one means under the others."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ParameterError
from .checking import checked

__all__ = ["Advice", "Notice"]

SCHEMA = "dpradar/advice/1"
_NOTICE = ("granularity", "unit", "exposed", "factor", "implied", "why")
_PLAIN = (
    "version",
    "granularity",
    "epsilon",
    "users",
    "points",
    "most_points",
    "middle_points",
    "times",
    "hidden",
    "mixing_quarter",
    "mixing_hundredth",
    "states",
    "window",
)
_NUMBERS = ("epsilon", "factor", "implied", "mixing_quarter", "mixing_hundredth")


def _plain(value: Any) -> Any:
    """Return a number as JSON can hold it."""
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def _read(name: str, value: Any) -> Any:
    return float(value) if name in _NUMBERS and value is not None else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One granularity: what it hides, what it does not, and the epsilon that follows for it.

    ``factor`` is by how much epsilon grows, and ``why`` says where it comes from.
    """

    granularity: str
    unit: str
    exposed: str
    factor: float
    implied: float
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {name: _plain(getattr(self, name)) for name in _NOTICE}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Notice:
        """Return what ``to_dict`` wrote."""
        return cls(**{name: _read(name, data[name]) for name in _NOTICE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What a guarantee of ``epsilon`` under one granularity means for a stream.

    ``most_points`` and ``middle_points`` are the largest and the median number of points of a user. ``mixing_quarter``
    and ``mixing_hundredth`` are the times after which where someone is says little about where they were (total
    variation 1/4 and 1/100), estimated from the stream; None where that was not asked for. They come from the data
    themselves and are not differentially private.

    Examples
    --------
    >>> from dpradar.granularity import advise
    >>> stream = {"ann": {1: "home", 2: "work", 3: "home"}, "bob": {1: "home", 2: "home"}}
    >>> advice = advise(stream, granularity="event", epsilon=0.5, hidden="values")
    >>> advice.row("user:replace-one").implied, Advice.from_dict(advice.to_dict()) == advice
    (1.5, True)
    """

    granularity: str
    epsilon: float
    users: int
    points: int
    most_points: int
    middle_points: float
    times: int
    hidden: str | None
    rows: tuple[Notice, ...]
    mixing_quarter: float | None = None
    mixing_hundredth: float | None = None
    states: int | None = None
    window: int | None = None
    notes: tuple[str, ...] = ()
    version: str = ""

    def row(self, granularity: Any) -> Notice:
        """Return the row of a granularity."""
        found = next((row for row in self.rows if row.granularity == str(granularity)), None)
        if found is None:
            known = ", ".join(row.granularity for row in self.rows)
            raise ParameterError("Advice.row", f"one of {known}", repr(str(granularity)))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as plain data with a schema key."""
        plain = {name: _plain(getattr(self, name)) for name in _PLAIN}
        return {"schema": SCHEMA, **plain, "rows": [row.to_dict() for row in self.rows], "notes": list(self.notes)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Advice:
        """Return what ``to_dict`` wrote."""
        checked(data, SCHEMA)
        rows = tuple(Notice.from_dict(row) for row in data["rows"])
        return cls(**{name: _read(name, data[name]) for name in _PLAIN}, rows=rows, notes=tuple(data["notes"]))

    def save(self, path: str | Path) -> None:
        """Write the advice as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")

    def explain(self) -> str:
        """Return the advice in sentences."""
        from ..present.text import explain

        return explain(self)
