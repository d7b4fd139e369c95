"""Audit someone's implementation: what its outputs prove, and whether its claim survives them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..attacks.run import checked_seed
from ..errors import ParameterError
from ..guarantees.approx import DELTA
from ..mechanisms.capabilities import Mechanism
from ..params import Param
from ..threats import Prior
from .blind import blind_audit, log_audit
from .limits import claimed
from .plan import Plan
from .protocol import protocol_audit
from .sources import source_of
from .threatened import rad_audit

if TYPE_CHECKING:
    from ..results.audit import AuditResult
    from ..threats import Threat
    from .outputs import AskedKind
    from .plan import Progress

__all__ = ["audit"]

TRIALS = Param(
    name="trials", integer=True, low=100, high=1e12, what="how many outputs are drawn in all", typical=(1000, 1e6)
)
SIGNIFICANCE = Param(
    name="significance",
    low=0.0,
    high=1.0,
    low_open=True,
    high_open=True,
    what="the probability with which a true claim may be refuted",
    typical=(0.001, 0.1),
)
WORKERS = Param(name="workers", integer=True, low=1, high=256, what="how many threads draw outputs", typical=(1, 8))
LOOKS = Param(name="looks", integer=True, low=1, high=1e6, what="how often a sequential audit looks", typical=(1, 100))


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
    output_kind: AskedKind = "auto",
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
    root = np.random.SeedSequence(checked_seed("audit", seed))
    plan = Plan(
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
    source = source_of(sampler, domain, pairs, vectorised=vectorised, asked=output_kind, probe=probe)
    if source.pairs is not None and len(source.pairs) > 1 and not (threat is None and protocol is None):
        hint = "Data sets of different pairs are no neighbours. Audit the pairs one by one."
        raise ParameterError("audit.pairs", "one pair with threat= or protocol=", f"{len(source.pairs)} pairs", hint)
    promised = claimed(claim, None if pairs is not None else "replace-one", _about(claim, domain, pairs, threat))
    if delta is not None:
        level = DELTA.check("audit", delta)
        if promised.epsilon is not None and level != promised.delta:
            hint = "Leave delta= out: the claim has one."
            raise ParameterError("audit.delta", f"{promised.delta:g}, the delta of the claim", f"{level:g}", hint)
        promised = replace(promised, delta=level)
    if threat is not None:
        return _finished(rad_audit(source, promised, claim, threat, protocol, guess, plan), plan)
    if protocol is not None:
        return _finished(protocol_audit(source, promised, protocol, plan), plan)
    found = (
        log_audit(source, source.log, promised, plan) if source.log is not None else blind_audit(source, promised, plan)
    )
    return _finished(found, plan)


def _about(claim: Any, domain: Any, pairs: Any, threat: Threat | None) -> Prior | None:
    """Return whose records a claimed mechanism is about: those of the threat, or the values of the domain."""
    if pairs is not None or domain is None or not isinstance(claim, Mechanism):
        return None
    if threat is not None and threat.kind == "record":
        return threat.prior
    if isinstance(domain, (int, np.integer)):
        return Prior.uniform(int(domain))
    numbers = all(isinstance(record, (int, float)) for record in domain)
    return Prior.uniform(len(domain), list(domain) if numbers else None)


def _finished(result: AuditResult, plan: Plan) -> AuditResult:
    seed = plan.root.entropy if isinstance(plan.root.entropy, int) else None
    asked = plan.trials if result.asked is None else result.asked
    return replace(result, seed=seed, version=__version__, asked=asked)
