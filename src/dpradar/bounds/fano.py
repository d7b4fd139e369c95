"""Bounds on success from the information that the output carries about the record, in nats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..numerics.bernoulli_divergence import UNIT, Frontier
from ..numerics.lazy_numpy import ArrayLike, np

if TYPE_CHECKING:
    from ..guarantees.renyi import RenyiBound

__all__ = ["fano_success", "gaussian_information", "generalised_fano", "renyi_information", "replaced_information"]


def gaussian_information(mu: float) -> float:
    """Return mu^2/2: under mu-GDP the output carries no more information about the record.

    Notes
    -----
    The Kullback-Leibler divergence of two unit Gaussians at distance mu. A pair that is at least as hard to distinguish
    is a processing of them (Blackwell), so no divergence is larger. See `renyi_information` for the information.

    Examples
    --------
    >>> gaussian_information(2.0)
    2.0
    """
    return mu * mu / 2.0


def renyi_information(bound: RenyiBound) -> float:
    """Return the Renyi bound of order 1: the mutual information of record and output is at most this (rho for zCDP).

    Notes
    -----
    I = E D(M_z||M) <= max_z D(M_z||R) for every fixed R, since E D(M_z||R) = I + D(M||R) with M the mean of the M_z.
    R may be the output without the record, the output for some other record, or any reference.

    Examples
    --------
    >>> from dpradar.guarantees.renyi import RenyiBound
    >>> renyi_information(RenyiBound(rho=0.5))
    0.5
    """
    return float(bound.at(1.0))


def replaced_information(probabilities: ArrayLike, divergence: float) -> float:
    """Return -sum_z P(z) ln(P(z) + (1 - P(z)) e^-divergence): the information when any two records are that close.

    Assumes
    -------
    The Kullback-Leibler divergence between the outputs for any two records is at most ``divergence`` (replace-one).
    Never above ``divergence`` itself or the entropy of the prior. Derivation: docs/derivations/renyi.md.

    Examples
    --------
    >>> round(replaced_information([0.5, 0.5], 1.0), 6)
    0.379885
    """
    p = np.asarray(probabilities, dtype=float)
    p = p[p > 0.0]
    return min(divergence, -float(p @ np.log(p + (1.0 - p) * math.exp(-divergence))) + 8.0 * UNIT)


def fano_success(probabilities: ArrayLike, information: float) -> float:
    """Return the largest success that Fano's inequality allows: H(P) - I <= h(err) + err ln(k - 1).

    Guarantee
    ---------
    An upper bound on the probability of naming the record, for any prior over k values (those of probability 0 do not
    count) and any attack, when the mutual information of record and output is at most ``information``; rounded up.

    Notes
    -----
    Fano's inequality (Cover and Thomas 2006, Theorem 2.10.1), as used by Guo et al. (2023). It holds for every prior.

    Examples
    --------
    >>> round(fano_success([0.25] * 4, 0.5), 6), fano_success([0.5, 0.5], 1.0)
    (0.726926, 1.0)
    """
    p = np.asarray(probabilities, dtype=float)
    p = p[p > 0.0]
    entropy_needed = -float(p @ np.log(p)) - information
    entropy_needed -= 1e-13 * (1.0 + abs(entropy_needed) + information)  # rounding of the sum
    if p.size < 2 or entropy_needed <= 0.0:
        return 1.0
    low, high = 0.0, 1.0 - 1.0 / p.size
    for _ in range(60):
        error = 0.5 * (low + high)
        entropy = -error * math.log(error) - (1.0 - error) * math.log1p(-error) + error * math.log(p.size - 1)
        low, high = (error, high) if entropy < entropy_needed else (low, error)
    return 1.0 - low


def generalised_fano(base: float, information: float) -> float:
    """Return the largest s with d(s||base) <= I, d the Kullback-Leibler divergence of two yes/no answers.

    Guarantee
    ---------
    An upper bound on the success of any attack with any goal, when the best blind guess is right with probability
    ``base`` and the mutual information of record and output is at most ``information``; rounded up.

    Notes
    -----
    Data processing: I = D(joint||product) >= d(s||q), with q <= base the success under the product. For a uniform prior
    and the exact goal this is Fano's inequality; for other priors neither implies the other.

    Examples
    --------
    >>> round(generalised_fano(0.25, 0.5), 6), generalised_fano(0.5, 1.0)
    (0.726926, 1.0)
    """
    if base <= 0.0 or base >= 1.0 or information <= 0.0:
        return min(max(base, 0.0), 1.0)
    if information >= -math.log(base):
        return 1.0
    frontier = Frontier(np.ones(1), np.array([information]))
    return min(1.0, float(frontier.power(np.log([base]), np.log1p([-base]), 1.0)[0]) + 2.0 * UNIT)
