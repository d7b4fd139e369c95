"""Random questions about continuous priors, for the test of the enclosures."""

from __future__ import annotations

import numpy as np
from scipy import stats

import dpradar as dr
from tests.twin.quantiles import Question


def random_question(rng: np.random.Generator) -> Question:
    """Return a law of any spread in its interval with noise and eta between a small part and several of either.

    Noise is drawn from 1/100 to 10 spreads or from 1/2000 to 1/10 of the interval, eta from 1/50 to 2 spreads or from
    1/2000 of the interval to nearly all of it; the output is clamped inside the range, or renormalised, now and then.
    """
    law, low, high = _law(rng)
    length = high - low
    start, stop = float(law.cdf(low)), float(law.cdf(high))
    spread = float(np.diff(law.ppf(start + np.array([0.1, 0.9]) * (stop - start)))[0])
    spread = max(spread, 1e-3 * length)
    kind = str(rng.choice(["laplace", "gaussian"]))
    by_spread = spread * 10.0 ** rng.uniform(-2.0, 1.0), spread * 10.0 ** rng.uniform(-1.7, 0.3)
    by_interval = length / 2000.0 * 200.0 ** rng.random(), length / 2000.0 * 1980.0 ** rng.random()
    scale, eta = (a if rng.random() < 0.6 else b for a, b in zip(by_spread, by_interval, strict=True))
    eta = min(eta, 0.98 * length)
    known, form = bool(rng.random() < 0.4), rng.random()
    if form < 0.6:
        return Question(law, low, high, kind, scale, eta, known)
    if form < 0.8:
        inside = np.sort(law.ppf(start + rng.uniform(0.0, 1.0, 2) * (stop - start)))
        return Question(law, low, high, kind, scale, eta, known, (float(inside[0]), float(inside[1])))
    scale = max(scale, 5e-4 * length)
    return Question(law, low, high, "laplace", scale, eta, known, (low, high), clamped=False)


def _law(rng: np.random.Generator):
    shapes = 10.0 ** rng.uniform(-1.3, 1.3, 2)
    choice = int(rng.integers(12))
    makers = (
        lambda: (stats.uniform(-3.0, 5.0), -3.0, 2.0),
        lambda: (stats.beta(*shapes), 0.0, 1.0),
        lambda: (stats.beta(*np.minimum(shapes, 1 / shapes)), 0.0, 1.0),  # U-shaped
        lambda: (stats.beta(min(shapes[0], 1 / shapes[0]), max(shapes[1], 1 / shapes[1])), 0.0, 1.0),  # a pole at 0
        lambda: (stats.norm(0.5, 10.0 ** rng.uniform(-3.0, 0.5)), 0.0, 1.0),
        lambda: (stats.lognorm(s=rng.uniform(0.3, 1.2), scale=3e4), 0.0, 1e6),
        lambda: (stats.expon(scale=rng.uniform(0.1, 2.0)), 0.0, 4.0),
        lambda: (stats.triang(rng.random(), 10.0, 4.0), 10.0, 14.0),
        lambda: (stats.gamma(1.0 + shapes[0]), 0.0, 30.0),
        lambda: (stats.t(rng.uniform(0.8, 4.0)), -50.0, 70.0),
        lambda: (stats.pareto(rng.uniform(0.8, 3.0)), 1.0, 200.0),
        lambda: (stats.weibull_min(rng.uniform(0.3, 3.0), scale=0.3), 0.0, 10.0),
    )
    return makers[choice]()


def mechanism(question: Question):
    if question.ends is not None and not question.clamped:
        width = question.ends[1] - question.ends[0]
        return dr.Exponential(2.0 * width / question.scale, interval=question.ends)
    noise = dr.Laplace if question.kind == "laplace" else dr.Gaussian
    return noise(question.scale, truncate=question.ends)


def threat(question: Question) -> dr.Threat:
    knowledge = dr.Knowledge.everything() if question.known else dr.Knowledge.nothing()
    prior = dr.Prior.continuous(question.law, question.low, question.high)
    return dr.Threat(prior, knowledge, dr.Goal.within(question.eta))
