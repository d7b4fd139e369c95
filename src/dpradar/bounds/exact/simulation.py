"""Any release that can be drawn from: an interval for rad and success by simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...numerics.confidence_intervals import empirical_bernstein
from ...numerics.lazy_numpy import np
from ..question import Inapplicable

if TYPE_CHECKING:
    from ...mechanisms.capabilities import Release
    from ...threats import Prior
    from ...threats.hit_classes import Cover

__all__ = ["FAILURE", "simulated_risk"]

FAILURE = 1e-9
_ENTRIES = 20_000_000
_MOST_DRAWS = 400_000
_FEWEST_DRAWS = 500
_CHUNK = 1_000_000


def simulated_risk(
    release: Release, prior: Prior, cover: Cover, rng: np.random.Generator
) -> tuple[tuple[float, float], tuple[float, float], int]:
    """Return intervals for rad and success that hold with probability 1 - 1e-9 each, and the number of draws.

    Notes
    -----
    An output is drawn from the prior mixture; given it, the best attacker's scores are exact sums over the posterior
    rho_z: E[sum_x max_g sum (rho_z - pi_z)] = rad and E[sum_x max_g sum rho_z] = success ([RAD] Theorem 4.3). Each
    draw is bounded, so an empirical Bernstein interval holds.
    """
    if release.sample is None or release.likelihoods is None:
        message = "needs a mechanism that can be simulated"
        raise Inapplicable(message)
    pi = prior.probabilities
    if pi.size * _FEWEST_DRAWS > _ENTRIES:
        message = f"draws too few outputs to say anything for more than {_ENTRIES // _FEWEST_DRAWS:,} values"
        raise Inapplicable(message)
    draws = int(np.clip(_ENTRIES // pi.size, _FEWEST_DRAWS, _MOST_DRAWS))
    inputs = rng.choice(pi.size, size=draws, p=pi)
    rads, wins = np.empty(draws), np.empty(draws)
    with np.errstate(divide="ignore"):
        log_prior = np.log(pi)
    for start in range(0, draws, step := max(1, _CHUNK // pi.size)):
        some = slice(start, min(start + step, draws))
        logs = release.likelihoods(release.sample(inputs[some], rng)) + log_prior
        logs -= logs.max(axis=1, keepdims=True)
        posterior = np.exp(logs).T
        posterior /= posterior.sum(axis=0)
        rads[some] = cover.best_total(posterior - pi[:, None])
        wins[some] = cover.best_total(posterior)
    rad = empirical_bernstein(rads, low=-1.0, high=1.0, failure=FAILURE)
    win = empirical_bernstein(wins, low=0.0, high=1.0, failure=FAILURE)
    return rad, win, draws
