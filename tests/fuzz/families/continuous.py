"""Continuous priors beside a quadrature of their definition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scipy.stats

from tests.twin import densities

from .. import draws, questions
from ..shrinking import rounded
from ..verdicts import Question, Verdict, judged
from ..written import Body
from .assessing import outcome

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

MOST_WORK = 150.0
MOST_ABOVE = 0.01  # the engine encloses most risks within 1e-4; a bound so far above the truth is a fault


def _law(rng: random.Random) -> tuple[str, dict[str, float], tuple[float, float]]:
    kind = rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 5))
    if kind == 0:
        return "uniform", {}, (0.0, 1.0)
    if kind == 1:
        a, b = (rng.choice((0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0)) for _ in range(2))
        return "beta", {"a": a, "b": b}, (0.0, 1.0)
    if kind == 2:
        return "norm", {"loc": 0.5, "scale": rng.choice((1e-3, 0.01, 0.1, 1.0))}, (0.0, 1.0)
    if kind == 3:
        return "lognorm", {"s": rng.choice((0.5, 1.0)), "scale": 3e4}, (0.0, rng.choice((1e5, 1e6)))
    if kind == 4:
        return "expon", {"scale": rng.choice((0.1, 1.0, 10.0))}, (0.0, 5.0)
    return "triang", {"c": rng.choice((0.1, 0.5))}, (0.0, 1.0)


def _narrow(rng: random.Random) -> Question:
    """A prior on a small part of its interval, which an even grid does not see."""
    spread = rng.choice((1e-4, 1e-3, 3e-3))
    unit = spread * draws.log_uniform(rng, 0.2, 3.0)
    return {
        "law": "norm", "arguments": {"loc": rng.choice((0.5, 0.3)), "scale": spread}, "low": 0.0, "high": 1.0,
        "noise": rng.choice(("Laplace", "Gaussian")), "unit": unit, "eta": unit * draws.log_uniform(rng, 0.5, 2.0),
        "truncate": None, "knowledge": "nothing",
    }  # fmt: skip


class Continuous:
    """A density on an interval, noise, a guess within eta."""

    name = "continuous"

    def prepare(self) -> None:
        """Nothing is shared."""

    def draw(self, rng: random.Random) -> Question:
        return _narrow(rng) if rng.random() < 0.3 else self._any(rng)

    def _any(self, rng: random.Random) -> Question:
        while True:
            name, arguments, (low, high) = _law(rng)
            law = getattr(scipy.stats, name)(**arguments)
            spread = float(min(law.std(), (high - low) / 3))
            noise = rng.choice(("Laplace", "Gaussian"))
            unit = spread * draws.log_uniform(rng, 0.02, 10.0)
            eta = rng.choice((unit, unit, spread, spread, high - low)) * draws.log_uniform(rng, 0.1, 1.0)
            clamp = [low, high] if rng.random() < 0.2 else None
            question = {
                "law": name, "arguments": arguments, "low": low, "high": high, "noise": noise, "unit": unit,
                "eta": eta, "truncate": clamp, "knowledge": rng.choice(("nothing", "nothing", "everything")),
            }  # fmt: skip
            if densities.size(_setting(question)) <= MOST_WORK:
                return question

    def code(self, question: Question) -> str:
        """The lines that ask."""
        law, low, high = question["law"], question["low"], question["high"]
        knowledge = questions.knowledge(question["knowledge"])
        arguments = ", ".join(f"{k}={v!r}" for k, v in question["arguments"].items())
        clamp = f", truncate={question['truncate']}" if question["truncate"] else ""
        return (
            f"import scipy.stats\n"
            f"prior = dr.Prior.continuous(scipy.stats.{law}({arguments}), {low!r}, {high!r})\n"
            f"threat = dr.Threat(prior, {knowledge}, dr.Goal.within({question['eta']!r}))\n"
            f"a = dr.assess(dr.{question['noise']}({question['unit']!r}{clamp}), threat)\n"
        )

    def judge(self, question: Question) -> Verdict:
        def compare(answer: Any) -> Verdict:
            truth = densities.enclosed(_setting(question), known=question["knowledge"] == "everything")
            intervals: dict[str, Any] = truth._asdict()
            intervals["baseline"] = (truth.baseline[0] - 1e-3, truth.baseline[1] + 1e-3)
            return judged(answer, intervals, most_above=MOST_ABOVE)

        return outcome(lambda: questions.run(self.code(question))["a"], compare)

    def smaller(self, question: Question) -> Iterator[Question]:
        if question["truncate"]:
            yield {**question, "truncate": None}
        for key in ("unit", "eta"):
            for number in rounded(question[key]):
                yield {**question, key: number}

    def body(self, question: Question, verdict: Verdict) -> Body:
        return Body(self.code(question) + verdict.check)


def _setting(question: Question) -> densities.Setting:
    law = getattr(scipy.stats, question["law"])(**question["arguments"])
    noise = (densities.laplace if question["noise"] == "Laplace" else densities.gaussian)(question["unit"])
    clamp = tuple(question["truncate"]) if question["truncate"] else None
    return densities.Setting(law, question["low"], question["high"], noise, question["eta"], clamp)


FAMILIES = [Continuous()]
