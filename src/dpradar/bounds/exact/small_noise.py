"""Noise far below the window of the goal: nearly the raw record, enclosed without a grid as fine as the noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import np
from ...threats.ceiling import lightest_windows, raw_data
from .likelihoods import noise_of

if TYPE_CHECKING:
    from ...mechanisms.capabilities import ContinuousModel
    from ...threats import Threat
    from ...threats.prior import Continuous

__all__ = ["small_noise_risk"]

_CELLS = 100_001
_SMALL = 1e-2  # of the prior's interval: noise that reaches further needs the grid


def small_noise_risk(
    model: ContinuousModel, threat: Threat, law: Continuous
) -> tuple[tuple[float, float], tuple[float, float], float] | None:
    """Return intervals for rad and success, and the hits of the attack; None where the intervals would be wide.

    Guarantee
    ---------
    From above the raw record, from below an attack that trusts the output up to a distance t: docs/derivations/
    continuous.md, "Noise far below the window". Wide unless the noise is small.
    """
    inside = model.low <= law.low and law.high <= model.high
    if (model.clamp or model.renormalised) and not inside:
        return None
    eta = threat.goal.eta if threat.goal.kind == "within" else 0.0
    record_known = threat.knowledge.kind == "everything"
    t = noise_of(model.kernel).reach
    if t > _SMALL * (law.high - law.low) or (not record_known and 2.0 * t >= eta):
        return None
    beyond = _noise_tail(model, t)
    raw = raw_data(threat).rad
    attack = raw[0] - _closeness(law, 2.0 * t) if record_known else lightest_windows(law, eta, eta - 2.0 * t)[0]
    success = 1.0 if record_known else 1.0 - _noise_tail(model, eta)
    return (max(0.0, attack - 2.0 * beyond), raw[1]), (success, 1.0), 1.0 - beyond


def _noise_tail(model: ContinuousModel, distance: float) -> float:
    """Return a bound on the probability that an output is further than this from its record."""
    outside = 2.0 * float(model.kernel.mass(np.array([distance]), np.array([np.inf]))[0])
    if model.renormalised:
        half = np.array([0.5 * (model.high - model.low)])
        outside /= float(model.kernel.mass(np.zeros(1), half)[0])  # from its record to the further end, at least
    return min(1.0, outside * (1.0 + 1e-12))


def _closeness(law: Continuous, distance: float) -> float:
    """Return a bound on the probability that two independent records are no further apart than this."""
    grid = law.quantile(np.linspace(0.0, 1.0, _CELLS))
    near = law.cdf(grid[1:] + distance) - law.cdf(grid[:-1] - distance)
    return float(np.diff(law.cdf(grid)) @ near) + 1e-12
