"""The answer of an attack that was run: how often it was right, and what the release added."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from .description import Description
from .field_shapes import NumbersBetween, OpenShare, RangeOfOwner, Share, Whole
from .result_codec import SLACK, Record, Result, not_decreasing

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["AttackRun", "Estimate"]

_Measured = Annotated[float, RangeOfOwner()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Record):
    """A measured number and the interval that holds the true one with the stated confidence.

    Examples
    --------
    >>> Estimate(estimate=0.25, low=0.2, high=0.3)
    Estimate(0.25 in [0.2, 0.3])
    """

    estimate: _Measured
    low: _Measured
    high: _Measured

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield ends of the interval that are on the wrong side of the estimate."""
        yield from not_decreasing(self, "low", "estimate", "high")

    def __repr__(self) -> str:
        return f"Estimate({self.estimate:.6g} in [{self.low:.6g}, {self.high:.6g}])"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackRun(Result):
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

    KIND: ClassVar[str] = "attack"
    DERIVED: ClassVar[tuple[str, ...]] = ("complete",)

    rad: Annotated[Estimate, NumbersBetween(-1, 1)]
    success: Annotated[Estimate, NumbersBetween(0, 1)]
    false_hit: Annotated[Estimate, NumbersBetween(0, 1)]
    trials: Whole
    confidence: OpenShare
    strategy: str
    maximise: Literal["rad", "success"] | None = None
    release: Description | None = None
    threat: Description | None = None
    asked: Whole | None = None  # trials that were asked for; more than ``trials`` when the run was interrupted
    seed: Whole | None = None
    baseline: Share | None = None
    paired: bool | None = None
    notes: tuple[str, ...] = field(default=())
    version: str = ""

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield more trials than were asked for, and an advantage that is not the difference of its terms."""
        yield from not_decreasing(self, "trials", "asked")
        difference = self.success.estimate - self.false_hit.estimate
        if abs(self.rad.estimate - difference) > SLACK:
            yield "rad.estimate", f"must be success minus false_hit, {difference:g}; got {self.rad.estimate:g}"

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
