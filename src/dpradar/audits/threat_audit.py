"""The audit of [RAD]: run an attack on the implementation and invert its advantage, with a confidence limit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..attacks.attack_runs import AttackCounts, count_outcomes, draw_targets
from ..attacks.optimal import optimal_attack
from ..attacks.strategies import GuessAttack, report_attack
from ..attacks.work_units import WorkUnits
from ..bounds import assess
from ..errors import ParameterError
from ..numerics.confidence_intervals import clopper_pearson_low
from ..numerics.confidence_sequences import always_high, always_low
from ..numerics.lazy_numpy import np
from ..results.attack import Estimate
from ..results.audit import AuditResult, Reading
from .audit_plan import AuditJob
from .epsilon_inversion import (
    epsilon_from_black_box,
    epsilon_from_own_curve,
    epsilon_from_rad,
    epsilon_from_uniform,
)
from .likelihood_evidence import as_reports

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..attacks.attack_protocol import Attack
    from ..threats import Threat
    from .audit_plan import AuditPlan
    from .epsilon_limits import AuditedClaim
    from .output_sources import OutputSource

__all__ = ["AttackTally", "rad_job"]


@dataclass(slots=True)
class AttackTally:
    """Counts of the attack; ``strangers``: hits on one random other target per report, for limits at every look."""

    counts: AttackCounts = field(default_factory=AttackCounts)
    strangers: int = 0

    def low(self, failure: float, *, always: bool) -> float:
        """Return a lower limit for rad."""
        counts = self.counts
        n = counts.trials
        if counts.constant:
            limit = always_low if always else clopper_pearson_low
            return limit(counts.hits, n, failure) - counts.most
        if always:
            return always_low(counts.hits, n, failure / 2.0) - always_high(self.strangers, n, failure / 2.0)
        # The intervals are two-sided, so each may fail twice as often on the side that counts.
        rad, _, _ = counts.estimates(2.0 * failure)
        return rad.low


def rad_job(
    source: OutputSource, claim: AuditedClaim, claimed: Any, threat: Threat, protocol: Any, guess: Any, plan: AuditPlan
) -> AuditJob[AttackTally]:
    """Return the audit by the advantage of an attack."""
    attack = _attack(source, threat, protocol, guess)
    # What the claim allows at most: for a guarantee the tightest bound, for a mechanism its exact value.
    allowed = assess(claimed, threat).rad
    if allowed is None:
        raise ParameterError("audit.claim", "one that bounds rad for this threat", repr(claimed))
    rng = np.random.default_rng(plan.root.spawn(1)[0])
    probe = source.draw(draw_targets(threat, 16, rng), rng)
    release = None if protocol is None or guess is not None else protocol.at(None)
    size = plan.size(probe, plan.trials)

    def work(count: int, rng: np.random.Generator) -> AttackTally:
        targets = draw_targets(threat, count, rng)
        outcome = attack.play(as_reports(release, source.draw(targets, rng)), targets, rng)
        return AttackTally(count_outcomes(outcome), int(np.count_nonzero(rng.random(count) < outcome.others)))

    def result(parts: Iterable[tuple[int, AttackTally]]) -> AuditResult:
        tally, low, refuted, notes, looks = _run(parts, plan, allowed.value)
        trials = tally.counts.trials
        rad, _, _ = tally.counts.estimates(plan.failure)
        method, invert = _inversion(threat, claim)
        lower = invert(max(low, 0.0))
        if lower is None:
            notes = (*notes, "the attack is right so often that the lower bound is beyond the range of the inversion")
        return AuditResult(
            claim=claim.description,
            claim_epsilon=claim.epsilon,
            refuted=refuted,
            epsilon_lower=claim.reported_lower(max(0.0, lower or 0.0), refuted=refuted),
            epsilon_estimate=invert(rad.estimate),
            delta=claim.delta,
            significance=plan.failure,
            method=f"advantage of the attack '{attack.name}', inverted by {method}",
            trials=trials,
            looks=looks,
            rad=Estimate(estimate=rad.estimate, low=low, high=max(rad.high, low)),
            readings=_readings(tally, low, threat, protocol),
            notes=(*notes, f"the claim allows a rad of at most {allowed.value:.6g} ({allowed.rule})"),
        )

    return AuditJob(WorkUnits(work, plan.trials, size, plan.root, stage=1), result)


def _attack(source: OutputSource, threat: Threat, protocol: Any, guess: Any) -> Attack:
    if threat.kind != "record" or threat.finite.is_continuous or threat.finite.size != len(source.names):
        hint = f"It has {len(source.names)} values."
        raise ParameterError("audit.threat", "one with a prior over the values of the domain", repr(threat), hint)
    if guess is not None:
        return GuessAttack(guess, threat, getattr(guess, "__name__", "a strategy"))
    if protocol is not None:
        return optimal_attack(protocol, threat)
    return report_attack(threat)


def _run(
    parts: Iterable[tuple[int, AttackTally]], plan: AuditPlan, allowed: float
) -> tuple[AttackTally, float, bool, tuple[str, ...], int]:
    """Add up the pieces; return the counts, the lower limit of rad, whether it exceeds what is allowed."""
    tally, best, looks = AttackTally(), -1.0, 0
    due = sorted({*(int(x) for x in np.geomspace(max(100, plan.trials // 200), plan.trials, plan.looks)), plan.trials})
    try:
        for _, part in parts:
            tally.counts.add(part.counts)
            tally.strangers += part.strangers
            if plan.progress is not None:
                plan.progress(tally.counts.trials, plan.trials)
            if plan.sequential and due and tally.counts.trials >= due[0]:
                due = [x for x in due if x > tally.counts.trials]
                best, looks = max(best, tally.low(plan.failure, always=True)), looks + 1
                if best > allowed:
                    return tally, best, True, (f"stopped at look {looks}: the claim was refuted",), looks
    except KeyboardInterrupt:
        if tally.counts.trials == 0:
            raise
        best = max(best, tally.low(plan.failure, always=True))
        note = f"interrupted after {tally.counts.trials:,} of {plan.trials:,} reports; limits are always valid"
        return tally, best, best > allowed, (note,), looks + 1
    if not plan.sequential:
        best, looks = tally.low(plan.failure, always=False), 1
    return tally, best, best > allowed, (), looks


def _inversion(threat: Threat, claim: AuditedClaim) -> tuple[str, Any]:
    """Return the tightest bound that holds for every mechanism and this threat, as a function of rad."""
    prior = threat.finite
    plain = threat.knowledge.kind == "nothing" and threat.goal.kind == "exact"
    if plain and prior.is_uniform:
        return "[RAD] Corollary 5.6", lambda rad: epsilon_from_uniform(rad, prior.size, claim.delta)
    if plain and claim.delta == 0.0:
        return "the exact black-box value", lambda rad: epsilon_from_black_box(rad, prior)
    m = prior.size if not prior.is_continuous and prior.is_uniform else None
    return "the bound for any knowledge", lambda rad: epsilon_from_rad(rad, prior.collision, claim.delta, m)


def _readings(tally: AttackTally, low: float, threat: Threat, protocol: Any) -> tuple[Reading, ...]:
    """Return the epsilon at which the protocol itself would leak as much: the claim test of a known mechanism."""
    if protocol is None or not (hasattr(protocol, "m") and hasattr(protocol, "epsilon")):
        return ()
    name = type(protocol).__name__
    rad, _, _ = tally.counts.estimates(0.05)
    readings = []
    rows: list[tuple[float, Literal["estimate", "claim test"]]] = [(rad.estimate, "estimate"), (low, "claim test")]
    for value, kind in rows:
        epsilon = epsilon_from_own_curve(value, protocol, threat) if value > 0.0 else 0.0
        note = f"as much as {name} leaks at this epsilon" if epsilon is not None else f"more than {name} can leak"
        readings.append(Reading(method=f"own curve of {name}", epsilon=epsilon, kind=kind, note=note))
    return tuple(readings)
