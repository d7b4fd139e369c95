"""Audit a known protocol by its likelihood ratios: every report tests, none is spent on a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..attacks.work_units import WorkUnits
from ..errors import ParameterError
from ..numerics.lazy_numpy import np
from ..results.audit import Witness
from .audit_plan import AuditJob, audit_result, evaluate_test
from .likelihood_evidence import as_reports, count_evidence, evidence_level, random_pairs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..results.audit import AuditResult
    from .audit_plan import AuditPlan
    from .epsilon_limits import AuditedClaim, Tally
    from .output_sources import OutputSource

__all__ = ["protocol_job"]

_PROBE = 16


def protocol_job(source: OutputSource, claim: AuditedClaim, protocol: Any, plan: AuditPlan) -> AuditJob[Tally]:
    """Return the audit of reports that are read as those of ``protocol``, over random pairs of values."""
    release = protocol.at(None)
    m = len(source.names)
    if release.inputs != m:
        raise ParameterError("audit.protocol", f"about the {m} values of the domain", f"{release.inputs} values")
    if source.log is not None:
        raise ParameterError(
            "audit.protocol", "left out with a log", repr(protocol), "A log is searched; give a sampler instead."
        )
    rng = np.random.default_rng(plan.root.spawn(1)[0])
    probe = source.draw(rng.integers(0, m, size=_PROBE), rng)

    level = evidence_level(release, plan.trials, plan.failure, claim.delta, rng)

    def work(count: int, rng: np.random.Generator) -> Tally:
        first, other = random_pairs(m, count, rng)
        return count_evidence(release, as_reports(release, source.draw(first, rng)), first, other, level)

    def result(parts: Iterable[tuple[int, Tally]]) -> AuditResult:
        tally, verdict, trials, notes = evaluate_test(parts, claim, plan, plan.trials)
        event = f"a report that {release.name} makes likelier for the first value than for the other (and the reverse)"
        witness = Witness(
            first="the value of the person",
            other="another random value",
            event=event,
            seen_first=tally.seen_first,
            drawn_first=tally.drawn_first,
            seen_other=tally.seen_other,
            drawn_other=tally.drawn_other,
        )
        method = f"likelihood ratio of {release.name}, random pairs of values"
        return audit_result(claim, verdict, tally, method=method, witness=witness, trials=trials, notes=notes)

    units = WorkUnits(work, plan.trials, plan.size(probe, plan.trials), plan.root, stage=1)
    return AuditJob(units, result, chosen=f"level {level!r}")
