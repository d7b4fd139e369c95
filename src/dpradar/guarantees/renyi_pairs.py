"""Renyi divergences of dominating pairs: looser than composed privacy losses, but no delta is too small for them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..numerics.lazy_numpy import np
from ..numerics.special import gammaln, logsumexp
from .pairs import GaussianPair, LaplacePair, SampledGaussianPair
from .renyi import RenyiBound, doubled_renyi

if TYPE_CHECKING:
    from .pairs import Pair, Pairs

__all__ = ["renyi_of_pairs"]

_ORDERS = (*range(2, 65), *(round(64 * 2 ** (k / 4)) for k in range(1, 17)))  # up to 1024
_ROUNDING = 1e-12  # of a logarithm of a sum of at most 1025 positive terms, with room to spare


def renyi_of_pairs(pairs: Pairs) -> RenyiBound | None:
    """Return a bound on the Renyi divergences of the pairs together, in both orders; None where a pair has none.

    Guarantee
    ---------
    The divergence of every order is at most the bound, rounded up; it holds for adaptive composition too (Mironov 2017,
    Proposition 1).

    Notes
    -----
    Gaussian pairs: t mu^2 / 2. Laplace pairs: Mironov (2017), Proposition 6. Poisson-sampled Gaussian noise against
    its absence: at whole orders the sum of Mironov, Talwar and Zhang (2019, arXiv v1), Section 3.3, which by their
    Theorem 5 also bounds the other order of the pair. A record against another one: by the weak triangle inequality
    over its absence.

    Examples
    --------
    >>> bound = renyi_of_pairs(((SampledGaussianPair(1.0, 0.01, "with"), 100),))
    >>> bool(0.0171 < bound.at([2.0])[0] < 0.0172)
    True
    """
    total = RenyiBound()
    for pair, times in pairs:
        single = _single(pair)
        if single is None:
            return None
        epsilons = tuple(times * epsilon for epsilon in single.epsilons)
        total = total.plus(RenyiBound(single.orders, epsilons, times * single.rho))
    return total


def _single(pair: Pair) -> RenyiBound | None:
    if isinstance(pair, GaussianPair):
        return RenyiBound(rho=0.5 * pair.mu**2)
    if isinstance(pair, LaplacePair):
        return _laplace(pair.epsilon)
    if not isinstance(pair, SampledGaussianPair):
        return None
    bound = _sampled_gaussian(pair.noise, pair.rate)
    return doubled_renyi(bound) if pair.kind == "replace" and bound is not None else bound


def _laplace(epsilon: float) -> RenyiBound:
    """Return log(t e^((t-1) epsilon) + (t-1) e^(-t epsilon)) / (2t-1) divided by t - 1, which never exceeds epsilon."""
    t = np.array(_ORDERS, dtype=float)
    near, far = np.log(t) + (t - 1.0) * epsilon, np.log(t - 1.0) - t * epsilon
    moments = np.logaddexp(near, far) - np.log(2.0 * t - 1.0) + _ROUNDING * (1.0 + np.abs(near))
    return RenyiBound(_ORDERS, tuple(np.minimum(np.maximum(moments, 0.0) / (t - 1.0), epsilon).tolist()))


def _sampled_gaussian(noise: float, rate: float) -> RenyiBound | None:
    """Return the divergences of (1-q) N(0, s^2) + q N(1, s^2) from N(0, s^2), at whole orders."""
    if rate == 1.0:
        return RenyiBound(rho=0.5 / noise**2)
    orders, epsilons = [], []
    for order in _ORDERS:
        k = np.arange(order + 1.0)
        choose = gammaln(order + 1.0) - gammaln(k + 1.0) - gammaln(order - k + 1.0)
        terms = choose + (order - k) * math.log1p(-rate) + k * math.log(rate) + k * (k - 1.0) / (2.0 * noise**2)
        moment = float(logsumexp(terms)) + _ROUNDING * (1.0 + float(np.max(np.abs(terms))))
        if math.isfinite(moment):
            orders.append(float(order))
            epsilons.append(max(moment, 0.0) / (order - 1.0))
    return RenyiBound(tuple(orders), tuple(epsilons)) if orders else None
