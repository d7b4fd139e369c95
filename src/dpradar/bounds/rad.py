"""Upper bounds on the reconstruction advantage, one small function per theorem."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..guarantees.approx import tv_of_approx
from ..numerics.lazy_numpy import Floats, np
from .question import Case, Inapplicable
from .rule import Finding

if TYPE_CHECKING:
    from ..guarantees.curves import TradeoffCurve
    from ..guarantees.privacy import Privacy

__all__ = [
    "corollary_5_6",
    "hayes_minus_blind",
    "knapsack",
    "knapsack_root",
    "pairwise_knapsack",
    "pairwise_tv",
    "proposition_5_3",
    "root_bound",
    "root_level",
    "theorem_4_2",
    "theorem_5_1_interval",
    "theorem_5_1_scaled",
    "theorem_5_5",
    "thesis_corollary_2",
    "thesis_theorem_7",
    "thesis_theorem_8",
    "trivial",
]

_MOST_PAIR_INPUTS = 2_000
_MOST_SORTED_INPUTS = 1_000
_POINTS, _SHRINKS = 33, 15  # 32^15 > 1e22


def positive(value: float) -> float:
    """Return max(0, value), but keep nan: a value that could not be computed must not pass for no risk."""
    return 0.0 if value <= 0.0 else value


def _upper(value: float, promise: Privacy | None = None) -> list[Finding]:
    if promise is None:
        return [Finding(quantity="rad", value=positive(value))]
    return [Finding(quantity="rad", value=positive(value), assumes=(promise.source,), neighbours=promise.relation)]


def _needs_curve(case: Case) -> tuple[TradeoffCurve, Privacy]:
    promise = case.privacy("replace-one")
    if promise.curve is None:
        message = "needs a trade-off curve under replace-one"
        raise Inapplicable(message)
    return promise.curve, promise


def _needs_epsilon(case: Case) -> tuple[float, float, Privacy]:
    promise = case.privacy("replace-one")
    if promise.epsilon is None:
        message = "needs an (epsilon, delta) guarantee under replace-one"
        raise Inapplicable(message)
    return promise.epsilon, promise.delta, promise


def theorem_4_2(case: Case) -> list[Finding]:
    """RAD <= TV(M) (1 - kappa): any knowledge, any goal; without a prior the factor is dropped.

    [RAD] Theorem 4.2 (extended version). "The worst prior is 1/2, 1/2" printed beside it is false (docs/derivations),
    so the default without a prior is the total variation itself.
    """
    if case.threat.kind == "membership":
        message = "membership compares in with out; the advantage compares two records"
        raise Inapplicable(message)
    promise = case.privacy("replace-one")
    if promise.tv is None:
        message = "needs the total variation under replace-one"
        raise Inapplicable(message)
    if case.threat.prior is None:
        return _upper(promise.tv, promise)
    return _upper(promise.tv * case.threat.apart, promise)


def pairwise_tv(case: Case) -> list[Finding]:
    """RAD <= sum pi_i pi_j TV(M_i, M_j): Theorem 4.2 before the largest pair is taken (ours; docs/derivations)."""
    prior = case.finite_prior
    release = case.release
    if release is None or release.pair_tv is None:
        message = "needs the total variation of every pair of inputs"
        raise Inapplicable(message)
    if prior.size > _MOST_PAIR_INPUTS:
        message = f"compares all pairs, at most {_MOST_PAIR_INPUTS} values"
        raise Inapplicable(message)
    return _upper(release.average_pair_tv(prior.probabilities))


def theorem_5_1_interval(case: Case) -> list[Finding]:
    """RAD <= max of 1 - f(x) - x over [kappa-, kappa+]: nothing known, any goal ([RAD] Theorem 5.1, first form)."""
    case.need_nothing_known()
    curve, promise = _needs_curve(case)
    return _upper(curve.gap(case.threat.kappa_minus, case.threat.kappa_plus), promise)


def theorem_5_1_scaled(case: Case) -> list[Finding]:
    """RAD <= (1-kappa) max of 1 - f(x) - x over [0, kappa+/(1-kappa)]: discrete priors ([RAD] Theorem 5.1, second)."""
    case.need_nothing_known()
    _ = case.finite_prior
    curve, promise = _needs_curve(case)
    complement = case.threat.apart
    if complement <= 0.0:
        return _upper(0.0, promise)
    return _upper(complement * curve.gap(0.0, min(1.0, case.threat.kappa_plus / complement)), promise)


def proposition_5_3(case: Case) -> list[Finding]:
    """RAD <= min{kappa+ (e^eps-1) + delta, ((1-kappa-)(e^eps-1) + delta)/e^eps, Theorem 4.2} ([RAD] Proposition 5.3).

    Nothing known, any goal.
    """
    case.need_nothing_known()
    epsilon, delta, promise = _needs_epsilon(case)
    growth = math.expm1(min(epsilon, 700.0))
    first = case.threat.kappa_plus * growth + delta
    second = (1.0 - case.threat.kappa_minus) * -math.expm1(-epsilon) + delta * math.exp(-epsilon)
    third = tv_of_approx(epsilon, delta) * case.threat.apart
    return _upper(min(first, second, third), promise)


def knapsack(pi: Floats, tv: float, epsilon: float, delta: float) -> float:
    """Return max sum g_i pi_i with 0 <= g_i <= tv (1-pi_i) and sum g_i <= Gamma: the bound of Theorem 5.5.

    Examples
    --------
    >>> round(knapsack(np.array([0.5, 0.3, 0.2]), math.tanh(0.5), 1.0, 0.0), 7)
    0.2473359
    """
    m = pi.size
    shrink = math.exp(-epsilon)
    budget = (m - 1) * (-math.expm1(-epsilon) + m * delta * shrink) / (1.0 + (m - 1) * shrink)
    return _fill_knapsack(pi, tv, budget)


def _fill_knapsack(pi: Floats, tv: float, budget: float) -> float:
    descending = np.sort(pi)[::-1]
    others = 1.0 - descending
    others[0] = descending[1:].sum()  # to all digits where one value is almost certain
    room = tv * others
    amounts = np.clip(budget - np.concatenate([[0.0], np.cumsum(room)[:-1]]), 0.0, room)
    return float(amounts @ descending)


def theorem_5_5(case: Case) -> list[Finding]:
    """Any prior, nothing known, exact goal ([RAD] Theorem 5.5, with the mechanism's own total variation if known)."""
    case.need_nothing_known()
    case.need_exact_goal()
    epsilon, delta, promise = _needs_epsilon(case)
    tv = 1.0 if promise.tv is None else promise.tv
    return _upper(knapsack(case.finite_prior.probabilities, tv, epsilon, delta), promise)


def corollary_5_6(case: Case) -> list[Finding]:
    """RAD <= (e^eps-1+delta m)/(e^eps+m-1) (m-1)/m: uniform prior, nothing known, exact goal ([RAD] Corollary 5.6)."""
    case.need_nothing_known()
    case.need_exact_goal()
    case.need_uniform()
    epsilon, delta, promise = _needs_epsilon(case)
    m = case.finite_prior.size
    shrink = math.exp(-epsilon)
    value = (-math.expm1(-epsilon) + delta * m * shrink) / (1.0 + (m - 1) * shrink) * (m - 1) / m
    return _upper(value, promise)


def pairwise_knapsack(pi: Floats, tv: float, per_pair: float) -> float:
    """Return the greedy knapsack over unordered pairs of the master's thesis.

    Each ordered pair counts at most ``tv``, all together at most m(m-1) ``per_pair``, weighted with pi_i pi_j.

    Examples
    --------
    >>> pi, eps = np.array([0.5, 0.3, 0.1, 0.05, 0.05]), 1.0
    >>> round(pairwise_knapsack(pi, math.tanh(0.5), math.expm1(eps) / (math.exp(eps) + 4)), 6)
    0.266197
    """
    m = pi.size
    rows, columns = np.triu_indices(m, 1)
    products = np.sort(pi[rows] * pi[columns])[::-1]
    room = np.full(products.size, 2.0 * tv)
    budget = m * (m - 1) * per_pair
    amounts = np.clip(budget - np.concatenate([[0.0], np.cumsum(room)[:-1]]), 0.0, room)
    return float(amounts @ products)


def _needs_pairs(case: Case) -> Floats:
    case.need_nothing_known()
    case.need_exact_goal()
    pi = case.finite_prior.probabilities
    if pi.size > _MOST_SORTED_INPUTS:
        message = f"sorts all pairs of at most {_MOST_SORTED_INPUTS} values (shown for comparison only)"
        raise Inapplicable(message)
    return pi


def thesis_theorem_7(case: Case) -> list[Finding]:
    """The pairwise knapsack for (epsilon, delta)-DP (Sauer 2025, Theorem 7; printed with e^eps + 2 for e^eps + 1)."""
    pi = _needs_pairs(case)
    epsilon, delta, promise = _needs_epsilon(case)
    shrink = math.exp(-epsilon)
    per_pair = (-math.expm1(-epsilon) + pi.size * delta * shrink) / (1.0 + (pi.size - 1) * shrink)
    tv = math.tanh(epsilon / 2.0) + 2.0 * delta * shrink / (1.0 + shrink)
    return _upper(pairwise_knapsack(pi, min(tv, 1.0), per_pair), promise)


def _thesis_gap(case: Case) -> tuple[float, Privacy]:
    """Return max of 1 - f(x) - x over the interval [a, b] of Lemma 3 (Sauer 2025)."""
    curve, promise = _needs_curve(case)
    epsilon, delta, _ = _needs_epsilon(case)
    m = case.finite_prior.size
    shrink = math.exp(-epsilon)
    low = (1.0 - delta) * shrink / (1.0 + (m - 1) * shrink)
    high = (1.0 + delta * shrink) / (m - 1 + shrink)
    return curve.gap(low, min(high, 1.0)), promise


def thesis_theorem_8(case: Case) -> list[Finding]:
    """The pairwise knapsack with the mechanism's own curve (Sauer 2025, Theorem 8)."""
    pi = _needs_pairs(case)
    gap, promise = _thesis_gap(case)
    tv = 1.0 if promise.tv is None else promise.tv
    return _upper(pairwise_knapsack(pi, tv, gap), promise)


def thesis_corollary_2(case: Case) -> list[Finding]:
    """RAD <= (m-1)/m max of 1 - f(x) - x over [a, b] (Sauer 2025, Corollary 2).

    Uniform prior, nothing known, exact goal.
    """
    case.need_nothing_known()
    case.need_exact_goal()
    case.need_uniform()
    m = case.finite_prior.size
    gap, promise = _thesis_gap(case)
    return _upper(gap * (m - 1) / m, promise)


def root_level(curve: TradeoffCurve, m: int) -> float:
    """Return the x with f(x) = (m-1) x, from below.

    Examples
    --------
    >>> from dpradar.guarantees.curves import gaussian_curve
    >>> round(7 / 8 - 7 * root_level(gaussian_curve(2.0), 8), 3)
    0.518
    """
    low, high = 0.0, 1.0 / m
    for _ in range(_SHRINKS):
        # f(x) - (m-1) x falls: the root lies after the last grid point where it is positive.
        x = np.linspace(low, high, _POINTS)
        above = np.flatnonzero(curve.fnr(x) > (m - 1) * x)
        at = int(above[-1]) if above.size else 0
        low, high = float(x[at]), float(x[min(at + 1, x.size - 1)])
    return low


def root_bound(case: Case) -> list[Finding]:
    """RAD <= (m-1)/m - (m-1) x and success <= 1 - (m-1) x with f(x) = (m-1) x (ours; docs/derivations/root-bound.md).

    Uniform prior, nothing known, exact goal; f holds under replace-one in both orders. Never looser than Theorem 5.1.
    """
    case.need_nothing_known()
    case.need_exact_goal()
    case.need_uniform()
    curve, promise = _needs_curve(case)
    m = case.finite_prior.size
    level = root_level(curve, m)
    return [
        Finding(
            quantity="rad",
            value=positive((m - 1) / m - (m - 1) * level),
            assumes=(promise.source,),
            neighbours=promise.relation,
        ),
        Finding(
            quantity="success", value=1.0 - (m - 1) * level, assumes=(promise.source,), neighbours=promise.relation
        ),
    ]


def knapsack_root(case: Case) -> list[Finding]:
    """Theorem 5.5 with the budget (m-1)(1 - m x), f(x) = (m-1) x: any prior under f-DP (ours; docs/derivations).

    Nothing known, exact goal; f holds under replace-one in both orders. Uniform prior: the root bound.
    """
    case.need_nothing_known()
    case.need_exact_goal()
    curve, promise = _needs_curve(case)
    pi = case.finite_prior.probabilities
    tv = curve.gap() if promise.tv is None else promise.tv
    return _upper(_fill_knapsack(pi, tv, (pi.size - 1) * (1.0 - pi.size * root_level(curve, pi.size))), promise)


def hayes_minus_blind(case: Case) -> list[Finding]:
    """RAD <= 1 - f(kappa+) - kappa-: nothing known, any relation of f (docs/derivations/success-minus-blind.md).

    A hit is a success, at most 1 - f(kappa+) whatever f compares with; the false hit of a guess that ignores the target
    is at least kappa-. Uniform prior and exact goal: 1 - f(1/m) - 1/m.
    """
    case.need_nothing_known()
    findings = []
    for promise in case.promises("replace-one", "add-remove", "reference"):
        if promise.curve is not None:
            value = 1.0 - promise.curve.at(case.threat.kappa_plus) - case.threat.kappa_minus
            findings.append(
                Finding(quantity="rad", value=positive(value), assumes=(promise.source,), neighbours=promise.relation)
            )
    if not findings:
        message = "needs a trade-off curve"
        raise Inapplicable(message)
    return [min(findings, key=lambda finding: finding.value)]


def trivial(case: Case) -> list[Finding]:
    """RAD <= 1 - kappa and success <= 1, whatever the mechanism."""
    no_promise = case.threat.kind == "membership" and case.promise("add-remove") is None
    assumes = (
        ("nothing is promised about taking part or not (add-remove), which is what is asked",) if no_promise else ()
    )
    findings = [Finding(quantity="success", value=1.0, assumes=assumes)] if case.threat.kind != "worst" else []
    if case.threat.kind != "membership":
        apart = 1.0 if case.threat.prior is None else case.threat.apart
        findings.append(Finding(quantity="rad", value=positive(apart)))
    return findings
