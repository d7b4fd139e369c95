"""'At most eta apart' is decided on the numbers as they are printed, exactly."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpradar as dr
from dpradar.numerics.decimals import near, whole_numbers
from tests.every import every

GRR_6_2 = (math.exp(2.0) - 1.0) / (math.exp(2.0) + 5.0) * 5.0 / 6.0  # [RAD] Example 4.4: (p - q)(1 - 1/m)
GRR_8_3 = (math.exp(3.0) - 1.0) / (math.exp(3.0) + 7.0) * 7.0 / 8.0

finite = st.floats(allow_nan=False, allow_infinity=False)
short = st.decimals(-1000, 1000, places=2).map(float)
numbers = st.one_of(
    finite,
    short,
    st.integers(-(2**70), 2**70),
    st.fractions(max_denominator=1000),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-1000, max_value=1000),
    st.floats(-1e6, 1e6, width=32).map(np.float32),
)


def fraction(value) -> Fraction:
    """The number as it is printed."""
    if isinstance(value, (float, np.floating)):
        return Fraction(str(value))
    return Fraction(value)


@given(values=st.lists(numbers, min_size=1, max_size=6), eta=st.one_of(short, finite).map(abs))
def test_windows_are_those_of_the_printed_numbers(values, eta):
    whole, (reach,) = whole_numbers(values, eta)
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            expected = abs(fraction(a) - fraction(b)) <= fraction(eta)
            assert bool(abs(whole[i] - whole[j]) <= reach) == expected


@given(pairs=st.lists(st.tuples(short, short), min_size=1, max_size=20), eta=short.map(abs))
def test_lists_of_guesses_are_compared_alike(pairs, eta):
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    expected = [abs(fraction(a) - fraction(b)) <= fraction(eta) for a, b in pairs]
    assert near(first, second, eta).tolist() == expected


@given(pi=st.lists(st.integers(1, 9), min_size=3, max_size=7), eta=short.map(abs), data=st.data())
def test_sorted_windows_and_matrix_agree(pi, eta, data):
    """The cover works on sorted windows, hits is the plain matrix; enumeration with fractions is the third."""
    values = data.draw(st.lists(st.one_of(short, finite), min_size=len(pi), max_size=len(pi), unique=True))
    weights = np.array(pi) / sum(pi)
    threat = dr.Threat(dr.Prior.of(weights, values), goal=dr.Goal.within(eta))
    right = [[abs(fraction(g) - fraction(v)) <= fraction(eta) for v in values] for g in values]
    assert threat.goal.hits(threat.prior).tolist() == right
    best = max(math.fsum(w for w, hit in zip(weights, row, strict=True) if hit) for row in right)
    assert threat.best_blind_guess == pytest.approx(min(best, 1.0), abs=1e-12)


@pytest.mark.parametrize(
    ("mechanism", "values", "eta", "rad"),
    [
        (dr.GRR(m=6, epsilon=2.0), [1.7e9 + k * 1e-6 for k in range(6)], 0, GRR_6_2),
        (dr.GRR(m=6, epsilon=2.0), [1e15 + 0.5 * k for k in range(6)], 0.25, GRR_6_2),
        (dr.GRR(m=8, epsilon=3.0), [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 1e13], 0.005, GRR_8_3),
        (dr.GRR(m=6, epsilon=2.0), [2**60 + k for k in range(6)], 0.5, GRR_6_2),  # no float can tell these apart
    ],
)
def test_large_numbers_are_told_apart(mechanism, values, eta, rad):
    threat = dr.Threat(dr.Prior.uniform(len(values), values), goal=dr.Goal.within(eta))
    assert dr.assess(mechanism, threat).rad.value == pytest.approx(rad, rel=1e-12)


def test_time_stamps_under_laplace_noise():
    """Within 0 is the exact goal: [RAD] Example 4.7 with the gaps that the floats have."""
    values = [1.7e9 + k * 1e-6 for k in range(8)]
    gaps = [float(Fraction(b) - Fraction(a)) for a, b in pairwise(values)]
    expected = math.fsum(-math.expm1(-gap / 2e-6) for gap in gaps) / 8
    answer = dr.assess(dr.Laplace(1e-6), dr.Threat(dr.Prior.uniform(8, values), goal=dr.Goal.within(0)))
    assert answer.rad.side == "exact"
    assert answer.rad.value == pytest.approx(expected, rel=1e-9)


def right(values, goal) -> int:
    return int(goal.hits(dr.Prior.uniform(len(values), values)).sum())


def test_every_kind_of_number_is_read_exactly():
    thirds = [Fraction(0), Fraction(1, 3), Fraction(2, 3)]
    assert right(thirds, dr.Goal.within(Fraction(1, 3))) == 7
    assert right(thirds, dr.Goal.within(0.3333333333333333)) == 3
    assert right([Decimal("0.1"), Decimal("0.30")], dr.Goal.within(Decimal("0.2"))) == 4
    single = np.array([0.1, 0.2, 0.3], dtype=np.float32)
    assert right(single, dr.Goal.within(0.1)) == 7
    assert right(single.astype(float), dr.Goal.within(0.1)) < 7  # as doubles they print more digits
    assert right(np.array([0.1, 0.2], dtype=np.float16), dr.Goal.within(0.1)) == 4
    prior = pickle.loads(pickle.dumps(dr.Prior.uniform(3, single)))  # noqa: S301
    assert int(dr.Goal.within(0.1).hits(prior).sum()) == 7
    assert prior.numbers("a test").tolist() == single.astype(float).tolist()


def test_tolerance_is_added_exactly():
    assert right([0.0, 1.0 + 1e-9], dr.Goal.within(1)) == 2
    assert right([0.0, 1.0 + 1e-9], dr.Goal.within(1, tolerance=1e-9)) == 4
    assert right([0.0, 1.0 + 1.1e-9], dr.Goal.within(1, tolerance=1e-9)) == 2
    assert dr.Goal.within(0.5, tolerance=0.25).eta == 0.75
    with pytest.raises(dr.ParameterError, match="tolerance"):
        dr.Goal.within(1, tolerance=-1e-9)


def test_measured_guesses_are_compared_alike():
    run = dr.measure([0.9, 1e15], [0.9, 1e15], truth=[0.7, 1e15 + 0.5], within=0.2)
    assert run.success.estimate == 0.5


@every("eta", [0, 1, 0.5, 0.7, Fraction(2, 3), 1e-9])
@every(
    "values",
    [
        *(range(5), range(-7, 20, 3), range(9, -4, -2)),
        *(range(2**60, 2**60 + 3), range(-(2**60), -(2**60) + 3), range(0, 2**60, 2**57), range(2**60, 0, -(2**57))),
    ],
)
def test_ranges_are_scaled_as_lists_are(values, eta):
    """Each number is itself times the common unit: also where 64 bits do not hold the product."""
    numbers, scaled = whole_numbers(values, eta, 0.25)
    unit = math.lcm(fraction(eta).denominator, 4)
    assert [int(number) for number in numbers] == [value * unit for value in values]
    assert scaled == [fraction(eta) * unit, unit // 4]
    # Room for a number and twice another one, in whatever kind of integer it is.
    assert int(numbers[0] + 2 * numbers[-1]) == (values[0] + 2 * values[-1]) * unit


def test_numbers_without_a_short_common_unit_stay_fractions():
    values, eta = [Fraction(1, 3**6000), Fraction(1, 2), 1], Fraction(1, 3)
    numbers, (scaled,) = whole_numbers(values, eta)
    assert numbers.tolist() == values
    assert scaled == eta
