"""Noise far below the window of the goal: the interval without a fine grid holds independent references."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import dpradar as dr
from dpradar.bounds.exact.likelihoods import LaplaceNoise
from dpradar.bounds.exact.small_noise import small_noise_risk
from tests.bounds.enclosures import mechanism, threat
from tests.twin.quantiles import Question, reference

LAWS = {
    "uniform": (stats.uniform(), 0.0, 1.0),
    "a pole at 0": (stats.beta(0.6, 4.0), 0.0, 1.0),
    "narrow": (stats.norm(0.4, 0.05), 0.0, 1.0),
    "skewed": (stats.expon(scale=0.3), 0.0, 1.5),
}
FORMS = {"laplace": 5e-4, "gaussian": 1.5e-3}


@pytest.mark.slow  # a reference as fine as the noise
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LAWS)
def test_the_interval_holds_the_reference(name, form, known):
    law, low, high = LAWS[name]
    question = Question(law, low, high, form, FORMS[form], 0.05, known, (low, high))
    release, whose = mechanism(question), threat(question)
    rad, success, _ = small_noise_risk(release.at(whose.prior).continuous, whose, whose.finite.interval)
    value = reference(question)
    assert rad[0] - value.moved <= value.rad <= rad[1] + value.moved
    assert success[0] - value.moved <= value.success  # at most 1, as any probability
    assert success[1] == 1.0
    # Wide where the noise is not far below the prior's own spread; still not the whole range.
    assert rad[1] - rad[0] < (0.4 if known else 0.1)


@pytest.mark.parametrize("kind", [dr.Laplace, dr.Gaussian])
@pytest.mark.parametrize("scale", [1e-12, 1e-9, 1e-7])
def test_raw_record_of_a_uniform_prior(kind, scale):
    """By hand: the lightest window has mass eta at an end, x between eta and 2 eta from it, else 2 eta."""
    eta = 0.03
    prior = dr.Prior.continuous(stats.uniform(), 0.0, 1.0)
    answer = dr.assess(kind(scale), dr.Threat(prior, goal=dr.Goal.within(eta)))
    assert answer.rad.low <= 1.0 - 2.0 * eta + 3.0 * eta**2 <= answer.rad.high + 1e-5
    assert answer.rad.high - answer.rad.low < 1e-4
    everything = dr.assess(kind(scale), dr.Threat(prior, dr.Knowledge.everything(), dr.Goal.within(eta)))
    assert 1.0 - 1e-4 < everything.rad.low <= 1.0 == everything.rad.high


def test_a_clamp_inside_the_range_is_left_to_the_grid():
    prior = dr.Prior.continuous(stats.uniform(), 0.0, 1.0)
    whose = dr.Threat(prior, goal=dr.Goal.within(0.03))
    release = dr.Gaussian(1e-6, truncate=(0.2, 0.8))
    assert small_noise_risk(release.at(prior).continuous, whose, whose.finite.interval) is None


def test_the_exponential_mechanism_counts_what_is_renormalised():
    """At an end of the interval e^(-t/scale) of the outputs are further than t, though half of the noise is cut off."""
    prior = dr.Prior.continuous(stats.uniform(), 0.0, 1.0)
    whose = dr.Threat(prior, goal=dr.Goal.within(0.03))
    scale = 1e-4
    release = dr.Exponential(2.0 / scale, interval=(0.0, 1.0))
    rad, _, hit = small_noise_risk(release.at(prior).continuous, whose, whose.finite.interval)
    distance = LaplaceNoise(scale).reach
    assert 1.0 - hit >= np.exp(-distance / scale)
    assert rad[1] - rad[0] < 1e-2
