"""Noise for DP-SGD from a limit on the risk, and the risk from the noise: beside riskcal and dp-accounting.

The error of a calibration is how far its noise is above the least that keeps the limit; where it is negative, the limit
is broken. Every run of dpradar starts without the compositions that it remembers.
"""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import dpradar as dr
from dpradar.theorems import forget_compositions

from .fine import Question, distance, fine_value, gain_on_grid, in_words
from .measure import Case, Peer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .measure import Work

__all__ = ["CASES"]

_NEIGHBOURS = "add-remove"
_RUN: dict[str, Any] = {"sample_rate": 0.002, "steps": 10_000}
_GAIN = Question(quantity="gain", target=0.1, **_RUN)
_RATES = Question(quantity="tpr", target=0.05, at=0.01, **_RUN)
_BUDGET = Question(quantity="epsilon", target=2.0, at=1e-5, **_RUN)
_ANY_NOISE = Question(quantity="gain", target=0.9, sample_rate=0.01, steps=100)
_CLOSE = 0.002  # the error allowed, relatively
_ROUNDING = 1e-5  # how far below the least noise an answer may seem to be: the error of the fine values
_SAME_GRID = 2e-4  # the step of dp-accounting's grid at which its error is about that of dpradar
_RANDOM = 20
_SEED = 20
_RISKCAL = "riskcal is not installed (make bench installs it)"
_ACCOUNTING = "dp-accounting is not installed (make setup installs it)"


# ------------------------------------------------------------------------------------------------------------ dpradar


def _limit(question: Question) -> dr.Limit:
    if question.quantity == "gain":
        return dr.Limit(worst_gain=question.target, neighbours=_NEIGHBOURS)
    if question.quantity == "tpr":
        return dr.Limit(tpr=question.target, fpr=question.at, neighbours=_NEIGHBOURS)
    return dr.Limit(epsilon=question.target, delta=question.at, neighbours=_NEIGHBOURS)


def _calibrate(question: Question) -> Work:
    limit = _limit(question)

    def work() -> Any:
        forget_compositions()
        return dr.calibrate(dr.DPSGD, limit, sample_rate=question.sample_rate, steps=question.steps)

    return work


def _assess(question: Question, sigma: float) -> Work:
    mechanism = dr.DPSGD(noise_multiplier=sigma, sample_rate=question.sample_rate, steps=question.steps)

    def work() -> float:
        forget_compositions()
        return dr.assess(mechanism, neighbours=_NEIGHBOURS).worst_gain.value

    return work


# -------------------------------------------------------------------------------------------------------------- peers


def _riskcal(question: Question, grid: float | None = None) -> Work:
    """Return the search of riskcal, on its own grid unless another is given; a failure is its answer, in words.

    It is prepared in a process of its own, where warnings of overflow in far tails are not shown.
    """
    try:
        from riskcal.calibration import dpsgd
    except ImportError as missing:
        raise ImportError(_RISKCAL) from missing
    warnings.simplefilter("ignore", RuntimeWarning)
    dpsgd.get_beta_for_dpsgd(1.0, 0.01, 10, alpha=0.1, grid_step=0.01)  # imports what it needs only then
    settings: dict[str, Any] = {"sample_rate": question.sample_rate, "num_steps": question.steps}
    if grid is not None:
        settings["grid_step"] = grid

    def work() -> float | str:
        try:
            if question.quantity == "gain":
                return float(dpsgd.find_noise_multiplier_for_advantage(advantage=question.target, **settings))
            fnr = 1.0 - question.target
            return float(dpsgd.find_noise_multiplier_for_err_rates(alpha=question.at, beta=fnr, **settings))
        except RuntimeError as failure:
            return f"no answer: RuntimeError, {failure}"

    return work


def _accountant(question: Question, grid: float | None = None, tolerance: float | None = None) -> Work:
    """Return the search of dp-accounting, with its own grid, tolerance and bracket unless others are given."""
    try:
        import dp_accounting
        from dp_accounting.pld import PLDAccountant
    except ImportError as missing:
        raise ImportError(_ACCOUNTING) from missing
    settings = {} if grid is None else {"value_discretization_interval": grid}

    def event(sigma: float) -> Any:
        step = dp_accounting.PoissonSampledDpEvent(question.sample_rate, dp_accounting.GaussianDpEvent(sigma))
        return dp_accounting.SelfComposedDpEvent(step, question.steps)

    PLDAccountant().compose(event(4.0), 1).get_epsilon(question.at)  # warms up
    return lambda: float(
        dp_accounting.calibrate_dp_mechanism(
            lambda: PLDAccountant(**settings), event, question.target, question.at, tol=tolerance
        )
    )


def _on_grid(question: Question, sigma: float) -> Work:
    try:
        import dp_accounting.pld  # noqa: F401 - only whether it is there
    except ImportError as missing:
        raise ImportError(_ACCOUNTING) from missing
    return lambda: gain_on_grid(question, sigma, _SAME_GRID)


# ------------------------------------------------------------------------------------------------------------ answers


