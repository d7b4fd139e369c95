"""Noise on vectors: exact by one-dimensional integrals where candidates are equally far apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...mechanisms.capabilities import LineModel, OneHot
from ...mechanisms.noise.kernels import GaussianKernel, LaplaceKernel
from ...numerics.lazy_numpy import Floats, Ints, np
from ...numerics.special import log_ndtr
from ..question import Inapplicable
from .exact_risk import ExactRisk
from .line_noise import line_risk

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...threats import Prior
    from ...threats.hit_classes import Cover

__all__ = ["collinear_risk", "equidistant_gaussian", "one_hot_risk"]

_MOST_CANDIDATES = 3_000
_MOST_KNOTS = 4_000
_MOST_DISTANCE = 30.0
_UNSEEN = 1e-7  # standard deviations of the noise: such a distance moves no risk by as much
_SAME = 1e-12  # relative difference of squared distances that counts as none: rounding, but nothing that is seen
_ROUNDINGS = 8  # of a point beside those of a sum over its coordinates: scaled, moved, projected and scaled back


def collinear_risk(vectors: Floats, prior: Prior, cover: Cover) -> ExactRisk:
    """Return the exact risk when all vectors lie on one straight line (always so for two candidates).

    Notes
    -----
    Gaussian noise across the line carries no information, so the projection onto it is the whole release. How far
    rounding moves a point along the line grows with the length of the line; that, and how far it lies beside the line,
    is part of the intervals.
    """
    centred = vectors - vectors[0]
    largest = float(np.abs(centred).max()) or 1.0  # a unit of length, so that squares neither overflow nor vanish
    centred = centred / largest
    longest = centred[int(np.square(centred).sum(axis=1).argmax())]
    length = float(np.sqrt(longest @ longest))
    if length == 0.0:
        return line_risk(_unit_line(np.zeros(vectors.shape[0])), prior, cover)
    coordinate = centred @ (longest / length)
    off = np.square(centred - coordinate[:, None] * (longest / length)).sum(axis=1).max()
    # Relative to the line, and to the noise: across a long line candidates may differ by a little that is seen well.
    if off > (1e-9 * length) ** 2 or float(np.sqrt(off)) * largest > _UNSEEN:
        message = "needs contributions on one straight line"
        raise Inapplicable(message)
    size = float(np.sqrt(np.square(vectors / largest).sum(axis=1).max())) * largest
    rounding = (vectors.shape[1] + _ROUNDINGS) * float(np.finfo(float).eps) * size
    return line_risk(_unit_line(coordinate * largest), prior, cover, rounding + float(np.sqrt(off)) * largest)


def _unit_line(points: Floats) -> LineModel:
    return LineModel(points, np.ones(points.size), GaussianKernel(1.0))


def equidistant_gaussian(vectors: Floats) -> OneHot:
    """Return the one-hot release with the same risk when all vectors are equally far apart, or raise Inapplicable.

    Notes
    -----
    Only distances matter under Gaussian noise, and orthogonal vectors of equal norm c are sqrt(2) c apart.
    """
    rows = vectors.shape[0]
    if rows > _MOST_CANDIDATES:
        message = f"compares all pairs of candidates, at most {_MOST_CANDIDATES}"
        raise Inapplicable(message)
    vectors = vectors - vectors[0]  # what all have in common would leave few digits for the differences
    gram = vectors @ vectors.T
    norms = np.diag(gram)
    squared = norms[:, None] + norms[None, :] - 2.0 * gram
    distances = squared[~np.eye(rows, dtype=bool)]
    if float(np.ptp(distances)) > _SAME * float(distances.max()) or float(distances.max()) <= 0.0:
        message = "needs candidates that are all equally far apart, such as the cells of a histogram"
        raise Inapplicable(message)
    return OneHot(math.sqrt(float(distances.mean()) / 2.0), GaussianKernel(1.0))


def one_hot_risk(model: OneHot, prior: Prior, cover: Cover) -> ExactRisk:
    """Return the success, and where it follows the rad, of independent noise on the cells of a histogram.

    Guarantee
    ---------
    Numerical integration to about 1e-10 (the interval is the difference between two orders of quadrature plus 1e-10).

    Notes
    -----
    Under noise alone the likelihood ratios L_z of the cells are independent, so the success in a fibre is
    E[max pi_z L_z] = integral of 1 - prod F(t / pi_z). With a uniform prior, nothing known and the exact goal the false
    hit is exactly 1/m, hence rad = success - 1/m. See docs/derivations/one-hot.md.
    """
    pi = prior.probabilities
    success = np.zeros(2)
    blocks = list(cover.blocks)
    if any(block.kind != "singletons" for block in blocks):
        message = "needs a goal that distinguishes the values of a fibre"
        raise Inapplicable(message)
    success += pi[cover.single[cover.single_hits > 0]].sum()
    for block in blocks:
        success += _mean_maximum(model, pi[block.members][pi[block.members] > 0.0])
    error = abs(float(success[1] - success[0])) + 1e-10
    value = float(success[1])
    interval = (max(0.0, value - error), min(1.0, value + error))
    alone = len(blocks) == 1 and blocks[0].members.size == pi.size and prior.is_uniform
    if not alone:
        return ExactRisk(success=interval)
    base = 1.0 / pi.size
    return ExactRisk(rad=(max(0.0, interval[0] - base), interval[1] - base), success=interval, hit=value)


def _mean_maximum(model: OneHot, pi: Floats) -> Floats:
    """Return E[max pi_z L_z] by two orders of Gauss-Legendre quadrature in the logarithm of t."""
    if pi.size == 0:
        return np.zeros(2)
    if pi.size == 1:
        return np.full(2, pi[0])
    if model.height / model.kernel.unit > _MOST_DISTANCE:
        message = f"works up to a distance of {_MOST_DISTANCE:g} noise units; beyond it likelihood ratios overflow"
        raise Inapplicable(message)
    levels, counts = np.unique(np.log(pi), return_counts=True)
    if isinstance(model.kernel, GaussianKernel):
        edges, log_cdf = _gaussian_ratio(model.height / model.kernel.sigma, levels)
    elif isinstance(model.kernel, LaplaceKernel):
        edges, log_cdf = _laplace_ratio(model.height / model.kernel.scale, levels)
    else:
        message = "knows Laplace and Gaussian noise"
        raise Inapplicable(message)
    # Below the first edge the integrand is e^y: the maximum surely exceeds it.
    below = math.exp(edges[0])
    return np.array([below + _panels(edges, order, levels, counts, log_cdf) for order in (12, 20)])


def _gaussian_ratio(mu: float, levels: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    top = float(levels[-1])
    low, high = top - 0.5 * mu * mu - 9.0 * mu, top + 0.5 * mu * mu + 9.0 * mu
    edges = np.linspace(low, high, math.ceil((high - low) / (0.5 * mu)) + 1)
    return edges, lambda y: np.asarray(log_ndtr(y / mu + 0.5 * mu))


def _laplace_ratio(c: float, levels: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    # log L lies in [-c, c] with half of its mass at -c; between, F = 1 - e^-((c + y)/2) / 2.
    if levels.size > _MOST_KNOTS:
        message = f"integrates between the break points of at most {_MOST_KNOTS} different probabilities"
        raise Inapplicable(message)
    knots = np.unique(np.concatenate([levels - c, levels + c]))
    inside = knots[(knots >= levels[-1] - c)]
    fine = max(1, math.ceil(2.0 * c))
    edges = np.unique(np.concatenate([inside, np.linspace(inside[0], inside[-1], fine + 1)]))

    def log_cdf(y: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            middle = np.log1p(-0.5 * np.exp(-0.5 * (c + np.clip(y, -c, c))))
            return np.where(y >= c, 0.0, np.where(y < -c, -np.inf, middle))

    return edges, log_cdf


def _panels(edges: Floats, order: int, levels: Floats, counts: Ints, log_cdf: Callable[[Floats], Floats]) -> float:
    nodes, weights = np.polynomial.legendre.leggauss(order)
    total = 0.0
    step = max(1, 1_000_000 // (order * levels.size))
    for start in range(0, edges.size - 1, step):
        low, high = edges[start : start + step + 1][:-1], edges[start : start + step + 1][1:]
        y = 0.5 * (low + high)[:, None] + 0.5 * (high - low)[:, None] * nodes
        log_all = np.tensordot(counts.astype(float), log_cdf(y[None] - levels[:, None, None]), axes=1)
        total += float((np.exp(y) * -np.expm1(log_all) * weights * 0.5 * (high - low)[:, None]).sum())
    return total
