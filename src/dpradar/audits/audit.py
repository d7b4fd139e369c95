"""Audit an implementation: a lower bound on epsilon from its outputs, and a test of its claim."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..attacks.attack_runs import checked_seed
from ..errors import ParameterError
from ..guarantees.approx import DELTA
from ..mechanisms.capabilities import Mechanism
from ..numerics.lazy_numpy import np
from ..threats import Prior
from .audit_options import LOOKS, SIGNIFICANCE, TRIALS, WORKERS
from .audit_plan import AuditPlan
from .epsilon_limits import claim_under
from .likelihood_audit import protocol_job
from .output_sources import source_of
from .search_audit import log_audit, search_audit
from .threat_audit import rad_job

if TYPE_CHECKING:
    from ..results.audit import AuditResult
    from ..threats import Threat
    from .audit_plan import AuditJob, Progress
    from .epsilon_limits import AuditedClaim
    from .output_arrays import RequestedKind
    from .output_sources import OutputSource

__all__ = ["audit", "audit_job"]


def audit(  # noqa: PLR0913 (keywords that stand for themselves)
    sampler: Any,
    *,
    claim: Any,
    domain: Any = None,
    pairs: Any = None,
    protocol: Any = None,
    threat: Threat | None = None,
    guess: Any = None,
    trials: int = 100_000,
    significance: float = 0.05,
    delta: float | None = None,
    sequential: bool = False,
    looks: int = 50,
    seed: int | None = None,
    vectorised: bool | None = None,
    output_kind: RequestedKind = "auto",
    workers: int = 1,
    progress: Progress | None = None,
) -> AuditResult:
    """Draw outputs of an implementation and say what epsilon they prove at least, and whether they refute its claim.

    ``sampler``: a function ``(inputs, rng) -> outputs`` of many values (numbers 0 .. domain-1, or the records of
    ``domain``) or ``value -> output`` of one; with ``pairs=[(A, B), ...]`` a function of a data set,
    ``(data) -> output``, ``(data, rng) -> output`` or ``(data, how_many, rng) -> outputs``;
    :class:`~dpradar.audits.executable.Executable` for a program; :class:`~dpradar.audits.samples.Samples` for a log.

    Without more, the pair of inputs and the event that leak most are searched for with half of the outputs and tested
    with the other half. ``protocol`` (such as ``OUE(m=100, epsilon=1.0)``) says how reports are to be read: then all
    outputs test the likelihood-ratio event. ``threat`` runs an attack (the optimal one of ``protocol``; ``guess``, a
    function ``(reports, known, rng) -> guesses``; or the report itself) and inverts its advantage.

    ``claim`` is a guarantee, or a mechanism: "it leaks no more than this". ``sequential=True`` looks up to ``looks``
    times and stops as soon as the claim is refuted. Interrupting (Ctrl-C) returns what was found so far.

    Guarantee
    ---------
    ``epsilon_lower`` holds, and a true claim is not refuted, except with probability ``significance``; each whatever
    the mechanism is, for every sample size; in sequential mode, or when interrupted, at every look.

    Assumes
    -------
    Outputs are independent, given their inputs. The claim is about the inputs given: the values of ``domain``
    (replace-one), or the ``pairs``, which must be neighbours in the sense of the claim.

    Notes
    -----
    Fixed samples: Clopper and Pearson (1934). At every look: Robbins (1970). Search: Bichsel et al. (2021) in spirit.
    RAD: [RAD] Section 6 with a confidence limit, which the paper has not.

    Examples
    --------
    >>> import numpy as np, dpradar as dr
    >>> def half_noise(inputs, rng):  # sensitivity 1, but the scale is 1/2 instead of 1
    ...     return inputs + rng.laplace(0.0, 0.5, len(inputs))
    >>> claim = dr.PureDP(1.0, neighbours="replace-one")
    >>> result = audit(half_noise, claim=claim, domain=2, trials=20_000, seed=1)
    >>> result.refuted, result.epsilon_lower > 1.0
    (True, True)
    """
    request = _checked_request(**locals())
    job, plan = request.job(), request.plan
    return request.with_provenance(request.search() if job is None else job.result(job.pieces.run(plan.workers)))


def audit_job(sampler: Any, **settings: Any) -> AuditJob[Any] | None:
    """Return what :func:`audit` with these arguments has to do, cut into pieces; None where it cannot be cut.

    That is so where the outputs choose what is tested (a search), and where they decide when to stop (sequential).
    """
    arguments = inspect.signature(audit).bind(sampler, **settings)
    arguments.apply_defaults()
    request = _checked_request(**arguments.arguments)
    job = None if request.plan.sequential else request.job()
    return None if job is None else replace(job, result=lambda parts: request.with_provenance(job.result(parts)))


@dataclass(frozen=True, slots=True, eq=False)
class _AuditRequest:
    """The checked arguments of an audit."""

    source: OutputSource
    audited: AuditedClaim
    claim: Any
    plan: AuditPlan
    threat: Threat | None
    protocol: Any
    guess: Any

    def job(self) -> AuditJob[Any] | None:
        """Return the audit in pieces; None for a search."""
        if self.threat is not None:
            return rad_job(self.source, self.audited, self.claim, self.threat, self.protocol, self.guess, self.plan)
        if self.protocol is not None:
            return protocol_job(self.source, self.audited, self.protocol, self.plan)
        return None

    def search(self) -> AuditResult:
        """Return the audit of outputs of an unknown mechanism."""
        if self.source.log is not None:
            return log_audit(self.source, self.source.log, self.audited, self.plan)
        return search_audit(self.source, self.audited, self.plan)

    def with_provenance(self, result: AuditResult) -> AuditResult:
        """Return the result with what is needed to reproduce it."""
        plan = self.plan
        seed = plan.root.entropy if isinstance(plan.root.entropy, int) else None
        trials = plan.trials if result.asked is None else result.asked
        return replace(result, seed=seed, version=__version__, asked=trials)


def _checked_request(  # noqa: PLR0913 (those of an audit)
    sampler: Any,
    *,
    claim: Any,
    domain: Any,
    pairs: Any,
    protocol: Any,
    threat: Threat | None,
    guess: Any,
    trials: int,
    significance: float,
    delta: float | None,
    sequential: bool,
    looks: int,
    seed: int | None,
    vectorised: bool | None,
    output_kind: RequestedKind,
    workers: int,
    progress: Progress | None,
) -> _AuditRequest:
    root = np.random.SeedSequence(checked_seed("audit", seed))
    plan = AuditPlan(
        root=root,
        trials=int(TRIALS.check("audit", trials)),
        failure=SIGNIFICANCE.check("audit", significance),
        looks=int(LOOKS.check("audit", looks)) if sequential else 1,
        sequential=bool(sequential),
        workers=int(WORKERS.check("audit", workers)),
        progress=progress,
    )
    if domain is None and pairs is None and protocol is not None:
        domain = getattr(protocol, "m", None)
    if domain is None and pairs is None and threat is not None and threat.kind == "record":
        domain = threat.finite.size
    if protocol is not None and not isinstance(protocol, Mechanism):
        raise ParameterError("audit.protocol", "a mechanism, such as OUE(m=100, epsilon=1.0)", repr(protocol))
    probe = np.random.default_rng(root.spawn(1)[0])
    source = source_of(sampler, domain, pairs, vectorised=vectorised, requested_kind=output_kind, probe=probe)
    if source.pairs is not None and len(source.pairs) > 1 and not (threat is None and protocol is None):
        hint = "Data sets of different pairs are no neighbours. Audit the pairs one by one."
        raise ParameterError("audit.pairs", "one pair with a threat or a protocol", f"{len(source.pairs)} pairs", hint)
    audited = claim_under(
        claim, None if pairs is not None else "replace-one", _prior_of_claim(claim, domain, pairs, threat)
    )
    return _AuditRequest(source, _claim_at_delta(audited, delta), claim, plan, threat, protocol, guess)


def _claim_at_delta(claim: AuditedClaim, delta: float | None) -> AuditedClaim:
    """Return the claim at the requested delta."""
    if delta is None:
        return claim
    level = DELTA.check("audit", delta)
    if claim.epsilon is not None and level != claim.delta:
        hint = "Leave delta= out: the claim has one."
        raise ParameterError("audit.delta", f"{claim.delta:g}, the delta of the claim", f"{level:g}", hint)
    return replace(claim, delta=level)


def _prior_of_claim(claim: Any, domain: Any, pairs: Any, threat: Threat | None) -> Prior | None:
    """Return whose records a claimed mechanism is about: those of the threat, or the values of the domain."""
    if pairs is not None or domain is None or not isinstance(claim, Mechanism):
        return None
    if threat is not None and threat.kind == "record":
        return threat.prior
    if isinstance(domain, (int, np.integer)):
        return Prior.uniform(int(domain))
    numbers = all(isinstance(record, (int, float)) for record in domain)
    return Prior.uniform(len(domain), list(domain) if numbers else None)