def _excess(answers: Sequence[Any], question: Question) -> float:
    """Return the error of dpradar's noise, which is infinite where the limit is broken."""
    excess = distance(question, answers[-1].value)
    return excess if excess > -_ROUNDING else math.inf


def _signed(answers: Sequence[Any], question: Question) -> float:
    return math.nan if isinstance(answers[-1], str) else distance(question, answers[-1])


def _words(answer: Any, question: Question) -> str:
    if isinstance(answer, str):
        return answer
    return in_words(question, answer if isinstance(answer, float) else answer.value)


def _value_error(answers: Sequence[Any], question: Question, sigma: float) -> float:
    """Return how far a total variation is above the fine value, relatively."""
    return answers[-1] / fine_value(question, sigma) - 1.0


# -------------------------------------------------------------------------------------------------------------- cases


def _peer(question: Question, name: str, prepare: Any, **more: Any) -> Peer:
    return Peer(
        name=name,
        prepare=prepare,
        accuracy=partial(_signed, question=question),
        remark=partial(_words, question=question),
        **more,
    )


def _case(question: Question, name: str, peers: Sequence[Peer], **more: Any) -> Case:
    words = {
        "gain": f"worst_gain {question.target:.4g}",
        "tpr": f"tpr {question.target:g} at fpr {question.at:g}",
        "epsilon": f"epsilon {question.target:g} at delta {question.at:g}",
    }
    return Case(
        name=f"dpsgd.{name}",
        what=f"calibrate DP-SGD, q={question.sample_rate:.4g}, T={question.steps:,}, to {words[question.quantity]}",
        prepare=partial(_calibrate, question),
        accuracy=partial(_excess, question=question),
        error=_CLOSE,
        remark=partial(_words, question=question),
        peers=tuple(peers),
        **more,
    )


def _free(question: Question) -> Case:
    return Case(
        name="dpsgd.free",
        what=f"calibrate DP-SGD, q={question.sample_rate:g}, T={question.steps}, to worst_gain {question.target:g}",
        prepare=partial(_calibrate, question),
        seconds=1.0,
        remark=lambda answer: f"{answer.status}: {answer.reason}",
        # It looks for a noise at which the gain is 0.9, and there is none.
        peers=(Peer(name="riskcal", prepare=partial(_riskcal, question), remark=str, limit=60.0),),
    )


def _assessed(question: Question, sigma: float) -> Case:
    error = partial(_value_error, question=question, sigma=sigma)
    return Case(
        name="dpsgd.assess",
        what=f"assess DP-SGD, sigma {sigma:g}, q={question.sample_rate:g}, T={question.steps:,}: worst_gain, "
        "with a bound from below that proves the error",
        prepare=partial(_assess, question, sigma),
        accuracy=error,
        error=_CLOSE,
        remark="worst_gain {:.6g}".format,
        peers=(
            Peer(
                name=f"dp-accounting, grid {_SAME_GRID:g}",
                prepare=partial(_on_grid, question, sigma),
                accuracy=error,
                remark="delta(0) {:.6g}, from above only".format,
            ),
        ),
    )


def _drawn() -> list[Question]:
    """Return the random questions; those that any noise answers are drawn again."""
    rng = np.random.default_rng(_SEED)
    questions: list[Question] = []
    while len(questions) < _RANDOM:
        q = float(np.exp(rng.uniform(np.log(5e-4), np.log(0.05))))
        steps = round(float(np.exp(rng.uniform(np.log(100.0), np.log(10_000.0)))))
        gain = float(rng.uniform(0.03, 0.4))
        if -math.expm1(steps * math.log1p(-q)) > gain:
            questions.append(Question(quantity="gain", target=gain, sample_rate=q, steps=steps))
    return questions


CASES = (
    _case(
        _GAIN,
        "gain",
        (
            _peer(_GAIN, "riskcal", partial(_riskcal, _GAIN), faster=10.0, limit=300.0),
            _peer(_GAIN, f"riskcal, grid {_SAME_GRID:g}", partial(_riskcal, _GAIN, _SAME_GRID), limit=300.0),
        ),
    ),
    _case(_RATES, "rates", (_peer(_RATES, "riskcal", partial(_riskcal, _RATES), faster=50.0, limit=600.0),)),
    _free(_ANY_NOISE),
    _case(
        _BUDGET,
        "epsilon",
        (
            _peer(_BUDGET, "dp-accounting", partial(_accountant, _BUDGET), limit=300.0),
            _peer(
                _BUDGET,
                f"dp-accounting, grid {_SAME_GRID:g}",
                partial(_accountant, _BUDGET, _SAME_GRID, 1e-5),
                limit=300.0,
            ),
        ),
    ),
    _assessed(_GAIN, 1.0),
    *(
        _case(
            question,
            f"random{number:02d}",
            (_peer(question, "riskcal", partial(_riskcal, question), limit=300.0),),
            group="dpsgd.random",
            level=0 if number <= 2 else 1 if number <= 5 else 2,
        )
        for number, question in enumerate(_drawn(), start=1)
    ),
)
