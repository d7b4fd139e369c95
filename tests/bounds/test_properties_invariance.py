"""What must not change a risk: names, order, units, copies; and what can only lower it: less to see, less to know."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpradar as dr
from tests.strategies import cases, matrices, mechanisms, on_numbers, ratios, spaced, worlds
from tests.twin import channels
from tests.worlds import World, floats

ROUNDING = 1e-11  # sums of a few hundred products of numbers of at most 1
INTEGRAL = 2e-8  # two intervals of the line engine, 1e-8 each (test_properties_line_engine)


def permuted(world: World, order: list[int]) -> World:
    """Value i of the new world is value order[i] of the old one."""
    back = {old: new for new, old in enumerate(order)}
    return replace(
        world,
        pi=[world.pi[z] for z in order],
        a=[world.a[z] for z in order],
        S=[frozenset(back[z] for z in right) for right in world.S],
        values=None if world.values is None else [world.values[z] for z in order],
    )


def moved_goal(world: World, order: list[int]) -> dr.Goal:
    if world.goal.kind == "labels":
        return dr.Goal.labels([world.goal.names[z] for z in order])
    if world.goal.kind == "within" and not world.goal.is_absolute:
        return dr.Goal.within(world.goal.eta, np.asarray(world.goal.loss)[np.ix_(order, order)])
    return world.goal


@given(world=worlds(sizes=(2, 6)), data=st.data())
def test_order_of_the_values(world, data):
    P = data.draw(matrices(world.m, 4))
    order = data.draw(st.permutations(range(world.m)))
    other = replace(permuted(world, order), goal=moved_goal(world, order))
    first = dr.assess(dr.Channel(floats(P)), world.threat)
    second = dr.assess(dr.Channel(floats([P[z] for z in order])), other.threat)
    for name in ("rad", "success", "gain", "worst_gain"):
        assert first.bounds[name].value == pytest.approx(second.bounds[name].value, rel=0, abs=ROUNDING)
    assert (first.baseline, first.hit) == pytest.approx((second.baseline, second.hit), rel=0, abs=ROUNDING)


@cases(0.5)
@given(world=worlds(sizes=(2, 5), goals=("exact", "labels")), ratio=ratios, data=st.data())
def test_names_of_the_values(world, ratio, data):
    """Values are named by words; every local protocol only sees which one it is."""
    kind = data.draw(st.sampled_from([dr.GRR, dr.SUE, dr.OUE, dr.SubsetSelection]))
    mechanism = kind(world.m, float(np.log(float(ratio))))
    named = replace(world, values=[f"answer {i}" for i in range(world.m)])
    first, second = dr.assess(mechanism, world.threat), dr.assess(mechanism, named.threat)
    assert first.rad == second.rad
    assert first.success == second.success


@cases(0.2)
@given(world=worlds(sizes=(2, 5), goals=("within",)), data=st.data())
def test_origin_and_direction_of_the_line(world, data):
    """Shifting or mirroring the values and the clamp changes nothing."""
    scale, shift = data.draw(st.floats(0.3, 5.0)), float(data.draw(st.integers(-40, 40)))
    sign = data.draw(st.sampled_from([1.0, -1.0]))
    clamp = data.draw(st.sampled_from([None, (1.0, 6.0)]))
    moved = replace(world, values=[sign * v + shift for v in world.values])
    ends = None if clamp is None else tuple(sorted(sign * c + shift for c in clamp))
    for kind in (dr.Laplace, dr.Gaussian, dr.Geometric):
        first = dr.assess(kind(scale, truncate=clamp), world.threat)
        second = dr.assess(kind(scale, truncate=ends), moved.threat)
        assert first.rad.value == pytest.approx(second.rad.value, rel=0, abs=INTEGRAL)
        assert first.success.value == pytest.approx(second.success.value, rel=0, abs=INTEGRAL)


UNITS = [1e6, 1e-3, 1e-13]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("eta", [0.0, 1.0, 2.0])
def test_unit_of_the_values(unit, eta):
    """Values, eta and noise in other units, metres or millimetres, written in decimals as people write them."""
    values, pi = [0.0, 1.0, 3.0, 4.0], [0.4, 0.3, 0.2, 0.1]

    def risk(u: float, kind) -> float:
        inside = [float(Decimal(x) * Decimal(repr(u))) for x in (*values, eta)]
        threat = dr.Threat(dr.Prior.of(pi, inside[:-1]), goal=dr.Goal.within(inside[-1]))
        return dr.assess(kind(1.5 * u), threat).rad.value

    for kind in (dr.Laplace, dr.Gaussian):
        assert risk(unit, kind) == pytest.approx(risk(1.0, kind), rel=0, abs=INTEGRAL)


@cases(0.5)
@given(world=worlds(sizes=(2, 5)), data=st.data())
def test_a_split_output_changes_nothing(world, data):
    """An output that is reported under two names at random: same likelihood ratios, same risk."""
    P = data.draw(matrices(world.m, 3))
    split = [[row[0], row[1] / 3, 2 * row[1] / 3, row[2]] for row in P]
    first, second = (dr.assess(dr.Channel(floats(x)), world.threat) for x in (P, split))
    for name in ("rad", "success", "worst_gain"):
        assert first.bounds[name].value == pytest.approx(second.bounds[name].value, rel=0, abs=ROUNDING)


@given(world=worlds(sizes=(2, 5)), data=st.data())
def test_post_processing_never_helps(world, data):
    """A channel on top of the channel, or some outputs merged: the attacker could have done that."""
    P = data.draw(matrices(world.m, 4))
    kernel = data.draw(matrices(4, data.draw(st.integers(1, 4))))
    merged = [[row[0] + row[1], row[2] + row[3]] for row in P]
    before = dr.assess(dr.Channel(floats(P)), world.threat)
    for Q in (channels.post_processed(P, kernel), merged):
        after = dr.assess(dr.Channel(floats(Q)), world.threat)
        for name in ("rad", "success", "gain", "worst_gain"):
            assert after.bounds[name].value <= before.bounds[name].value + ROUNDING


@cases(0.2)
@given(world=worlds(sizes=(2, 5), goals=("within",)), data=st.data())
def test_clamping_never_helps(world, data):
    scale = data.draw(st.floats(0.2, 5.0))
    low, width = data.draw(st.integers(-5, 10)), data.draw(st.integers(1, 10))
    for kind in (dr.Laplace, dr.Gaussian, dr.Geometric, dr.DiscreteGaussian):
        free = dr.assess(kind(scale), world.threat)
        clamped = dr.assess(kind(scale, truncate=(low, low + width)), world.threat)
        inner = dr.assess(kind(scale, truncate=(low, low + (width + 1) // 2)), world.threat)
        assert clamped.rad.value <= free.rad.value + INTEGRAL
        assert clamped.success.value <= free.success.value + INTEGRAL
        if width > 1:
            assert inner.rad.value <= clamped.rad.value + INTEGRAL


@st.composite
def refinements(draw, world: World) -> list[int]:
    """Labels that tell at least as much as the world's."""
    finer = draw(st.lists(st.integers(0, 2), min_size=world.m, max_size=world.m))
    names = {pair: i for i, pair in enumerate(dict.fromkeys(zip(world.a, finer, strict=True)))}
    return [names[pair] for pair in zip(world.a, finer, strict=True)]


