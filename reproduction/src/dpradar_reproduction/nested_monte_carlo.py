"""The nested Monte Carlo estimate of [RAD] A.2, kept as a cross-check."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dpradar.mechanisms.capabilities import ContinuousModel
    from dpradar.threats.prior import Continuous

__all__ = ["nested_monte_carlo", "nested_monte_carlo_failure"]

Floats = NDArray[np.float64]


def nested_monte_carlo(
    model: ContinuousModel, law: Continuous, eta: float, draws: int, rng: np.random.Generator, candidates: int = 201
) -> float:
    """Return the estimate of rad with N_p = N_theta = N_z = ``draws``, nothing known, output in [low, high].

    Guarantee
    ---------
    None by itself; :func:`nested_monte_carlo_failure` bounds its error.

    Notes
    -----
    [RAD] A.2. The paper finds the at most four candidate guesses by calculus (``rad_fig10`` does); here they
    are a grid of ``candidates`` guesses, which needs no density of the prior. The best of many noisy scores comes out
    too large: with few draws the estimate lies above the truth. Costs draws^2 + draws * candidates * log.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from dpradar.mechanisms import Exponential
    >>> from dpradar.threats import Prior
    >>> prior = Prior.continuous(uniform(), 0.0, 1.0)
    >>> model = Exponential(epsilon=5.0, interval=(0.0, 1.0)).at(prior).continuous
    >>> value = nested_monte_carlo(model, prior.interval, 0.2, 200, np.random.default_rng(1))
    >>> 0.0 < value < 1.0
    True
    """
    outputs = rng.uniform(model.low, model.high, draws)
    guesses = np.linspace(law.low, law.high, candidates)
    total = 0.0
    for output in outputs:
        average = _density(model, output, law.quantile(rng.random(draws))).mean()
        records = np.sort(law.quantile(rng.random(draws)))
        running = np.concatenate([[0.0], np.cumsum(_density(model, output, records) - average)])
        first = np.searchsorted(records, guesses - eta, side="left")
        last = np.searchsorted(records, guesses + eta, side="right")
        total += float((running[last] - running[first]).max()) / draws
    return (model.high - model.low) * total / draws


def _density(model: ContinuousModel, output: float, records: Floats) -> Floats:
    mass = model.kernel.mass(model.low - records, model.high - records) if model.renormalised else 1.0
    return np.asarray(model.kernel.density(output - records) / mass)


def nested_monte_carlo_failure(error: float, draws: int, largest: float, kappa_plus: float, candidates: int) -> float:
    """Return the paper's bound on Pr[|estimate - rad| >= error] on [0, 1], for N_p = N_theta = N_z = ``draws``.

    Notes
    -----
    [RAD] A.2, last display; ``largest`` is M, the supremum of the density. A term whose inner bracket is not positive
    is vacuous and counts as 1.

    Examples
    --------
    >>> nested_monte_carlo_failure(3.0, 100_000, 1.0, 0.5, candidates=4) < 1e-6
    True
    """
    scale = draws / (2.0 * largest**2)
    inner = error / 3.0 - largest / math.sqrt(draws) * math.sqrt(2.0 * math.log(2.0 * candidates))
    average = error / (3.0 * kappa_plus) - largest / (2.0 * math.sqrt(draws))
    terms = [2.0 * math.exp(-scale * error**2 / 9.0)]
    terms += [math.exp(-scale * bracket**2) if bracket > 0.0 else 1.0 for bracket in (inner, average)]
    return min(1.0, sum(terms))
