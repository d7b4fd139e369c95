"""The information about the record that a promise allows, in nats: Kullback-Leibler divergences of pairs."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from ..numerics.lazy_numpy import np
from .pairs import AtomPair, GaussianPair, LaplacePair, SampledGaussianPair

if TYPE_CHECKING:
    from .pairs import Pair, Pairs
    from .privacy import Privacy

__all__ = ["information_of", "information_of_pairs", "laplace_information", "sampled_gaussian_information"]

_SAFE, _ROUNDING = 1e-9, 2e-14  # relative and absolute, far above the rounding error of every sum here
_QUADRATURE = 1e-23
_LOST = 1e-11  # what sums of listed probabilities miss by rounding
_TAIL = 13.0  # standard normal deviations; beyond lies less than 1e-37
_MOST_DISTANCE = 20.0  # of two Gaussians that are integrated
_SMALL = 1e-3
_CELLS = 4096


def laplace_information(epsilon: float) -> float:
    """Return eps - 1 + e^-eps: the divergence of two Laplace distributions whose centres are eps scales apart.

    It bounds that of any vectors at L1 distance eps too, because it is convex and 0 at 0: the parts add up to no more.

    Examples
    --------
    >>> round(laplace_information(1.0), 6), laplace_information(1e-9)
    (0.367879, 5e-19)
    """
    if epsilon < _SMALL:
        return 0.5 * epsilon * epsilon  # e^-x <= 1 - x + x^2/2
    return epsilon + math.expm1(-epsilon)


@lru_cache(maxsize=256)
def sampled_gaussian_information(noise: float, rate: float) -> float:
    """Return the divergence of (1-q) N(0, s^2) + q N(1, s^2) from N(0, s^2), rounded up.

    Guarantee
    ---------
    An upper bound. The trapezoidal rule for an analytic integrand that falls like a Gaussian: its error is below 1e-23
    (docs/derivations/information.md), which is added, and 1e-9 of the value. Never above q/(2 s^2), by convexity.

    Examples
    --------
    >>> 1e4 * sampled_gaussian_information(1.0, 0.002) < 1e4 * 0.002**2 * math.expm1(1.0) / 2
    True
    """
    distance = 1.0 / noise
    convex = 0.5 * rate * distance * distance
    if rate >= 1.0 or distance > _MOST_DISTANCE:
        return convex
    # The nearest singularity lies pi/distance from the real line; see the derivation for the step.
    step = 0.1 * min(1.0, 0.5 * math.pi * noise)
    x = np.arange(-_TAIL, _TAIL + distance + step, step)
    # u ln u - u + 1 with u = P/Q = 1 + w; it is at least 0, so that nothing cancels.
    w = rate * np.expm1(distance * (x - 0.5 * distance))
    small = np.abs(w) < _SMALL
    v = np.where(small, w, 0.0)
    series = v * v * (1.0 / 2.0 - v * (1.0 / 6.0 - v * (1.0 / 12.0 - v / 20.0)))
    u = np.where(small, 1.0, 1.0 + w)
    terms = np.where(small, series, u * np.log(u) - w)
    total = float(np.sum(np.exp(-0.5 * x * x) * terms)) * step / math.sqrt(2.0 * math.pi)
    return min(convex, total * (1.0 + _SAFE) + _QUADRATURE)


def _atoms(pair: AtomPair) -> float:
    """Return the larger divergence of both orders; infinite where an output is impossible under one of the two."""
    other = pair.swapped()
    lost = max(0.0, 1.0 - sum(pair.masses))  # rounding of the list, or mass of infinite loss
    if pair.infinite > 0.0 or other.infinite > _LOST or lost > _LOST:
        return math.inf
    largest = 0.0
    for one in (pair, other):
        losses, masses = np.array(one.losses), np.array(one.masses)
        largest = max(largest, float(masses @ losses) + 1e-13 * float(masses @ np.abs(losses)) + _ROUNDING)
    return largest


def _bounded(pair: Pair) -> float:
    """Return the divergence of a pair with bounded losses: the integral of delta(e) + e^-e delta'(e) over e >= 0.

    Both profiles are convex in e^e, so chords lie above them, and their integrals are known.
    """
    last = max(pair.span[1], -pair.span[0], 0.0) * (1.0 + _SAFE) + _SAFE  # beyond the last loss, whatever its rounding
    if not last < math.inf:
        return math.inf
    ends = np.linspace(0.0, last, _CELLS + 1)
    h = float(ends[1])
    forward, backward = np.maximum(pair.delta(ends), 0.0), np.maximum(pair.swapped().delta(ends), 0.0)
    if max(forward[-1], backward[-1]) > _ROUNDING:
        return math.inf
    if h > _SMALL:
        growth = math.expm1(h)
        share, other_share = 1.0 - h / growth, (h + math.expm1(-h)) / growth
    else:
        share, other_share = h * (0.5 - h / 12.0), h * (0.5 - h * (5.0 / 12.0 - h / 6.0))
    ahead = forward[:-1] * h + np.diff(forward) * share
    behind = np.exp(-ends[:-1]) * (-backward[:-1] * math.expm1(-h) + np.diff(backward) * other_share)
    return float(ahead.sum() + behind.sum()) * (1.0 + _SAFE) + _ROUNDING * last


def _of_pair(pair: Pair) -> float:
    if isinstance(pair, GaussianPair):
        return 0.5 * pair.mu * pair.mu
    if isinstance(pair, LaplacePair):
        return laplace_information(pair.epsilon)
    if isinstance(pair, SampledGaussianPair):
        # The record against its absence, in this order: the absence is the reference.
        return math.inf if pair.kind == "replace" else sampled_gaussian_information(pair.noise, pair.rate)
    if isinstance(pair, AtomPair):
        return _atoms(pair)
    return math.inf if pair.infinite > 0.0 else max(_bounded(pair), _bounded(pair.swapped()))


def information_of_pairs(pairs: Pairs) -> float:
    """Return the sum of the divergences of all pairs; infinite where a pair has none that is known.

    Guarantee
    ---------
    An upper bound on the divergence of the record's outputs from those of the reference, over all releases together,
    adaptive or not (chain rule).

    Examples
    --------
    >>> information_of_pairs(((GaussianPair(0.1), 100),)), information_of_pairs(((LaplacePair(1.0), 1),)) < 0.37
    (0.5000000000000001, True)
    """
    total = 0.0
    for pair, times in pairs:
        total += times * _of_pair(pair)
    return total


def information_of(promise: Privacy) -> float:
    """Return a bound in nats on the Kullback-Leibler divergence of the record's output from the other of the relation.

    The output without the record (add-remove), that of the reference, or that of another record (replace-one); infinite
    where the promise bounds none, such as (epsilon, delta) with delta > 0.

    Examples
    --------
    >>> from dpradar.guarantees import GDP, ApproxDP, PureDP
    >>> information_of(GDP(0.5, "add-remove").privacy("add-remove"))
    0.125
    >>> round(information_of(PureDP(1.0, "add-remove").privacy("add-remove")), 6)
    0.462117
    >>> information_of(ApproxDP(1.0, 1e-9, "add-remove").privacy("add-remove"))
    inf
    """
    divergences = [math.inf] if promise.information is None else [promise.information]
    if promise.renyi is not None:
        divergences.append(float(promise.renyi.at(1.0)))
    if promise.pairs is not None:
        divergences.append(information_of_pairs(promise.pairs))
    if promise.epsilon is not None and promise.delta == 0.0:
        one_order = promise.relation == "reference"
        divergences.append(promise.epsilon * (1.0 if one_order else math.tanh(0.5 * promise.epsilon)))
    return min(value for value in divergences if not math.isnan(value))
