"""More noise, less risk: where that is a theorem, and where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpradar as dr
from tests.strategies import MECHANISMS, cases, on_numbers, spaced, worlds

ROUNDING = 1e-11
INTEGRAL = 2e-8  # two intervals of the line engine, 1e-8 each
pairs = st.tuples(st.floats(0.0, 10.0), st.floats(0.0, 10.0)).map(sorted)
factors = st.floats(1.0, 4.0)


@pytest.mark.parametrize("kind", [dr.GRR, dr.SUE, dr.OUE])
@cases(0.5)
@given(world=worlds(sizes=(2, 5)), epsilons=pairs)
def test_epsilon_of_local_protocols(kind, world, epsilons):
    """With less epsilon each is the other one followed by more of the same noise, so every threat agrees."""
    less, more = (dr.assess(kind(world.m, epsilon), world.threat) for epsilon in epsilons)
    for name in ("rad", "success", "worst_gain"):
        assert less.bounds[name].value <= more.bounds[name].value + ROUNDING


@cases(0.5)
@given(world=worlds(sizes=(3, 7)), epsilons=st.tuples(st.floats(0.0, 3.0), st.floats(0.0, 3.0)).map(sorted))
def test_epsilon_of_subset_selection_while_the_subsets_keep_their_size(world, epsilons):
    mechanisms = [dr.SubsetSelection(world.m, epsilon) for epsilon in epsilons]
    less, more = (dr.assess(mechanism, world.threat) for mechanism in mechanisms)
    if mechanisms[0].omega == mechanisms[1].omega:
        for name in ("rad", "success", "worst_gain"):
            assert less.bounds[name].value <= more.bounds[name].value + ROUNDING


def test_subset_selection_is_not_monotone_when_the_subsets_shrink():
    """Smaller subsets name fewer values but leave the true one out more often: with the record known that is a loss."""
    m = 9
    jump = float(np.log(m / 2 - 1))  # omega falls from 2 to 1
    below, above = dr.SubsetSelection(m, jump - 1e-9), dr.SubsetSelection(m, jump + 1e-9)
    assert (below.omega, above.omega) == (2, 1)
    threat = dr.Threat(dr.Prior.uniform(m), dr.Knowledge.everything())
    assert dr.assess(above, threat).rad.value < dr.assess(below, threat).rad.value - 0.01
    # Without knowledge and with a uniform prior the same jump is a gain for the attacker.
    unknown = dr.Threat(dr.Prior.uniform(m))
    assert dr.assess(above, unknown).rad.value > dr.assess(below, unknown).rad.value + 0.01


@cases(0.4)
@given(world=worlds(sizes=(2, 5)), scale=st.floats(0.2, 5.0), factor=factors, data=st.data())
def test_scale_of_noise_on_the_line(world, scale, factor, data):
    """Wider Laplace (geometric) or Gaussian noise is narrower noise plus independent noise."""
    query = [float(v) for v in data.draw(spaced(world.m))]
    for kind in (dr.Laplace, dr.Gaussian, dr.Geometric):
        narrow = dr.assess(kind(scale, query=query), world.threat)
        wide = dr.assess(kind(scale * factor, query=query), world.threat)
        assert wide.rad.value <= narrow.rad.value + INTEGRAL
        assert wide.success.value <= narrow.success.value + INTEGRAL
        assert wide.worst_gain.value <= narrow.worst_gain.value + ROUNDING


def test_wider_noise_can_help_once_the_output_is_clamped():
    """Not a theorem with a clamp: far from the range, more noise is what carries the record into it."""
    threat = dr.Threat(dr.Prior.uniform(2, [0.0, 1.0]))
    narrow, wide = (dr.assess(dr.Laplace(scale, truncate=(5.0, 6.0)), threat).rad.value for scale in (0.5, 1.5))
    assert narrow < wide


@cases(0.5)
@given(world=worlds(sizes=(2, 5)), values=pairs)
def test_guarantees(world, values):
    """A weaker promise never bounds better."""
    low, high = values
    for weak, strong in (
        (dr.PureDP(high, "replace-one"), dr.PureDP(low, "replace-one")),
        (dr.GDP(high, "replace-one"), dr.GDP(low, "replace-one")),
        (dr.TotalVariation(high / 10, "replace-one"), dr.TotalVariation(low / 10, "replace-one")),
        (dr.ApproxDP(1.0, high / 10, "replace-one"), dr.ApproxDP(1.0, low / 10, "replace-one")),
        (dr.PureDP(low, "add-remove"), dr.PureDP(low, "replace-one")),
        (dr.GDP(low, "add-remove"), dr.GDP(low, "replace-one")),
    ):
        loose, tight = dr.assess(weak, world.threat), dr.assess(strong, world.threat)
        # 1e-7: a linear program with delta > 0 is solved to that accuracy.
        assert tight.rad.value <= loose.rad.value + 1e-7
        assert tight.success.value <= loose.success.value + 1e-7


@pytest.mark.parametrize("kind", ["grr", "sue", "oue", "subset", "exponential"])
@cases(0.25)
@given(data=st.data())
def test_epsilon_zero_gives_nothing_away(kind, data):
    world = data.draw(worlds(sizes=(2, 5)))
    world = on_numbers(world, [float(v) for v in data.draw(spaced(world.m))])
    answer = dr.assess(MECHANISMS[kind](world.m, 0.0, 1.0, None, data.draw), world.threat)
    assert answer.rad.value == pytest.approx(0.0, abs=1e-15)
    assert answer.success.value == pytest.approx(answer.baseline, rel=0, abs=1e-14)
    assert answer.worst_gain.value == pytest.approx(0.0, abs=1e-15)


@cases(0.25)
@given(world=worlds(sizes=(2, 5)), relation=st.sampled_from(["replace-one", "add-remove"]))
def test_guarantees_of_nothing_learned(world, relation):
    for guarantee in (dr.PureDP(0.0, relation), dr.GDP(0.0, relation), dr.TotalVariation(0.0, relation)):
        answer = dr.assess(guarantee, world.threat)
        assert answer.rad.value == pytest.approx(0.0, abs=1e-15)
        assert answer.success.value == pytest.approx(answer.baseline, rel=0, abs=1e-12)


@cases(0.25)
@given(world=worlds(sizes=(2, 5), goals=("exact",)), kind=st.sampled_from([dr.GRR, dr.SUE, dr.SubsetSelection]))
def test_epsilon_to_infinity_gives_everything_away(world, kind):
    """At epsilon 700 the report is the value: rad is 1 - kappa and success is 1."""
    answer = dr.assess(kind(world.m, 700.0), world.threat)
    assert answer.rad.value == pytest.approx(float(1 - sum(p * p for p in world.pi)), rel=0, abs=1e-12)
    assert answer.success.value == pytest.approx(1.0, rel=0, abs=1e-12)
