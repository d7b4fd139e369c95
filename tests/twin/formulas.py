"""Sums, integrals and roots for settings too large to enumerate, written from the definition, not the closed form.

Local protocols under the uniform prior and the exact goal: the success of the optimal attack as a sum over how many
wrong values look like the true one. Gaussian differential privacy: the trade-off curve and the numbers that follow.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import mpmath
import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr, ndtri
from scipy.stats import beta, binom

if TYPE_CHECKING:
    from collections.abc import Callable


# Local protocols: success of the optimal attack, uniform prior, exact goal, no knowledge. RAD = success - 1/m.


def grr_success(m: int, epsilon: float) -> float:
    """Output the report."""
    return math.exp(epsilon) / (math.exp(epsilon) + m - 1)


def subset_size(m: int, epsilon: float) -> int:
    """max(1, floor(m / (e^eps + 1)))."""
    return max(1, math.floor(m / (math.exp(epsilon) + 1)))


def ss_success(m: int, epsilon: float) -> float:
    """One of the omega members of the subset, at random."""
    omega = subset_size(m, epsilon)
    with_true = math.exp(epsilon) * omega  # e^eps C(m-1, omega-1) against C(m-1, omega), times omega / C(m-1, omega-1)
    return with_true / (with_true + m - omega) / omega


def unary_success(m: int, p: float, q: float) -> float:
    """One of the set bits at random, any value if none is set; summed over the number k of wrong set bits."""
    k = np.arange(m)
    wrong = binom.pmf(k, m - 1, q)
    return math.fsum(p * wrong / (k + 1)) + (1 - p) * float(wrong[0]) / m


def sue_success(m: int, epsilon: float) -> float:
    """Symmetric unary encoding."""
    p = 1 / (1 + math.exp(-epsilon / 2))
    return unary_success(m, p, 1 - p)


def oue_success(m: int, epsilon: float) -> float:
    """Optimal unary encoding."""
    return unary_success(m, 0.5, 1 / (math.exp(epsilon) + 1))


def hashing_success(m: int, g: int, epsilon: float) -> float:
    """Local hashing: one of the values that hash to the report, at random; k other values share the true bucket."""
    keep, k = math.exp(epsilon) / (math.exp(epsilon) + g - 1), np.arange(m)
    same = binom.pmf(k, m - 1, 1 / g)
    return keep * math.fsum(same / (k + 1)) + (1 - keep) * float(same[0]) / m


def olh_size(epsilon: float) -> int:
    """floor(e^eps + 1)."""
    return math.floor(math.exp(epsilon) + 1)


def she_success(m: int, epsilon: float) -> float:
    """Histogram with Lap(2/eps) noise, largest coordinate: integral of f(x - 1) F(x)^(m-1)."""
    b = mpmath.mpf(2) / epsilon

    def cdf(x: mpmath.mpf) -> mpmath.mpf:
        half = mpmath.exp(-abs(x) / b) / 2
        return half if x < 0 else 1 - half

    def integrand(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.exp(-abs(x - 1) / b) / (2 * b) * cdf(x) ** (m - 1)

    peak = b * mpmath.log(m)
    with mpmath.workdps(20):
        points = sorted(
            [-40 * b, mpmath.mpf(0), mpmath.mpf(1), *(peak + i * b for i in range(-6, 7, 2)), 1 + peak + 60 * b]
        )
        return float(mpmath.quad(integrand, points))


def the_threshold(epsilon: float) -> float:
    """Threshold in [1/2, 1] that minimises the variance of thresholded histogram encoding."""

    def variance(t: float) -> float:
        top = 2 * math.exp(epsilon * t / 2) - 1
        return top / (1 + math.exp(epsilon * (t - 0.5)) - 2 * math.exp(epsilon * t / 2)) ** 2

    return float(minimize_scalar(variance, bounds=(0.5, 1), method="bounded", options={"xatol": 1e-10}).x)


def the_success(m: int, epsilon: float) -> float:
    """Thresholded histogram encoding: unary encoding with the probabilities of passing the threshold."""
    t = the_threshold(epsilon)
    return unary_success(m, 1 - math.exp(-epsilon * (1 - t) / 2) / 2, math.exp(-epsilon * t / 2) / 2)


def audit_epsilon(m: int, success: float) -> float:
    """Inversion of Cor 5.6: the epsilon of a GRR with this success."""
    return math.log(success * (m - 1) / (1 - success))


def audit_epsilon_from_rad(m: int, rad: float) -> float:
    """The same from RAD, as printed: ln((g m + 1) / (1 - g m / (m - 1)))."""
    return math.log((rad * m + 1) / (1 - rad * m / (m - 1)))


# Trade-off curves.


def gdp_curve(mu: float) -> Callable[[float], float]:
    """G_mu."""
    return lambda fpr: float(ndtr(-ndtri(fpr) - mu))


def laplace_curve(epsilon: float) -> Callable[[float], float]:
    """Trade-off of Laplace noise with scale 1/eps at distance 1, by the threshold test."""

    def survival(x: float) -> float:
        return math.exp(-x) / 2 if x > 0 else 1 - math.exp(x) / 2

    def fnr(fpr: float) -> float:
        threshold = -math.log(2 * fpr) if fpr < 0.5 else math.log(2 * (1 - fpr))  # survival(threshold) = fpr
        return 1 - survival(threshold - epsilon)

    return fnr


def gdp_tv(mu: float) -> float:
    """2 Phi(mu/2) - 1."""
    return 2 * float(ndtr(mu / 2)) - 1


def gdp_delta(mu: float, epsilon: float) -> float:
    """The delta of mu-GDP at epsilon."""
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def gdp_mu(epsilon: float, delta: float) -> float:
    """The mu whose (epsilon, delta) point this is."""
    return float(brentq(lambda mu: gdp_delta(mu, epsilon) - delta, 1e-3, 40, xtol=1e-13))


def thm_5_1_uniform(mu: float, m: int) -> float:
    """Second form of Thm 5.1 for mu-GDP, uniform prior: (1 - 1/m) max over fpr in [0, 1/(m-1)] of 1 - f(fpr) - fpr."""
    fpr = min(1 / (m - 1), float(ndtr(-mu / 2)))  # 1 - f(fpr) - fpr is concave with its peak at Phi(-mu/2)
    return (m - 1) / m * (1 - gdp_curve(mu)(fpr) - fpr)


def thm_5_1_first(mu: float, m: int) -> float:
    """First form of Thm 5.1 for mu-GDP, uniform prior, exact goal: 1 - f - fpr at fpr = 1/m (kappa- = kappa+)."""
    return 1 - gdp_curve(mu)(1 / m) - 1 / m


def thm_4_2_uniform(mu: float, m: int) -> float:
    """TV(M) (1 - 1/m)."""
    return (m - 1) / m * gdp_tv(mu)


def root_bound(f: Callable[[float], float], m: int) -> float:
    """(m-1)/m - (m-1) x where f(x) = (m-1) x."""
    x = brentq(lambda fpr: f(fpr) - (m - 1) * fpr, 1e-300, 1 / (m - 1), xtol=1e-16)
    return (m - 1) / m - (m - 1) * float(x)


def hayes_success(mu: float, m: int) -> float:
    """1 - f(1/m)."""
    return 1 - gdp_curve(mu)(1 / m)


def noise_for(bound: Callable[[float, int], float], steps: int, m: int, rad: float, factor: float = 1.0) -> float:
    """The sigma with bound(factor sqrt(steps) / sigma, m) = rad."""
    mu = brentq(lambda x: bound(x, m) - rad, 1e-6, 30, xtol=1e-13)
    return factor * math.sqrt(steps) / float(mu)


# Calibration of Laplace and GRR.


def grr_epsilon(m: int, rad: float) -> float:
    """The epsilon at which GRR, uniform prior, has this RAD: by root finding on success - 1/m."""
    return float(brentq(lambda e: grr_success(m, e) - 1 / m - rad, 1e-9, 60, xtol=1e-13))


def laplace_spaced_rad(m: int, epsilon: float) -> float:
    """Laplace noise 1/eps on m equally spaced values in [0, 1]: a guess is right while theta is in its own cell."""
    gap = 1 / (m - 1)
    inner = 1 - math.exp(-epsilon * gap / 2)  # both sides of a value, half a gap each
    end = 1 - math.exp(-epsilon * gap / 2) / 2
    return ((m - 2) * inner + 2 * end) / m - 1 / m


def laplace_epsilon(m: int, rad: float) -> float:
    """The epsilon at which `laplace_spaced_rad` is this."""
    return float(brentq(lambda e: laplace_spaced_rad(m, e) - rad, 1e-9, 2000, xtol=1e-13))


def laplace_rero_epsilon(m: int, success: float) -> float:
    """The epsilon at which 1 - f(1/m) for the Laplace curve is this success."""
    return float(brentq(lambda e: 1 - laplace_curve(e)(1 / m) - success, 1e-9, 60, xtol=1e-13))


# Confidence limits.


def lower_limit(count: float, n: float, tail: float) -> float:
    """Clopper-Pearson lower limit with this tail."""
    return float(beta.ppf(tail, count, n - count + 1))


def upper_limit(count: float, n: float, tail: float) -> float:
    """Clopper-Pearson upper limit with this tail."""
    return float(beta.ppf(1 - tail, count + 1, n - count))
