"""How far scores bend between two outputs, beside the scores of single windows on dense grids."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

import dpradar as dr
from dpradar.bounds.exact.gaussian_curvature import GaussianBends
from dpradar.bounds.exact.laplace_curvature import LaplaceBends
from dpradar.bounds.exact.likelihoods import noise_of
from dpradar.bounds.exact.step_prior import step_prior

CASES = [
    (stats.beta(0.3, 2.0), dr.Laplace, 0.1, 0.08),
    (stats.beta(0.3, 2.0), dr.Gaussian, 0.1, 0.08),
    (stats.norm(0.5, 0.02), dr.Laplace, 0.01, 0.03),
    (stats.norm(0.5, 0.02), dr.Gaussian, 0.01, 0.03),
    (stats.norm(0.5, 1e-3), dr.Laplace, 0.1, 0.03),
    (stats.uniform(), dr.Laplace, 0.05, 0.4),
    (stats.uniform(), dr.Gaussian, 0.05, 0.4),
]


def below(noise, scale, u):
    if noise is dr.Gaussian:
        return ndtr(u / scale)
    half = 0.5 * np.exp(-np.abs(u) / scale)
    return np.where(u < 0, half, 1 - half)


class Scores:
    """H(y; W) and H(y; W) - pi(W) p(y) for windows W that end on edges of the steps, from the noise's own cdf."""

    def __init__(self, law, noise, scale, eta):
        prior = dr.Prior.continuous(law, 0.0, 1.0)
        model = noise(scale).at(prior).continuous
        marks = np.array([1 - eta, eta])
        steps, _ = step_prior(prior.interval, model, noise_of(model.kernel), marks, 1e-2, record_known=False)
        self.steps, self.noise, self.scale, self.eta = steps, noise, scale, eta
        self.edges, self.density = steps.fine.edges, steps.fine.density

    def bends(self, window):
        """The bounds for windows of one probability."""
        chance = self.steps.fine.mass[window].sum()
        if self.noise is dr.Gaussian:
            return GaussianBends(self.steps, chance)
        return LaplaceBends(self.steps, lambda low, _: np.full(low.size, chance))

    def window(self, rng):
        """A guess drawn from the prior, as a range of cells."""
        guess = float(np.interp(rng.random(), self.steps.fine.cdf, self.edges))
        first, last = np.searchsorted(self.edges, [guess - self.eta, guess + self.eta])
        return slice(int(first), int(min(last, self.density.size)))

    def at(self, y, window):
        """Rows: hits, hits less false hits."""
        cells = -np.diff(below(self.noise, self.scale, y[:, None] - self.edges), axis=1) * self.density
        hits, p = cells[:, window].sum(axis=1), cells.sum(axis=1)
        return np.stack([hits, hits - p * self.steps.fine.mass[window].sum()])


@pytest.mark.parametrize("case", range(len(CASES)))
def test_scores_stay_below_the_lifted_ends_and_their_integrals_inside(case):
    scores = Scores(*CASES[case])
    rng = np.random.default_rng(case)
    for _ in range(60):
        window = scores.window(rng)
        bends = scores.bends(window)
        half = scores.scale * 10.0 ** rng.uniform(-2.0, 0.6)
        record = float(np.interp(rng.random(), scores.steps.fine.cdf, scores.edges))
        start = record - half * rng.choice([1.0, 2.0 * rng.random()])  # the middle, or any part of the pair, meets it
        y = np.linspace(start, start + 2 * half, 401)
        values = scores.at(y, window)
        integral = (values[:, :-1] + values[:, 1:]).sum(axis=1) * (y[1] - y[0]) / 2
        rough = np.abs(np.diff(values, n=2, axis=1)).sum(axis=1) * (y[1] - y[0])  # error of the trapezoids, at most
        starts, halves = np.array([start]), np.array([half])
        middle, end = (float(w[0]) for w in bends.weights(halves))
        lower, upper = (cost[:, 0] for cost in bends.errors(starts, halves))
        slack = rough + 1e-12
        if half <= 2 * scores.scale:  # beyond, what lies outside the middle counts as 0, which a best score exceeds
            assert np.all(middle * values[:, 200] - lower <= integral + slack)
        assert np.all(integral <= end * (values[:, 0] + 2 * values[:, 200] + values[:, -1]) + upper + slack)
        for rad in (False, True):
            ends = np.array([[max(values[int(rad), 0], values[int(rad), -1])]])
            lifted = bends.lifts(y[:1], y[-1:])[int(rad)](ends)[0, 0]
            assert values[int(rad)].max() <= lifted + 1e-12


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_slopes_of_the_noise_summed_over_outputs(case, even):
    scores = Scores(*CASES[case])
    rng = np.random.default_rng(case)
    scale, gaussian = scores.scale, scores.noise is dr.Gaussian
    cuts = np.unique(np.concatenate([[0.0, 1.0], rng.random(40), 0.5 + 0.05 * rng.standard_normal(200)]))
    cuts = np.linspace(-0.5, 1.5, 4001) if even else cuts[(cuts >= 0) & (cuts <= 1)]
    start, half = cuts[:-1], np.diff(cuts) / 2
    bends = scores.bends(slice(0, 1))
    bound = bends.slope_sums(start, half)
    middle, end = bends.weights(half)
    edges = scores.steps.edges
    for x in rng.random(50):
        cell = int(np.searchsorted(edges, x, side="right") - 1)
        for side in (-1.0, 1.0):
            u = [side * (y - x) / scale for y in (start + half, start, start + 2 * half)]
            slope = [
                np.where(v >= 0, v * np.exp(-v * v / 2) if gaussian else np.exp(-np.abs(v)), 0.0) / scale for v in u
            ]
            below_sum = float(middle @ slope[0])
            above_sum = float(end @ (2 * slope[0] + slope[1] + slope[2]))
            assert max(below_sum, above_sum) <= bound[cell]
