"""Vectors and histograms: noise on every coordinate, the goal is the record."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.twin import brute, vectors

from .. import draws, truths
from .assessing import Assessing

if TYPE_CHECKING:
    import random

    from ..verdicts import Question, Truth

SIGMAS = 6.0  # standard errors of a simulation that the truth is granted
RARE = 3e-4  # what 100,000 draws may not have seen at all
CLOSED_FORM = 1e-14


def release(rng: random.Random) -> tuple[dict[str, Any], int, list[Any] | None]:
    """Noise on one vector per value: cells of a histogram, corners, any points; shifted by a vector, scaled by 2^k."""
    m, kind = rng.randint(2, 4), rng.randrange(4)
    width = m if kind == 0 else rng.randint(2, 3)
    if kind == 0:
        points = [[float(i == j) for j in range(m)] for i in range(m)]
    elif kind == 1:
        points = [[float(rng.randint(-1, 1)) for _ in range(width)] for _ in range(m)]
    elif kind == 2:
        direction = [float(rng.randint(1, 3)) for _ in range(width)]
        points = [[k * d for d in direction] for k in rng.sample(range(8), m)]
    else:
        points = [[round(rng.uniform(-2, 2), 2) for _ in range(width)] for _ in range(m)]
    if rng.random() < 0.4:
        shift = [rng.choice((0.0, 2.0**20, 2.0**44, -(2.0**48), 1e6)) for _ in range(width)]
        points = [[x + s for x, s in zip(row, shift, strict=True)] for row in points]
    factor = 2.0 ** rng.randrange(-20, 20) if rng.random() < 0.3 else 1.0
    points = [[x * factor for x in row] for row in points]
    name = rng.choice(("Gaussian", "Gaussian", "Laplace"))
    unit = draws.log_uniform(rng, 0.2, 8.0) * factor
    return {"name": name, "scale" if name == "Laplace" else "sigma": unit, "query": points}, m, None


def truth(question: Question) -> Truth:
    """By closed form for two candidates, by simulation for more."""
    release, pi = question["release"], [float(p) for p in truths.law(question["prior"])]
    unit = release.get("scale") or release["sigma"]
    first = release["query"][0]
    points = np.array(
        [[float(Fraction(x) - Fraction(y)) / unit for x, y in zip(row, first, strict=True)] for row in release["query"]]
    )
    a, base = (
        truths.known(question),
        float(brute.baseline(truths.law(question["prior"]), truths.known(question), brute.exact(len(pi)))),
    )
    if release["name"] == "Laplace":
        estimate = vectors.laplace_monte_carlo(points, pi, a)
    elif len(pi) == 2 and min(pi) > 0.0 and points[1].any():
        rad, success = vectors.two_candidates(math.dist(points[0], points[1]), pi)
        estimate = vectors.Estimate(rad, CLOSED_FORM, 1.0 if len(set(a)) == 2 else success, CLOSED_FORM)
    else:
        possible = [i for i, p in enumerate(pi) if p > 0.0]
        chosen = points[possible]
        estimate = vectors.monte_carlo(
            chosen @ chosen.T, [pi[i] for i in possible], _codes(a, possible, len(pi)), n=100_000
        )
    return {
        "rad": _around(estimate.rad, estimate.rad_error),
        "success": _around(estimate.success, estimate.success_error),
        "baseline": (base, base),
    }


def _codes(a: list[Any], possible: list[int], m: int) -> list[Any]:
    return [a[i] for i in possible] if len(possible) < m else a


def _around(value: float, error: float) -> tuple[float, float]:
    margin = SIGMAS * error + (RARE if error != CLOSED_FORM else 0.0)
    return value - margin, value + margin


class Vectors(Assessing):
    """As the other assessments, with the record itself as the goal."""

    def draw(self, rng: random.Random) -> Question:
        question = super().draw(rng)
        weights = question["prior"]["weights"]
        if min(weights) < 1e-6 * max(weights):  # a simulation sees nothing of values that never occur
            question["prior"] = {
                "how": "of",
                "weights": draws.normalised([w + max(weights) / 9 for w in weights])
                if math.isfinite(max(weights) * 2)
                else [1 / len(weights)] * len(weights),
                "values": None,
            }
        return {**question, "goal": "exact"}


FAMILIES = [Vectors("vectors", release, truth)]
