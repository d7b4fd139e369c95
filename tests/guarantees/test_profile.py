"""Privacy profiles: a table of (epsilon, delta) points, and what follows from it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpradar as dr
from dpradar.guarantees.approx import approx_privacy
from dpradar.guarantees.composition import composition
from dpradar.guarantees.curves import gaussian_curve, laplace_curve, likelihood_curve
from dpradar.guarantees.epsilon import epsilon_at
from dpradar.guarantees.pairs import GaussianPair, LaplacePair, approx_pair, finite_pair
from dpradar.guarantees.profile import Profile

SMALL = np.concatenate([[0.0], np.geomspace(1e-9, 0.5, 200)])
RATES = np.unique(np.concatenate([SMALL, 1.0 - SMALL, np.linspace(0.0, 1.0, 101)]))

tables = st.lists(st.tuples(st.floats(0.0, 12.0), st.floats(0.0, 1.0)), min_size=1, max_size=8)


def implied(epsilons, deltas, x=RATES):
    """The largest of all lines and their mirror images, one by one."""
    lines = [np.maximum(1 - d - np.exp(e) * x, np.exp(-e) * (1 - d - x)) for e, d in zip(epsilons, deltas, strict=True)]
    return np.maximum(0.0, np.max(lines, axis=0))


def promise(table, neighbours="add-remove", relation="add-remove"):
    epsilons, deltas = zip(*table, strict=True)
    return Profile(epsilons, deltas, neighbours).privacy(relation)


@given(tables)
def test_the_curve_is_the_largest_of_the_lines(table):
    guarantee = promise(table)
    expected = implied(*zip(*table, strict=True))
    assert guarantee.curve.fnr(RATES) == pytest.approx(expected, abs=1e-13)
    assert guarantee.tv == pytest.approx(min([1.0, *(math.tanh(e / 2) * (1 - d) + d for e, d in table)]), abs=1e-12)
    assert guarantee.tv >= np.max(1.0 - expected - RATES) - 1e-12
    assert guarantee.curve.gap() == pytest.approx(guarantee.tv, abs=1e-12)


@given(tables)
def test_the_pair_has_the_profile_that_the_curve_implies(table):
    """delta(epsilon) is the largest 1 - f(x) - e^epsilon x, for epsilons of either sign."""
    guarantee = promise(table)
    ((pair, times),) = guarantee.pairs
    assert times == 1
    epsilon = np.linspace(-13.0, 13.0, 53)
    delta = pair.delta(epsilon)
    from_curve = np.max(1.0 - guarantee.curve.fnr(RATES)[:, None] - np.exp(epsilon) * RATES[:, None], axis=0)
    assert np.all(delta >= from_curve - 1e-11)
    assert pair.delta(np.zeros(1))[0] == pytest.approx(guarantee.tv, abs=1e-12)
    # The order of P and Q does not matter.
    assert delta == pytest.approx(1.0 - np.exp(epsilon) * (1.0 - pair.delta(-epsilon)), abs=1e-9)
    assert delta == pytest.approx(pair.swapped().delta(epsilon), abs=1e-12)
    for e, d in table:
        assert pair.delta(np.array([e]))[0] <= d + 1e-12


@given(tables)
def test_replace_one_is_the_curve_applied_twice(table):
    once, twice = promise(table).curve, promise(table, relation="replace-one")
    expected = once.fnr(1.0 - once.fnr(RATES))
    assert np.all(twice.curve.fnr(RATES) <= expected + 1e-9)
    assert twice.curve.fnr(RATES) == pytest.approx(expected, abs=1e-7)


@given(st.lists(st.tuples(st.floats(0.01, 1.0), st.floats(0.01, 1.0)), min_size=2, max_size=6), st.integers(0, 5))
def test_never_above_the_truth_in_either_order(masses, seed):
    """Two finite distributions, their exact profile at a few epsilons: the curve lies below both exact curves."""
    p, q = (np.array(column) / np.sum(column) for column in zip(*masses, strict=True))
    pair = finite_pair(p, q)
    epsilons = np.sort(np.random.default_rng(seed).uniform(0.0, 4.0, 5))
    deltas = np.maximum(pair.delta(epsilons), pair.swapped().delta(epsilons))
    curve = Profile(epsilons, deltas, "add-remove").privacy("add-remove").curve
    for null, alternative in ((p, q), (q, p)):
        assert np.all(curve.fnr(RATES) <= likelihood_curve(null, alternative).fnr(RATES) + 1e-12)


@pytest.mark.parametrize("mu", [0.01, 0.3, 1.0, 4.0])
def test_a_tabulated_gaussian_is_close_from_below(mu):
    epsilons = []

    def delta(epsilon):
        epsilons.append(epsilon)
        return float(GaussianPair(mu).delta(np.array([epsilon]))[0])

    profile = Profile.of(delta, "add-remove")
    guarantee, truth = profile.privacy("add-remove"), dr.GDP(mu, "add-remove").privacy("add-remove")
    gap = truth.curve.fnr(RATES) - guarantee.curve.fnr(RATES)
    assert gap.min() > -1e-14
    assert gap.max() < 1e-4
    assert guarantee.tv == pytest.approx(truth.tv, abs=1e-12)
    assert epsilon_at(truth, 1e-5) <= epsilon_at(guarantee, 1e-5) <= 1.001 * epsilon_at(truth, 1e-5)
    assert len(epsilons) == len(set(epsilons)) <= 322
    doubled = profile.privacy("replace-one").curve
    assert gaussian_curve(2 * mu).fnr(RATES) - doubled.fnr(RATES) == pytest.approx(np.zeros(RATES.size), abs=2e-4)


def test_a_profile_that_bends_once_and_far_out():
    """Between epsilon 256 and 512 a straight line in e^epsilon looks like 1 halfway, whatever the profile does."""
    pair = approx_pair(300.0, 1e-3)
    profile = Profile.of(lambda e: float(pair.delta(np.array([e]))[0]), "add-remove")
    assert epsilon_at(profile.privacy("add-remove"), 2e-3) == pytest.approx(300.0, abs=0.01)


def test_a_tabulated_laplace_is_close_from_below():
    profile = Profile.of(lambda e: float(LaplacePair(2.0).delta(np.array([e]))[0]), "replace-one")
    guarantee = profile.privacy("replace-one")
    gap = laplace_curve(2.0).fnr(np.maximum(RATES, 1e-300)) - guarantee.curve.fnr(RATES)
    assert gap.min() > -1e-14
    assert gap.max() < 5e-5
    assert (guarantee.epsilon, guarantee.delta) == (2.0, 0.0)  # the delta is 0 there, so it is pure DP


def test_one_point_is_approximate_dp():
    one, expected = promise([(1.0, 0.1)]), approx_privacy("", 1.0, 0.1, "add-remove", "add-remove")
    assert (one.epsilon, one.delta, one.pairs) == (expected.epsilon, expected.delta, expected.pairs)
    assert one.tv == pytest.approx(expected.tv, abs=1e-15)
    assert one.curve.fnr(RATES) == pytest.approx(expected.curve.fnr(RATES), abs=1e-15)


@pytest.mark.parametrize("table", [[(0.0, 1.0)], [(3.0, 1.0), (5.0, 1.0)], [(900.0, 0.0)]])
def test_nothing_promised(table):
    for relation in ("add-remove", "replace-one"):
        guarantee = promise(table, relation=relation)
        assert guarantee.tv == 1.0
        assert np.all(guarantee.curve.fnr(RATES) == 0.0)


def test_no_leak_at_all():
    guarantee = promise([(0.0, 0.0)])
    assert guarantee.tv == 0.0
    assert guarantee.curve.fnr(RATES) == pytest.approx(1.0 - RATES, abs=1e-15)
    assert dr.Composed([Profile((0.0,), (0.0,), "add-remove")] * 3).at(None).privacy("add-remove").tv < 1e-12


def test_points_that_say_nothing_new_change_nothing():
    some = [(0.5, 0.2), (1.0, 0.1), (2.0, 0.01)]
    more = [*some, (1.5, 0.1), (0.9, 0.6), (2.0, 0.5), (1.0, 0.1)]
    assert promise(some).pairs == promise(more).pairs


@settings(max_examples=20)
@given(st.floats(0.1, 1.5), st.integers(2, 12))
def test_composition_is_close_to_that_of_the_mechanism(mu, times):
    profile = Profile.of(lambda e: float(GaussianPair(mu).delta(np.array([e]))[0]), "add-remove")
    guarantee = dr.Repeated(profile, times).at(None).privacy("add-remove")
    truth = dr.GDP(math.sqrt(times) * mu, "add-remove").privacy("add-remove")
    assert truth.tv - 1e-12 <= guarantee.tv <= 1.02 * truth.tv
    assert np.all(guarantee.curve.fnr(RATES) <= truth.curve.fnr(RATES) + 1e-9)


def test_a_lone_pair_on_a_grid_keeps_its_profile():
    ((pair, _),) = promise([(0.0, 0.4), (1.0, 0.1), (4.0, 1e-6)]).pairs
    composed = composition(((pair, 1),))
    for epsilon in (0.0, 0.5, 1.0, 3.0, 6.0):
        exact = float(pair.delta(np.array([epsilon]))[0])
        assert exact - 1e-12 <= composed.delta(epsilon) <= 1.02 * exact + 1e-12


def test_only_sound_conversions():
    profile = Profile((0.0, 1.0), (0.3, 0.1), "replace-one")
    assert profile.privacy("add-remove") is None
    assert profile.privacy("reference") is None
    assert Profile((0.0,), (0.3,), "add-remove").privacy("replace-one").tv == pytest.approx(0.6)


def test_assess_takes_a_profile():
    assessment = dr.assess(Profile((0.0, 1.0), (0.3, 0.1), "replace-one"), dr.Threat(dr.Prior.uniform(2)))
    assert 0.0 < assessment.rad.value <= 0.3 + 1e-12
    assert assessment.neighbours == "replace-one"


@pytest.mark.parametrize(
    ("epsilons", "deltas"),
    [([], []), ([1.0], [0.1, 0.2]), ([-1.0], [0.1]), ([1.0], [1.1]), ([math.nan], [0.1]), ([1.0], [math.nan]),
     ([math.inf], [0.0]), ("ab", [0.1]), ([[1.0]], [[0.1]]), ([1.0], [-1e-9])],
)  # fmt: skip
def test_bad_tables(epsilons, deltas):
    with pytest.raises(dr.ParameterError, match="Profile must be epsilons of at least 0"):
        Profile(epsilons, deltas, "add-remove")


def test_the_relation_is_never_guessed():
    with pytest.raises(dr.ParameterError, match="neighbours"):
        Profile((1.0,), (0.1,), None)
    with pytest.raises(dr.ParameterError, match="neighbours"):
        Profile.of(lambda epsilon: 0.1, "both")


def test_a_function_without_a_value():
    with pytest.raises(dr.NumericsError, match="no value at epsilon = 0"):
        Profile.of(lambda epsilon: math.nan, "add-remove")


def test_values_outside_by_rounding_are_clipped():
    profile = Profile.of(lambda epsilon: 1.0000042 if epsilon < 5.0 else -1e-18, "add-remove")
    assert profile.privacy("add-remove").tv == pytest.approx(math.tanh(2.5), abs=1e-3)
    assert max(profile.deltas) == 1.0
    assert min(profile.deltas) == 0.0


def test_repr():
    assert (
        repr(Profile((1,), (0.1,), "add-remove")) == "Profile(epsilons=(1.0,), deltas=(0.1,), neighbours='add-remove')"
    )
    many = Profile(range(9), [0.5 / (k + 1) for k in range(9)], "replace-one")
    assert repr(many) == "Profile(9 points, epsilon up to 8, delta down to 0.056, neighbours='replace-one')"
