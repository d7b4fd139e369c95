"""The largest rad under a privacy profile, whatever is known of the target: Theorem 4.2 with every epsilon."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..numerics.lazy_numpy import Floats, np
from .question import Case, Inapplicable
from .rule import Finding

if TYPE_CHECKING:
    from ..guarantees.curves import TradeoffCurve
    from ..guarantees.privacy import Privacy
    from ..threats import Threat

__all__ = ["OTHERS", "any_knowledge_bound", "for_every_prior", "profile_rule", "pure_any_knowledge"]

OTHERS = "the other records are fixed, or independent of the target's"
_LARGEST = 700.0  # e^700 is the steepest line that matters
_NODES, _STEEP, _EVEN = 32, 1e-9, 1.0 / 32.0  # points of the curve beside its peak: geometric, then even
_EPSILONS, _FINER, _ROUNDS = 129, 64, 2
_ROUNDING = 2e-14  # of a value of the curve, with room to spare


def pure_any_knowledge(epsilon: Floats, m: int | None = None) -> Floats:
    """Return tanh(eps/4), or for a uniform prior over m values the largest (e^eps-1) j (m-j) / (m (m + j (e^eps-1))).

    Guarantee
    ---------
    An upper bound on rad for every epsilon-DP mechanism under replace-one, any prior, knowledge and goal. With ``m`` it
    is reached by subset selection when everything is known (up to rounding).

    Examples
    --------
    >>> pure_any_knowledge(np.array([1.0, 1.0]), 3).round(6).tolist(), float(pure_any_knowledge(np.ones(1)).round(6)[0])
    ([0.242784, 0.242784], 0.244919)
    """
    limit = np.tanh(np.asarray(epsilon, dtype=float) / 4.0)
    if m is None:
        return np.asarray(limit)
    if m < 2:
        return np.zeros_like(limit)
    # k (1-k) (e^eps-1) / (1 + k (e^eps-1)) is concave in k: of k = j/m those next to the best k count.
    shrink, rest = np.exp(-np.asarray(epsilon, dtype=float)), -np.expm1(-np.asarray(epsilon, dtype=float))
    below = np.clip(np.floor(m * np.sqrt(shrink) / (1.0 + np.sqrt(shrink))), 1.0, m - 1.0)
    values = [rest * k * (1.0 - k) / (shrink + k * rest) for k in _shares(below, m)]
    return np.asarray(np.minimum(np.max(values, axis=0) * (1.0 + 1e-12), limit))


def _shares(below: Floats, m: int) -> list[Floats]:
    # One more on each side: rounding may have chosen the neighbour.
    return [np.clip(below + step, 1.0, m - 1.0) / m for step in (-1.0, 0.0, 1.0, 2.0)]


def _vertices(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the corners of a polygon below every convex curve through the points, which ascend.

    Within a cell a convex curve lies above the chords of both neighbouring cells, prolonged.
    """
    slope = np.diff(y) / np.diff(x)
    left, right = np.append(slope[:1], slope[:-1]), np.append(slope[1:], slope[-1:])
    x0, x1, y0, y1 = x[:-1], x[1:], y[:-1], y[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = (y1 - y0 + left * x0 - right * x1) / (left - right)
    meet = np.clip(np.where(np.isfinite(meet), meet, x0), x0, x1)
    low = np.maximum(y0 + left * (meet - x0), y1 + right * (meet - x1))
    # Only one chord is known beside the first and the last cell.
    low[0], meet[0] = y1[0] - right[0] * (x1[0] - x0[0]), x0[0]
    low[-1], meet[-1] = y0[-1] + left[-1] * (x1[-1] - x0[-1]), x1[-1]
    width = np.diff(x)
    beside = np.minimum(np.append(width[1:2], width[:-1]), np.append(width[1:], width[-2:-1]))
    low -= _ROUNDING * (1.0 + 2.0 * width / beside)  # a chord prolonged multiplies the error of its ends
    inner = slice(1, -1)
    return np.concatenate([meet, x[inner]]), np.concatenate([low, y[inner] - _ROUNDING])


def any_knowledge_bound(curve: TradeoffCurve, tv: float, collision: float, m: int | None = None) -> tuple[float, float]:
    """Return the least t + (1 - t) (1 - kappa) delta(eps) over eps >= 0, t = ``pure_any_knowledge``, and that eps.

    Guarantee
    ---------
    Every epsilon gives a bound, so the search may miss the best one only from above. delta(eps) is that of a polygon
    below the curve, and below the total variation: never smaller than the true one.

    Assumes
    -------
    The curve is convex and holds under replace-one in both orders. ``m`` only for a uniform prior over m values.

    Notes
    -----
    Ours; proof in docs/derivations/any-knowledge.md. At epsilon 0 it is Theorem 4.2 of [RAD].

    Examples
    --------
    >>> from dpradar.guarantees.curves import gaussian_curve
    >>> value, _ = any_knowledge_bound(gaussian_curve(1.0), gaussian_curve(1.0).gap(), 0.01)
    >>> round(value, 5)
    0.32782
    """
    return _least_bound(curve, tv, max(0.0, 1.0 - collision), m)


def _least_bound(curve: TradeoffCurve, tv: float, apart: float, m: int | None) -> tuple[float, float]:
    best, at = min(tv * apart, 1.0), 0.0
    peak = min(curve.peak, 0.5)
    if peak <= 0.0 or best <= 0.0:
        return best, at
    small, even = np.geomspace(_STEEP * peak, _EVEN * peak, _NODES), np.linspace(_EVEN * peak, peak, _NODES)
    x = np.concatenate([[0.0], small, even[1:], [peak + 0.01 * (1.0 - peak), 0.5 * (1.0 + peak), 1.0]])
    y = np.clip(curve.fnr(x), 0.0, 1.0)
    last = 4.0 * math.atanh(min(best, 1.0 - 1e-15))  # beyond, tanh(eps/4) alone is no smaller
    epsilons = np.linspace(0.0, min(last, _LARGEST), _EPSILONS)
    for round_ in range(_ROUNDS + 1):
        px, py = _vertices(x, np.maximum(y, 1.0 - tv - x))
        room = 1.0 - py - np.exp(epsilons)[:, None] * px
        touching = np.argmax(room, axis=1)
        delta = np.clip(room[np.arange(epsilons.size), touching], 0.0, tv)
        t = pure_any_knowledge(epsilons, m)
        values = t + (1.0 - t) * apart * delta
        i = int(np.argmin(values))
        if values[i] < best:
            best, at = float(values[i]), float(epsilons[i])
        if round_ == _ROUNDS:
            break
        # Finer epsilons around the best one, and a finer curve where their lines touch it.
        near = slice(max(i - 3, 0), i + 4)
        epsilons, touched = np.linspace(epsilons[near][0], epsilons[near][-1], _FINER), px[touching[near]]
        first, after = np.searchsorted(x, [touched.min(), touched.max()]).tolist()
        first, after = max(first - 2, 0), min(after + 2, x.size - 1)
        more = np.linspace(x[first], x[after], _FINER)[1:-1]  # in place of others: no two are too close for a chord
        x = np.concatenate([x[: first + 1], more, x[after:]])
        y = np.concatenate([y[: first + 1], np.clip(curve.fnr(more), 0.0, 1.0), y[after:]])
    return best, at


def for_every_prior(threat: Threat, finding: Finding) -> list[Finding]:
    """Return a finding about rad; where the threat is every prior also about the gain, which is never above rad."""
    if threat.kind != "worst":
        return [finding]
    gain = Finding(quantity="gain", value=finding.value, assumes=finding.assumes, neighbours=finding.neighbours)
    return [finding, gain]


def profile_rule(case: Case) -> list[Finding]:
    """RAD <= min over eps of t + (1-t)(1-kappa) delta(eps), t = tanh(eps/4): any prior, knowledge and goal (ours).

    Replace-one, in both orders. Without a prior kappa is 0; for a uniform prior t is a little smaller.
    """
    if case.threat.kind == "membership":
        message = "membership compares in with out; the advantage compares two records"
        raise Inapplicable(message)
    promise = case.privacy("replace-one")
    prior = case.threat.prior
    apart = 1.0 if prior is None else case.threat.apart
    m = prior.size if prior is not None and not prior.is_continuous and prior.is_uniform else None
    value = min(_listed(promise, apart, m), _along_the_curve(promise, apart, m))
    if not value < 1.0:
        message = "the guarantee allows every value"
        raise Inapplicable(message)
    assumes = (promise.source, OTHERS)
    finding = Finding(quantity="rad", value=value, assumes=assumes, neighbours=promise.relation)
    return for_every_prior(case.threat, finding)


def _listed(promise: Privacy, apart: float, m: int | None) -> float:
    """Return the bound at the epsilon and delta that are promised, where there are any."""
    if promise.epsilon is None:
        return 1.0
    t = float(pure_any_knowledge(np.array([promise.epsilon]), m)[0])
    return t + (1.0 - t) * apart * promise.delta


def _along_the_curve(promise: Privacy, apart: float, m: int | None) -> float:
    if promise.curve is None:
        if promise.epsilon is None:
            message = "needs a trade-off curve, or epsilon and delta, under replace-one"
            raise Inapplicable(message)
        return 1.0
    tv = promise.curve.gap() if promise.tv is None else promise.tv
    return _least_bound(promise.curve, tv, apart, m)[0]
