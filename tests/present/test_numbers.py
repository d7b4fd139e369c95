"""Counts of people never make a risk look smaller than it is."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpradar as dr
from dpradar.numerics.rounding import rounded
from dpradar.present.numbers import (
    advantage_counts,
    blind_counts,
    count_up,
    estimated_count,
    number,
    safe_number,
    shown_limit,
)
from dpradar.results import Assessment, Bound, Estimate
from dpradar.results.description import text_only

SHARES = st.floats(0.0, 1.0)
SNAP = 1e-9


def assessment(rad=None, hit=None, success=None, baseline=None, side="exact"):
    def bound(value):
        return None if value is None else Bound(value=value, side=side, rule="test")

    false_hit = None if hit is None else max(0.0, hit - rad)
    return Assessment(
        release=text_only("r"), threat=text_only("t"), rad=bound(rad), success=bound(success), gain=None,
        worst_gain=None, baseline=baseline, hit=hit, false_hit=false_hit,
    )  # fmt: skip


@given(SHARES, SHARES)
def test_what_taking_part_adds_is_never_understated(rad, more):
    hit = min(1.0, rad + more)
    counts = advantage_counts(assessment(rad=rad, hit=hit))
    assert counts.added >= rad * counts.people - SNAP
    assert counts.after - counts.before == counts.added
    assert counts.after >= hit * counts.people - SNAP
    assert 0 <= counts.before <= counts.after <= counts.people
    assert counts.added < Fraction(repr(rad)) * counts.people + 1


@given(SHARES, SHARES)
def test_the_gain_over_the_blind_guess_is_never_understated(baseline, more):
    success = min(1.0, baseline + more)
    counts = blind_counts(assessment(success=success, baseline=baseline))
    if counts is None:
        assert baseline >= 1.0 - SNAP
        return
    assert counts.after >= success * counts.people - SNAP
    assert counts.added >= (success - baseline) * counts.people - 1e-6
    assert abs(counts.before - baseline * counts.people) < 1 + SNAP
    assert 0 <= counts.before <= counts.after <= counts.people


def test_rounding_the_blind_guess_to_the_nearest_would_hide_a_part_of_the_gain():
    counts = blind_counts(assessment(success=0.14, baseline=0.126))
    assert (counts.before, counts.after) == (12, 14)


@given(SHARES, st.sampled_from([100, 10_000]))
def test_counts_go_up(share, people):
    exact = Fraction(repr(share)) * people
    assert exact <= count_up(share, people) < exact + 1


@given(SHARES, st.sampled_from(["upper", "lower", "exact"]))
def test_bounds_are_shown_on_their_side(value, side):
    shown = Decimal(number(Bound(value=value, side=side, rule="test"), 6).split()[-1])
    if side == "lower":
        assert shown <= Decimal(repr(value))
    else:
        assert shown >= Decimal(repr(value))


TINY = st.floats(0.0, 1e-5, allow_subnormal=True)
ABOVE_A_DECIMAL = st.decimals(0, 1, places=6).map(lambda x: math.nextafter(float(x), 2.0))
ANY = st.floats(allow_nan=False, allow_infinity=False)


@given(value=st.one_of(ANY, TINY, ABOVE_A_DECIMAL, SHARES), digits=st.integers(0, 8))
def test_numbers_are_rounded_outward(value, digits):
    """In the shown text as in the float it is read back as, and by less than one step of the digits shown."""
    up, down = rounded(value, digits, "up"), rounded(value, digits, "down")
    exact = Decimal(repr(value))
    assert Decimal(down) <= exact <= Decimal(up)
    assert float(down) <= value <= float(up)
    small = 0 < abs(exact) < Decimal("1e-6")
    with localcontext(prec=1000):
        assert Decimal(up) - Decimal(down) <= Decimal(1).scaleb(exact.adjusted() - 2 if small else -digits)
    assert small == ("e" in up) == ("e" in down)


@given(value=st.one_of(st.floats(1e-300, 1e300), TINY.filter(bool)), digits=st.integers(2, 8))
def test_calibrated_values_are_rounded_to_more_noise(value, digits):
    assert Decimal(safe_number(value, "up", digits)) >= Decimal(repr(value))
    assert Decimal(safe_number(value, "down", digits)) <= Decimal(repr(value))


def test_a_small_risk_is_not_shown_as_none():
    """epsilon 5.9e-8, a million values: the bound is 1.5e-8 or so, one in ten thousand when counted in people."""
    result = dr.assess(dr.PureDP(5.9e-8, "replace-one"), dr.Threat(dr.Prior.uniform(1_000_000)))
    shown = number(result.rad, 6).removeprefix("at most ")
    assert Decimal(shown) >= Decimal(repr(result.rad.value)) > 0
    assert "e-" in shown
    counts = advantage_counts(result)
    assert (counts.added, counts.people, counts.most) == (1, 10_000, "at most ")
    assert count_up(1e-300, 100) == 1
    assert estimated_count(Estimate(estimate=0.5, low=0.51 - 1e-15, high=0.5 + 1e-15), 100) == (50, 50, 51)


@pytest.mark.parametrize(
    ("rad", "people", "most"), [(0.01, 100, ""), (0.00999, 10_000, ""), (1e-5, 10_000, "at most "), (0.0, 10_000, "")]
)
def test_below_one_in_a_hundred_ten_thousand_are_counted(rad, people, most):
    counts = advantage_counts(assessment(rad=rad, hit=0.5))
    assert (counts.people, counts.most) == (people, most)


@given(SHARES, SHARES, SHARES, st.sampled_from([100, 10_000]))
def test_intervals_are_rounded_outward(a, b, c, people):
    low, middle, high = sorted((a, b, c))
    shown = estimated_count(Estimate(estimate=middle, low=low, high=high), people)
    assert shown[1] <= low * people + SNAP
    assert shown[2] >= high * people - SNAP
    assert shown[1] <= shown[0] <= shown[2]


@pytest.mark.parametrize(("value", "shown"), [(0.1, "0.100000"), (0.10000001, "0.100001"), (3.00000001, "3.00001")])
def test_a_value_above_its_limit_is_shown_above_it(value, shown):
    assert shown_limit(value, "up") == shown
