"""The answer of an audit: what the samples prove about epsilon, and whether they refute the claim."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from annotated_types import Ge, Le

from .attack import Estimate
from .description import Description
from .field_shapes import Loss, NumbersBetween, OpenShare, Share, Whole
from .result_codec import SLACK, Record, Result, not_decreasing

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["AuditResult", "Reading", "Witness"]

_Evidence = Annotated[float, Ge(0), Le(1e6)]  # a lower bound on epsilon, which is a logarithm of counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness(Record):
    """The event that leaks most: how often it was seen for one input and for the other.

    ``never`` says that it was not seen at all for the other input: if it is impossible there, no epsilon holds.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("never",)

    first: str
    other: str
    event: str
    seen_first: Whole
    drawn_first: Whole
    seen_other: Whole
    drawn_other: Whole

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield inputs for which the event was seen more often than there were outputs."""
        yield from not_decreasing(self, "seen_first", "drawn_first")
        yield from not_decreasing(self, "seen_other", "drawn_other")

    @property
    def never(self) -> bool:
        """Whether the event was seen for the first input and never for the other."""
        return self.seen_other == 0 < self.seen_first


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(Record):
    """One more way to read the same samples: a number for epsilon, and whether it is a bound or only an estimate.

    ``epsilon`` is None where the method gives no number: beyond its range, as ``note`` says.
    """

    method: str
    epsilon: Loss | None
    # a bound on epsilon, an estimate, or what this very protocol needs at least
    kind: Literal["lower", "estimate", "claim test"]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult(Result):
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

    KIND: ClassVar[str] = "audit"
    DERIVED: ClassVar[tuple[str, ...]] = ("complete",)

    claim: Description
    refuted: bool
    epsilon_lower: _Evidence
    epsilon_estimate: Loss | None
    significance: OpenShare
    method: str
    trials: Whole
    claim_epsilon: Loss | None = None
    delta: Share = 0.0
    asked: Whole | None = None
    seed: Whole | None = None
    looks: Whole = 1
    witness: Witness | None = None
    rad: Annotated[Estimate, NumbersBetween(-1, 1)] | None = None
    readings: tuple[Reading, ...] = ()
    notes: tuple[str, ...] = field(default=())
    command: str | None = None
    version: str = ""

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield a claim that is not refuted although its bound lies above it, or refuted without any trial."""
        claimed, lower = self.claim_epsilon, self.epsilon_lower
        if claimed is not None and lower > claimed * (1.0 + SLACK) and not self.refuted:
            message = f"must be true where epsilon is at least {lower:g} and {claimed:g} was claimed; got false"
            yield "refuted", message
        if self.refuted and self.trials == 0:
            yield "refuted", "must be false where nothing was tried; got true"

    @property
    def interrupted(self) -> bool:
        """Whether the audit was stopped by hand."""
        return any(note.startswith("interrupted") for note in self.notes)

    @property
    def complete(self) -> bool:
        """Whether everything that was asked for was done, and something was tested."""
        return not self.interrupted and self.trials > 0
