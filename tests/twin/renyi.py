"""Renyi divergences, written from their definitions: roots at high precision, scans over orders, and brute force.

Nothing here knows which direction or which order matters: both directions and all orders are tried.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import mpmath
import numpy as np
from scipy.optimize import brentq, minimize_scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DIGITS = 40


def divergence(order: float, first: Sequence[float], second: Sequence[float]) -> mpmath.mpf:
    """D_t between two finite distributions; order 1 is the Kullback-Leibler divergence."""
    with mpmath.workdps(DIGITS):
        t = mpmath.mpf(order)
        pairs = [(mpmath.mpf(a), mpmath.mpf(b)) for a, b in zip(first, second, strict=True) if a > 0]
        if any(b == 0 for _, b in pairs):
            return mpmath.inf
        if t == 1:
            return mpmath.fsum(a * mpmath.log(a / b) for a, b in pairs)
        return mpmath.log(mpmath.fsum(a**t * b ** (1 - t) for a, b in pairs)) / (t - 1)


def answers(order: float, p: mpmath.mpf, x: mpmath.mpf) -> mpmath.mpf:
    """The larger of the two divergences between a yes with probability p and a yes with probability x."""
    with mpmath.workdps(DIGITS):
        yes, other = [p, 1 - mpmath.mpf(p)], [x, 1 - mpmath.mpf(x)]
        return max(divergence(order, yes, other), divergence(order, other, yes))


def least_fnr(listed: Sequence[tuple[float, float]], x: float) -> mpmath.mpf:
    """The smallest y with both divergences between 1 - y and x within (order, epsilon) for all listed: bisection."""
    with mpmath.workdps(DIGITS):
        low, high = mpmath.mpf(0), 1 - mpmath.mpf(x)  # y = 1 - x is always inside
        for _ in range(110):
            y = (low + high) / 2
            inside = all(answers(t, 1 - y, mpmath.mpf(x)) <= e for t, e in listed)
            low, high = (low, y) if inside else (y, high)
        return high


def _root(order: float, epsilon: float, x: float, *, swapped: bool) -> float:
    """The p above x at which one divergence is epsilon, in floating point."""

    def excess(p: float) -> float:
        a, b = (x, p) if swapped else (p, x)
        up, down = math.log(a) - math.log(b), math.log1p(-a) - math.log1p(-b)
        if order == 1.0:
            return a * up + (1 - a) * down - epsilon
        terms = math.log(a) + (order - 1) * up, math.log1p(-a) + (order - 1) * down
        top = max(terms)
        return (top + math.log(sum(math.exp(v - top) for v in terms))) / (order - 1) - epsilon

    last = 1 - 1e-15
    return last if excess(last) <= 0 else float(brentq(excess, x, last, xtol=1e-18, rtol=1e-14))


def zcdp_fnr(rho: float, x: float) -> float:
    """The smallest y for rho-zCDP: the best over a fine scan of the orders, refined, and over both directions."""
    places = np.linspace(math.log(1e-4), math.log(100 + 100 / math.sqrt(rho)), 160)
    best = 1.0
    for swapped in (False, True):

        def power(place: float, swapped: bool = swapped) -> float:
            order = 1 + math.exp(place)
            return _root(order, rho * order, x, swapped=swapped)

        powers = [power(place) for place in places]
        k = int(np.argmin(powers))
        bracket = (places[max(k - 1, 0)], places[min(k + 1, places.size - 1)])
        refined = minimize_scalar(power, bounds=bracket, method="bounded", options={"xatol": 1e-9})
        best = min(best, powers[k], float(refined.fun), _root(1.0, rho, x, swapped=swapped))
    return 1 - best


def zcdp_tv(rho: float) -> float:
    """The total variation of randomised response with divergence rho: eta ln((1 + eta)/(1 - eta)) = rho."""
    with mpmath.workdps(DIGITS):
        low, high = mpmath.mpf(0), mpmath.mpf(1)
        for _ in range(100):
            eta = (low + high) / 2
            low, high = (eta, high) if eta * mpmath.log((1 + eta) / (1 - eta)) <= rho else (low, eta)
        return low


def cks_epsilon(epsilon: Callable[[float], float], delta: float) -> float:
    """Canonne, Kamath and Steinke 2020, Proposition 12: the least over a scan of the orders."""
    orders = 1 + np.exp(np.linspace(math.log(1e-3), math.log(1e5), 4001))
    epsilons = [epsilon(t) + math.log1p(-1 / t) - (math.log(delta) + math.log(t)) / (t - 1) for t in orders]
    return max(0.0, min(epsilons))


def tradeoff(first: Sequence[float], second: Sequence[float], fpr: np.ndarray) -> np.ndarray:
    """The least false-negative rate, false positives under ``second``: reject the largest ratios first."""
    order = sorted(range(len(first)), key=lambda i: -first[i] / second[i] if second[i] else -math.inf)
    x = np.concatenate([[0.0], np.cumsum([second[i] for i in order])])
    y = np.concatenate([[1.0], 1 - np.cumsum([first[i] for i in order])])
    keep = np.append(np.diff(x) > 0, True)  # the lower of two points at the same false-positive rate comes last
    return np.interp(fpr, x[keep], np.maximum(y[keep], 0.0))


def mutual_information(matrix: np.ndarray, prior: np.ndarray) -> float:
    """Of the record and the output of a channel, in nats."""
    output = prior @ matrix
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(matrix > 0, matrix * np.log(matrix / output), 0.0)
    return float(prior @ terms.sum(axis=1))


def bayes_success(matrix: np.ndarray, prior: np.ndarray) -> float:
    """Of naming the record: the likeliest record after each output."""
    return float((prior[:, None] * matrix).max(axis=0).sum())


def fano_success(prior: Sequence[float], information: float) -> float:
    """1 - err with H(P) - I = h(err) + err ln(k - 1), err below 1 - 1/k."""
    k = len(prior)
    needed = -sum(p * math.log(p) for p in prior) - information

    def excess(err: float) -> float:
        return -err * math.log(err) - (1 - err) * math.log1p(-err) + err * math.log(k - 1) - needed

    return 1.0 if needed <= 0 else 1 - float(brentq(excess, 1e-300, 1 - 1 / k, xtol=1e-16))
