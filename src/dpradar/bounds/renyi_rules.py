"""Upper bounds on success from Renyi divergences, for comparison: the trade-off curve is at least as tight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..guarantees.renyi import RenyiBound, renyi_success, zcdp_success
from .fano import fano_success, generalised_fano, renyi_information, replaced_information
from .rule import Finding
from .success import ANY, baselines, smallest_finding

if TYPE_CHECKING:
    from ..guarantees.privacy import Privacy
    from .question import Case

__all__ = ["fano_rule", "renyi_rule", "zcdp_rule"]


def _renyi_bounds(case: Case) -> list[tuple[Privacy, RenyiBound]]:
    return [(promise, promise.renyi) for promise in case.promises(*ANY) if promise.renyi is not None]


def _success(promise: Privacy, value: float) -> Finding:
    return Finding(quantity="success", value=min(1.0, value), assumes=(promise.source,), neighbours=promise.relation)


def renyi_rule(case: Case) -> list[Finding]:
    """Success <= min over t of (base e^epsilon(t))^((t-1)/t), per fibre of what is known (Balle et al. 2022).

    The divergence may be from any reference: another record, the absence of the record, or one fixed distribution.
    """
    weight, base = baselines(case)
    findings = [_success(promise, float(weight @ renyi_success(bound, base))) for promise, bound in _renyi_bounds(case)]
    return smallest_finding(findings, "needs a bound on Renyi divergences")


def zcdp_rule(case: Case) -> list[Finding]:
    """Success <= exp(-(sqrt(ln 1/base) - sqrt(rho))^2), per fibre of what is known: `renyi_rule` for pure zCDP."""
    weight, base = baselines(case)
    findings = [
        _success(promise, float(weight @ zcdp_success(bound.rho, base)))
        for promise, bound in _renyi_bounds(case)
        if bound.rho > 0.0 and not bound.orders
    ]
    return smallest_finding(findings, "needs zero-concentrated differential privacy")


def fano_rule(case: Case) -> list[Finding]:
    """Fano's inequality, or its generalised form where that is smaller, with the information that order 1 allows.

    Holds for a prior over finitely many values, nothing known and the exact goal (Guo et al. 2023).
    """
    case.need_nothing_known()
    case.need_exact_goal()
    prior = case.finite_prior.probabilities
    base = case.threat.best_blind_guess
    findings = []
    for promise, bound in _renyi_bounds(case):
        information = renyi_information(bound)
        if promise.relation == "replace-one":
            information = replaced_information(prior, information)
        value = min(fano_success(prior, information), generalised_fano(base, information))
        findings.append(_success(promise, value))
    return smallest_finding(findings, "needs a bound on Renyi divergences")
