"""Every kind of prior with every kind of knowledge and goal; what cannot be asked is an error, which is an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scipy.stats import uniform

import dpradar as dr
from tests.numbers.asking import assess
from tests.numbers.questions.parts import SKEWED, counted, family

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["QUESTIONS"]

PRIORS: dict[str, Callable[[], dr.Prior]] = {
    "uniform": lambda: dr.Prior.uniform(4),
    "probabilities": lambda: dr.Prior.of(SKEWED),
    "records": family,
    "counted": counted,
    "counted-suppress": lambda: counted(suppress=30),
    "counted-sample": lambda: counted(confidence=0.95),
    "continuous": lambda: dr.Prior.continuous(uniform(), 0.0, 1.0),
}
KNOWLEDGE: dict[str, Callable[[int], dr.Knowledge]] = {
    "nothing": lambda m: dr.Knowledge.nothing(),
    "everything": lambda m: dr.Knowledge.everything(),
    "labels": lambda m: dr.Knowledge.labels(["a", "b"] * (m // 2) + ["a"] * (m % 2)),
    "columns": lambda m: dr.Knowledge.columns("sex"),
}
GOALS: dict[str, Callable[[int], dr.Goal]] = {
    "exact": lambda m: dr.Goal.exact(),
    "within": lambda m: dr.Goal.within(0.3),
    "within-1": lambda m: dr.Goal.within(1.0),
    "labels": lambda m: dr.Goal.labels(["x"] * (m // 2) + ["y"] * (m - m // 2)),
    "columns": lambda m: dr.Goal.columns("ill"),
}


def _question(prior: str, knowledge: str, goal: str) -> Callable[[], Any]:
    def question() -> Any:
        law = PRIORS[prior]()
        threat = dr.Threat(law, KNOWLEDGE[knowledge](law.size), GOALS[goal](law.size))
        return assess(dr.Laplace(scale=0.5) if law.is_continuous else dr.GRR(m=law.size, epsilon=2.0), threat)

    return question


QUESTIONS: dict[str, Callable[[], Any]] = {
    f"threat/{prior}/{knowledge}/{goal}": _question(prior, knowledge, goal)
    for prior in PRIORS
    for knowledge in KNOWLEDGE
    for goal in GOALS
}
