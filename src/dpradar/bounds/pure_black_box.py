"""The largest rad of any pure-DP mechanism: exact goal, nothing known, any prior."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import NumericsError
from ..numerics.lazy_numpy import Floats, np
from .question import Case, Inapplicable
from .rule import Finding

__all__ = ["PureBlackBox", "pure_black_box", "pure_black_box_rule"]

_GAP = 1e-9
_ROUNDING = 4e-16
_CLOSE = 1e-12  # a proof this close to what is attained is not worth improving


@dataclass(frozen=True, slots=True)
class PureBlackBox:
    """``attained`` by randomised response on the ``top`` likeliest values, ``proven`` from above by a certificate."""

    attained: float
    proven: float
    top: int


def pure_black_box(pi: Floats, epsilon: float) -> PureBlackBox:
    """Return the largest rad over all epsilon-DP mechanisms, with a proof from above.

    Guarantee
    ---------
    ``attained`` <= truth <= ``proven``; the second is the value of a feasible point of the dual linear program,
    computed here, so it holds whether or not the formula for the first is right.

    Notes
    -----
    Ours; proof in docs/derivations/black-box.md. With pi sorted down and c = e^eps - 1: max over k of
    c/(c+k) [pi(S_k) - sum pi^2 - (1 - pi(S_k)) pi_k]. O(m log m).

    Examples
    --------
    >>> result = pure_black_box(np.array([0.5, 0.3, 0.1, 0.05, 0.05]), 1.0)
    >>> round(result.attained, 6), result.proven - result.attained < 1e-12
    (0.196655, True)
    """
    descending = np.sort(np.asarray(pi, dtype=float))[::-1]
    if epsilon == 0.0:
        return PureBlackBox(0.0, 0.0, 2)
    inverse = math.exp(-epsilon) / -math.expm1(-epsilon)  # 1/c, finite for every epsilon > 0
    mass, squares = np.cumsum(descending), np.cumsum(np.square(descending))
    tail_mass = np.concatenate([np.cumsum(descending[:0:-1])[::-1], [0.0]])  # 1 - mass, without cancellation
    k = np.arange(1, descending.size + 1)
    values = (mass - squares - tail_mass * descending) / (1.0 + k * inverse)
    best = float(values[1:].max())
    top = int(np.argmax(values[1:])) + 2
    attained = max(0.0, best)
    # Values of hardly any mass change the maximum by less than rounding, but not the certificate: try them in and out.
    last = int(np.flatnonzero(values[1:] >= best - _ROUNDING)[-1]) + 2
    proven = min(_certificate(descending, inverse, attained, k) for k in {top, last})
    return PureBlackBox(attained, max(attained, proven), top)


def _certificate(pi: Floats, inverse: float, value: float, top: int) -> float:
    """Return what the multipliers of docs/derivations/black-box.md prove.

    Any lambda proves max(sum lambda, c max_z sum_j (a_jz - lambda_j)_+), so a slip could only make the bound worse.
    """
    best = math.inf
    # Two shapes of lambda on the top values: the second does not cancel when c is huge.
    for slack in (np.full(top, value * inverse), np.zeros(top)):
        best = min(best, _proof(pi, inverse, slack))
        if best <= value + _CLOSE:
            break
    return best


def _proof(pi: Floats, inverse: float, slack: Floats) -> float:
    """Return the proven value for lambda_j = pi_j (1-pi_j) - slack_j on the top values and -tau pi_j elsewhere."""
    top = slack.size
    outside = float(pi[top:].sum())
    last = float(pi[top - 1])
    extra = max(0.0, float(slack[-1]) - last * (1.0 - last + float(pi[top - 2]))) if outside > 0.0 else 0.0
    tau = last + (extra / outside if outside > 0.0 else 0.0)
    inside = pi[:top] * (1.0 - pi[:top]) - slack
    inside[-1] += extra
    # For each z: what the top values add, the values outside, and then z itself set right.
    total = _overlap(pi, pi[:top], inside) + outside * np.maximum(tau - pi, 0.0)
    total[:top] -= np.maximum(-np.square(pi[:top]) - inside, 0.0)
    total[:top] += slack
    total[top - 1] = total[top - 1] - slack[-1] + max(float(slack[-1]) - extra, 0.0)
    tail = pi[top:]
    total[top:] += tail * (1.0 - tail + tau) - tail * np.maximum(tau - tail, 0.0)
    worst = float(total.max())
    level = float(inside.sum()) - tau * outside
    if inverse == 0.0:
        return level if worst <= 0.0 else math.inf
    return max(level, worst / inverse)


def _overlap(pi: Floats, weights: Floats, inside: Floats) -> Floats:
    """Return for each z the sum over j of (-pi_j pi_z - lambda_j)_+, by sorting where each term vanishes."""
    positive = weights > 0.0
    constant = float(np.maximum(-inside[~positive], 0.0).sum())
    weights, inside = weights[positive], inside[positive]
    vanish = -inside / weights
    order = np.argsort(vanish)
    vanish, weights = vanish[order], weights[order]
    mass = np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]])
    moment = np.concatenate([np.cumsum((weights * vanish)[::-1])[::-1], [0.0]])
    first = np.searchsorted(vanish, pi, side="right")
    return np.asarray(np.maximum(moment[first] - pi * mass[first], 0.0) + constant)


def pure_black_box_rule(case: Case) -> list[Finding]:
    """The exact black-box value for pure DP, with its dual certificate checked here and now (ours)."""
    case.need_nothing_known()
    case.need_exact_goal()
    promise = case.privacy("replace-one")
    if promise.epsilon is None or promise.delta > 0.0:
        message = "needs a pure epsilon guarantee under replace-one"
        raise Inapplicable(message)
    result = pure_black_box(case.finite_prior.probabilities, promise.epsilon)
    if result.proven - result.attained > _GAP:
        message = f"the certificate proves {result.proven:.12g} but {result.attained:.12g} is attained; wanted {_GAP:g}"
        raise NumericsError(message)
    note = f"some mechanism with this guarantee reaches it: randomised response on {result.top} values"
    return [Finding(quantity="rad", value=result.proven, assumes=(promise.source, note), neighbours=promise.relation)]
