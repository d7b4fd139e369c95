"""Counts of people never make a risk look smaller than it is."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpradar.present.numbers import advantage_counts, blind_counts, count_up, estimated_count, number, shown_limit
from dpradar.results import Assessment, Bound, Estimate

SHARES = st.floats(0.0, 1.0)
SNAP = 1e-9


def assessment(rad=None, hit=None, success=None, baseline=None, side="exact"):
    def bound(value):
        return None if value is None else Bound(value=value, side=side, rule="test")

    false_hit = None if hit is None else max(0.0, hit - rad)
    return Assessment(
        release="r", threat="t", rad=bound(rad), success=bound(success), gain=None, worst_gain=None,
        baseline=baseline, hit=hit, false_hit=false_hit,
    )  # fmt: skip


@given(SHARES, SHARES)
def test_what_taking_part_adds_is_never_understated(rad, more):
    hit = min(1.0, rad + more)
    counts = advantage_counts(assessment(rad=rad, hit=hit))
    assert counts.added >= rad * counts.people - SNAP
    assert counts.after - counts.before == counts.added
    assert counts.after >= hit * counts.people - SNAP
    assert 0 <= counts.before <= counts.after <= counts.people
    assert counts.added < rad * counts.people + 1


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
    assert share * people - SNAP <= count_up(share, people) <= max(share * people + 1, 0)


@given(SHARES, st.sampled_from(["upper", "lower", "exact"]))
def test_bounds_are_shown_on_their_side(value, side):
    shown = Decimal(number(Bound(value=value, side=side, rule="test"), 6).split()[-1])
    slack = Decimal("1e-12")
    if side == "lower":
        assert shown <= Decimal(value) + slack
    else:
        assert shown >= Decimal(value) - slack


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
