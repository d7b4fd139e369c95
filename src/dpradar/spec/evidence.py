"""Evidence beside the bounds: attacks that a spec asks for, and saved attacks and audits that it names."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ..attacks import attack
from ..errors import InconsistentEvidence, ParameterError
from ..results import AttackRun, AuditResult
from ..results.loading import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..attacks.attack_options import AttackOptions
    from ..results.run import ThreatResult
    from ..threats import Threat
    from .model import Spec

__all__ = ["attacks", "evidence_of"]

_UNVERIFIED = "unverified: read from a file without a digest, in which changes cannot be detected"
_FAILURE = 1e-9  # the probability with which a sound bound is contradicted by chance


def evidence_of(spec: Spec, index: int) -> AttackRun | AuditResult:
    """Return a saved attack or audit that the spec names."""
    if spec.folder is None:
        raise ParameterError("evidence.results", "left out here", repr(spec.results[index]), "No file is read here.")
    evidence: AttackRun | AuditResult = load(spec.folder / spec.results[index])
    if not isinstance(evidence, (AttackRun, AuditResult)):
        raise ParameterError("evidence.results", "attacks or audits", type(evidence).__name__)
    if evidence.unverified:
        evidence = replace(evidence, notes=(*evidence.notes, _UNVERIFIED))
    if isinstance(evidence, AttackRun) and evidence.threat is not None:
        return replace(evidence, threat=replace(evidence.threat, id=""))  # the id is that of another run
    return evidence


def attacks(
    settings: AttackOptions,
    what: Any,
    threats: Sequence[Threat],
    results: Sequence[ThreatResult],
    tell: Callable[[str], None],
) -> Iterator[AttackRun]:
    """Yield the optimal attack under every threat that has a prior, checked against the bounds."""
    for threat, result in zip(threats, results, strict=True):
        if threat.kind != "record":
            continue
        tell(f"attack {what!r}")
        run = attack(what, threat, **asdict(settings))
        _check(run, result)
        yield replace(run, threat=result.assessment.threat)
        if not run.complete:  # interrupted by hand: the others are not started
            return


def _check(run: AttackRun, result: ThreatResult) -> None:
    """Raise where an attack exceeds a bound by more than chance explains.

    Hits and their differences to the second term lie in an interval of length 1 and 2, so Hoeffding's inequality
    bounds how far their means stray.
    """
    stray = math.sqrt(math.log(1.0 / _FAILURE) / (2.0 * run.trials))
    for name, length, measured in (("success", 1.0, run.success), ("rad", 2.0, run.rad)):
        bound = result.assessment.bounds[name]  # type: ignore[index]
        low = measured.estimate - length * stray
        if bound is not None and low > bound.value + 1e-9:
            message = (
                f"{name} is at least {low:.9g} by an attack of {run.trials} trials but at most {bound.value:.9g} by "
                f"{bound.rule}. One of them is wrong: please report this with the spec that led to it."
            )
            raise InconsistentEvidence(message)
