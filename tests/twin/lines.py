"""Noise on the line: exact risks for Laplace and Gaussian noise, optionally clamped, and for integer noise.

Continuous noise. Each candidate z has a value v_z; theta = v_z + noise, clamped to [lo, hi] when asked, which puts
atoms at both ends. The score of a guess is a finite sum of densities, so once it is known *where* which guess is best,
the integral is a sum of differences of the cumulative distribution. The best guess is looked up on a fine grid that
contains every kink, the border between two winners is found by bisection to machine precision, and the integral is
summed with mpmath at 30 digits. An error d in a border costs O(d^2), because both guesses are equally good there. The
only other error is a winner that lives entirely between two grid points with the same winner; `refined` shows it by
halving the step. Observed: all values agree with closed forms, and with the half step, to better than 1e-12.

Integer noise (two-sided geometric, discrete Gaussian) becomes a finite channel for `brute`: beyond the outermost values
the geometric likelihood ratios no longer change, so each tail is one output without loss and the matrix is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from tests.twin.brute import Success, fibres

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from fractions import Fraction

Array = NDArray[np.float64]
Risk = tuple[float, float, float]
DIGITS = 30
FAR = 45.0  # noise scales; Laplace mass beyond: below 1e-19, and the winner there is taken to be that of the last cell


@dataclass(frozen=True)
class Noise:
    """A noise distribution: float density for locating winners, 30-digit cumulative distribution for integrating."""

    density: Callable[[Array], Array]
    cdf: Callable[[Any], Any]
    scale: float
    kinked: bool


def laplace(scale: float) -> Noise:
    """Laplace noise with density exp(-|x| / scale) / (2 scale)."""

    def cdf(x: Any) -> Any:
        half = mpmath.exp(-abs(x) / scale) / 2
        return half if x < 0 else 1 - half

    return Noise(lambda x: np.exp(-np.abs(x) / scale) / (2 * scale), cdf, scale, kinked=True)


def gaussian(sigma: float) -> Noise:
    """Gaussian noise with standard deviation sigma."""
    norm = sigma * math.sqrt(2 * math.pi)
    return Noise(
        lambda x: np.exp(-((x / sigma) ** 2) / 2) / norm, lambda x: mpmath.ncdf(x / sigma), sigma, kinked=False
    )


def _weights(pi: Sequence[float], fibre: Sequence[int], S: Success, advantage: bool) -> Array:
    """Row g: the coefficients c_z with score_g(theta) = sum_z c_z density(theta - v_z), on one fibre."""
    p = np.array(pi, dtype=float)
    rows = []
    for right in S:
        inside = np.array([float(z in right and z in fibre) for z in range(len(p))]) * p
        rows.append(inside - p * inside.sum() if advantage else inside)
    return np.array(rows)


def _grid(values: Array, noise: Noise, clamp: tuple[float, float] | None, step: float) -> Array:
    """Borders of the cells: a fine grid, with every value (the kinks) and the ends of the clamp on it."""
    low, high = clamp or (values.min() - FAR * noise.scale, values.max() + FAR * noise.scale)
    knots = [low, *sorted({float(v) for v in values if low < v < high}), high]
    pieces = [np.linspace(x, y, max(8, math.ceil((y - x) / (step * noise.scale))) + 1) for x, y in pairwise(knots)]
    return np.unique(np.concatenate(pieces))


def _winners(noise: Noise, values: Array, weights: Array, points: Array) -> NDArray[np.int64]:
    """Index of the best guess at each point, in blocks so that memory stays small."""
    blocks = np.array_split(points, max(1, len(points) // 2000))
    scores = (weights @ noise.density(block[None, :] - values[:, None]) for block in blocks)
    return np.concatenate([np.argmax(s, axis=0) for s in scores])


def _border(noise: Noise, values: Array, better: Array, low: Array, high: Array) -> Array:
    """Where the score differences of pairs of winners change sign, by bisection of all at once.

    Row i of ``better`` is the weights of the winner at low[i] minus those of the winner at high[i].
    """
    for _ in range(80):
        middle = (low + high) / 2
        if np.all((middle == low) | (middle == high)):
            break
        left = np.sum(better * noise.density(middle[:, None] - values), axis=1) > 0
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    return (low + high) / 2


def _borders(noise: Noise, values: Array, weights: Array, spans: list[Any]) -> list[Any]:
    """(border, winner to its left) in spans from one (point, winner) to another, from left to right.

    A third guess that wins in between is found as well.
    """
    if not spans:
        return []
    x, y = (np.array([span[end][0] for span in spans]) for end in (0, 1))
    first, last = (np.array([span[end][1] for span in spans]) for end in (0, 1))
    borders = _border(noise, values, weights[first] - weights[last], x, y)
    scores = weights @ noise.density(borders[None, :] - values[:, None])
    thirds, columns = np.argmax(scores, axis=0), np.arange(len(spans))
    better = scores[thirds, columns] > scores[first, columns] + 1e-13 * np.abs(scores).max(axis=0)
    result = []
    for i, (low, high) in enumerate(spans):
        border = float(borders[i])
        if better[i] and low[0] < border < high[0]:
            between = (border, int(thirds[i]))
            result += _borders(noise, values, weights, [(low, between), (between, high)])
        else:
            result.append((border, low[1]))
    return result


def _cells(noise: Noise, values: Array, weights: Array, edges: Array) -> list[tuple[float, float, int]]:
    """Maximal intervals (from, to, best guess)."""
    points = np.sort(np.concatenate([edges, (edges[:-1] + edges[1:]) / 2]))
    best = _winners(noise, values, weights, points)
    changes = np.flatnonzero(best[1:] != best[:-1])
    spans = [((float(points[i]), int(best[i])), (float(points[i + 1]), int(best[i + 1]))) for i in changes]
    borders = _borders(noise, values, weights, spans)
    starts = [float(edges[0]), *(x for x, _ in borders)]
    ends = [*borders, (float(edges[-1]), int(best[-1]))]
    return [(start, end, winner) for start, (end, winner) in zip(starts, ends, strict=True)]


def _maximum(noise: Noise, values: Array, weights: Array, clamp: tuple[float, float] | None, step: float) -> Any:
    """Integral over theta of max_g score_g(theta), plus the atoms of a clamped output."""
    cells = _cells(noise, values, weights, _grid(values, noise, clamp, step))
    total, exact = mpmath.mpf(0), [mpmath.mpf(float(v)) for v in values]

    @cache  # a border ends one cell and starts the next
    def below(x: float, z: int) -> Any:
        return noise.cdf(x - exact[z])

    for i, (low, high, guess) in enumerate(cells):
        first, last = i == 0 and clamp is None, i == len(cells) - 1 and clamp is None
        for z, weight in enumerate(weights[guess]):
            if weight:
                upper = mpmath.mpf(1) if last else below(high, z)
                total += float(weight) * (upper - (0 if first else below(low, z)))
    if clamp is not None:
        for masses in ([noise.cdf(clamp[0] - v) for v in exact], [noise.cdf(v - clamp[1]) for v in exact]):
            total += max(mpmath.fdot([float(w) for w in row], masses) for row in weights)
    return total


def risks(
    noise: Noise,
    values: Sequence[float],
    pi: Sequence[float],
    a: Sequence[Hashable],
    S: Success,
    clamp: tuple[float, float] | None = None,
    step: float = 0.01,
) -> Risk:
    """(rad, success, baseline) of noise on the line; `step` is the grid step in units of the noise scale."""
    v, rad, success, baseline = np.array(values, dtype=float), mpmath.mpf(0), mpmath.mpf(0), 0.0
    with mpmath.workdps(DIGITS):
        for fibre in fibres(a):
            rad += _maximum(noise, v, _weights(pi, fibre, S, advantage=True), clamp, step)
            plain = _weights(pi, fibre, S, advantage=False)
            success += _maximum(noise, v, plain, clamp, step)
            baseline += plain.sum(axis=1).max()
    return float(rad), float(success), float(baseline)


def refined(
    noise: Noise,
    values: Sequence[float],
    pi: Sequence[float],
    a: Sequence[Hashable],
    S: Success,
    clamp: tuple[float, float] | None = None,
    step: float = 0.01,
) -> tuple[Risk, float]:
    """`risks` at half the step, and the largest change against the full step: the observed accuracy."""
    coarse, fine = (risks(noise, values, pi, a, S, clamp, s) for s in (step, step / 2))
    return fine, max(abs(x - y) for x, y in zip(coarse, fine, strict=True))


def risks_by_sum(
    noise: Noise,
    values: Sequence[float],
    pi: Sequence[float],
    a: Sequence[Hashable],
    S: Success,
    clamp: tuple[float, float] | None = None,
    n: int = 20_000,
) -> tuple[float, float]:
    """(rad, success) again, with nothing but a midpoint sum: for checking `risks` to about 1e-6."""
    v, p = np.array(values, dtype=float), np.array(pi, dtype=float)
    low, high = clamp or (v.min() - FAR * noise.scale, v.max() + FAR * noise.scale)
    edges = np.linspace(low, high, n + 1)
    likelihood = noise.density((edges[:-1] + edges[1:])[None, :] / 2 - v[:, None]) * np.diff(edges)
    if clamp is not None:
        atoms = [[float(noise.cdf(low - x)), float(noise.cdf(x - high))] for x in v]
        likelihood = np.hstack([likelihood, np.array(atoms)])
    law = p @ likelihood
    totals = []
    for weights in (p[:, None] * (likelihood - law), p[:, None] * likelihood):
        scores = [[sum(weights[z] for z in f if z in right) + 0 * law for right in S] for f in fibres(a)]
        totals.append(sum(float(np.max(s, axis=0).sum()) for s in scores))
    return totals[0], totals[1]


def geometric_channel(
    values: Sequence[int], ratio: Fraction, clamp: tuple[int, int] | None = None
) -> list[list[Fraction]]:
    """Two-sided geometric noise, Pr[k] = (1 - r)/(1 + r) r^|k|, as an exact channel; both tails are single outputs.

    Without a clamp the outputs are "at most the smallest value", the integers between, "at least the largest value".
    """
    low, high = clamp or (min(values), max(values))

    def at_least(k: int) -> Fraction:
        """Pr[noise >= k]."""
        return ratio**k / (1 + ratio) if k > 0 else 1 - ratio ** (1 - k) / (1 + ratio)

    def row(v: int) -> list[Fraction]:
        middle = [(1 - ratio) / (1 + ratio) * ratio ** abs(t - v) for t in range(low + 1, high)]
        return [at_least(v - low), *middle, at_least(high - v)]

    return [row(v) for v in values]


def integer_channel(
    values: Sequence[int], log_weight: Callable[[int], Any], reach: int, clamp: tuple[int, int] | None = None
) -> list[list[Any]]:
    """Integer noise with Pr[k] proportional to exp(log_weight(k)), |k| <= reach, as a channel of 30-digit numbers."""
    with mpmath.workdps(DIGITS):
        weights = {k: mpmath.exp(log_weight(k)) for k in range(-reach, reach + 1)}
        total = mpmath.fsum(weights.values())
        low, high = clamp or (min(values) - reach, max(values) + reach)
        rows = [[mpmath.mpf(0)] * (high - low + 1) for _ in values]
        for row, v in zip(rows, values, strict=True):
            for k, weight in weights.items():
                row[min(max(v + k, low), high) - low] += weight / total
    return rows


def geometric_by_sum(values: Sequence[int], ratio: float, clamp: tuple[int, int] | None = None) -> list[list[Any]]:
    """Two-sided geometric noise by a long sum; the mass left out is below 1e-25."""
    return integer_channel(values, lambda k: abs(k) * mpmath.log(ratio), math.ceil(-60 / math.log(ratio)), clamp)


def discrete_gaussian(values: Sequence[int], sigma: float, clamp: tuple[int, int] | None = None) -> list[list[Any]]:
    """Discrete Gaussian noise, Pr[k] proportional to exp(-k^2 / (2 sigma^2)); the mass left out is below 1e-30."""
    return integer_channel(
        values, lambda k: -mpmath.mpf(k * k) / (2 * mpmath.mpf(sigma) ** 2), math.ceil(12 * sigma) + 2, clamp
    )


def laplace_uniform(values: Sequence[float], scale: float) -> float:
    """Closed form: exact goal, uniform prior, no knowledge: (m - 1 - sum_j exp(-gap_j / (2 scale))) / m."""
    gaps = np.diff(np.sort(np.array(values, dtype=float)))
    return float((len(values) - 1 - np.exp(-gaps / (2 * scale)).sum()) / len(values))


def gaussian_uniform(values: Sequence[float], sigma: float) -> float:
    """Closed form: exact goal, uniform prior, no knowledge: (2 sum_j Phi(gap_j / (2 sigma)) - (m - 1)) / m."""
    gaps = np.diff(np.sort(np.array(values, dtype=float)))
    return float((2 * ndtr(gaps / (2 * sigma)).sum() - (len(values) - 1)) / len(values))
