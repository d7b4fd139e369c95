"""Continuous priors: every interval holds an independent reference, and most are narrower than 1e-4."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

import dpradar as dr
from tests.bounds.enclosures import mechanism, random_question, threat
from tests.twin.quantiles import reference
from tests.worlds import found_by

WIDTH = 1e-4


def widest(seed: int) -> float:
    """Check one random question; a reference that lies outside is refined before it counts.

    Its error is taken to be how far it moved when its grids were refined last.
    """
    question = random_question(np.random.default_rng(seed))
    answer = dr.assess(mechanism(question), threat(question))
    bounds = [found_by(answer, "exact-continuous", quantity) for quantity in ("rad", "success")]
    for fine in (1, 2, 4):
        value = reference(question, fine)
        expected = (value.rad, 1.0 if question.known else value.success)
        inside = [b.low - value.moved <= x <= b.high + value.moved for b, x in zip(bounds, expected, strict=True)]
        if all(inside) and (value.moved <= WIDTH or fine > 1):
            break
    assert all(inside), (seed, bounds, value)
    return max(bound.high - bound.low for bound in bounds)


QUICK = (0, 2, 3, 4, 6, 9, 16, 29)  # renormalised, Gaussian, poles, heavy tails, clamped, known or not


@pytest.mark.parametrize("seed", QUICK)
def test_random_questions(seed):
    assert widest(seed) <= WIDTH


@pytest.mark.slow
def test_many_random_questions():
    assert sum(widest(seed) <= WIDTH for seed in range(200)) >= 190


def rad(law, low, high, noise, eta, known=False) -> dr.Bound:
    knowledge = dr.Knowledge.everything() if known else dr.Knowledge.nothing()
    prior = dr.Prior.continuous(law, low, high)
    return dr.assess(noise, dr.Threat(prior, knowledge, dr.Goal.within(eta))).rad


def test_a_narrow_prior_on_a_wide_interval():
    bound = rad(stats.norm(0.5, 1e-3), 0.0, 1.0, dr.Laplace(1e-3), 1e-3)
    assert bound.low <= 0.2708 <= bound.high + 5e-5
    assert bound.high - bound.low <= WIDTH


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "high", "noise", "eta"),
    [
        (stats.uniform(), 1.0, dr.Gaussian(0.00066), 0.0005),
        (stats.lognorm(s=1.0, scale=3e4), 1e6, dr.Laplace(1000.0), 500.0),
    ],
)
def test_noise_much_narrower_than_the_interval(law, high, noise, eta):
    """The guess "what was published" is a lower bound, and what the same guess gains in the middle of the prior."""
    bound = rad(law, 0.0, high, noise, eta)
    rng = np.random.default_rng(1)
    x, other = law.rvs(4_000_000, random_state=rng), law.rvs(4_000_000, random_state=rng)
    drawn = (
        rng.normal(0.0, noise.sigma, x.size)
        if isinstance(noise, dr.Gaussian)
        else rng.laplace(0.0, noise.scale, x.size)
    )
    guess = np.clip(x + drawn, 0.0, high)
    simple = (np.abs(guess - x) <= eta).mean() - (np.abs(guess - other) <= eta).mean()
    assert simple - 1e-3 <= bound.high <= simple + 2e-2
    assert bound.high - bound.low <= 1.5 * WIDTH


@pytest.mark.parametrize("noise", [dr.Laplace, dr.Gaussian])
@pytest.mark.parametrize("known", [False, True])
def test_shifts_and_scales_by_powers_of_two_change_nothing(noise, known):
    def interval(shift: float, scale: float) -> tuple[float, float]:
        law = stats.norm(shift + 0.5 * scale, 0.2 * scale)
        bound = rad(law, shift, shift + scale, noise(0.1 * scale), 0.125 * scale, known)
        return bound.low, bound.high

    first = interval(0.0, 1.0)
    for shift, scale in ((0.0, 1024.0), (0.0, 2.0**-30), (64.0, 1.0), (-(2.0**20), 1.0)):
        assert interval(shift, scale) == pytest.approx(first, abs=1e-6)


@pytest.mark.parametrize("known", [False, True])
def test_more_noise_is_less_risk(known):
    bounds = [rad(stats.beta(0.5, 3.0), 0.0, 1.0, dr.Laplace(s), 0.1, known) for s in (0.03, 0.06, 0.12, 0.5, 4.0)]
    assert all(after.low <= before.high for before, after in itertools.pairwise(bounds))
    assert bounds[0].low > bounds[-1].high


def test_a_law_of_unknown_shape_is_said_to_be_assumed():
    class Plain:
        cdf, ppf = stats.beta(2, 3).cdf, stats.beta(2, 3).ppf

    plain, named = (rad(law, 0.0, 1.0, dr.Laplace(0.2), 0.1) for law in (Plain(), stats.beta(2, 3)))
    assert plain.low <= named.high
    assert named.low <= plain.high
    assert any("rises and falls" in note for note in plain.assumes)
    assert not any("rises and falls" in note for note in named.assumes)


def test_calibrated_noise_keeps_the_limit():
    prior = dr.Prior.continuous(stats.beta(2, 3), 0.0, 1.0)
    whose = dr.Threat(prior, goal=dr.Goal.within(0.1))
    calibration = dr.calibrate(dr.Laplace, dr.Limit(whose, rad=0.1), precision=0.05)
    assert dr.assess(calibration.mechanism, whose).rad.high <= 0.1
