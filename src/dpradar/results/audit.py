"""The answer of an audit: what the samples prove about epsilon, and whether they refute the claim."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .attack import Estimate
from .checking import checked

__all__ = ["AuditResult", "Reading", "Witness"]

SCHEMA = "dpradar/audit/1"
_PLAIN = (
    "version",
    "claim",
    "refuted",
    "claim_epsilon",
    "delta",
    "significance",
    "method",
    "trials",
    "asked",
    "seed",
    "looks",
    "command",
)


def _plain(number: float | None) -> float | str | None:
    """Return a number as JSON can hold it."""
    return number if number is None or math.isfinite(number) else repr(number)


def _number(value: float | str | None) -> float | None:
    return None if value is None else float(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """The event that leaks most: how often it was seen for one input and for the other.

    ``never`` says that it was not seen at all for the other input: if it is impossible there, no epsilon holds.
    """

    first: str
    other: str
    event: str
    seen_first: int
    drawn_first: int
    seen_other: int
    drawn_other: int

    @property
    def never(self) -> bool:
        """Whether the event was seen for the first input and never for the other."""
        return self.seen_other == 0 < self.seen_first

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        names = ("first", "other", "event", "seen_first", "drawn_first", "seen_other", "drawn_other")
        return {**{name: getattr(self, name) for name in names}, "never": self.never}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Witness:
        """Return what ``to_dict`` wrote."""
        return cls(**{name: value for name, value in data.items() if name != "never"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One more way to read the same samples: a number for epsilon, and whether it is a bound or only an estimate.

    ``epsilon`` is None where the method gives no number: beyond its range, as ``note`` says.
    """

    method: str
    epsilon: float | None
    kind: str  # "lower" (a bound on epsilon), "estimate", or "claim test" (what this very protocol needs at least)
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"method": self.method, "epsilon": _plain(self.epsilon), "kind": self.kind, "note": self.note}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Reading:
        """Return what ``to_dict`` wrote."""
        return cls(method=data["method"], epsilon=_number(data["epsilon"]), kind=data["kind"], note=data["note"])


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """What an audit found.

    ``epsilon_lower`` is valid at the stated significance whatever the mechanism is; ``epsilon_estimate`` is not a
    bound, only what the same samples suggest (None where they suggest nothing, infinite where an event was never seen
    for one input). ``refuted`` says that the claim cannot hold, except with probability ``significance``. A claim that
    is not refuted is not proven: the audit may have looked at the wrong inputs or the wrong event.

    Examples
    --------
    >>> import dpradar as dr
    >>> grr = dr.GRR(m=5, epsilon=2.0).at(None)
    >>> result = dr.audit(grr.sample, claim=dr.PureDP(1.0, neighbours="replace-one"), domain=5, trials=20_000, seed=1)
    >>> result.refuted, 1.0 < result.epsilon_lower < 2.0
    (True, True)
    """

    claim: str
    refuted: bool
    epsilon_lower: float
    epsilon_estimate: float | None
    significance: float
    method: str
    trials: int
    claim_epsilon: float | None = None
    delta: float = 0.0
    asked: int | None = None
    seed: int | None = None
    looks: int = 1
    witness: Witness | None = None
    rad: Estimate | None = None
    readings: tuple[Reading, ...] = ()
    notes: tuple[str, ...] = field(default=())
    command: str | None = None
    version: str = ""

    @property
    def interrupted(self) -> bool:
        """Whether the audit was stopped by hand."""
        return any(note.startswith("interrupted") for note in self.notes)

    @property
    def complete(self) -> bool:
        """Whether everything that was asked for was done, and something was tested."""
        return not self.interrupted and self.trials > 0

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data with a schema key; an infinite number is the text 'inf'."""
        return {
            "schema": SCHEMA,
            "complete": self.complete,
            "epsilon_lower": self.epsilon_lower,
            "epsilon_estimate": _plain(self.epsilon_estimate),
            **{name: getattr(self, name) for name in _PLAIN},
            "witness": None if self.witness is None else self.witness.to_dict(),
            "rad": None if self.rad is None else self.rad.to_dict(),
            "readings": [reading.to_dict() for reading in self.readings],
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> AuditResult:
        """Return what ``to_dict`` wrote."""
        checked(data, SCHEMA)
        return cls(
            **{name: data[name] for name in _PLAIN},
            epsilon_lower=float(data["epsilon_lower"]),
            epsilon_estimate=_number(data["epsilon_estimate"]),
            witness=None if data["witness"] is None else Witness.from_dict(data["witness"]),
            rad=None if data["rad"] is None else Estimate.from_dict(data["rad"]),
            readings=tuple(Reading.from_dict(one) for one in data["readings"]),
            notes=tuple(data["notes"]),
        )

    def save(self, path: str | Path) -> None:
        """Write the result as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")

    def explain(self) -> str:
        """Return the answer in sentences."""
        from ..present.text import explain

        return explain(self)

    def report(self, path: str | Path) -> Path:
        """Write the result for people, as .html or .md, and return where it is."""
        from ..present.files import save_report

        return save_report(self, path)

    def _repr_html_(self) -> str | None:
        from ..present.notebook import notebook_html

        return notebook_html(self)
