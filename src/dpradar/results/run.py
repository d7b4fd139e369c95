"""The answer of a spec file: every release under every threat, its limits, its cost and the evidence."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .assessment import Assessment
from .attack import AttackRun
from .audit import AuditResult
from .bound import QUANTITIES, Bound, Quantity
from .ceiling import ACKNOWLEDGE
from .change import Change, LimitResult
from .checking import checked

__all__ = [
    "NoiseResult",
    "ReleaseResult",
    "RunResult",
    "SweepPoint",
    "SweepResult",
    "ThreatResult",
]

SCHEMA = "dpradar/run/1"
_EVIDENCE: dict[str, Any] = {"dpradar/attack/1": AttackRun, "dpradar/audit/1": AuditResult}


def _all_met(limits: tuple[LimitResult, ...]) -> bool | None:
    return all(limit.met for limit in limits) if limits else None


def _costs(cost: dict[str, float]) -> dict[str, float | None]:
    """Return errors for a file: JSON has no infinity, which is written as null."""
    return {name: error if math.isfinite(error) else None for name, error in cost.items()}


def _read_costs(cost: dict[str, float | None]) -> dict[str, float]:
    return {name: math.inf if error is None else error for name, error in cost.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreatResult:
    """One threat: what someone could learn, and whether its limits are met.

    ``change`` says what would meet the limits where they are not met; None where they are, or where nothing is known.
    """

    name: str
    assessment: Assessment
    limits: tuple[LimitResult, ...] = ()
    change: Change | None = None

    @property
    def met(self) -> bool | None:
        """Whether every limit is met; None without limits."""
        return _all_met(self.limits)

    @property
    def near_ceiling(self) -> bool:
        """Whether the release cannot be shown to be better than 90 % of publishing the raw data, for this attacker."""
        return self.assessment.near_ceiling or any(limit.near_ceiling for limit in self.limits)

    @property
    def acknowledged(self) -> bool:
        """Whether the limits accept that the release is hardly better than publishing the raw data."""
        return any(limit.acknowledge == ACKNOWLEDGE for limit in self.limits)

    @property
    def idle(self) -> bool:
        """Whether publishing the raw data would keep one of the limits too."""
        return any(limit.idle for limit in self.limits)

    @property
    def passes(self) -> bool | None:
        """Whether every limit is met by a release that protects, or whose limits accept that it hardly does."""
        return self.met and (self.acknowledged or not self.near_ceiling)

    @property
    def smallest_change(self) -> str | None:
        """What would meet the limits, in words, with the exact number."""
        return None if self.change is None else str(self.change)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "name": self.name,
            "met": self.met,
            "near_ceiling": self.near_ceiling,
            "limits": [limit.to_dict() for limit in self.limits],
            "change": None if self.change is None else self.change.to_dict(),
            "assessment": self.assessment.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ThreatResult:
        """Return what ``to_dict`` wrote."""
        return cls(
            name=data["name"],
            assessment=Assessment.from_dict(data["assessment"]),
            limits=tuple(LimitResult.from_dict(limit) for limit in data["limits"]),
            change=None if data["change"] is None else Change.from_dict(data["change"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseResult:
    """The same release with another amount of noise: ``factor`` 2 is twice the noise, 0.5 half of it."""

    factor: float
    parameter: str
    value: float
    cost: dict[str, float] = field(default_factory=dict, hash=False)
    assessments: tuple[Assessment, ...] = ()  # one for each threat, in the same order

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        plain = {name: getattr(self, name) for name in ("factor", "parameter", "value")}
        return {**plain, "cost": _costs(self.cost), "assessments": [one.to_dict() for one in self.assessments]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> NoiseResult:
        """Return what ``to_dict`` wrote."""
        plain = {name: data[name] for name in ("factor", "parameter", "value")}
        return cls(
            **plain,
            cost=_read_costs(data["cost"]),
            assessments=tuple(Assessment.from_dict(one) for one in data["assessments"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseResult:
    """One release, or several composed: every threat, what the noise costs, and evidence from attacks and audits.

    ``parts`` are the descriptions of the releases it is made of: one, or more where they are composed; ``dates`` are
    theirs. ``change`` is what would meet the limits of all threats together.
    """

    name: str
    release: str
    what: str = ""
    dates: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    assessments: tuple[ThreatResult, ...] = ()
    cost: dict[str, float] = field(default_factory=dict, hash=False)
    utility: tuple[LimitResult, ...] = ()
    change: Change | None = None
    neighbours_cost: tuple[NoiseResult, ...] = ()
    evidence: tuple[AttackRun | AuditResult, ...] = ()

    @property
    def met(self) -> bool | None:
        """Whether every limit on risk and accuracy is met; None without limits."""
        return _all_met((*(limit for threat in self.assessments for limit in threat.limits), *self.utility))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "name": self.name,
            "what": self.what,
            "release": self.release,
            "dates": list(self.dates),
            "parts": list(self.parts),
            "met": self.met,
            "assessments": [one.to_dict() for one in self.assessments],
            "cost": _costs(self.cost),
            "utility": [limit.to_dict() for limit in self.utility],
            "change": None if self.change is None else self.change.to_dict(),
            "neighbours_cost": [one.to_dict() for one in self.neighbours_cost],
            "evidence": [one.to_dict() for one in self.evidence],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ReleaseResult:
        """Return what ``to_dict`` wrote."""
        return cls(
            **{name: data[name] for name in ("name", "what", "release")},
            cost=_read_costs(data["cost"]),
            dates=tuple(data["dates"]),
            parts=tuple(data["parts"]),
            assessments=tuple(ThreatResult.from_dict(one) for one in data["assessments"]),
            utility=tuple(LimitResult.from_dict(limit) for limit in data["utility"]),
            change=None if data["change"] is None else Change.from_dict(data["change"]),
            neighbours_cost=tuple(NoiseResult.from_dict(one) for one in data["neighbours_cost"]),
            evidence=tuple(_EVIDENCE[one["schema"]].from_dict(one) for one in data["evidence"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint:
    """One value of the parameter that is varied: the bounds and the blind guess for each threat, and the cost."""

    value: float
    bounds: tuple[dict[Quantity, Bound | None], ...] = field(default=(), hash=False)
    baselines: tuple[float | None, ...] = ()
    cost: dict[str, float] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; of each bound the value, the side, the rule and the relation."""
        bounds = [{q: _slim(bound) for q, bound in one.items()} for one in self.bounds]
        return {"value": self.value, "bounds": bounds, "baselines": list(self.baselines), "cost": _costs(self.cost)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SweepPoint:
        """Return what ``to_dict`` wrote."""
        bounds = tuple({q: None if one[q] is None else Bound(**one[q]) for q in QUANTITIES} for one in data["bounds"])
        return cls(
            value=data["value"], bounds=bounds, baselines=tuple(data["baselines"]), cost=_read_costs(data["cost"])
        )


def _slim(bound: Bound | None) -> dict[str, Any] | None:
    return None if bound is None else {name: getattr(bound, name) for name in ("value", "side", "rule", "neighbours")}


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult:
    """What happens when one parameter of a release is varied; ``threats`` names those of every point, in order."""

    parameter: str
    release: str
    threats: tuple[str, ...]
    points: tuple[SweepPoint, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        points = [point.to_dict() for point in self.points]
        return {
            "parameter": self.parameter,
            "release": self.release,
            "threats": list(self.threats),
            "points": points,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SweepResult:
        """Return what ``to_dict`` wrote."""
        points = tuple(SweepPoint.from_dict(point) for point in data["points"])
        return cls(parameter=data["parameter"], release=data["release"], threats=tuple(data["threats"]), points=points)


_PLAIN = ("version", "title", "description", "together", "spec_hash", "spec_text", "command", "made", "decision")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The answer of a spec: one entry for each release that is compared, or one for all of them composed.

    ``spec_text`` is the spec as it was run, without probabilities, labels and records unless it asks for them
    (``include_prior``); ``spec_hash`` is that of this text, as one of what is hidden would give it away. ``sweeps`` has
    one curve for each release that was varied.

    Examples
    --------
    >>> import dpradar as dr
    >>> a = dr.assess(dr.GRR(m=100, epsilon=2.0), dr.Threat(dr.Prior.uniform(100)))
    >>> one = ReleaseResult(name="survey", release=a.release, assessments=(ThreatResult(name="any", assessment=a),))
    >>> result = RunResult(releases=(one,), title="Survey")
    >>> RunResult.from_dict(result.to_dict()) == result, result.met
    (True, None)
    """

    releases: tuple[ReleaseResult, ...]
    title: str = ""
    description: str = ""
    together: Literal["compose", "compare"] = "compose"
    decision: dict[str, str] = field(default_factory=dict, hash=False)
    sweeps: tuple[SweepResult, ...] = ()
    spec_hash: str = ""
    spec_text: str = ""
    command: str = ""
    made: str = ""  # ISO date
    version: str = ""

    @property
    def met(self) -> bool | None:
        """Whether every limit of every release is met; None without limits."""
        found = [release.met for release in self.releases if release.met is not None]
        return all(found) if found else None

    @property
    def threats(self) -> tuple[ThreatResult, ...]:
        """Every attacker of every release."""
        return tuple(threat for release in self.releases for threat in release.assessments)

    @property
    def says_nothing(self) -> bool:
        """Whether the bound for some attacker excludes less than 1 % of what is possible."""
        return any(threat.assessment.says_nothing for threat in self.threats)

    @property
    def passes(self) -> bool:
        """Whether every limit is met, and none by a release that hardly protects unless the limit accepts that."""
        return self.met is True and all(threat.passes is not False for threat in self.threats)

    @property
    def green(self) -> bool:
        """Whether every attacker has a limit, all limits are met, and none of them would be by the raw data."""
        return (
            self.passes
            and self.complete
            and not self.says_nothing
            and all(t.met and not t.near_ceiling and not t.idle for t in self.threats)
        )

    @property
    def complete(self) -> bool:
        """Whether every attack and audit among the evidence did all that was asked for."""
        return all(one.complete for release in self.releases for one in release.evidence)

    @property
    def sweep(self) -> SweepResult | None:
        """The first curve, if a parameter was varied."""
        return self.sweeps[0] if self.sweeps else None

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain data with a schema key."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        return {
            "schema": SCHEMA,
            **plain,
            "decision": dict(self.decision),
            "met": self.met,
            "passes": self.passes,
            "complete": self.complete,
            "releases": [release.to_dict() for release in self.releases],
            "sweeps": [sweep.to_dict() for sweep in self.sweeps],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RunResult:
        """Return what ``to_dict`` wrote."""
        checked(data, SCHEMA)
        return cls(
            **{name: data[name] for name in _PLAIN},
            releases=tuple(ReleaseResult.from_dict(release) for release in data["releases"]),
            sweeps=tuple(SweepResult.from_dict(sweep) for sweep in data["sweeps"]),
        )

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

    def __repr__(self) -> str:
        told = {True: "limits met", False: "limits not met", None: "no limits"}[self.met]
        return f"RunResult({told}; {', '.join(release.release for release in self.releases)})"
