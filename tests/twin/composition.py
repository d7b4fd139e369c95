"""Pairs of distributions and their compositions, from the definitions; nothing is shared with dpradar.

delta(epsilon) = sup_E P(E) - e^epsilon Q(E). Finite pairs are multiplied out, sampled Gaussians are integrated where
the density of P exceeds e^epsilon times that of Q, sums of Laplace losses are written as tilted Irwin-Hall densities.
No grid of privacy losses is used anywhere.
"""

from __future__ import annotations

import itertools
import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

import mpmath
import numpy as np
from scipy.special import ndtr

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal["with", "without", "replace"]
DIGITS = 30

# ------------------------------------------------------------------------------------------------- finite distributions


def multiplied(parts: Sequence[tuple[Sequence[float], Sequence[float], int]]) -> tuple[np.ndarray, np.ndarray]:
    """All joint outputs of independent pairs, each used some times: probabilities under P and under Q."""
    p, q = np.ones(1), np.ones(1)
    for first, second, times in parts:
        for _ in range(times):
            p, q = np.kron(p, first), np.kron(q, second)
    return p, q


def finite_delta(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    """The positive part of P - e^epsilon Q, summed exactly."""
    return math.fsum(np.maximum(p - math.exp(epsilon) * q, 0.0))


def approx_sides(epsilon: float, delta: float) -> tuple[list[float], list[float]]:
    """The two distributions over four outputs that are (epsilon, delta)-DP and no better."""
    share = (1 - delta) / (1 + math.exp(epsilon))
    return [delta, share * math.exp(epsilon), share, 0.0], [0.0, share, share * math.exp(epsilon), delta]


def kairouz(epsilon: float, delta: float, k: int) -> list[tuple[float, float]]:
    """Kairouz, Oh and Viswanath 2015, Theorem 3.3: k releases are (epsilon_i, delta_i)-DP for i = 0..k/2, optimally."""
    pairs = []
    with mpmath.workdps(DIGITS):
        e = mpmath.exp(mpmath.mpf(epsilon))
        for i in range(k // 2 + 1):
            terms = [mpmath.binomial(k, j) * (e ** (k - j) - e ** (k - 2 * i + j)) for j in range(i)]
            left = mpmath.fsum(terms) / (1 + e) ** k
            pairs.append(((k - 2 * i) * epsilon, float(1 - (1 - mpmath.mpf(delta)) ** k * (1 - left))))
    return pairs


def coins(a: float, b: float, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The vertices of the trade-off curve of k coins, P heads with probability a, Q with b below a.

    False positives under Q and false negatives under P; every sum is taken from its small end, so tails are accurate.
    """
    with mpmath.workdps(DIGITS):
        p, q = (
            [mpmath.binomial(k, j) * w**j * (1 - w) ** (k - j) for j in range(k + 1)] for w in map(mpmath.mpf, (a, b))
        )
        fpr = [mpmath.fsum(q[k + 1 - i :]) for i in range(k + 2)]
        fnr = [mpmath.fsum(p[: k + 1 - i]) for i in range(k + 2)]
        return np.array([float(x) for x in fpr]), np.array([float(y) for y in fnr])


# ------------------------------------------------------------------------------------------------------------ Gaussians


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Balle and Wang 2018, Theorem 8, at high precision."""
    with mpmath.workdps(DIGITS):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return float(mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m))


def gaussian_fnr(mu: float, x: float) -> float:
    """Phi(Phi^-1(1 - x) - mu)."""
    with mpmath.workdps(DIGITS):
        quantile = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(x))
        return float(mpmath.ncdf(quantile - mu))


def mixtures(noise: float, rate: float, kind: Kind) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """P and Q of a step of DP-SGD as (weight, centre) of Gaussians of standard deviation ``noise``."""
    here, away, other = [(1 - rate, 0.0), (rate, 1.0)], [(1.0, 0.0)], [(1 - rate, 0.0), (rate, -1.0)]
    return {"with": (here, away), "without": (away, here), "replace": (here, other)}[kind]


def _log_mixture(parts: list[tuple[float, float]], noise: float, x: np.ndarray) -> np.ndarray:
    terms = [math.log(w) - np.square(x - c) / (2 * noise**2) for w, c in parts if w > 0]
    return np.logaddexp.reduce(terms)


def step_loss(noise: float, rate: float, kind: Kind, x: np.ndarray) -> np.ndarray:
    """log(p(x)/q(x)), from the densities."""
    p, q = mixtures(noise, rate, kind)
    return _log_mixture(p, noise, x) - _log_mixture(q, noise, x)


def step_delta(noise: float, rate: float, kind: Kind, epsilon: float) -> float:
    """delta of one step: sign changes of p - e^epsilon q are looked for everywhere, then normal laws are summed."""
    p, q = mixtures(noise, rate, kind)
    ends = np.linspace(-2 - 40 * noise, 3 + 40 * noise, 6001)
    signs = step_loss(noise, rate, kind, ends) > epsilon
    with mpmath.workdps(DIGITS):

        def above(x: mpmath.mpf) -> bool:
            left, right = ([w * mpmath.npdf(x, c, noise) for w, c in parts] for parts in (p, q))
            return bool(mpmath.fsum(left) > mpmath.exp(mpmath.mpf(epsilon)) * mpmath.fsum(right))

        cuts = [-mpmath.inf]
        for i in np.flatnonzero(signs[1:] != signs[:-1]):
            low, high, first = mpmath.mpf(ends[i]), mpmath.mpf(ends[i + 1]), bool(signs[i])
            for _ in range(80):
                middle = (low + high) / 2
                low, high = (middle, high) if above(middle) == first else (low, middle)
            cuts.append(high)
        cuts.append(mpmath.inf)

        def mass(parts: list[tuple[float, float]], low: mpmath.mpf, high: mpmath.mpf) -> mpmath.mpf:
            # From the nearer tail, so that nothing cancels.
            def one(c: float) -> mpmath.mpf:
                a, b = (low - c) / noise, (high - c) / noise
                return mpmath.ncdf(-a) - mpmath.ncdf(-b) if a > 0 else mpmath.ncdf(b) - mpmath.ncdf(a)

            return mpmath.fsum(w * one(c) for w, c in parts)

        total, inside = mpmath.mpf(0), bool(signs[0])
        for low, high in itertools.pairwise(cuts):
            if inside:
                total += mass(p, low, high) - mpmath.exp(mpmath.mpf(epsilon)) * mass(q, low, high)
            inside = not inside
        return float(total)


def _upper(parts: list[tuple[float, float]], noise: float, x: np.ndarray) -> np.ndarray:
    return np.sum([w * ndtr((c - x) / noise) for w, c in parts], axis=0)


def _place(noise: float, rate: float, kind: Kind, loss: np.ndarray) -> np.ndarray:
    """Where the loss of one step reaches a value: it is monotone, rising except for "without"."""
    low, high = np.full_like(loss, -2 - 60 * noise), np.full_like(loss, 2 + 60 * noise)
    sign = -1.0 if kind == "without" else 1.0
    for _ in range(70):
        middle = (low + high) / 2
        over = sign * (step_loss(noise, rate, kind, middle) - loss) > 0
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return (low + high) / 2


def two_steps(noise: float, rate: float, kind: Kind, t: float, cells: int = 400) -> tuple[float, float]:
    """P(loss > t) and Q(loss > t) of two steps: an integral over the first output, of the tail of the second."""
    p, q = mixtures(noise, rate, kind)
    nodes, weights = np.polynomial.legendre.leggauss(16)
    edges = np.linspace(-1 - 9 * noise, 1 + 9 * noise, cells + 1)
    half = (edges[1] - edges[0]) / 2
    x = ((edges[:-1] + edges[1:]) / 2)[:, None] + half * nodes
    cut = _place(noise, rate, kind, t - step_loss(noise, rate, kind, x))
    tails = []
    for parts in (p, q):
        density = np.exp(_log_mixture(parts, noise, x)) / (noise * math.sqrt(2 * math.pi))
        tail = _upper(parts, noise, cut)
        tails.append(float(np.sum(density * (1 - tail if kind == "without" else tail) * weights) * half))
    return tails[0], tails[1]


def two_step_delta(noise: float, rate: float, kind: Kind, epsilon: float, cells: int = 400) -> float:
    """The best event of two steps is a loss above epsilon: to 1e-9, or 5e-8 with 160 cells."""
    p, q = two_steps(noise, rate, kind, epsilon, cells)
    return p - math.exp(epsilon) * q


def plane(
    sigma: float, rate: float, g: tuple[float, float], h: tuple[float, float], epsilons: Sequence[float]
) -> np.ndarray:
    """delta between (1-q) N(0) + q N(g) and (1-q) N(0) + q N(h) in the plane, by the trapezoid rule."""
    axis = np.linspace(-1.0 - 7.0 * sigma, 1.0 + 7.0 * sigma, 361)
    x, y = np.meshgrid(axis, axis, sparse=True)

    def density(centre: tuple[float, float]) -> np.ndarray:
        bumps = [np.exp(-((x - a) ** 2 + (y - b) ** 2) / (2 * sigma**2)) for a, b in ((0.0, 0.0), centre)]
        return ((1 - rate) * bumps[0] + rate * bumps[1]) / (2 * math.pi * sigma**2)

    p, q = density(g), density(h)
    cell = (axis[1] - axis[0]) ** 2
    return np.array([np.maximum(p - math.exp(e) * q, 0.0).sum() * cell for e in epsilons])


# -------------------------------------------------------------------------------------------------------------- Laplace


def _tilted(n: int, place: mpmath.mpf) -> mpmath.mpf:
    """2^n times the density of the sum of n uniforms on (-1, 1)."""
    signed = [(-1) ** j * math.comb(n, j) for j in range(n + 1)]
    terms = [c * (place + n - 2 * j) ** (n - 1) for j, c in enumerate(signed) if place + n > 2 * j]
    return mpmath.fsum(terms) / math.factorial(n - 1)


def _pieces(low: mpmath.mpf, n: int) -> list[mpmath.mpf]:
    """From ``low`` to n, cut where the density is not smooth: at n, n - 2, ..., -n."""
    kinks = [mpmath.mpf(n - 2 * j) for j in range(n, -1, -1)]
    start = max(low, mpmath.mpf(-n))
    return [start, *[k for k in kinks if k > start]]


@lru_cache(maxsize=4096)
def laplace_tails(apart: float, k: int, t: float) -> tuple[mpmath.mpf, mpmath.mpf]:
    """P(loss > t) and Q(loss > t) of k Laplace releases whose centres are ``apart`` scales apart.

    One loss is ``apart`` with probability 1/2, -``apart`` with e^-apart/2, and has density e^((l - apart)/2)/4 between.
    Of k losses a are the first, b the second and n the third; n of the third kind sum to a tilted Irwin-Hall variable.
    """
    with mpmath.workdps(DIGITS):
        e = mpmath.mpf(apart)
        over = [mpmath.mpf(0), mpmath.mpf(0)]
        for a in range(k + 1):
            for b in range(k + 1 - a):
                n = k - a - b
                ways = mpmath.factorial(k) / (mpmath.factorial(a) * mpmath.factorial(b) * mpmath.factorial(n))
                weight = ways * mpmath.mpf("0.5") ** a * (mpmath.exp(-e) / 2) ** b
                for side, part in enumerate(_part(e, a - b, n, mpmath.mpf(t))):
                    over[side] += weight * part
        return over[0], over[1]


def _part(e: mpmath.mpf, atoms: int, n: int, t: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
    """The parts of P and of Q with loss above t: ``atoms`` times e, and n losses with a density."""
    if n == 0:
        return (mpmath.mpf(1), mpmath.exp(-atoms * e)) if atoms * e > t else (mpmath.mpf(0), mpmath.mpf(0))
    low = t / e - atoms
    total_p, total_q = mpmath.mpf(0), mpmath.mpf(0)
    ends = _pieces(low, n) if low < n else []
    for left, right in itertools.pairwise(ends):
        half, middle = (right - left) / 2, (right + left) / 2
        # Between kinks the density is a polynomial times an exponential: 14 nodes are plenty for degree 15.
        for x, w in _nodes():
            s = middle + half * x
            p = half * w * mpmath.exp((s - n) * e / 2) * _tilted(n, s)
            total_p += p
            total_q += p * mpmath.exp(-e * (atoms + s))
    # The density of a sum of n, in units of e: (e/4)^n e^((s e - n e)/2) times that of n uniforms.
    return (e / 4) ** n * total_p, (e / 4) ** n * total_q


@cache
def _nodes() -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    x, w = np.polynomial.legendre.leggauss(14)
    return [(mpmath.mpf(a), mpmath.mpf(b)) for a, b in zip(x.tolist(), w.tolist(), strict=True)]


def laplace_delta(apart: float, k: int, epsilon: float) -> float:
    """The best event of k Laplace releases is a loss above epsilon."""
    with mpmath.workdps(DIGITS):
        p, q = laplace_tails(apart, k, epsilon)
        return float(p - mpmath.exp(mpmath.mpf(epsilon)) * q)
