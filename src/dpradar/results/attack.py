"""The answer of an attack that was run: how often it was right, and what the release added."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .checking import checked

__all__ = ["AttackRun", "Estimate"]

SCHEMA = "dpradar/attack/1"
_PLAIN = (
    "version",
    "release",
    "threat",
    "strategy",
    "maximise",
    "trials",
    "asked",
    "seed",
    "confidence",
    "baseline",
    "paired",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A measured number and the interval that holds the true one with the stated confidence.

    Examples
    --------
    >>> Estimate(estimate=0.25, low=0.2, high=0.3)
    Estimate(0.25 in [0.2, 0.3])
    """

    estimate: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return plain data."""
        return {"estimate": self.estimate, "low": self.low, "high": self.high}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Estimate:
        """Return what ``to_dict`` wrote."""
        return cls(estimate=data["estimate"], low=data["low"], high=data["high"])

    def __repr__(self) -> str:
        return f"Estimate({self.estimate:.6g} in [{self.low:.6g}, {self.high:.6g}])"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackRun:
    """What an attack reached: ``success`` on people who took part, ``false_hit`` on others, ``rad`` their difference.

    Each interval holds its number with probability ``confidence``. These are numbers of *this* attack: below what the
    best attacker can do, so they are evidence of a risk, never of its absence.

    Examples
    --------
    >>> import dpradar as dr
    >>> r = dr.attack(dr.GRR(m=4, epsilon=2.0), dr.Threat(dr.Prior.uniform(4)), trials=10_000, seed=1)
    >>> r.rad.low < dr.assess(dr.GRR(m=4, epsilon=2.0), dr.Threat(dr.Prior.uniform(4))).rad.value < r.rad.high
    True
    """

    rad: Estimate
    success: Estimate
    false_hit: Estimate
    trials: int
    confidence: float
    strategy: str
    maximise: str | None = None
    release: str | None = None
    threat: str | None = None
    asked: int | None = None  # trials that were asked for; more than ``trials`` when the run was interrupted
    seed: int | None = None
    baseline: float | None = None
    paired: bool | None = None
    notes: tuple[str, ...] = field(default=())
    version: str = ""

    @property
    def interrupted(self) -> bool:
        """Whether fewer trials were run than asked for."""
        return self.asked is not None and self.trials < self.asked

    @property
    def complete(self) -> bool:
        """Whether everything that was asked for was done."""
        return not self.interrupted

    @property
    def simulated(self) -> bool:
        """Whether the reports were drawn from the description of a release, so that no software was tested."""
        return self.release is not None

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain data with a schema key."""
        measured = {name: getattr(self, name).to_dict() for name in ("rad", "success", "false_hit")}
        plain = {name: getattr(self, name) for name in _PLAIN}
        return {"schema": SCHEMA, "complete": self.complete, **measured, **plain, "notes": list(self.notes)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> AttackRun:
        """Return what ``to_dict`` wrote."""
        checked(data, SCHEMA)
        measured: dict[str, Any] = {n: Estimate.from_dict(data[n]) for n in ("rad", "success", "false_hit")}
        return cls(**measured, **{name: data[name] for name in _PLAIN}, notes=tuple(data["notes"]))

    def save(self, path: str | Path) -> None:
        """Write the run as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")

    def explain(self) -> str:
        """Return the answer in sentences."""
        from ..present.text import explain

        return explain(self)

    def report(self, path: str | Path) -> Path:
        """Write the run for people, as .html or .md, and return where it is."""
        from ..present.files import save_report

        return save_report(self, path)

    def _repr_html_(self) -> str | None:
        from ..present.notebook import notebook_html

        return notebook_html(self)
