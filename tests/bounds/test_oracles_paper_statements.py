"""Definitions and theorems of the papers that no other test states by themselves, against enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations, permutations, product

import numpy as np
import pytest
from scipy.stats import norm

import dpradar as dr
from dpradar import notions
from dpradar.guarantees.curves import approx_curve
from tests.every import every
from tests.twin import brute

SEEDS = range(12)


def random_channel(seed: int, values: int, outputs: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(outputs, 1.5), size=values)


def events(outputs: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(outputs), size) for size in range(outputs + 1)))


def delta_of(channel: np.ndarray, epsilon: float) -> float:
    """The least delta of Definition 2.1, over all events and ordered pairs of inputs."""
    pairs = permutations(range(len(channel)), 2)
    sums = {event: channel[:, list(event)].sum(axis=1) for event in events(channel.shape[1])}
    return max(max(float(s[i] - math.exp(epsilon) * s[j]) for s in sums.values()) for i, j in pairs)


@every("seed", SEEDS)
@every("epsilon", [0.0, 0.3, 1.0])
def test_definition_2_1(seed, epsilon):
    """[RAD] Definition 2.1: (epsilon, delta)-DP is that no event, as a test, gets below its trade-off curve."""
    channel = random_channel(seed, 3, 4)
    delta = delta_of(channel, epsilon)

    def furthest_below(promised: float) -> float:
        curve = approx_curve(epsilon, promised)
        tests = [
            (channel[j, list(event)].sum(), 1.0 - channel[i, list(event)].sum())
            for i, j in permutations(range(3), 2)
            for event in events(4)
        ]
        return max(float(curve.fnr(np.array([fpr]))[0]) - fnr for fpr, fnr in tests)

    assert furthest_below(delta) <= 1e-12
    if delta > 0.0:
        assert furthest_below(0.9 * delta) > 0.0
    # And what assess makes of it holds for the mechanism itself, on two of its inputs.
    prior = dr.Prior.of([0.5, 0.5, 0.0])
    own = brute.rad(channel.tolist(), [0.5, 0.5, 0.0], brute.nothing(3), brute.exact(3))
    assert dr.assess(dr.ApproxDP(epsilon, delta, neighbours="replace-one"), dr.Threat(prior)).rad.value >= own - 1e-12


def test_theorem_3_1():
    """[UNIFY] Theorem 3.1: E q(z, theta) <= 1 - f(sup_theta E q(z, theta)) for any q with values in [0, 1]."""
    closest = 0.0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        channel, law = random_channel(seed, 3, 3), rng.dirichlet(np.ones(3))
        q = np.where(rng.random((3, 3)) < 0.5, rng.random((3, 3)), rng.integers(0, 2, (3, 3)))
        expected, base = float((law[:, None] * channel * q).sum()), float((law @ q).max())
        for epsilon in (0.0, 0.5, 1.0):
            promise = dr.ApproxDP(epsilon, delta_of(channel, epsilon), neighbours="replace-one")
            bound = notions.singling_out(promise, base, neighbours="replace-one").value
            assert expected <= bound + 1e-12
            closest = max(closest, expected / bound)
    assert closest > 0.9  # or the bound could be far off without being noticed


@pytest.mark.parametrize("seed", SEEDS)
def test_proposition_f_2(seed):
    """[UNIFY] Proposition F.2: every attack is right at most 1 - f(false hit), where false hit is its own rate."""
    rng = np.random.default_rng(seed)
    channel = [[Fraction(int(x)) for x in row] for row in rng.integers(1, 20, (3, 3))]
    channel = [[x / sum(row) for x in row] for row in channel]
    law = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    floats, known, goal = np.array(channel, dtype=float), brute.nothing(3), brute.exact(3)
    epsilon = 0.4
    delta = delta_of(floats, epsilon)
    curve, largest = approx_curve(epsilon, delta), 0.0
    for attack in brute.all_attacks(3, known, 3):
        hit = float(brute.hit_of(channel, law, known, goal, attack))
        miss = float(brute.false_hit_of(channel, law, known, goal, attack))
        assert hit <= 1.0 - float(curve.fnr(np.array([miss]))[0]) + 1e-12
        assert hit - miss <= curve.gap() + 1e-12
        largest = max(largest, hit - miss)
    threat = dr.Threat(dr.Prior.of([float(x) for x in law]))
    answer = dr.assess(dr.ApproxDP(epsilon, delta, neighbours="replace-one"), threat)
    values = {o.rule: o.bound.value for o in answer.others if o.quantity == "rad" and o.bound is not None}
    values[answer.rad.rule] = answer.rad.value
    assert values["thm-5.1-interval"] >= largest - 1e-12


@pytest.mark.parametrize(("mu", "share"), list(product([0.3, 1.0, 2.5], [0.05, 0.3, 0.5, 0.8])))
def test_theorem_d_1(mu, share):
    """[UNIFY] Theorem D.1 for Gaussian DP: the Bayes rule of two normal laws, for two answers and for membership."""
    cut = mu / 2 + math.log((1 - share) / share) / mu
    right = (1 - share) * norm.cdf(cut) + share * norm.sf(cut - mu)
    answers = dr.assess(dr.GDP(mu, "replace-one"), dr.Threat(dr.Prior.of([1 - share, share])))
    rules = {o.rule: o.bound.value for o in answers.others if o.quantity == "success" and o.bound is not None}
    rules[answers.success.rule] = answers.success.value
    assert rules["binary"] == pytest.approx(right, abs=1e-9)
    member = dr.assess(dr.GDP(mu, "add-remove"), dr.Threat.membership(share)).success
    assert member.rule == "membership"
    assert member.value == pytest.approx(right, abs=1e-9)


def test_post_processing():
    """Doctoral thesis, Proposition 4.24: no map of the outputs raises epsilon, or the total variation."""
    for seed in SEEDS:
        channel = random_channel(seed, 3, 4)
        before = dr.assess(dr.Channel(channel))
        epsilon = float(np.log(channel.max(axis=0) / channel.min(axis=0)).max())
        for image in product(range(3), repeat=4):
            merged = np.zeros((3, 3))
            for column, place in enumerate(image):
                merged[:, place] += channel[:, column]
            merged = merged[:, merged.sum(axis=0) > 0]
            assert float(np.log(merged.max(axis=0) / merged.min(axis=0)).max()) <= epsilon + 1e-12
        last = dr.assess(dr.Channel(merged)).worst_gain.value
        assert last <= before.worst_gain.value + 1e-9
