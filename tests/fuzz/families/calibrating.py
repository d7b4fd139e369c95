"""Calibration: the value that is returned keeps the limit, by the twin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import draws, questions, truths
from ..shrinking import smaller_threats
from ..verdicts import FINE, REFERENCE, ROUNDING, Question, Verdict
from ..written import Body
from .assessing import outcome

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

FREE = {"Laplace": "scale", "Gaussian": "sigma", "Geometric": "scale", "DiscreteGaussian": "sigma"}


class Calibrating:
    """One mechanism, one limit."""

    name = "calibration"

    def prepare(self) -> None:
        """Nothing is shared."""

    def draw(self, rng: random.Random) -> Question:
        m = rng.randint(2, 5)
        name = rng.choice(("GRR", "OUE", "SUE", "SubsetSelection", "Laplace", "Gaussian", "Geometric"))
        offset = rng.choice((0, 1, 10**6))
        values = [offset + v for v in rng.sample(range(12), m)]
        numbers: list[Any] = values if name == "Geometric" else draws.numbers(rng, m)
        release: dict[str, Any] = {"name": name} if name in FREE else {"name": name, "m": m}
        prior = draws.prior(rng, m, numbers)
        weights = draws.normalised([w + 0.02 for w in draws.weights(rng, m)])
        return {
            "release": release, "prior": {**prior, "how": "of", "weights": weights},
            "knowledge": draws.knowledge(rng, m), "goal": draws.goal(rng, m, numbers),
            "quantity": rng.choice(("rad", "rad", "success", "gain")), "level": draws.log_uniform(rng, 0.005, 0.8),
        }  # fmt: skip

    def code(self, question: Question) -> str:
        """The lines that calibrate; the answer is ``c``."""
        name, m = question["release"]["name"], question["release"].get("m")
        limit = f"dr.Limit(threat, {question['quantity']}={question['level']!r})"
        return (
            f"threat = {questions.threat(question)}\n"
            f"c = dr.calibrate(dr.{name}, {limit}{'' if m is None else f', m={m}'})\n"
        )

    def truth(self, question: Question, value: float) -> tuple[float, float]:
        """The true quantity at the calibrated value."""
        release = {**question["release"], FREE.get(question["release"]["name"], "epsilon"): value}
        return truths.of_question({**question, "release": release})[question["quantity"]]

    def judge(self, question: Question) -> Verdict:
        def compare(answer: Any) -> Verdict:
            if answer.status != "met" or answer.value is None:
                return FINE
            low, _ = self.truth(question, answer.value)
            if low > question["level"] * (1 + REFERENCE) + ROUNDING:
                place, limit = f"{answer.parameter} {answer.value!r}", question["level"]
                message = f"{question['quantity']} is {low!r} at {place}, the limit is {limit!r}"
                return Verdict(
                    "unsafe", message, f"assert c.status != 'met' or c.value != {answer.value!r}  # gives {low!r}"
                )
            return FINE

        return outcome(lambda: questions.run(self.code(question))["c"], compare)

    def smaller(self, question: Question) -> Iterator[Question]:
        return smaller_threats(question)

    def body(self, question: Question, verdict: Verdict) -> Body:
        return Body(self.code(question) + verdict.check)


FAMILIES = [Calibrating()]
