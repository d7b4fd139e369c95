"""Neighbour relations: what may be converted, what may not, and what the conversion costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpradar as dr
from dpradar.guarantees.curves import gaussian_curve
from tests.strategies import cases, worlds
from tests.worlds import other_bound

# Rules that read a replace-one promise only; the others (success bounds and what follows) may use add/remove as it is.
ANY_RELATION = {"information", "hayes-minus-blind", "trivial"}


def replace_one_rules(answer: dr.Assessment) -> dict[str, float]:
    winner = answer.rad
    values = {o.rule: o.bound.value for o in answer.others if o.quantity == "rad" and o.bound is not None}
    values[winner.rule] = winner.value
    return {rule: value for rule, value in values.items() if rule not in ANY_RELATION}


def assert_no_looser(first: dict[str, float], second: dict[str, float]) -> None:
    assert first.keys() == second.keys()
    for rule, value in first.items():
        assert value <= second[rule] + (1e-7 if rule in ("black-box-program", "black-box-profile") else 1e-12)


def assert_same(first: dict[str, float], second: dict[str, float]) -> None:
    assert first.keys() == second.keys()
    for rule, value in first.items():
        assert value == pytest.approx(second[rule], rel=0, abs=1e-7 if rule == "black-box-program" else 1e-12)


@cases(0.5)
@given(world=worlds(sizes=(2, 5)), epsilon=st.floats(0.0, 4.0), delta=st.sampled_from([0.0, 1e-6, 0.01]))
def test_group_privacy_of_epsilon_and_delta(world, epsilon, delta):
    """(eps, delta) under add/remove is (2 eps, (1 + e^eps) delta) under replace-one, rule by rule, or better."""
    if delta:
        weak = dr.ApproxDP(epsilon, delta, "add-remove")
        strong = dr.ApproxDP(2 * epsilon, min(1.0, (1 + math.exp(epsilon)) * delta), "replace-one")
    else:
        weak, strong = dr.PureDP(epsilon, "add-remove"), dr.PureDP(2 * epsilon, "replace-one")
    first, second = dr.assess(weak, world.threat), dr.assess(strong, world.threat)
    # The total variation of two steps is below that of 2 eps.
    of_tv = {"thm-4.2", "thm-5.5", "knapsack-root", "thesis-thm-7", "thesis-thm-8", "black-box-profile", "prop-5.3"}
    one, two = replace_one_rules(first), replace_one_rules(second)
    assert_no_looser(one, two)
    assert_same({r: v for r, v in one.items() if r not in of_tv}, {r: v for r, v in two.items() if r not in of_tv})
    # Success may use the relation as it is, which is never worse than the doubled one.
    assert first.success.value <= second.success.value + 1e-9


@cases(0.5)
@given(world=worlds(sizes=(2, 5)), mu=st.floats(0.0, 4.0))
def test_group_privacy_of_gdp(world, mu):
    first = dr.assess(dr.GDP(mu, "add-remove"), world.threat)
    second = dr.assess(dr.GDP(2 * mu, "replace-one"), world.threat)
    assert_same(replace_one_rules(first), replace_one_rules(second))


@given(knots=st.lists(st.tuples(st.floats(0.01, 0.99), st.floats(0.0, 0.9)), min_size=1, max_size=4))
def test_doubled_curve(knots):
    """f(1 - f(x)) of a piecewise-linear curve, at every x: the doubled curve lies on it or below."""
    fpr, fnr = [x for x, _ in knots], [min(y, 1 - x) for x, y in knots]
    symmetric = dr.Tradeoff(fpr + fnr, fnr + fpr, "add-remove")  # holds in both orders
    curve, doubled = symmetric.privacy("add-remove").curve, symmetric.privacy("replace-one").curve
    x = np.linspace(0.0, 1.0, 501)
    composed = curve.fnr(1.0 - curve.fnr(x))
    assert np.all(doubled.fnr(x) <= composed + 1e-12)
    assert np.all(doubled.fnr(x) >= composed - 1e-9)


def test_rates_between_two_points_stay_rates():
    """A chord may leave [0, 1] by rounding; the curve was refused when it was doubled."""
    fpr, fnr = (0.21980749281916356, 0.3907634188371993), (0.39076341883718935, 0.21980749281915368)
    doubled = dr.Tradeoff((*fpr, 0.9999999999999999), (*fnr, 0.0), "add-remove").privacy("replace-one")
    rates = doubled.curve.fnr(np.linspace(0.0, 1.0, 501))
    assert 0.0 <= rates.min() <= rates.max() <= 1.0


def test_doubled_gaussian_curve_is_twice_the_distance():
    """A chord through many points of G_1 doubles to nearly G_2, from above (chords lie above the curve)."""
    x = np.linspace(0.0, 1.0, 2001)[1:-1]
    chords = dr.Tradeoff(x, gaussian_curve(1.0).fnr(x), "add-remove").privacy("replace-one").curve
    grid = np.linspace(0.01, 0.99, 99)
    assert np.all(chords.fnr(grid) >= gaussian_curve(2.0).fnr(grid) - 1e-12)
    assert chords.fnr(grid) == pytest.approx(gaussian_curve(2.0).fnr(grid), rel=0, abs=1e-3)


@pytest.mark.parametrize(
    "guarantee",
    [
        dr.PureDP(1.0, "replace-one"),
        dr.ApproxDP(1.0, 1e-5, "replace-one"),
        dr.GDP(1.0, "replace-one"),
        dr.TotalVariation(0.3, "replace-one"),
        dr.Tradeoff((0.1, 0.4), (0.4, 0.1), "replace-one"),
    ],
)
def test_replace_one_says_nothing_about_add_remove(guarantee):
    """Taking a record away may cost anything (the number of records can be public under replace-one)."""
    assert guarantee.privacy("add-remove") is None
    answer = dr.assess(guarantee, dr.Threat.membership(0.5))
    assert answer.rad is None
    assert answer.success.value == 1.0
    assert answer.success.rule == "trivial"


def test_worst_gain_keeps_the_relation_it_was_given():
    assert dr.assess(dr.PureDP(1.0, "add-remove")).worst_gain.value == pytest.approx(math.tanh(0.5))
    assert dr.assess(dr.PureDP(1.0, "replace-one")).worst_gain.value == pytest.approx(math.tanh(0.5))
    converted = dr.assess(dr.PureDP(1.0, "add-remove"), neighbours="replace-one")
    assert converted.worst_gain.value == pytest.approx(-math.expm1(-1.0))  # below the tanh(1) of 2-DP
    assert converted.neighbours == "replace-one"
    # A mechanism on numbers knows both: the worse one, unless asked.
    noise = dr.Laplace(1.0, query=[-1.0, 1.0])
    both = dr.assess(noise, dr.Threat(dr.Prior.uniform(2)))
    assert both.worst_gain.value == pytest.approx(-math.expm1(-1.0))
    one = dr.assess(noise, dr.Threat(dr.Prior.uniform(2)), neighbours="add-remove")
    assert one.worst_gain.value == pytest.approx(-math.expm1(-0.5))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("prior", [0.5, 0.1])
def test_membership(epsilon, prior):
    """The best guess between in and out under (eps, 0): weigh both worlds by e^eps."""
    answer = dr.assess(dr.PureDP(epsilon, "add-remove"), dr.Threat.membership(prior))
    ratio = math.exp(epsilon)
    expected = max(prior, 1 - prior, (prior * ratio + (1 - prior) * ratio) / (1 + ratio))
    assert answer.success.value == pytest.approx(expected, rel=0, abs=1e-9)
    assert answer.rad is None
    assert "membership" in answer.reason["rad"]


def test_a_mechanism_uses_the_middle_as_reference_for_success_only():
    """Success compares with any fixed distribution; the one around the middle is half as far as another record."""
    threat = dr.Threat(dr.Prior.uniform(5, [0.0, 1.0, 2.0, 3.0, 4.0]))
    answer = dr.assess(dr.Gaussian(2.0), threat)
    middle = 1.0 - gaussian_curve(1.0).at(0.2)
    assert other_bound(answer, "rero-3", "success") == pytest.approx(middle, rel=0, abs=1e-12)
    assert answer.success.value <= middle
