"""The settings of an audit, its work units, and the verdict from its counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..numerics.lazy_numpy import np
from ..results.audit import AuditResult, Witness
from .epsilon_limits import AuditedClaim, Tally

if TYPE_CHECKING:
    from ..attacks.work_units import WorkUnits

__all__ = ["AuditJob", "AuditPlan", "AuditVerdict", "Progress", "audit_result", "evaluate_test"]

T = TypeVar("T")
Progress = Callable[[int, int], None]
_BYTES = 24_000_000  # of outputs in one piece


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """Sizes, seeds and how often to look."""

    root: np.random.SeedSequence
    trials: int
    failure: float
    looks: int
    sequential: bool
    workers: int
    progress: Progress | None

    def size(self, outputs: Any, total: int) -> int:
        """Return how many outputs make one piece, from what some of them take in memory."""
        parts = outputs if isinstance(outputs, tuple) else (outputs,)
        each = max(64, sum(np.asarray(part).nbytes for part in parts) // max(1, len(parts[0])))
        fits = max(1, _BYTES // each)
        # A look is at the end of a piece, so a sequential audit needs more pieces than looks.
        return max(1, min(fits, max(100, total // (4 * self.looks)) if self.sequential else fits, total))


@dataclass(frozen=True, slots=True, eq=False)
class AuditJob(Generic[T]):
    """An audit to be run: the work units, which any process may compute, and the result from all in order.

    ``chosen`` is what the pieces depend on beside the arguments of the audit.
    """

    pieces: WorkUnits[T]
    result: Callable[[Iterable[tuple[int, T]]], AuditResult]
    chosen: str = ""


@dataclass(slots=True)
class AuditVerdict:
    """What the test has shown so far. A bound that held at an earlier look still holds."""

    claim: AuditedClaim
    failure: float
    epsilon_lower: float = 0.0
    refuted: bool = False
    looks: int = 0

    def look(self, tally: Tally, *, always: bool) -> None:
        """Take the counts into account."""
        self.looks += 1
        lower = tally.epsilon_lower(self.claim.delta, self.failure, always=always)
        self.epsilon_lower = max(self.epsilon_lower, lower)
        self.refuted |= self.claim.refuted_by(tally, self.failure, always=always)


def evaluate_test(
    parts: Iterable[tuple[int, Tally]], claim: AuditedClaim, plan: AuditPlan, total: int
) -> tuple[Tally, AuditVerdict, int, tuple[str, ...]]:
    """Add up the pieces of a test and return the counts, the verdict, the outputs drawn and notes."""
    tally, verdict, trials = Tally(), AuditVerdict(claim, plan.failure), 0
    notes: tuple[str, ...] = ()
    due = _look_times(total, plan.looks) if plan.sequential else iter(())
    following = next(due, total)
    try:
        for count, part in parts:
            tally = _add_tallies(tally, part)
            trials += count
            if plan.progress is not None:
                plan.progress(plan.trials - total + trials, plan.trials)
            if plan.sequential and trials >= following:
                verdict.look(tally, always=True)
                following = next(due, total)
                if verdict.refuted:
                    notes = (f"stopped at look {verdict.looks}: the claim was refuted",)
                    break
    except KeyboardInterrupt:
        if trials == 0:
            raise
        verdict.look(tally, always=True)
        notes = (f"interrupted after {trials:,} of {total:,} test outputs; limits are always valid",)
        return tally, verdict, trials, notes
    if not plan.sequential:
        verdict.look(tally, always=False)
    return tally, verdict, trials, notes


def _look_times(total: int, looks: int) -> Iterator[int]:
    """Yield after how many outputs to look: ever further apart, as each look has to add something."""
    first = min(total, max(100, total // 200))
    yield from sorted({int(x) for x in np.geomspace(first, total, looks)})


def _add_tallies(one: Tally, two: Tally) -> Tally:
    return Tally(
        one.seen_first + two.seen_first,
        one.drawn_first + two.drawn_first,
        one.seen_other + two.seen_other,
        one.drawn_other + two.drawn_other,
        two.decided,
    )


def audit_result(
    claim: AuditedClaim,
    verdict: AuditVerdict,
    tally: Tally,
    *,
    method: str,
    witness: Witness,
    trials: int,
    notes: tuple[str, ...],
) -> AuditResult:
    """Return the result of a test of one event."""
    estimate = tally.epsilon_estimate(claim.delta)
    if witness.never:
        counts = (
            f"seen {tally.seen_first:,} times for {witness.first}, never in {tally.drawn_other:,} for {witness.other}"
        )
        notes = (*notes, f"possible violation of the support: the event was {counts}")
    return AuditResult(
        claim=claim.description,
        claim_epsilon=claim.epsilon,
        refuted=verdict.refuted,
        epsilon_lower=claim.reported_lower(verdict.epsilon_lower, refuted=verdict.refuted),
        epsilon_estimate=estimate,
        delta=claim.delta,
        significance=verdict.failure,
        method=method,
        trials=trials,
        looks=verdict.looks,
        witness=witness,
        notes=notes,
    )
