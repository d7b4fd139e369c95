"""Upper bounds on the success of the best attacker, and on the gain over every threat."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..numerics.lazy_numpy import Floats, np
from .question import Case, Inapplicable
from .rule import Finding
from .tradeoff_rates import question_relations

if TYPE_CHECKING:
    from ..guarantees.curves import TradeoffCurve
    from ..guarantees.privacy import Privacy, Relation
    from ..threats.hit_classes import Cover

__all__ = [
    "ANY",
    "baselines",
    "bayes_success",
    "binary_success",
    "membership_success",
    "rero_curve",
    "rero_epsilon",
    "smallest_finding",
    "tv_success",
    "worst_gain",
]

_POINTS, _SHRINKS = 33, 13  # 16^13 > 1e15
_MOST_PRIORS = 2_000  # that are looked at one by one
ANY: tuple[Relation, ...] = ("replace-one", "add-remove", "reference")


def baselines(case: Case) -> tuple[Floats, Floats]:
    """Return for each thing the attacker may know its probability and the best blind guess given it."""
    if case.threat.kind == "baseline":
        return np.ones(1), np.array([case.threat.best_blind_guess])
    if case.threat.kind != "record":
        message = "needs a prior or a baseline"
        raise Inapplicable(message)
    if case.prior.is_continuous:
        record_known = case.threat.knowledge.kind == "everything"
        return np.ones(1), np.array([1.0 if record_known else case.threat.kappa_plus])
    return case.threat.fibre_baselines


def smallest_finding(findings: list[Finding], need: str) -> list[Finding]:
    """Return the smallest finding, or raise Inapplicable with what is needed when there is none."""
    if not findings:
        raise Inapplicable(need)
    return [min(findings, key=lambda finding: finding.value)]


def rero_epsilon(case: Case) -> list[Finding]:
    """Success <= e^eps base + delta, per fibre of what is known ([RAD] Equation (1); Balle et al. 2022)."""
    weight, base = baselines(case)
    findings = []
    for promise in case.promises(*ANY):
        if promise.epsilon is not None:
            inside = np.minimum(1.0, base * math.exp(min(promise.epsilon, 700.0)) + promise.delta)
            findings.append(
                Finding(
                    quantity="success",
                    value=min(1.0, float(weight @ inside)),
                    assumes=(promise.source,),
                    neighbours=promise.relation,
                )
            )
    return smallest_finding(findings, "needs an (epsilon, delta) guarantee")


def rero_curve(case: Case) -> list[Finding]:
    """Success <= 1 - f(base), per fibre of what is known ([RAD] Equation (3); Hayes et al. 2023; [UNIFY] Theorem 3.2).

    f may compare with any reference: another record, the absence of the record, or one fixed distribution.
    """
    weight, base = baselines(case)
    findings = []
    for promise in case.promises(*ANY):
        if promise.curve is not None:
            inside = 1.0 - np.clip(promise.curve.fnr(base), 0.0, 1.0)
            findings.append(
                Finding(
                    quantity="success",
                    value=min(1.0, float(weight @ inside)),
                    assumes=(promise.source,),
                    neighbours=promise.relation,
                )
            )
    return smallest_finding(findings, "needs a trade-off curve")


def tv_success(case: Case) -> list[Finding]:
    """Success <= base + TV ([UNIFY] Theorem 3.4), and the gain over every threat is at most TV."""
    promises = [p for p in case.promises(*ANY) if p.tv is not None]
    if not promises:
        message = "needs the total variation"
        raise Inapplicable(message)
    if case.threat.kind == "membership":
        message = "membership has its own bound"
        raise Inapplicable(message)
    best: Privacy = min(promises, key=lambda p: 1.0 if p.tv is None else p.tv)
    tv = 1.0 if best.tv is None else best.tv
    if case.threat.kind == "worst":
        return [Finding(quantity="gain", value=tv, assumes=(best.source,), neighbours=best.relation)]
    return [
        Finding(
            quantity="success",
            value=min(1.0, case.threat.highest_blind_guess + tv),
            assumes=(best.source,),
            neighbours=best.relation,
        )
    ]


def bayes_success(curve: TradeoffCurve, prior: float) -> float:
    """Return 1 - min over x of ((1 - prior) x + prior f(x)): the best guess between out and in ([UNIFY] Theorem D.1).

    Examples
    --------
    >>> from dpradar.guarantees.curves import approx_curve
    >>> round(bayes_success(approx_curve(1.0, 0.0), 0.5), 6)
    0.731059
    """
    low, high, best = 0.0, 1.0, 1.0
    for _ in range(_SHRINKS):
        # A grid that shrinks around its best point; the error is convex, so the minimum stays inside.
        x = np.unique(np.append(np.linspace(low, high, _POINTS), min(max(curve.peak, low), high)))
        error = (1.0 - prior) * x + prior * np.clip(curve.fnr(x), 0.0, 1.0)
        at = int(np.argmin(error))
        best = min(best, float(error[at]))
        low, high = float(x[max(at - 1, 0)]), float(x[min(at + 1, x.size - 1)])
    # The search can only miss the minimum from above; it is convex and the bracket is at most 1e-15 wide.
    return min(1.0, 1.0 - best + 1e-12)


def _bayes_successes(curve: TradeoffCurve, priors: Floats) -> Floats:
    """Return ``bayes_success`` of many priors; where they are too many its chords, as it is convex in the prior."""
    distinct, position = np.unique(priors, return_inverse=True)
    if distinct.size <= _MOST_PRIORS:
        return np.array([bayes_success(curve, float(prior)) for prior in distinct])[position]
    grid = np.linspace(0.0, 1.0, _MOST_PRIORS + 1)
    return np.interp(priors, grid, [bayes_success(curve, float(prior)) for prior in grid])


def _two_answers(cover: Cover, pi: Floats) -> tuple[Floats, Floats]:
    """Return for each fibre its mass and that of its first answer, or raise Inapplicable where there are three."""
    message = "needs at most two answers for everything that may be known"
    if cover.parts is not None and cover.blocks:
        if int(cover.parts.cells.max()) > 2:
            raise Inapplicable(message)
        prior = pi[cover.parts.members]
        return cover.parts.totals(prior), cover.parts.sums(prior)[cover.parts.first]
    if cover.blocks and any(b.kind not in ("singletons", "cells") or b.counts.size > 2 for b in cover.blocks):
        raise Inapplicable(message)
    sums = [block.sums(pi[block.members]) for block in cover.blocks]
    return np.array([one.sum() for one in sums]), np.array([one[0] for one in sums])


def binary_success(case: Case) -> list[Finding]:
    """Two answers: success <= 1 - min((1-pi) x + pi f(x)) for the replace-one f, per fibre ([UNIFY] Theorem D.1).

    Each answer may stand for several values: mixtures of releases are no easier to distinguish than the releases
    (docs/derivations/published-bounds.md).
    """
    pi = case.finite_prior.probabilities
    promise = case.privacy("replace-one")
    if promise.curve is None:
        message = "needs a trade-off curve under replace-one"
        raise Inapplicable(message)
    cover = case.threat.cover
    total = float(pi[cover.single[cover.single_hits > 0]].sum())
    mass, first = _two_answers(cover, pi)
    possible = mass > 0.0
    total += float((mass[possible] * _bayes_successes(promise.curve, first[possible] / mass[possible])).sum())
    return [Finding(quantity="success", value=min(total, 1.0), assumes=(promise.source,), neighbours=promise.relation)]


def membership_success(case: Case) -> list[Finding]:
    """Membership with a prior: success <= 1 - min((1-pi) x + pi f(x)) for the add/remove f ([UNIFY] Theorem D.1)."""
    if case.threat.kind != "membership":
        message = "answers Threat.membership"
        raise Inapplicable(message)
    promise = case.privacy("add-remove")
    if promise.curve is None:
        message = "needs a trade-off curve under add-remove"
        raise Inapplicable(message)
    value = bayes_success(promise.curve, float(case.threat.level or 0.0))
    return [Finding(quantity="success", value=value, assumes=(promise.source,), neighbours=promise.relation)]


def worst_gain(case: Case) -> list[Finding]:
    """The gain over every prior, knowledge and goal is at most the total variation ([UNIFY] Theorem 3.4).

    Under the requested relation, the guarantee's own, or else the worse of the two that are known. It is what others
    call the advantage: the largest true-positive minus false-positive rate of a test between neighbours.
    """
    promises = [p for p in case.promises(*question_relations(case)) if p.tv is not None]
    if not promises:
        message = "needs the total variation"
        raise Inapplicable(message)
    worst = max(promises, key=lambda p: p.tv or 0.0)
    assumes = (worst.source, f"neighbours: {worst.relation}")
    return [Finding(quantity="worst_gain", value=worst.tv or 0.0, assumes=assumes, neighbours=worst.relation)]
