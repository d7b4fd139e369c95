"""The answer of a spec file: every release under every threat, its limits, its cost and the evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from annotated_types import Ge, MinLen

from .assessment import Assessment
from .attack import AttackRun
from .audit import AuditResult
from .bound import QUANTITIES, Bound, Quantity
from .ceiling import ACKNOWLEDGE
from .description import Description
from .field_shapes import Infinite, NumbersBetween, OnlyFields, Share
from .limit_result import LimitResult
from .result_codec import Record, Result
from .suggested_change import Change

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "NoiseResult",
    "ReleaseResult",
    "RunResult",
    "SweepPoint",
    "SweepResult",
    "ThreatResult",
]

_Cost = Annotated[float, Ge(0), Infinite(null=True)]  # an error; files of schema 1 write an infinite one as null
_SweptBound = Annotated[Bound, NumbersBetween(0, 1), OnlyFields(("value", "side", "rule", "neighbours"))]


def _all_met(limits: tuple[LimitResult, ...]) -> bool | None:
    return all(limit.met for limit in limits) if limits else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreatResult(Record):
    """One threat: what someone could learn, and whether its limits are met.

    ``change`` says what would meet the limits where they are not met; None where they are, or where nothing is known.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("met", "near_ceiling")

    name: str
    assessment: Assessment
    limits: tuple[LimitResult, ...] = ()
    change: Change | None = None

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield limits that are compared with another number than the bound of the assessment."""
        bounds = {str(name): bound for name, bound in self.assessment.bounds.items()}
        for index, limit in enumerate(self.limits, 1):
            bound = bounds.get(limit.quantity)
            if bound is not None and limit.value != bound.value:
                message = f"must be that of the assessment, {bound.value!r}; got {limit.value!r}"
                yield f"limits[{index}].value", message

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
        """Whether publishing the raw data would also keep one of the limits."""
        return any(limit.idle for limit in self.limits)

    @property
    def passes(self) -> bool | None:
        """Whether every limit is met by a release that protects, or whose limits accept that it hardly does."""
        return self.met and (self.acknowledged or not self.near_ceiling)

    @property
    def smallest_change(self) -> str | None:
        """What would meet the limits, in words, with the exact number."""
        return None if self.change is None else str(self.change)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseResult(Record):
    """The same release with another amount of noise: ``factor`` 2 is twice the noise, 0.5 half of it."""

    factor: Annotated[float, Ge(0)]
    parameter: str
    value: float
    cost: dict[str, _Cost] = field(default_factory=dict, hash=False)
    assessments: tuple[Assessment, ...] = ()  # one for each threat, in the same order


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseResult(Record):
    """One release, or several composed: every threat, what the noise costs, and evidence from attacks and audits.

    ``parts`` are the descriptions of the releases it is made of: one, or more where they are composed; ``dates`` are
    theirs. ``change`` is what would meet the limits of all threats together.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("met",)

    name: str
    release: Description
    what: str = ""
    dates: tuple[str, ...] = ()
    parts: tuple[Description, ...] = ()
    assessments: tuple[ThreatResult, ...] = ()
    cost: dict[str, _Cost] = field(default_factory=dict, hash=False)
    utility: tuple[LimitResult, ...] = ()
    change: Change | None = None
    neighbours_cost: tuple[NoiseResult, ...] = ()
    evidence: tuple[AttackRun | AuditResult, ...] = ()

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield amounts of noise that are not assessed under every threat."""
        for index, noise in enumerate(self.neighbours_cost, 1):
            if len(noise.assessments) != len(self.assessments):
                message = f"must have one entry for each of {len(self.assessments)} threats"
                yield f"neighbours_cost[{index}].assessments", message

    @property
    def met(self) -> bool | None:
        """Whether every limit on risk and accuracy is met; None without limits."""
        return _all_met((*(limit for threat in self.assessments for limit in threat.limits), *self.utility))


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint(Record):
    """One value of the parameter that is varied: the bounds and the blind guess for each threat, and the cost."""

    value: float
    bounds: tuple[dict[Quantity, _SweptBound | None], ...] = field(default=(), hash=False)
    baselines: tuple[Share | None, ...] = ()
    cost: dict[str, _Cost] = field(default_factory=dict, hash=False)

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield lists of different lengths, and points that lack a quantity."""
        if len(self.baselines) != len(self.bounds):
            message = f"must have {len(self.bounds)} entries as bounds has; got {len(self.baselines)}"
            yield "baselines", message
        for index, bounds in enumerate(self.bounds, 1):
            yield from ((f"bounds[{index}].{name}", "is missing") for name in QUANTITIES if name not in bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult(Record):
    """What happens when one parameter of a release is varied; ``threats`` names those of every point, in order."""

    parameter: str
    release: str
    threats: tuple[str, ...]
    points: tuple[SweepPoint, ...]

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield points that do not have a bound for every threat."""
        for index, point in enumerate(self.points, 1):
            if len(point.bounds) != len(self.threats):
                message = f"must have one entry for each of {len(self.threats)} threats; got {len(point.bounds)}"
                yield f"points[{index}].bounds", message


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult(Result):
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

    KIND: ClassVar[str] = "run"
    DERIVED: ClassVar[tuple[str, ...]] = ("met", "passes", "complete")

    releases: Annotated[tuple[ReleaseResult, ...], MinLen(1)]
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
        outcomes = [release.met for release in self.releases if release.met is not None]
        return all(outcomes) if outcomes else None

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

    def __repr__(self) -> str:
        outcome = {True: "limits met", False: "limits not met", None: "no limits"}[self.met]
        return f"RunResult({outcome}; {', '.join(release.release.text for release in self.releases)})"
