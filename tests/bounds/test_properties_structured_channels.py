"""Engines that never list the outputs, against listing them all: GRR for every goal, sets for the exact goal.

e^epsilon is rational, so the twin is exact. The tolerance is that of `test_finite_channels`.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dpradar as dr
from dpradar.bounds.exact.finite_channel import finite_risk
from dpradar.bounds.exact.set_partitions import partition_risk
from dpradar.bounds.exact.set_reports import names_values
from dpradar.bounds.exact.set_windows import set_window_risk
from dpradar.bounds.question import Inapplicable
from tests.strategies import cases, ratios, worlds
from tests.twin import channels
from tests.worlds import assert_agrees, epsilon_of, window_world

F = Fraction
TOLERANCE = 1e-11


@cases(2)
@given(world=worlds(sizes=(2, 7)), ratio=ratios)
def test_grr_for_every_goal(world, ratio):
    answer = dr.assess(dr.GRR(world.m, epsilon_of(ratio)), world.threat)
    assert answer.rad.rule == "exact-grr"
    assert_agrees(answer, world.exact_risk(channels.grr(world.m, ratio)), TOLERANCE)


@given(world=worlds(sizes=(2, 5), goals=("exact",)), half=ratios)
def test_sue(world, half):
    answer = dr.assess(dr.SUE(world.m, 2 * epsilon_of(half)), world.threat)
    assert answer.rad.rule == "exact-sets"
    assert_agrees(answer, world.exact_risk(channels.sue(world.m, half)), TOLERANCE)


@given(world=worlds(sizes=(2, 5), goals=("exact",)), ratio=ratios)
def test_oue(world, ratio):
    answer = dr.assess(dr.OUE(world.m, epsilon_of(ratio)), world.threat)
    assert answer.rad.rule == "exact-sets"
    assert_agrees(answer, world.exact_risk(channels.oue(world.m, ratio)), TOLERANCE)


@given(world=worlds(sizes=(2, 7), goals=("exact",)), ratio=st.fractions(1, 3, max_denominator=10))
def test_subset_selection(world, ratio):
    mechanism = dr.SubsetSelection(world.m, epsilon_of(ratio))
    # Where m/(e^eps + 1) is whole, the last bit of epsilon decides omega: the twin takes dpradar's.
    size = F(world.m) / (ratio + 1)
    assert mechanism.omega == channels.default_omega(world.m, ratio) or size.denominator == 1
    answer = dr.assess(mechanism, world.threat)
    assert answer.rad.rule == "exact-sets"
    P = channels.subset_selection(world.m, ratio, mechanism.omega)
    assert_agrees(answer, world.exact_risk(P), TOLERANCE)


@cases(0.5)
@given(
    world=worlds(sizes=(2, 5), goals=("within", "loss", "labels")), ratio=ratios, name=st.sampled_from(["oue", "ss"])
)
def test_sets_with_another_goal_list_the_outputs(world, ratio, name):
    if name == "oue":
        mechanism, P = dr.OUE(world.m, epsilon_of(ratio)), channels.oue(world.m, ratio)
    else:
        mechanism = dr.SubsetSelection(world.m, epsilon_of(ratio))
        P = channels.subset_selection(world.m, ratio, mechanism.omega)
    assert_agrees(dr.assess(mechanism, world.threat), world.exact_risk(P), TOLERANCE)


@given(world=worlds(sizes=(3, 5), goals=("labels",)), ratio=ratios, name=st.sampled_from(["oue", "sue", "ss"]))
def test_sets_and_cells_of_a_partition(world, ratio, name):
    """The engine that lists nothing, where the listing one would be asked first."""
    assume(not names_values(world.threat.cover))
    mechanism, P = {
        "oue": lambda: (dr.OUE(world.m, epsilon_of(ratio)), channels.oue(world.m, ratio)),
        "sue": lambda: (dr.SUE(world.m, 2 * epsilon_of(ratio)), channels.sue(world.m, ratio)),
        "ss": lambda: _subsets(world.m, ratio),
    }[name]()
    release = mechanism.at(world.prior)
    expected = world.exact_risk(P)
    try:
        risk = partition_risk(release.inclusion, release.set_law, world.prior, world.threat.cover)
    except Inapplicable:
        assert name == "ss"  # cells of several probabilities
        return
    if risk.rad is not None:
        assert risk.rad[0] - TOLERANCE <= float(expected["rad"]) <= risk.rad[1] + TOLERANCE
        assert risk.rad[1] - risk.rad[0] <= TOLERANCE
    if risk.success is not None:
        assert risk.success[1] == pytest.approx(float(expected["success"]), rel=0, abs=TOLERANCE)
    if risk.hit is not None and ratio > 1:
        assert risk.hit == pytest.approx(float(expected["hit"]), rel=0, abs=TOLERANCE)


@given(m=st.integers(3, 7), ratio=ratios, share=st.floats(0.0, 1.0), name=st.sampled_from(["oue", "ss"]))
def test_sets_and_windows(m, ratio, share, name):
    eta = 1 + int(share * ((m - 1) // 2 - 0.5))
    mechanism, P = (dr.OUE(m, epsilon_of(ratio)), channels.oue(m, ratio)) if name == "oue" else _subsets(m, ratio)
    world = window_world([F(1, m)] * m, [F(3 * i) for i in range(m)], F(3 * eta + 1))
    risk = set_window_risk(mechanism.at(world.prior).set_law, world.prior, world.threat.cover)
    expected = world.exact_risk(P)
    assert risk.rad[1] == pytest.approx(float(expected["rad"]), rel=0, abs=TOLERANCE)
    assert risk.success[1] == pytest.approx(float(expected["success"]), rel=0, abs=TOLERANCE)


def _subsets(m, ratio):
    mechanism = dr.SubsetSelection(m, epsilon_of(ratio))
    return mechanism, channels.subset_selection(m, ratio, mechanism.omega)


@cases(0.3)
@given(
    m=st.integers(8, 12),
    epsilon=st.floats(0.0, 12.0),
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from([dr.SUE, dr.OUE, dr.SubsetSelection, dr.GRR]),
)
def test_structured_engines_equal_the_listing_engine(m, epsilon, seed, kind):
    """Larger m and irrational epsilon: the two engines of dpradar share no formula."""
    rng = np.random.default_rng(seed)
    pi = rng.dirichlet(np.full(m, 0.5))
    assume(pi.max() < 0.999)
    threat = dr.Threat(dr.Prior.of(pi), dr.Knowledge.labels(rng.integers(0, 4, m).tolist()))
    mechanism = kind(m, epsilon)
    answer = dr.assess(mechanism, threat)
    listed = finite_risk(mechanism.at(threat.prior).finite, threat.prior, threat.cover)
    assert answer.rad.rule in {"exact-sets", "exact-grr"}
    assert answer.rad.value == pytest.approx(listed.rad[1], rel=0, abs=TOLERANCE)
    assert answer.success.value == pytest.approx(listed.success[1], rel=0, abs=TOLERANCE)
    # Ties depend on the tie tolerance of the listing engine when epsilon is all but 0.
    if epsilon > 1e-3:
        assert answer.hit == pytest.approx(listed.hit, rel=0, abs=TOLERANCE)


@pytest.mark.parametrize("kind", [dr.GRR, dr.SUE, dr.OUE, dr.SubsetSelection])
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 50.0, 700.0])
@pytest.mark.parametrize("knowledge", [dr.Knowledge.nothing(), dr.Knowledge.everything()])
def test_extremes_and_large_domains(kind, epsilon, knowledge):
    """m = 100,000 and epsilon from 0 to 700: rad between its limits, and 0 without a signal."""
    m = 100_000
    weights = 1.0 / np.arange(1, m + 1)
    prior = dr.Prior.of(weights / weights.sum())
    answer = dr.assess(kind(m, epsilon), dr.Threat(prior, knowledge))
    assert answer.rad.side == "exact"
    assert answer.baseline <= answer.success.value + 1e-12
    kappa = prior.collision
    if epsilon == 0.0:
        assert answer.rad.value == 0.0
    elif epsilon <= 1e-6:
        assert 0.0 < answer.rad.value < 1e-6
    # At epsilon 700 (and for GRR, subsets of one value and SUE at 50) the report is the value; an OUE bit is lost
    # half of the time.
    elif epsilon == 700.0 or kind in (dr.GRR, dr.SubsetSelection):
        share = 0.5 if kind is dr.OUE else 1.0
        assert answer.rad.value == pytest.approx(share * (1 - kappa), rel=1e-9)


def test_point_mass_prior_gives_nothing_away():
    prior = dr.Prior.of([0.0, 0.0, 1.0, 0.0])
    for kind in (dr.GRR, dr.SUE, dr.OUE, dr.SubsetSelection):
        answer = dr.assess(kind(4, 1.0), dr.Threat(prior))
        assert answer.rad.value == 0.0
        assert answer.success.value == pytest.approx(1.0, rel=0, abs=1e-15)
        assert answer.hit == pytest.approx(0.25, rel=0, abs=1e-15)  # all four guesses tie
        assert math.isclose(answer.false_hit, 0.25, abs_tol=1e-15)