@cases(0.5)
@given(world=worlds(sizes=(2, 5)), data=st.data())
def test_rad_and_success_grow_with_knowledge(world, data):
    world = on_numbers(world, [float(v) for v in data.draw(spaced(world.m))])
    mechanism = data.draw(mechanisms(world))
    finer = data.draw(refinements(world))
    ladder = [world, world.knowing(finer), world.knowing(range(world.m))]
    answers = [dr.assess(mechanism, step.threat) for step in ladder]
    for less, more in pairwise(answers):
        assert less.baseline <= more.baseline + ROUNDING
        for name in ("rad", "success"):
            low, high = less.bounds[name], more.bounds[name]
            # What is proven from below with less knowledge is a lower bound with more.
            if low.low is not None:
                assert low.low <= high.value + INTEGRAL


@cases(0.5)
@given(world=worlds(sizes=(2, 4)), data=st.data())
def test_composing_never_hurts_the_attacker(world, data):
    world = on_numbers(world, [float(v) for v in data.draw(spaced(world.m))])
    finite = [
        dr.Channel(floats(data.draw(matrices(world.m, 3)))),
        dr.GRR(world.m, 1.0),
        dr.Geometric(2.0),
        dr.OUE(world.m, 0.5),
    ]
    first, second = data.draw(st.permutations(finite))[:2]
    both = dr.assess(dr.Composed([first, second]), world.threat)
    for part in (first, second):
        alone = dr.assess(part, world.threat)
        for name in ("rad", "success", "gain"):
            assert alone.bounds[name].value <= both.bounds[name].value + ROUNDING
    again = dr.assess(dr.Composed([second, first]), world.threat)
    assert again.rad.value == pytest.approx(both.rad.value, rel=0, abs=ROUNDING)


@cases(0.25)
@given(world=worlds(sizes=(2, 4), goals=("exact", "within")), data=st.data())
def test_composed_gaussians_never_hurt_the_attacker(world, data):
    """All on one line, so that both sides are exact."""
    values = np.array(data.draw(spaced(world.m)), dtype=float)
    sigma = data.draw(st.floats(0.5, 5.0))
    one = dr.assess(dr.Gaussian(sigma, query=values), world.threat)
    two = dr.assess(dr.Composed([dr.Gaussian(sigma, query=values)] * 2), world.threat)
    same = dr.assess(dr.Gaussian(sigma / np.sqrt(2.0), query=values), world.threat)
    assert one.rad.value <= two.rad.value + INTEGRAL
    assert two.rad.value == pytest.approx(same.rad.value, rel=0, abs=INTEGRAL)
    assert two.success.value == pytest.approx(same.success.value, rel=0, abs=INTEGRAL)


@cases(0.25)
@given(world=worlds(sizes=(2, 5)), data=st.data())
def test_nothing_is_learned_about_a_point_mass(world, data):
    sure = data.draw(st.integers(0, world.m - 1))
    world = replace(world, pi=[float(z == sure) for z in range(world.m)])
    world = on_numbers(world, [float(v) for v in data.draw(spaced(world.m))])
    mechanism = data.draw(mechanisms(world))
    answer = dr.assess(mechanism, world.threat)
    assert answer.rad.value == pytest.approx(0.0, abs=1e-8)
    assert answer.success.value == pytest.approx(answer.baseline, rel=0, abs=1e-8)
