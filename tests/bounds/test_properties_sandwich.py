"""lower <= exact <= upper, and the order of the quantities, over every mechanism x threat.

Slack: 1e-9, the width that dpradar itself allows between evidence from two sides.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

import dpradar as dr
from tests.strategies import (
    MECHANISMS,
    cases,
    epsilons,
    laws,
    mechanisms,
    on_numbers,
    spaced,
    worlds,
)

SLACK = 1e-9


@st.composite
def questions(draw, goals=("exact", "within", "loss", "labels")):
    """A mechanism and a world with numeric values that fit each other."""
    world = draw(worlds(sizes=(2, 5), goals=goals))
    world = on_numbers(world, [float(v) for v in draw(spaced(world.m))])
    return draw(mechanisms(world)), world


def all_bounds(answer: dr.Assessment, quantity: str) -> list[dr.Bound]:
    """What every rule found, the winner included."""
    bounds = [o.bound for o in answer.others if o.quantity == quantity and o.bound is not None]
    return [*bounds, answer.bounds[quantity]]


def assert_sandwich(answer: dr.Assessment) -> None:
    for quantity in ("rad", "success"):
        bounds = all_bounds(answer, quantity)
        lows = [b.value if b.side == "lower" else b.low for b in bounds if b.side == "lower" or b.low is not None]
        uppers = [b.value for b in bounds if b.side != "lower"]
        assert max(lows, default=0.0) <= min(uppers) + SLACK
        assert answer.bounds[quantity].value <= min(uppers) + SLACK


def assert_order(answer: dr.Assessment, kappa: float) -> None:
    assert 0.0 <= answer.rad.value <= 1.0 - kappa + SLACK
    assert answer.rad.value <= answer.worst_gain.value + SLACK
    assert answer.baseline - SLACK <= answer.success.value <= 1.0
    assert answer.gain.value == pytest.approx(max(0.0, answer.success.value - answer.baseline), rel=0, abs=1e-15)
    # With the record known nothing is gained over the blind guess, else the gain is at most the total variation.
    assert answer.gain.value <= answer.worst_gain.value + SLACK
    if answer.hit is not None:
        assert answer.hit - answer.false_hit == pytest.approx(answer.rad.value, rel=0, abs=SLACK)
        assert -SLACK <= answer.false_hit <= answer.baseline + SLACK
        assert answer.hit <= answer.success.value + SLACK


@given(question=questions())
def test_every_mechanism_and_threat(question):
    mechanism, world = question
    answer = dr.assess(mechanism, world.threat)
    assert_sandwich(answer)
    assert_order(answer, float(sum(p * p for p in world.pi)))


@pytest.mark.parametrize("kind", sorted(MECHANISMS))
@cases(0.1)
@given(data=st.data())
def test_each_mechanism(kind, data):
    """The same, so that no mechanism is missed by chance, and the answer survives JSON."""
    world = data.draw(worlds(sizes=(2, 5)))
    world = on_numbers(world, [float(v) for v in data.draw(spaced(world.m))])
    epsilon, scale = data.draw(epsilons), data.draw(st.floats(0.1, 10.0))
    answer = dr.assess(MECHANISMS[kind](world.m, epsilon, scale, None, data.draw), world.threat)
    assert_sandwich(answer)
    assert_order(answer, float(sum(p * p for p in world.pi)))
    assert dr.Assessment.from_dict(json.loads(json.dumps(answer.to_dict()))) == answer


guarantees = st.one_of(
    st.builds(dr.PureDP, epsilons, st.just("replace-one")),
    st.builds(dr.ApproxDP, epsilons, st.sampled_from([1e-8, 1e-3, 0.2, 1.0]), st.just("replace-one")),
    st.builds(dr.GDP, st.floats(0.0, 6.0), st.just("replace-one")),
    st.builds(dr.TotalVariation, st.floats(0.0, 1.0), st.just("replace-one")),
)


@cases(0.5)
@given(world=worlds(sizes=(2, 5)), guarantee=guarantees)
def test_guarantees(world, guarantee):
    answer = dr.assess(guarantee, world.threat)
    assert_sandwich(answer)
    assert_order(answer, float(sum(p * p for p in world.pi)))
    assert answer.rad.side == "upper"
    assert dr.Assessment.from_dict(json.loads(json.dumps(answer.to_dict()))) == answer


@cases(0.5)
@given(question=questions(goals=("exact", "within", "labels")))
def test_a_mechanism_never_exceeds_its_own_guarantee(question):
    """What the mechanism promises under replace-one, passed to `assess` as a bare guarantee, bounds its exact risk."""
    mechanism, world = question
    answer = dr.assess(mechanism, world.threat)
    promise = mechanism.at(world.prior).privacy("replace-one")
    claims = [dr.TotalVariation(min(1.0, promise.tv + 1e-12), "replace-one")]
    if promise.epsilon is not None:
        claims.append(dr.ApproxDP(promise.epsilon, promise.delta, "replace-one"))
    for claim in claims:
        bound = dr.assess(claim, world.threat)
        low = answer.rad.low if answer.rad.low is not None else 0.0
        assert low <= bound.rad.value + SLACK
        success = answer.success.low if answer.success.low is not None else 0.0
        assert success <= bound.success.value + SLACK


@cases(0.5)
@given(pi=laws(4), mu=st.floats(0.05, 5.0), seed=st.integers(0, 2**32 - 1))
def test_gaussian_on_vectors_never_exceeds_gdp(pi, mu, seed):
    """Exact one-dimensional risks against the f-DP bounds, with the mechanism's own mu."""
    rng = np.random.default_rng(seed)
    direction, along = rng.normal(size=3), rng.integers(0, 9, 4)
    query = np.outer(along, direction / np.linalg.norm(direction))
    threat = dr.Threat(dr.Prior.of([float(p) for p in pi]))
    exact = dr.assess(dr.Gaussian(8 / mu, query=query), threat).rad
    bound = dr.assess(dr.GDP(mu * np.ptp(along) / 8 + 1e-12, "replace-one"), threat).rad
    assert (exact.low or 0.0) <= bound.value + SLACK


@cases(0.1)
@given(
    shape=st.sampled_from([(1.0, 1.0), (0.5, 2.0), (2.0, 3.0)]),
    eta=st.floats(0.02, 1.2),
    scale=st.floats(0.1, 3.0),
    clamp=st.sampled_from([None, (0.0, 1.0), (-0.5, 0.6), (2.0, 3.0)]),
    known=st.booleans(),
    kind=st.sampled_from(["laplace", "gaussian", "exponential"]),
)
def test_continuous_priors(shape, eta, scale, clamp, known, kind):
    """The values are upper ends of intervals up to 1e-4 wide, hence the wider slack."""
    prior = dr.Prior.continuous(beta(*shape), 0.0, 1.0)
    threat = dr.Threat(prior, dr.Knowledge.everything() if known else dr.Knowledge.nothing(), dr.Goal.within(eta))
    mechanism = {
        "laplace": lambda: dr.Laplace(scale, truncate=clamp),
        "gaussian": lambda: dr.Gaussian(scale, truncate=clamp),
        "exponential": lambda: dr.Exponential(2.0 / scale, interval=(0.0, 1.0)),
    }[kind]()
    answer = dr.assess(mechanism, threat)
    assert_sandwich(answer)
    assert -1e-6 <= answer.success.value - answer.baseline <= answer.worst_gain.value + 2e-4
    assert 0.0 <= answer.rad.value <= answer.worst_gain.value + 2e-4
    assert answer.rad.rule == "exact-continuous" or answer.rad.value <= 1e-5
