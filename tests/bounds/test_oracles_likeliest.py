"""The likeliest value on the line: without an integral beside the certified one, for any number of values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpradar as dr
from dpradar.bounds import rules
from dpradar.bounds.exact.argmax_location import argmax_risk
from dpradar.bounds.exact.line_noise import line_risk


@settings(max_examples=60)
@given(
    st.lists(st.integers(-30, 30), min_size=2, max_size=12),
    st.floats(0.05, 20.0),
    st.sampled_from([dr.Laplace, dr.Gaussian]),
)
def test_beside_the_integral(places, noise, kind):
    prior = dr.Prior.uniform(len(places))
    threat = dr.Threat(prior)
    line = kind(noise, query=[place / 4.0 for place in places]).at(prior).line
    computed, expected = argmax_risk(line, prior, threat.cover), line_risk(line, prior, threat.cover)
    for ours, theirs in ((computed.rad, expected.rad), (computed.success, expected.success)):
        assert ours[0] <= theirs[1]
        assert theirs[0] <= ours[1]
        assert ours[1] - ours[0] <= 1e-12
    assert computed.hit == pytest.approx(expected.hit, abs=1e-8)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(-12, 12), st.floats(1e-6, 1.0)), min_size=2, max_size=9),
    st.floats(0.05, 20.0),
    st.sampled_from([dr.Laplace, dr.Gaussian]),
)
def test_other_probabilities_beside_the_integral(pairs, noise, kind):
    weights = np.array([weight for _, weight in pairs])
    prior = dr.Prior.of(weights / weights.sum())
    threat = dr.Threat(prior)
    line = kind(noise, query=[place / 2.0 for place, _ in pairs]).at(prior).line
    computed, expected = argmax_risk(line, prior, threat.cover), line_risk(line, prior, threat.cover)
    assert computed.success[0] <= expected.success[1]
    assert expected.success[0] <= computed.success[1]
    assert computed.success[1] - computed.success[0] <= 1e-12
    assert computed.rad[0] <= expected.rad[1]
    assert expected.rad[0] <= computed.rad[1]


def test_probabilities_that_are_0_and_values_that_are_equal():
    prior = dr.Prior.of([0.0, 0.5, 0.2, 0.3, 0.0])
    threat = dr.Threat(prior)
    for kind in (dr.Laplace, dr.Gaussian):
        line = kind(1.0, query=[0.0, 1.0, 1.0, 3.0, 3.0]).at(prior).line
        computed, expected = argmax_risk(line, prior, threat.cover), line_risk(line, prior, threat.cover)
        assert computed.success == pytest.approx(expected.success, abs=1e-9)
        assert computed.rad[0] <= expected.rad[1]
        assert expected.rad[0] <= computed.rad[1]


@pytest.mark.parametrize("noise", [1e-150, 1e-3, 1e3, 1e90])
@pytest.mark.parametrize("spread", [1e-90, 1.0, 1e90])
@pytest.mark.parametrize("kind", [dr.Laplace, dr.Gaussian])
def test_extreme_scales(kind, noise, spread):
    """Nothing overflows: hidden, success is the largest probability; plain, 1."""
    if noise < 1e-100:
        with pytest.raises(dr.ParameterError):
            kind(noise)
        return
    prior = dr.Prior.of([0.2, 0.5, 0.3])
    line = kind(noise, query=[0.0, spread, 3.0 * spread]).at(prior).line
    computed = argmax_risk(line, prior, dr.Threat(prior).cover)
    if spread / noise < 1e-20:
        assert computed.success[1] == pytest.approx(0.5, abs=1e-12)
    elif spread / noise > 1e3:
        assert computed.success[1] == pytest.approx(1.0, abs=1e-12)
    assert 0.5 - 1e-12 <= computed.success[1] <= 1.0


@pytest.mark.parametrize("offset", [1e6, 1e12, 1.7e15])
@pytest.mark.parametrize("kind", [dr.Laplace, dr.Gaussian])
def test_far_from_0_nothing_is_lost(kind, offset):
    prior = dr.Prior.of([0.1, 0.4, 0.2, 0.3])
    cover, places = dr.Threat(prior).cover, np.array([0.0, 1.0, 3.0, 4.0])
    near, far = (argmax_risk(kind(1.0, query=at + places).at(prior).line, prior, cover) for at in (0.0, offset))
    assert far.success == near.success


def test_many_values_of_different_probabilities():
    rng = np.random.default_rng(4)
    pi = rng.exponential(size=8_000)
    prior = dr.Prior.of(pi / pi.sum(), range(8_000))
    for mechanism in (dr.Laplace(3.0), dr.Gaussian(3.0)):
        assessment = dr.assess(mechanism, dr.Threat(prior))
        assert (assessment.success.side, assessment.success.rule, assessment.rad.rule) == (
            "exact",
            "exact-line",
            "exact-line",
        )
        assert assessment.rad.low <= assessment.rad.value <= assessment.rad.low + 0.002
        targets = rng.choice(8_000, size=100_000, p=prior.probabilities)
        noisy = mechanism.at(prior).sample(targets, rng)
        near = np.clip(np.rint(noisy).astype(int)[:, None] + np.arange(-40, 41), 0, 7_999)  # where the likeliest is
        scores = np.log(prior.probabilities)[near] + mechanism.at(prior).line.kernel.log_density(noisy[:, None] - near)
        right = (near[np.arange(100_000), scores.argmax(axis=1)] == targets).mean()
        assert assessment.success.value == pytest.approx(right, abs=4.0 * np.sqrt(0.25 / 100_000))


def test_few_values_of_different_probabilities_are_left_to_the_integral():
    prior = dr.Prior.of([0.2, 0.5, 0.3], range(3))
    assert dr.assess(dr.Laplace(1.0), dr.Threat(prior)).rad.side == "exact"
    assert rules._MOST_LINE == 3_000


def test_any_number_of_values():
    rng = np.random.default_rng(3)
    values = np.sort(rng.exponential(size=20_000)).cumsum()
    assessment = dr.assess(dr.Gaussian(2.0), dr.Threat(dr.Prior.uniform(20_000, values.tolist())))
    assert (assessment.rad.side, assessment.success.side, assessment.rad.rule) == ("exact", "exact", "exact-line")
    targets = rng.integers(0, 20_000, 400_000)
    noisy = values[targets] + 2.0 * rng.standard_normal(400_000)
    guesses = np.searchsorted(0.5 * (values[1:] + values[:-1]), noisy)
    right = (guesses == targets).mean()
    assert assessment.success.value == pytest.approx(right, abs=4.0 * np.sqrt(0.25 / 400_000))


UNIFORM = dr.Prior.uniform(5, range(5))


@pytest.mark.parametrize(
    ("mechanism", "threat"),
    [
        (dr.Laplace(1.0), dr.Threat(UNIFORM, dr.Knowledge.everything())),
        (dr.Laplace(1.0), dr.Threat(UNIFORM, dr.Knowledge.labels([0, 0, 1, 1, 1]))),
        (dr.Laplace(1.0), dr.Threat(UNIFORM, goal=dr.Goal.within(1.0))),
        (dr.Laplace(1.0), dr.Threat(UNIFORM, goal=dr.Goal.labels([0, 0, 1, 1, 1]))),
        (dr.Laplace(1.0, truncate=(0.0, 4.0)), dr.Threat(UNIFORM)),
        (dr.Exponential(1.0), dr.Threat(UNIFORM)),
    ],
)
def test_other_questions_are_left_to_the_integral(mechanism, threat):
    line = mechanism.at(threat.finite).line
    assert line is None or argmax_risk(line, threat.finite, threat.cover) is None


@pytest.mark.parametrize("far", [1e3, 1e7, 1e10, 1e13])
def test_what_lies_across_a_long_line_counts(far):
    """Two candidates near each other, a third far away: success is 1/3 + 2/3 Phi(1), whatever the scale."""
    assessment = dr.assess(
        dr.Gaussian(1.0, query=[[far, 0.0], [0.0, 1.0], [0.0, -1.0]]), dr.Threat(dr.Prior.uniform(3))
    )
    success = 1.0 / 3.0 + 2.0 / 3.0 * 0.8413447460685429
    assert assessment.success.value >= success - 1e-9
    assert assessment.rad.value >= success - 1.0 / 3.0 - 1e-9


def test_vectors_on_a_line_are_numbers():
    numbers = np.array([0.0, 1.0, 2.5, 7.0])
    line = dr.assess(dr.Gaussian(2.0, query=numbers), dr.Threat(dr.Prior.uniform(4)))
    direction = np.array([0.6, -0.8, 0.0])
    assessment = dr.assess(dr.Gaussian(2.0, query=numbers[:, None] * direction), dr.Threat(dr.Prior.uniform(4)))
    assert assessment.rad.rule == "exact-collinear"
    assert assessment.rad.value == pytest.approx(line.rad.value, abs=1e-9)
