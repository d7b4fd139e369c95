"""Random channels x priors x knowledge x goals: `assess` against enumeration.

Tiny sizes against the maximum over *all* deterministic attacks (Definition 4.1), larger ones against the formula of
Theorem 4.3, both in exact fractions. dpradar sums at most a few hundred floats of size at most 1: 1e-11 is far above
its rounding and far below 1/24^3, the smallest possible difference of two different values.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpradar as dr
from tests.strategies import cases, laws, matrices, worlds
from tests.twin import brute, channels
from tests.worlds import assert_agrees, exact_world, floats, loss_world

F = Fraction
TOLERANCE = 1e-11


@given(world=worlds(sizes=(2, 3)), data=st.data())
def test_against_all_attacks(world, data):
    """At most 3 outputs x 3 known values and 3 guesses: 19,683 attacks."""
    outputs = data.draw(st.integers(1, 2 if len(set(world.a)) == 3 else 3))
    P = data.draw(matrices(world.m, outputs))
    answer = dr.assess(dr.Channel(floats(P)), world.threat)
    best = brute.rad_by_attacks(P, world.pi, world.a, world.S)
    reached = brute.success_by_attacks(P, world.pi, world.a, world.S)
    assert answer.rad.value == pytest.approx(float(best), rel=0, abs=TOLERANCE)
    assert answer.success.value == pytest.approx(float(reached), rel=0, abs=TOLERANCE)
    assert_agrees(answer, world.exact_risk(P), TOLERANCE)


@cases(2)
@given(world=worlds(sizes=(2, 8)), data=st.data())
def test_against_the_formula(world, data):
    P = data.draw(matrices(world.m, data.draw(st.integers(1, 6))))
    assert_agrees(dr.assess(dr.Channel(floats(P)), world.threat), world.exact_risk(P), TOLERANCE)


@given(world=worlds(sizes=(2, 5)), data=st.data())
def test_composition_of_channels(world, data):
    parts = [data.draw(matrices(world.m, data.draw(st.integers(1, 3)))) for _ in range(data.draw(st.integers(2, 3)))]
    composed = dr.Composed([dr.Channel(floats(P)) for P in parts])
    assert_agrees(dr.assess(composed, world.threat), world.exact_risk(channels.composed(*parts)), TOLERANCE)


@cases(0.5)
@given(prior=laws(6), table=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=6, max_size=6))
def test_columns_are_labels(prior, table):
    """Records of two columns; equal records are merged and their weights added."""
    if len(set(table)) < 2:
        table[0] = (3, 1)
    distinct = list(dict.fromkeys(table))
    pi = [sum(p for p, row in zip(prior, table, strict=True) if row == record) for record in distinct]
    columns = {"age": [age for age, _ in table], "ill": [ill for _, ill in table]}
    records = dr.Prior.records(columns, weights=[float(p) for p in prior])
    P = [channels.grr(2, F(3))[ill] for _, ill in distinct]
    ages, ills = [age for age, _ in distinct], [ill for _, ill in distinct]
    threat = dr.Threat(records, dr.Knowledge.columns("age"), dr.Goal.columns("ill"))
    S = brute.labels(ills)
    answer = dr.assess(dr.Channel(floats(P)), threat)
    assert answer.rad.value == pytest.approx(float(brute.rad(P, pi, ages, S)), rel=0, abs=TOLERANCE)
    assert answer.success.value == pytest.approx(float(brute.success(P, pi, ages, S)), rel=0, abs=TOLERANCE)
    assert answer.baseline == pytest.approx(float(brute.baseline(pi, ages, S)), rel=0, abs=TOLERANCE)
    hit, _ = brute.hit_and_false_hit(P, pi, ages, S)
    assert answer.hit == pytest.approx(float(hit), rel=0, abs=TOLERANCE)


@cases(0.5)
@given(world=worlds(sizes=(2, 5), goals=("within", "loss")), data=st.data())
def test_a_function_as_loss(world, data):
    """A callable sees (value, guess), as the matrix does."""
    P = data.draw(matrices(world.m, 3))
    table = world.S
    order = {v: i for i, v in enumerate(world.values or range(world.m))}

    def loss(value, guess):
        return 0.0 if order[value] in table[order[guess]] else 1.0

    threat = dr.Threat(world.prior, world.knowledge, dr.Goal.within(0.5, loss))
    assert_agrees(dr.assess(dr.Channel(floats(P)), threat), world.exact_risk(P), TOLERANCE)


@pytest.mark.parametrize(
    "loss",
    [
        [[1, 1, 1], [1, 1, 1], [1, 1, 1]],  # nothing is ever right
        [[1, 1, 1], [1, 1, 1], [0, 0, 0]],  # only about the last value, which is known apart
    ],
)
def test_no_guess_is_right_about_a_fibre(loss):
    pi, P = [F(1, 2), F(1, 4), F(1, 4)], channels.grr(3, F(3))
    world = loss_world(pi, loss, 0).knowing([0, 0, 1])
    assert_agrees(dr.assess(dr.Channel(floats(P)), world.threat), world.exact_risk(P), TOLERANCE)


def test_many_columns_are_taken_in_chunks():
    """More outputs than fit one work array: the sum over chunks is the sum over all (20,011 outputs x 300 inputs)."""
    rng = np.random.default_rng(5)
    matrix = rng.dirichlet(np.ones(20_011), size=300)
    pi = rng.dirichlet(np.ones(300))
    threat = dr.Threat(dr.Prior.of(pi), goal=dr.Goal.within(7))
    answer = dr.assess(dr.Channel(matrix), threat)
    weight = pi[:, None] * (matrix - pi @ matrix)
    running = np.vstack([np.zeros(20_011), np.cumsum(weight, axis=0)])
    low, high = np.maximum(np.arange(300) - 7, 0), np.minimum(np.arange(300) + 8, 300)
    assert answer.rad.value == pytest.approx((running[high] - running[low]).max(axis=0).sum(), rel=0, abs=TOLERANCE)


def test_zero_entries_and_unused_outputs():
    P = [[F(1), F(0), F(0)], [F(0), F(1), F(0)], [F(1, 2), F(1, 2), F(0)]]
    world = exact_world([F(1, 2), F(1, 2), F(0)])
    assert_agrees(dr.assess(dr.Channel(floats(P)), world.threat), world.exact_risk(P), TOLERANCE)
