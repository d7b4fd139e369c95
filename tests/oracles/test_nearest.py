"""Values of equal probability on the line: the closed form beside the certified integral, and where it is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpradar as dr
from dpradar.bounds.exact.line import line_risk, nearest_risk


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
    found, expected = nearest_risk(line, prior, threat.cover), line_risk(line, prior, threat.cover)
    for ours, theirs in ((found.rad, expected.rad), (found.success, expected.success)):
        assert ours[0] <= theirs[1]
        assert theirs[0] <= ours[1]
        assert ours[1] - ours[0] <= 1e-12
    assert found.hit == pytest.approx(expected.hit, abs=1e-8)


def test_any_number_of_values():
    rng = np.random.default_rng(3)
    values = np.sort(rng.exponential(size=20_000)).cumsum()
    found = dr.assess(dr.Gaussian(2.0), dr.Threat(dr.Prior.uniform(20_000, values.tolist())))
    assert (found.rad.side, found.success.side, found.rad.rule) == ("exact", "exact", "exact-line")
    targets = rng.integers(0, 20_000, 400_000)
    noisy = values[targets] + 2.0 * rng.standard_normal(400_000)
    guesses = np.searchsorted(0.5 * (values[1:] + values[:-1]), noisy)
    right = (guesses == targets).mean()
    assert found.success.value == pytest.approx(right, abs=4.0 * np.sqrt(0.25 / 400_000))


UNIFORM = dr.Prior.uniform(5, range(5))


@pytest.mark.parametrize(
    ("mechanism", "threat"),
    [
        (dr.Laplace(1.0), dr.Threat(dr.Prior.of([0.3, 0.2, 0.2, 0.2, 0.1], range(5)))),
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
    assert line is None or nearest_risk(line, threat.finite, threat.cover) is None


@pytest.mark.parametrize("far", [1e3, 1e7, 1e10, 1e13])
def test_what_lies_across_a_long_line_counts(far):
    """Two candidates near each other, a third far away: success is 1/3 + 2/3 Phi(1), whatever the scale."""
    found = dr.assess(dr.Gaussian(1.0, query=[[far, 0.0], [0.0, 1.0], [0.0, -1.0]]), dr.Threat(dr.Prior.uniform(3)))
    success = 1.0 / 3.0 + 2.0 / 3.0 * 0.8413447460685429
    assert found.success.value >= success - 1e-9
    assert found.rad.value >= success - 1.0 / 3.0 - 1e-9


def test_vectors_on_a_line_are_numbers():
    numbers = np.array([0.0, 1.0, 2.5, 7.0])
    line = dr.assess(dr.Gaussian(2.0, query=numbers), dr.Threat(dr.Prior.uniform(4)))
    direction = np.array([0.6, -0.8, 0.0])
    found = dr.assess(dr.Gaussian(2.0, query=numbers[:, None] * direction), dr.Threat(dr.Prior.uniform(4)))
    assert found.rad.rule == "exact-collinear"
    assert found.rad.value == pytest.approx(line.rad.value, abs=1e-9)
