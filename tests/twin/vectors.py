"""Gaussian noise on vectors: theta = g_z + N(0, I), one candidate vector g_z per input, the goal is the exact input.

Everything is in units of the noise (divide the candidates by sigma); only inner products matter, so a family of
candidates is its Gram matrix. For orthogonal candidates of one norm mu the likelihood ratios L_z = exp(mu x_z - mu^2/2)
against pure noise are independent, which leaves integrals:

- success, any prior: one-dimensional quadrature (20 digits asked, better than 1e-12 observed);
- RAD with everything known: E[(L_z - p)_+] with the coordinate x_z integrated in closed form and the others by
  randomised quasi Monte Carlo (standard error about 1e-5 with 8 x 2^13 points).

For any other Gram matrix: plain Monte Carlo with its standard error.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import mpmath
import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr, ndtri
from scipy.stats import qmc

from tests.twin.brute import fibres

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

Array = NDArray[np.float64]


class Estimate(NamedTuple):
    """Monte Carlo estimates with their standard errors."""

    rad: float
    rad_error: float
    success: float
    success_error: float


def orthogonal_gram(mu: float, m: int) -> Array:
    """Gram matrix of m orthogonal candidates of norm mu."""
    return mu * mu * np.eye(m)


def orthogonal_success_uniform(mu: float, m: int) -> float:
    """Integral of phi(x - mu) Phi(x)^(m-1): the true coordinate is the largest."""

    def integrand(x: Any) -> Any:
        return mpmath.npdf(x, mu, 1) * mpmath.ncdf(x) ** (m - 1)

    with mpmath.workdps(20):
        return float(mpmath.quad(integrand, mpmath.linspace(mu - 11, mu + 11, 12)))


def orthogonal_success(mu: float, pi: Sequence[float]) -> float:
    """E[max_z pi_z L_z] = sum_z pi_z Pr[mu x_z + ln pi_z is the largest | z]; inputs with prior 0 are left out."""
    support = [mpmath.mpf(p) for p in pi if p > 0]

    def integrand(x: Any) -> Any:
        total = mpmath.mpf(0)
        for z, p in enumerate(support):
            others = (mpmath.ncdf(x + mpmath.log(p / q) / mu) for j, q in enumerate(support) if j != z)
            total += p * mpmath.fprod(others)
        return mpmath.npdf(x, mu, 1) * total

    with mpmath.workdps(20):
        return float(mpmath.quad(integrand, mpmath.linspace(mu - 11, mu + 11, 12)))


def two_candidates(distance: float, pi: Sequence[float]) -> tuple[float, float]:
    """(rad, success) for two candidates at this distance: RAD = 2 pi_0 pi_1 (2 Phi(d/2) - 1), known record or not."""
    p, q = pi
    shift = math.log(p / q) / distance
    success = p * ndtr(distance / 2 + shift) + q * ndtr(distance / 2 - shift)
    return 2 * p * q * (2 * float(ndtr(distance / 2)) - 1), float(success)


def orthogonal_rad_known(mu: float, pi: Sequence[float], log2_points: int = 13, seed: int = 0) -> tuple[float, float]:
    """(RAD with everything known, standard error): sum_z pi_z E[((1 - pi_z) L_z - sum_{j != z} pi_j L_j)_+].

    Given the other coordinates, with Y = sum_{j != z} pi_j L_j and t where (1 - pi_z) L_z = Y, the expectation over
    x_z is (1 - pi_z) Phi(mu - t) - Y Phi(-t).
    """
    p, values = np.array(pi, dtype=float), []
    for stream in np.random.SeedSequence(seed).spawn(8):
        points = qmc.Sobol(len(p) - 1, rng=np.random.default_rng(stream)).random_base2(log2_points)
        x = ndtri(np.clip(points, 1e-16, 1 - 1e-16))
        total = 0.0
        for z in range(len(p)):
            others = np.log(np.delete(p, z)) + mu * x - mu * mu / 2
            log_y = logsumexp(others, axis=1)
            t = (log_y - math.log(1 - p[z])) / mu + mu / 2
            total += p[z] * float(np.mean((1 - p[z]) * ndtr(mu - t) - np.exp(log_y) * ndtr(-t)))
        values.append(total)
    return float(np.mean(values)), float(np.std(values, ddof=1) / math.sqrt(len(values)))


def orthogonal_rad_mean_rule(mu: float, m: int) -> float:
    """RAD of "member iff x_z exceeds the mean coordinate" (Algorithm 2 as printed), uniform prior, everything known."""
    spread = math.sqrt(1 - 1 / m)
    return (m - 1) / m * float(ndtr(mu * spread) - ndtr(-mu / m / spread))


def _log_likelihoods(gram: Array, z: NDArray[np.int64], rng: np.random.Generator) -> Array:
    """Row i: ln(density of theta_i given each candidate / density of pure noise) where theta_i has record z_i."""
    eigenvalues, eigenvectors = np.linalg.eigh(gram)
    root = eigenvectors * np.sqrt(np.clip(eigenvalues, 0, None))
    inner = gram[z] + rng.standard_normal((len(z), len(gram))) @ root.T
    return inner - np.diag(gram) / 2


def monte_carlo(
    gram: Array, pi: Sequence[float], a: Sequence[Hashable], n: int = 200_000, seed: int = 0, rule: str = "rad"
) -> Estimate:
    """RAD and success of the attack that maximises RAD (rule "rad") or success (rule "map"), exact goal.

    Per draw of theta: the posterior mass minus the prior mass of the guess made for each known value, which is the
    conditional expectation of hit - false hit given theta. "rad" may say "not a member"; "map" always guesses.
    """
    p, rng = np.array(pi, dtype=float), np.random.default_rng(seed)
    log_joint = _log_likelihoods(gram, rng.choice(len(p), size=n, p=p), rng) + np.log(p)
    posterior = np.exp(log_joint - logsumexp(log_joint, axis=1)[:, None])
    rad, success, rows = np.zeros(n), np.zeros(n), np.arange(n)
    for fibre in fibres(a):
        gain, post = (posterior - p)[:, fibre], posterior[:, fibre]
        score = gain if rule == "rad" else post
        best = np.argmax(score, axis=1)
        guessing = (score[rows, best] > 0) if rule == "rad" else np.ones(n, dtype=bool)
        rad += np.where(guessing, gain[rows, best], 0.0)
        success += post.max(axis=1)
    root = math.sqrt(n)
    return Estimate(float(rad.mean()), float(rad.std()) / root, float(success.mean()), float(success.std()) / root)


def laplace_monte_carlo(
    points: Array, pi: Sequence[float], a: Sequence[Hashable], n: int = 100_000, seed: int = 0
) -> Estimate:
    """RAD and success of independent Laplace noise of scale 1 on vectors, exact goal, by simulation."""
    p, rng = np.array(pi, dtype=float), np.random.default_rng(seed)
    clean = points[rng.choice(len(p), size=n, p=p)]
    noisy = clean + rng.laplace(size=clean.shape)
    with np.errstate(divide="ignore"):
        joint = np.stack([-np.abs(noisy - v).sum(axis=1) for v in points], axis=1) + np.log(p)
    posterior = np.exp(joint - logsumexp(joint, axis=1)[:, None])
    rad, success, rows = np.zeros(n), np.zeros(n), np.arange(n)
    for fibre in fibres(a):
        gain, post = (posterior - p)[:, fibre], posterior[:, fibre]
        free = 0.0 if len(fibre) < len(p) else -1.0  # a value outside the fibre is a guess that is never right
        rad += np.maximum(gain[rows, np.argmax(gain, axis=1)], free)
        success += post.max(axis=1)
    root = math.sqrt(n)
    return Estimate(float(rad.mean()), float(rad.std()) / root, float(success.mean()), float(success.std()) / root)
