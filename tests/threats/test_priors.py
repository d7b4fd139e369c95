"""Priors are made in any of the ways people try, or say what is wrong."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpradar as dr

EVERYTHING = dr.Knowledge.everything()


def test_the_class_itself_takes_probabilities():
    prior = dr.Prior([0.9, 0.1], ["no", "yes"])
    assert prior.values == ("no", "yes")
    assert prior.probabilities.tolist() == dr.Prior.of([0.9, 0.1]).probabilities.tolist()
    assert (
        dr.assess(dr.GRR(2, 1.0), dr.Threat(dr.Prior([0.9, 0.1]))).rad
        == dr.assess(dr.GRR(2, 1.0), dr.Threat(dr.Prior.of([0.9, 0.1]))).rad
    )


@pytest.mark.parametrize("bad", [[0.9, 0.2], [1.0], "ab", None, 5, [[0.5, 0.5]], [0.5, float("nan")], [1.5, -0.5]])
def test_the_class_itself_refuses_what_is_no_prior(bad):
    with pytest.raises(dr.ParameterError, match=r"Prior\.probabilities"):
        dr.Prior(bad)


@pytest.mark.parametrize("values", [["a"], ["a", "a"], ["a", []]])
def test_the_class_itself_checks_values(values):
    with pytest.raises(dr.ParameterError, match=r"Prior\.values"):
        dr.Prior([0.5, 0.5], values)


def test_probabilities_cannot_be_changed_afterwards():
    probabilities = np.array([0.5, 0.5])
    prior = dr.Prior(probabilities)
    probabilities[0] = 0.9
    assert prior.probabilities.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        prior.probabilities[0] = 1.0


@given(weights=st.lists(st.integers(1, 1000), min_size=2, max_size=6), power=st.integers(-1074, 1013))
def test_weights_of_any_size(weights, power):
    columns = {"x": list(range(len(weights)))}
    scaled = [np.ldexp(float(w), power) for w in weights]
    expected = dr.Prior.records(columns, weights).probabilities
    assert dr.Prior.records(columns, scaled).probabilities.tolist() == expected.tolist()


def test_weights_near_the_largest_float():
    prior = dr.Prior.records({"x": [1, 2, 3, 4]}, weights=[1e308] * 4)
    assert prior.probabilities.tolist() == [0.25] * 4


@pytest.mark.parametrize("weights", [[1e-13], [1e-15, 3e-16], [0.3, 1e-9], [0.2] * 5, [1.7e-15, 0.0]])
def test_how_often_two_records_differ_has_all_its_digits(weights):
    """1 - kappa loses what it is made of where one value is almost certain; no bound may fall below the truth."""
    prior = dr.Prior.of([1.0 - sum(weights), *weights])
    p = [Fraction(float(x)) for x in prior.probabilities]
    differ = float(1 - sum(x * x for x in p) / sum(p) ** 2)
    assert prior.disagreement == pytest.approx(differ, rel=4e-16)
    m = prior.size
    tells = [[1.0 if i == j else 0.0 for j in range(m)] for i in range(m)]
    distance = math.expm1(1.0) / (math.e + m - 1.0)
    for release, tv in ((dr.Channel(tells), 1.0), (dr.GRR(m=m, epsilon=1.0), distance)):
        answer = dr.assess(release, dr.Threat(prior, EVERYTHING))
        bounds = [answer.rad, *(o.bound for o in answer.others if o.quantity == "rad" and o.bound)]
        assert all(bound.value >= tv * differ * (1 - 1e-14) for bound in bounds if bound.side != "lower")
    assert answer.rad.value == pytest.approx(distance * differ, rel=1e-14)


@given(raw=st.lists(st.floats(1e-3, 1.0), min_size=4, max_size=4))
def test_with_everything_known_success_is_1(raw):
    weights = np.array(raw) / sum(raw)
    threat = dr.Threat(dr.Prior.of(weights), EVERYTHING)
    assert threat.best_blind_guess == 1.0
    answer = dr.assess(dr.GRR(4, 1.0), threat)
    assert (answer.success.value, answer.success.side, answer.success.low) == (1.0, "exact", 1.0)
    assert (answer.gain.value, answer.gain.side) == (0.0, "exact")


@pytest.mark.parametrize(
    "release",
    [
        dr.OUE(3, 1.0),
        dr.Laplace(1.0),
        dr.Gaussian(1.0, query=[[0.0, 0.1], [0.3, 0.7], [2.0, 0.9]]),
        dr.Composed([dr.Laplace(1.0), dr.Gaussian(2.0)]),
        dr.PureDP(1.0, "replace-one"),
        dr.DPSGD(1.0, 0.01, 10),
        dr.Repeated(dr.GRR(3, 1.0), 4),
    ],
    ids=repr,
)
def test_with_everything_known_success_is_1_whatever_the_engine(release):
    answer = dr.assess(release, dr.Threat(dr.Prior.of([0.7, 0.1, 0.2]), EVERYTHING))
    assert (answer.success.value, answer.success.side, answer.success.low) == (1.0, "exact", 1.0)
