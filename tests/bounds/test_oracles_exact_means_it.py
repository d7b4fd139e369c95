"""Exact is what a certified interval says to a millionth of the value; small risks are no exception."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpradar as dr
from dpradar.present.text import explain
from dpradar.results.bound import side_of
from tests.strategies import cases

EVERYTHING = dr.Knowledge.everything()
SKEWED = [0.1, 0.1, 0.2, 0.3, 0.3]


def holds(bound: dr.Bound, truth: float) -> None:
    """The interval holds the truth, and exact is within a millionth of it."""
    low = bound.value if bound.low is None else bound.low
    assert low * (1 - 1e-12) <= truth <= bound.value * (1 + 1e-12)
    if bound.side == "exact":
        assert bound.value == pytest.approx(truth, rel=1e-6)


@given(low=st.floats(0.0, 1.0), width=st.floats(0.0, 1.0))
def test_sides(low, width):
    high = low + width * low
    assert side_of(low, high) == ("exact" if high - low <= 1e-6 * high else "upper")
    assert side_of(0.0, high) == ("exact" if high == 0.0 else "upper")


@pytest.mark.parametrize("scale", [30.0, 1e3, 1e6, 1e9, 1e12])
def test_many_kinds_of_small_risk(scale):
    """To first order in the noise every risk is a derivative; at 1e6 and beyond that is all there is."""
    # Laplace on the line, everything known: p_z - average = s(x) sum_i pi_i (|x - i| - |x - z|) / scale to first order
    # outside [0, 4] +- scale; the positive part has mass 1/2 on the side where z is the further out.
    for values in ([0.0, 1.0, 2.0, 3.0, 4.0],):
        mean = sum(p * v for p, v in zip(SKEWED, values, strict=True))
        first = sum(p * abs(v - mean) for p, v in zip(SKEWED, values, strict=True)) / (2.0 * scale)
        answer = dr.assess(dr.Laplace(scale), dr.Threat(dr.Prior.of(SKEWED, values), EVERYTHING))
        assert answer.rad.value == pytest.approx(first, rel=10.0 / scale + 1e-6, abs=3e-13)
        if scale >= 1e9:
            assert answer.rad.side == "upper"
            assert answer.rad.low <= first <= answer.rad.value
        # Gaussian: the positive part of -(x - mean) (v - mean) has mass 1/sqrt(2 pi).
        first *= 2.0 / math.sqrt(2.0 * math.pi)
        answer = dr.assess(dr.Gaussian(scale), dr.Threat(dr.Prior.of(SKEWED, values), EVERYTHING))
        assert answer.rad.value >= first * (1.0 - 10.0 / scale)
        if answer.rad.side == "exact":
            assert answer.rad.value == pytest.approx(first, rel=10.0 / scale + 2e-6)


@pytest.mark.parametrize("sigma", [1.0, 1e3, 1e8, 1e14])
def test_evenly_spaced_values_are_exact_however_small(sigma):
    """[RAD] Example 4.8: m rad = sum over the gaps of Pr[|noise| < gap/2]."""
    answer = dr.assess(dr.Gaussian(sigma), dr.Threat(dr.Prior.uniform(5)))
    assert answer.rad.side == "exact"
    assert answer.rad.value == pytest.approx(4.0 / 5.0 * math.erf(0.5 / sigma / math.sqrt(2.0)), rel=1e-12)
    assert answer.gain.value == pytest.approx(answer.rad.value, rel=1e-6)


@cases(0.3)
@given(
    rows=st.lists(st.lists(st.integers(1, 9), min_size=3, max_size=3), min_size=2, max_size=4),
    small=st.integers(0, 18),
    known=st.booleans(),
)
def test_channels_that_hardly_differ(rows, small, known):
    """All rows are nearly the first one; enumeration with fractions of the very floats that the channel has."""
    first = np.array(rows[0]) / sum(rows[0])
    matrix = np.array([first + 10.0**-small * (np.array(row) / sum(row) - first) for row in rows])
    m = len(rows)
    knowledge = EVERYTHING if known else dr.Knowledge.nothing()
    answer = dr.assess(dr.Channel(matrix), dr.Threat(dr.Prior.uniform(m), knowledge))
    P = [[Fraction(float(x)) for x in row] for row in matrix]
    truth = Fraction(0)
    for column in zip(*P, strict=True):
        average = sum(column) / m
        scores = [(x - average) / m for x in column]
        truth += sum(max(s, Fraction(0)) for s in scores) if known else max(scores)
    low, high = answer.rad.low, answer.rad.value
    rounding = truth / 10**8  # less is not told apart from the value
    assert Fraction(low) - rounding <= truth <= Fraction(high) + rounding
    if answer.rad.side == "exact":
        assert abs(Fraction(high) - truth) <= truth / 10**6


@pytest.mark.parametrize(
    "mechanism",
    [
        dr.GRR(4, 1.0),
        dr.OUE(4, 1.0),
        dr.Laplace(1.0),
        dr.Gaussian(1.0),
        dr.Channel(np.random.default_rng(0).dirichlet(np.ones(5), 4)),
        dr.Geometric(1.0),
        dr.Repeated(dr.GRR(4, 1.0), 3),
    ],
    ids=repr,
)
def test_a_certain_0(mechanism):
    """Where every guess is right for everyone, or one value has all the mass, nothing can be gained."""
    skewed = dr.Prior.of([0.1, 0.2, 0.3, 0.4])
    one = dr.Prior.of([0.0, 1.0, 0.0, 0.0])
    for threat in (
        dr.Threat(skewed, goal=dr.Goal.within(3)),
        dr.Threat(skewed, EVERYTHING, dr.Goal.within(3)),
        dr.Threat(one),
        dr.Threat(one, EVERYTHING),
    ):
        try:
            rad = dr.assess(mechanism, threat).rad
        except dr.ParameterError:
            continue
        if rad.rule.startswith("exact"):
            assert (rad.value, rad.side, rad.low) == (0.0, "exact", 0.0)
        else:
            assert rad.value >= 0.0


def test_equal_rows_are_a_certain_0():
    row = np.random.default_rng(1).dirichlet(np.ones(7))
    rad = dr.assess(dr.Channel(np.tile(row, (5, 1))), dr.Threat(dr.Prior.of(SKEWED))).rad
    assert (rad.value, rad.side) == (0.0, "exact")


def test_the_lower_end_stands_beside_an_upper_bound():
    answer = dr.assess(dr.Laplace(1e11), dr.Threat(dr.Prior.of(SKEWED), EVERYTHING))
    assert answer.rad.side == "upper"
    assert 0.0 < answer.rad.low < 5.4e-12 < answer.rad.high == answer.rad.value  # 1.08 / (2 scale)
    saved = answer.to_dict()["rad"]
    assert (saved["low"], saved["high"], saved["side"]) == (answer.rad.low, answer.rad.high, "upper")
    assert "at least 5.2" in explain(answer)


@pytest.mark.parametrize("noise", [dr.Laplace(scale=1.0), dr.Gaussian(sigma=1.0)])
@pytest.mark.parametrize("rare", [1e-14, 5e-13, 1e-12, 1e-9, 1e-3])
def test_a_value_as_rare_as_rounding_is_counted(noise, rare):
    # Values that no noise confuses: in both fibres, that of the two frequent values and that of the rare one, the guess
    # that is right gains rare (1 - rare), by its definition.
    prior = dr.Prior.of([(1 - rare) / 2, (1 - rare) / 2, rare], [0.0, 200.0, 400.0])
    threat = dr.Threat(prior, dr.Knowledge.labels(["a", "a", "c"]), dr.Goal.labels(["c", "c", "a"]))
    rad = dr.assess(noise, threat).rad
    assert rad.low <= 2 * rare * (1 - rare) <= rad.value
