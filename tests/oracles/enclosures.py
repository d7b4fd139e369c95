"""Random questions about continuous priors, for the test of the enclosures."""

from __future__ import annotations

import numpy as np
from scipy import stats

import dpradar as dr
from tests.twin.quantiles import Question


def random_question(rng: np.random.Generator) -> Question:
    """Return a law of any spread in its interval, noise from 1/100 to 10 spreads, eta from 1/50 to 2 spreads."""
    law, low, high = _law(rng)
    start, stop = float(law.cdf(low)), float(law.cdf(high))
    spread = float(np.diff(law.ppf(start + np.array([0.1, 0.9]) * (stop - start)))[0])
    spread = max(spread, 1e-3 * (high - low))
    kind = str(rng.choice(["laplace", "gaussian"]))
    scale, eta = spread * 10.0 ** rng.uniform(-2.0, 1.0), spread * 10.0 ** rng.uniform(-1.7, 0.3)
    known, form = bool(rng.random() < 0.4), rng.random()
    if form < 0.6:
        return Question(law, low, high, kind, scale, eta, known)
    if form < 0.8:
        inside = np.sort(law.ppf(start + rng.uniform(0.0, 1.0, 2) * (stop - start)))
        return Question(law, low, high, kind, scale, eta, known, (float(inside[0]), float(inside[1])))
    scale = max(scale, 0.01 * (high - low))
    return Question(law, low, high, "laplace", scale, eta, known, (low, high), clamped=False)


def _law(rng: np.random.Generator):
    shapes = 10.0 ** rng.uniform(-1.0, 1.0, 2)
    choice = int(rng.integers(8))
    makers = (
        lambda: (stats.uniform(-3.0, 5.0), -3.0, 2.0),
        lambda: (stats.beta(*shapes), 0.0, 1.0),
        lambda: (stats.beta(*shapes), 0.0, 1.0),
        lambda: (stats.norm(0.5, 10.0 ** rng.uniform(-2.5, 0.5)), 0.0, 1.0),
        lambda: (stats.lognorm(s=rng.uniform(0.3, 1.2), scale=3e4), 0.0, 1e6),
        lambda: (stats.expon(scale=rng.uniform(0.1, 2.0)), 0.0, 4.0),
        lambda: (stats.triang(rng.random(), 10.0, 4.0), 10.0, 14.0),
        lambda: (stats.gamma(1.0 + shapes[0]), 0.0, 30.0),
    )
    return makers[choice]()


def mechanism(question: Question):
    if question.ends is not None and not question.clamped:
        width = question.ends[1] - question.ends[0]
        return dr.Exponential(2.0 * width / question.scale, interval=question.ends)
    made = dr.Laplace if question.kind == "laplace" else dr.Gaussian
    return made(question.scale, truncate=question.ends)


def threat(question: Question) -> dr.Threat:
    knowledge = dr.Knowledge.everything() if question.known else dr.Knowledge.nothing()
    prior = dr.Prior.continuous(question.law, question.low, question.high)
    return dr.Threat(prior, knowledge, dr.Goal.within(question.eta))
