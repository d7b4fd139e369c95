"""The exponential mechanism on an interval, beside the nested Monte Carlo of the paper."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import dpradar as dr
from dpradar_reproduction.nested_monte_carlo import nested_monte_carlo

from .measure import Case, Peer
from .reference import reference_rad

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .measure import Work

__all__ = ["CASES"]

_ETA = 0.1
_DRAWS = 1_000
_ERROR = 1e-4  # the engine's answer is the upper end of an interval narrower than this


def _prior(a: float) -> dr.Prior:
    from scipy.stats import beta, uniform

    return dr.Prior.continuous(uniform() if a == 1.0 else beta(a, a), 0.0, 1.0)


def _engine(epsilon: float, a: float) -> Work:
    mechanism, prior = dr.Exponential(epsilon=epsilon, interval=(0.0, 1.0)), _prior(a)
    return lambda: dr.assess(mechanism, dr.Threat(prior, goal=dr.Goal.within(_ETA))).rad.value


def _nested(epsilon: float, a: float) -> Work:
    prior, rng = _prior(a), np.random.default_rng(5)
    release = dr.Exponential(epsilon=epsilon, interval=(0.0, 1.0)).at(prior)
    return lambda: nested_monte_carlo(release.continuous, prior.interval, _ETA, _DRAWS, rng)


def _error(values: Sequence[Any], epsilon: float, a: float) -> float:
    """Return the root mean square error of the answers; those of the engine are all the same."""
    return float(np.sqrt(np.mean(np.square(np.array(values) - reference_rad(epsilon, _ETA, a)))))


def _case(epsilon: float, a: float) -> Case:
    return Case(
        name=f"continuous.eps{epsilon:g}{'' if a == 1.0 else '.beta'}",
        what=f"exponential mechanism, epsilon {epsilon:g}, prior {'U(0, 1)' if a == 1.0 else f'Beta({a:g}, {a:g})'}, "
        f"within {_ETA:g}: assess",
        prepare=partial(_engine, epsilon, a),
        accuracy=partial(_error, epsilon=epsilon, a=a),
        seconds=1.0,
        error=_ERROR,
        # The error falls with 1/sqrt(N), the work grows with N^2: an error k times smaller costs k^4 times as much.
        peers=(Peer(name=f"nested Monte Carlo, N={_DRAWS}", prepare=partial(_nested, epsilon, a), power=4.0),),
    )


CASES = (_case(1.0, 1.0), _case(5.0, 1.0), _case(20.0, 1.0), _case(5.0, 0.1))
