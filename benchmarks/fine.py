"""How far from the least noise an answer is, by dp-accounting on fine grids; nothing of dpradar is used.

dp-accounting bounds delta(epsilon) from above with an error that falls with the square of the grid step. Two steps are
therefore extrapolated to zero: halving both moves the value by less than 5e-6 of itself for all questions asked here. A
single finer grid is no better: at a step of 1e-5 and 10,000 compositions, floating-point errors outweigh what it gains.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

__all__ = ["Question", "distance", "fine_value", "gain_on_grid", "in_words"]

_STEPS = (2e-4, 1e-4)
_ERROR = 5e-6  # of a fine value, relatively
_NEAR = 0.002
_FARTHEST = 30.0  # the largest epsilon at which a line below the trade-off curve is tried


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """DP-SGD, neighbours by adding or removing a record, and the quantity that must not exceed ``target``.

    ``at`` is the false-positive rate for a "tpr" and the delta for an "epsilon".
    """

    sample_rate: float
    steps: int
    quantity: Literal["gain", "tpr", "epsilon"]
    target: float
    at: float = 0.0


def _losses(question: Question, sigma: float, step: float) -> Any:
    from dp_accounting.pld import privacy_loss_distribution

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # an overflow in a tail that is cut off afterwards
        return privacy_loss_distribution.from_gaussian_mechanism(
            standard_deviation=sigma,
            sampling_prob=question.sample_rate,
            value_discretization_interval=step,
            use_connect_dots=True,
        ).self_compose(question.steps)


def gain_on_grid(question: Question, sigma: float, step: float) -> float:
    """Return the total variation from above, computed as dp-accounting does."""
    return float(_losses(question, sigma, step).get_delta_for_epsilon(0.0))


def _tpr(losses: Any, fpr: float) -> float:
    """Return the largest true-positive rate: 1 less the highest of the lines that delta(epsilon) puts below the curve.

    Both kinds of line have one peak as epsilon grows, because delta is convex in e^epsilon.
    """
    from scipy.optimize import minimize_scalar

    def steep(epsilon: float) -> float:
        return losses.get_delta_for_epsilon(epsilon) + math.exp(epsilon) * fpr - 1.0

    def flat(epsilon: float) -> float:
        return -math.exp(-epsilon) * (1.0 - losses.get_delta_for_epsilon(epsilon) - fpr)

    highest = -math.log(max(fpr, 1e-13))  # beyond it the steep lines are negative
    minima = (
        minimize_scalar(steep, bounds=(0.0, min(highest, _FARTHEST)), method="bounded", options={"xatol": 1e-5}),
        minimize_scalar(flat, bounds=(0.0, _FARTHEST), method="bounded", options={"xatol": 1e-5}),
    )
    return 1.0 + min(float(one.fun) for one in minima)


@lru_cache(maxsize=256)
def fine_value(question: Question, sigma: float) -> float:
    """Return the quantity at a noise multiplier, extrapolated to a grid step of zero."""
    values = []
    for step in _STEPS:
        losses = _losses(question, sigma, step)
        if question.quantity == "gain":
            values.append(float(losses.get_delta_for_epsilon(0.0)))
        elif question.quantity == "tpr":
            values.append(_tpr(losses, question.at))
        else:
            values.append(float(losses.get_epsilon_for_delta(question.at)))
    coarse, fine = values
    return fine + (fine - coarse) / 3.0


def distance(question: Question, sigma: float) -> float:
    """Return (sigma / least) - 1, where the least noise keeps the target exactly: negative when there is too little.

    It comes from the values at sigma and a little below, by a straight line in logarithms. It lies in [0, 0.002) just
    when the target is kept at sigma and broken at 0.998 sigma.
    """
    here, below = (math.log(fine_value(question, x) / question.target) for x in (sigma, (1.0 - _NEAR) * sigma))
    return math.expm1(here * math.log1p(-_NEAR) / (below - here))


def in_words(question: Question, sigma: float) -> str:
    """Return the answer in words, with what it comes to on the fine grids."""
    value = fine_value(question, sigma)
    within = value <= question.target * (1.0 + _ERROR)
    verdict = f"keeps {question.target:g}" if within else f"BREAKS {question.target:g}"
    return f"sigma {sigma:.6g} {verdict}: {question.quantity} {value:.6g}"
