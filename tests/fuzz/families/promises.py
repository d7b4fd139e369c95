"""Guarantees and sensitivities: what a mechanism promises must cover what it does, under the relation that is stated.

The mechanism is drawn, its promise is computed by hand from its definition (an absent record contributes 0), and only
the promise is given to dpradar. Every upper bound must be at least the true risk of the mechanism.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.twin import brute, vectors

from .. import draws, questions, truths
from ..shrinking import smaller_threats
from ..verdicts import Question, Truth, Verdict, judged
from ..written import Body
from .assessing import outcome

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

RELATIONS = ("replace-one", "add-remove")
RARE = 3e-4  # what a simulation may not have seen at all
UP = 1 + 1e-12  # promises are rounded up


def from_below(truth: Truth) -> Truth:
    """A promise says nothing from below, so no number is too large."""
    return {name: (low, high if name == "baseline" else math.inf) for name, (low, high) in truth.items()}


def distance(points: list[list[float]], relation: str, norm: int) -> float:
    """The sensitivity of a query of which a record contributes one of the points, an absent one 0."""
    rows = np.array(points)
    differences = rows[:, None, :] - rows[None, :, :] if relation == "replace-one" else rows
    return float(np.linalg.norm(differences.reshape(-1, rows.shape[1]), ord=norm, axis=1).max())


class Promise:
    """Shared parts: a threat over few values and a mechanism that is kept from dpradar."""

    name = ""

    def prepare(self) -> None:
        """Nothing is shared."""

    def draw(self, rng: random.Random) -> Question:
        """A mechanism, its relation and a threat."""
        m = rng.choice((2, 2, 3, 4))
        line = rng.random() < 0.6
        values = [float(v) for v in rng.sample(range(-4, 5), m)]
        if m == 2 and rng.random() < 0.4:
            values[1] = -values[0] or 1.0
        points = [[v] for v in values] if line else [[float(i == j) for j in range(m)] for i in range(m)]
        noise = rng.choice(("Laplace", "Gaussian"))
        prior = {
            "how": "of",
            "weights": draws.normalised([float(rng.randint(1, 9)) for _ in range(m)]),
            "values": values,
        }
        return {
            "noise": noise, "unit": draws.log_uniform(rng, 0.3, 10.0), "points": points, "prior": prior,
            "relation": rng.choice(RELATIONS), "release": {"name": ""}, **self.more(rng, m),
            "knowledge": draws.knowledge(rng, m), "goal": draws.goal(rng, m, values) if line else "exact",
        }  # fmt: skip

    def more(self, rng: random.Random, m: int) -> dict[str, Any]:
        """What else is drawn."""
        raise NotImplementedError

    def truth(self, question: Question) -> Truth:
        """The risk of the mechanism itself."""
        unit, noise = question["unit"], question["noise"]
        points = np.array(question["points"]) / unit
        if points.shape[1] == 1:
            release = {
                "name": noise,
                "scale" if noise == "Laplace" else "sigma": unit,
                "query": [p[0] for p in question["points"]],
            }
            return from_below(truths.of_line({**question, "release": release}))
        pi, a = [float(p) for p in truths.law(question["prior"])], truths.known(question)
        if noise == "Laplace":
            estimate = vectors.laplace_monte_carlo(points, pi, a)
        else:
            estimate = vectors.monte_carlo(points @ points.T, pi, a, n=100_000)
        base = float(brute.baseline(truths.law(question["prior"]), a, brute.exact(len(pi))))
        low = {
            "rad": estimate.rad - 6 * estimate.rad_error - RARE,
            "success": estimate.success - 6 * estimate.success_error - RARE,
        }
        return {**{name: (value, math.inf) for name, value in low.items()}, "baseline": (base, base)}

    def code(self, question: Question) -> str:
        """The lines that ask."""
        raise NotImplementedError

    def judge(self, question: Question) -> Verdict:
        """Compare the promise with the mechanism."""
        return outcome(lambda: questions.run(self.code(question))["a"], lambda a: judged(a, self.truth(question)))

    def smaller(self, question: Question) -> Iterator[Question]:
        """Fewer values, a simpler threat."""
        for one in smaller_threats(question):
            if len(one["prior"]["weights"]) == len(question["prior"]["weights"]):
                yield one

    def body(self, question: Question, verdict: Verdict) -> Body:
        """A test that says which mechanism it is about."""
        noise = f"{question['noise']} noise {question['unit']!r}"
        about = f"# A record adds one of {question['points']}, an absent one 0; {noise}.\n"
        return Body(about + self.code(question) + verdict.check)


class Guarantees(Promise):
    """Definitions of differential privacy with the relation they hold under."""

    name = "guarantees"

    def more(self, rng: random.Random, m: int) -> dict[str, Any]:
        return {"as": rng.choice(("PureDP", "ApproxDP", "GDP", "ZCDP", "RDP", "TotalVariation"))}

    def code(self, question: Question) -> str:
        norm = 1 if question["noise"] == "Laplace" else 2
        x = distance(question["points"], question["relation"], norm) / question["unit"] * UP
        relation = f"neighbours={question['relation']!r}"
        if question["noise"] == "Laplace":
            kinds = {
                "ZCDP": f"ZCDP(rho={x * x / 2!r}, ",
                "TotalVariation": f"TotalVariation(tv={min(1.0, (1 - math.exp(-x / 2)) * UP)!r}, ",
                "ApproxDP": f"ApproxDP(epsilon={x / 2!r}, delta={_laplace_delta(x, x / 2)!r}, ",
            }
            if len(question["points"][0]) > 1:
                kinds = {"ZCDP": kinds["ZCDP"]}
            guarantee = kinds.get(question["as"], f"PureDP(epsilon={x!r}, ")
        else:
            orders = [1.5, 2.0, 4.0, 8.0, 32.0]
            kinds = {
                "ZCDP": f"ZCDP(rho={x * x / 2!r}, ",
                "RDP": f"RDP({orders}, {[a * x * x / 2 * UP for a in orders]}, ",
                "ApproxDP": f"ApproxDP(epsilon=1.0, delta={_gaussian_delta(x, 1.0)!r}, ",
                "TotalVariation": f"TotalVariation(tv={math.erf(x / 2 / math.sqrt(2)) * UP!r}, ",
            }
            guarantee = kinds.get(question["as"], f"GDP(mu={x!r}, ")
        return f"threat = {questions.threat(question)}\na = dr.assess(dr.{guarantee}{relation}), threat)\n"


def _laplace_delta(distance_in_scales: float, epsilon: float) -> float:
    """1 - e^((eps - x)/2): the hockey-stick divergence of two Laplace distributions."""
    return min(1.0, -math.expm1((epsilon - distance_in_scales) / 2) * UP)


def _gaussian_delta(mu: float, epsilon: float) -> float:
    """Balle and Wang 2018."""

    def cdf(t: float) -> float:
        return math.erfc(-t / math.sqrt(2)) / 2

    return min(1.0, max(0.0, cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * cdf(-mu / 2 - epsilon / mu)) * UP + 1e-15)


class Sensitivities(Promise):
    """A sensitivity stated for one relation instead of the query."""

    name = "sensitivity"

    def more(self, rng: random.Random, m: int) -> dict[str, Any]:
        return {"times": rng.choice((1, 1, 1, 3))}

    def code(self, question: Question) -> str:
        import inspect

        import dpradar as dr

        norm = 1 if question["noise"] == "Laplace" else 2
        sensitivity = distance(question["points"], question["relation"], norm)
        takes = "neighbours" in inspect.signature(getattr(dr, question["noise"])).parameters
        relation = f", neighbours={question['relation']!r}"
        release = (
            f"dr.{question['noise']}({question['unit']!r}, sensitivity={sensitivity!r}{relation if takes else ''})"
        )
        if question["times"] > 1:
            release = f"dr.Repeated({release}, {question['times']})"
        return f"threat = {questions.threat(question)}\na = dr.assess({release}, threat{'' if takes else relation})\n"


FAMILIES = [Guarantees(), Sensitivities()]
