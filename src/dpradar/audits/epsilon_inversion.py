"""From the success or the advantage of an attack back to epsilon: the RAD-based audit, and LDP-Auditor's estimator."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..bounds import assess
from ..bounds.pure_black_box import pure_black_box
from ..bounds.question import Case, Inapplicable
from ..bounds.rules import RULES
from ..errors import ParameterError
from ..numerics.confidence_intervals import clopper_pearson_high, clopper_pearson_low
from ..numerics.lazy_numpy import np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..threats import Prior, Threat

__all__ = [
    "epsilon_from_black_box",
    "epsilon_from_own_curve",
    "epsilon_from_rad",
    "epsilon_from_uniform",
    "ldp_auditor",
]

_MOST_EPSILON = 60.0
_ROUNDING = 4e-16  # of 1 - kappa, and of a ratio
_LEAST_EPSILON = 1e-6  # below it the answer is 0: not every protocol exists with epsilon 0 itself


def epsilon_from_uniform(rad: float, m: int, delta: float = 0.0) -> float | None:
    """Return the epsilon at which Corollary 5.6 of [RAD] equals ``rad``: uniform prior, nothing known, exact goal.

    None when no epsilon reaches it: the attack is (nearly) always right, beyond the range of the method.

    Guarantee
    ---------
    If ``rad`` is at most the true one, the result is a lower bound on epsilon for every (epsilon, delta)-DP mechanism.

    Notes
    -----
    [RAD] Equation (61), Method 1 of Sauer (2025): e^eps = (1 - delta m + rad m) / (1 - rad m/(m-1)).

    Examples
    --------
    >>> import dpradar as dr
    >>> rad = dr.assess(dr.GRR(m=100, epsilon=5.0), dr.Threat(dr.Prior.uniform(100))).rad.value
    >>> round(epsilon_from_uniform(rad, 100), 9)
    5.0
    """
    above, below = 1.0 - delta * m + rad * m, 1.0 - rad * m / (m - 1)
    if below <= 0.0:
        return None
    return max(0.0, math.log(above / below)) if above > 0.0 else 0.0


def epsilon_from_rad(rad: float, collision: float, delta: float = 0.0, m: int | None = None) -> float | None:
    """Return the least epsilon that allows ``rad``, with any prior, knowledge and goal; ``m``: of a uniform prior.

    None when no epsilon allows it.

    Guarantee
    ---------
    If ``rad`` is at most the true one, the result is a lower bound on epsilon for every (epsilon, delta)-DP mechanism.

    Notes
    -----
    The larger of two inversions: rad <= (1 - kappa) TV, TV <= (e^eps - 1 + 2 delta)/(e^eps + 1) ([RAD] Theorem 4.2),
    and rad <= t + (1 - t) (1 - kappa) delta with t = tanh(eps/4) (docs/derivations/any-knowledge.md). For a uniform
    prior t = max over j of (e^eps - 1) j (m - j) / (m (m + j (e^eps - 1))), which asks for a little more.

    Examples
    --------
    >>> round(epsilon_from_rad(0.231059, 0.5), 4), round(epsilon_from_rad(0.2, 0.01), 4)
    (1.0, 0.8109)
    """
    if rad <= 0.0 or delta >= 1.0:
        return 0.0
    if rad >= 1.0 - collision:
        return None
    apart = 1.0 - collision + _ROUNDING  # where one value is almost certain few digits of it are left
    tv = rad / apart * (1.0 - _ROUNDING)
    above = 1.0 + tv - 2.0 * delta
    by_variation = math.log(above / (1.0 - tv)) if above > 0.0 else 0.0
    delta_share = min(apart, 1.0) * delta
    t = (rad - delta_share) / (1.0 - delta_share) - _ROUNDING
    return max(0.0, by_variation, _epsilon_of_share(t, m) if t > 0.0 else 0.0)


def _epsilon_of_share(t: float, m: int | None) -> float:
    """Return 4 artanh(t), or for a uniform prior the least epsilon at which some j of the formula reaches t."""
    if m is None:
        return 4.0 * math.atanh(t)
    # (e^eps - 1) j (m - j) >= t m (m + j (e^eps - 1)) for some j; the largest j (m - t m - j) asks for least.
    most = m * (1.0 - t)
    j = np.clip(np.floor(0.5 * most) + np.arange(-1.0, 3.0), 1.0, m - 1.0)
    room = float(np.max(j * (most - j)))
    return math.log1p(t * m * m / room) * (1.0 - 1e-12) if room > 0.0 else 4.0 * math.atanh(t)


def epsilon_from_black_box(rad: float, prior: Prior) -> float | None:
    """Return the epsilon at which the largest rad of all epsilon-DP mechanisms is ``rad``: nothing known, any prior.

    Notes
    -----
    Inverts our exact black-box value (docs/derivations/black-box.md), which increases with epsilon; for uniform priors
    that is Corollary 5.6.

    Examples
    --------
    >>> from dpradar.threats import Prior
    >>> prior = Prior.of([0.5, 0.3, 0.1, 0.05, 0.05])
    >>> round(epsilon_from_black_box(pure_black_box(prior.probabilities, 2.0).proven, prior), 6)
    2.0
    """
    if rad <= 0.0:
        return 0.0
    # From above, so that the epsilon found is never too large.
    return _root(lambda epsilon: pure_black_box(prior.probabilities, epsilon).proven, rad)


def epsilon_from_own_curve(value: float, protocol: Any, threat: Threat, quantity: str = "rad") -> float | None:
    """Return the epsilon at which the protocol's own exact rad (or success) equals ``value``.

    A claim test: above the claimed epsilon the implementation leaks more than the protocol can. It does not cover
    the privacy of other mechanisms. ``protocol`` is an object with ``m`` and ``epsilon``, such as OUE(m=10, epsilon=1).

    Notes
    -----
    [RAD] Section 6 for GRR, SS and OUE, by bisection for every protocol here.

    Examples
    --------
    >>> import dpradar as dr
    >>> threat, oue = dr.Threat(dr.Prior.uniform(20)), dr.OUE(m=20, epsilon=3.0)
    >>> round(epsilon_from_own_curve(dr.assess(oue, threat).rad.value, oue, threat), 6)
    3.0
    """
    kind, m = type(protocol), getattr(protocol, "m", None)
    if m is None or not hasattr(protocol, "epsilon"):
        raise ParameterError("protocol", "a local protocol with m and epsilon", repr(protocol))

    return _root(lambda epsilon: _exact(kind(m=m, epsilon=epsilon), threat, quantity), value)


def _exact(mechanism: Any, threat: Threat, quantity: str) -> float:
    """Return what the first engine that applies computes: all that an inversion needs of an assessment."""
    case = Case(mechanism, threat)
    for rule in RULES:
        if rule.engine and not rule.from_below:
            try:
                values = [finding.value for finding in rule.find(case) if finding.quantity == quantity]
            except Inapplicable:
                continue
            if values:
                return values[0]
    bound = getattr(assess(mechanism, threat), quantity)
    return float(bound.value)


def _root(increasing: Callable[[float], float], value: float) -> float | None:
    """Return where an increasing function of epsilon reaches the value, from below; None if it does not up to 60."""
    from scipy.optimize import brentq  # slow to import, needed only here

    low, high = _LEAST_EPSILON, 1.0
    while increasing(high) < value:
        low, high = high, 2.0 * high
        if high > _MOST_EPSILON:
            return None
    if increasing(low) >= value:
        return 0.0 if low == _LEAST_EPSILON else low
    root = float(brentq(lambda epsilon: increasing(epsilon) - value, low, high, xtol=1e-13, rtol=1e-13))
    return root * (1.0 - 1e-12)


def ldp_auditor(true_hits: int, false_hits: int, trials: int, significance: float = 0.01, delta: float = 0.0) -> float:
    """Return the estimate of LDP-Auditor from how often the guess is v1 for input v1 and for input v2.

    With ``trials`` runs for each. Its limits are two-sided at half the significance, as in its code, so each tail is a
    quarter of it; at 10^6 trials and 0.01 it can say at most 12.025.

    Notes
    -----
    Arcolezi and Gambs (2024), Algorithm 1.

    Examples
    --------
    >>> round(ldp_auditor(10**6, 0, 10**6), 3)
    12.025
    """
    low = clopper_pearson_low(true_hits, trials, significance / 4.0)
    high = clopper_pearson_high(false_hits, trials, significance / 4.0)
    return float(np.log((low - delta) / high)) if low > delta else 0.0
