"""The bound for any prior, knowledge and goal: random channels against it, exact values, and where it does not hold."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

import dpradar as dr
from dpradar.audits.epsilon_inversion import epsilon_from_rad
from dpradar.bounds.profile_black_box import any_knowledge_bound, pure_any_knowledge
from dpradar.correlated import Chain
from dpradar.correlated import assess as assess_dependent
from dpradar.guarantees.curves import approx_curve, gaussian_curve, laplace_curve, piecewise_curve
from tests.every import every
from tests.worlds import other_bound

RULE = "black-box-profile"
RO, AR = "replace-one", "add-remove"


def everything(m: int) -> dr.Threat:
    return dr.Threat(dr.Prior.uniform(m), dr.Knowledge.everything())


# ---------------------------------------------------------------- a search for counter-examples, in numpy alone


def random_priors(rng: np.random.Generator, count: int, m: int) -> np.ndarray:
    """Flat, skewed and uniform ones; some values are impossible."""
    flat = rng.dirichlet(np.full(m, 1.0), count)
    skewed = rng.dirichlet(np.full(m, 0.2), count)
    kind = rng.integers(4, size=(count, 1))
    pi = np.where(kind == 0, 1.0 / m, np.where(kind == 1, skewed, flat))
    pi = np.where((kind == 3) & (rng.random((count, m)) < 0.2), 0.0, pi) + 1e-12
    return pi / pi.sum(axis=1, keepdims=True)


def random_channels(rng: np.random.Generator, count: int, m: int, outputs: int) -> np.ndarray:
    """Any rows; or cyclic subset selection, the best there is for a uniform prior, some of it with the value beside."""
    rows = rng.dirichlet(np.full(outputs, 1.0), (count, m)) ** rng.uniform(0.2, 2.0, (count, 1, 1))
    size, epsilon = rng.integers(1, m, count), rng.uniform(0.05, 4.0, count)
    shift = (np.arange(m)[None, :] - np.arange(m)[:, None]) % m
    inside = shift[None] < size[:, None, None]
    subset = np.zeros((count, m, outputs))
    subset[:, :, :m] = np.where(inside, np.exp(epsilon)[:, None, None], 1.0)
    subset /= subset.sum(axis=2, keepdims=True)
    shown = rng.choice([0.0, 0.0, 0.01, 0.2], count)[:, None, None]
    subset *= 1.0 - shown
    subset[:, :, m : 2 * m] += shown * np.eye(m)
    chosen = np.where(rng.random((count, 1, 1)) < 0.5, rows, subset)
    return chosen / chosen.sum(axis=2, keepdims=True)


def exact_rads(rng: np.random.Generator, p: np.ndarray, pi: np.ndarray) -> np.ndarray:
    """Theorem 4.3 by enumeration: random fibres and random sets of records for which a guess is right."""
    count, m, _ = p.shape
    score = pi[:, :, None] * (p - np.einsum("cz,czy->cy", pi, p)[:, None, :])
    fibres = np.where(rng.random((count, 1)) < 0.5, np.arange(m)[None, :], rng.integers(0, 2, (count, m)))
    right = rng.random((count, 4, m)) < 0.5
    exact = rng.random(count) < 0.5  # right for one record only; one guess is right for none
    right[exact] = np.concatenate([np.eye(m, dtype=bool), np.zeros((max(4 - m, 0), m), dtype=bool)])[:4]
    own = np.broadcast_to(np.eye(m, dtype=bool), (count, m, m))
    guesses = np.concatenate([right, own & exact[:, None, None], np.zeros((count, 1, m), dtype=bool)], axis=1)
    total = np.zeros(count)
    for fibre in range(m):
        here = score * (fibres == fibre)[:, :, None]
        total += np.max(np.einsum("cgz,czy->cgy", guesses.astype(float), here), axis=1).sum(axis=1)
    return total


def excess(seed: int, count: int, quarter: float = 4.0) -> float:
    """Return the largest rad minus the bound with tanh(eps/quarter) over random cases and epsilons."""
    rng = np.random.default_rng(seed)
    worst = -math.inf
    for m in range(2, 7):
        p, pi = random_channels(rng, count, m, 2 * m), random_priors(rng, count, m)
        rad, kappa = exact_rads(rng, p, pi), (pi * pi).sum(axis=1)
        for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0, 4.0):
            delta = np.zeros(count)
            for a, b in itertools.permutations(range(m), 2):
                delta = np.maximum(delta, np.maximum(p[:, a] - math.exp(epsilon) * p[:, b], 0.0).sum(axis=1))
            t = math.tanh(epsilon / quarter)
            worst = max(worst, float(np.max(rad - t - (1.0 - t) * (1.0 - kappa) * delta)))
    return worst


@pytest.mark.slow
def test_a_hundred_thousand_random_cases():
    assert excess(1, 21_000) < 1e-14


def test_random_cases_and_that_they_would_tell():
    assert excess(2, 1_000) < 1e-14
    assert excess(2, 1_000, quarter=4.2) > 1e-3  # a smaller constant is refuted


def test_the_factor_of_delta_is_needed():
    """Subset selection that shows the value with probability delta exceeds t + (1 - t)(1 - kappa) 0.9 delta."""
    m, delta, epsilon = 60, 0.05, 1.0
    t = float(pure_any_knowledge(np.array([epsilon]), m)[0])
    shown = (1.0 - delta) * t + delta * (1.0 - 1.0 / m)
    assert shown > t + (1.0 - t) * (1.0 - 1.0 / m) * 0.9 * delta
    assert shown <= t + (1.0 - t) * (1.0 - 1.0 / m) * delta + 1e-15


# ---------------------------------------------------------------- values


def formula(m: int, epsilon: float) -> float:
    growth = math.expm1(epsilon)
    return max(growth * j * (m - j) / (m * (m + j * growth)) for j in range(1, m))


@every("m", [2, 3, 5, 10, 37, 1000])
def test_the_uniform_prior(m):
    epsilons = np.array([1e-6, 0.2, 1.0, 3.0, 12.0, 40.0])
    expected = np.array([formula(m, e) for e in epsilons.tolist()])
    found = pure_any_knowledge(epsilons, m)
    assert np.all(found >= expected * (1 - 1e-14))
    assert found == pytest.approx(expected, rel=1e-11)
    assert np.all(found <= np.tanh(epsilons / 4.0))
    for epsilon, value in zip(epsilons.tolist(), found.tolist(), strict=True):
        answer = dr.assess(dr.PureDP(epsilon, RO), everything(m))
        assert answer.rad.value == pytest.approx(min(value, (1 - 1 / m) * math.tanh(epsilon / 2)), rel=1e-9)


def test_printed_values():
    for epsilon, m, value in ((1.0, 3, 0.242784), (3.0, 5, 0.633925)):
        assert formula(m, epsilon) == pytest.approx(value, abs=5e-7)
    for guarantee, value in (
        (dr.ApproxDP(1.0, 1e-5, RO), 0.2449),
        (dr.GDP(0.2, RO), 0.06415),
        (dr.GDP(1.0, RO), 0.32782),
        (dr.PureDP(1.0, AR), 0.4621),
    ):
        bound = dr.assess(guarantee, everything(100))
        found = bound.rad.value if bound.rad.rule == RULE else other_bound(bound, RULE)
        assert found == pytest.approx(value, abs=5e-5)


def subset_channel(m: int, epsilon: float, size: int) -> dr.Channel:
    """Sets of ``size`` neighbours on a circle, one for each place: likelier by e^epsilon where the value is inside."""
    inside = (np.arange(m)[None, :] - np.arange(m)[:, None]) % m < size
    weights = np.where(inside, math.exp(epsilon), 1.0)
    return dr.Channel(weights / weights.sum(axis=1, keepdims=True))


@every("epsilon", [0.2, 1.0, 3.0])
def test_protocols_stay_below_and_come_near(epsilon):
    bound = dr.assess(dr.PureDP(epsilon, RO), everything(30)).rad
    assert bound.rule == RULE
    protocols = [subset_channel(30, epsilon, size) for size in range(1, 30)]
    protocols += [kind(m=30, epsilon=epsilon) for kind in (dr.SubsetSelection, dr.SUE, dr.OUE, dr.GRR)]
    rads = [dr.assess(protocol, everything(30)).rad.value for protocol in protocols]
    assert bound.value * (1 - 1e-11) <= max(rads) <= bound.value


def test_unary_encoding_tends_to_it():
    rad = dr.assess(dr.SUE(m=1000, epsilon=1.0), everything(1000)).rad.value
    assert 0.2446 < rad < float(pure_any_knowledge(np.array([1.0]), 1000)[0]) < math.tanh(0.25) < 0.24492


def least(delta, collision: float, last: float, m: int | None = None) -> float:
    """The minimum over a fine grid of epsilons."""
    e = np.linspace(0.0, last, 100_001)
    growth = np.expm1(e)
    t = np.tanh(e / 4.0)
    if m is not None:
        t = np.max([growth * j * (m - j) / (m * (m + j * growth)) for j in range(1, m)], axis=0)
    return float(np.min(t + (1.0 - t) * (1.0 - collision) * delta(e)))


@every("mu", [1e-3, 0.2, 1.0, 3.0])
@every(("collision", "m"), [(0.0, None), (0.01, None), (0.5, None), (0.2, 5)])
def test_gaussian_profiles(mu, collision, m):
    curve = gaussian_curve(mu)
    expected = least(lambda e: ndtr(mu / 2 - e / mu) - np.exp(e) * ndtr(-mu / 2 - e / mu), collision, 6 * mu, m)
    found, _ = any_knowledge_bound(curve, curve.gap(), collision, m)
    assert expected - 1e-9 * expected <= found <= expected + 2e-7 * min(1.0, mu)


@every("epsilon", [0.01, 0.5, 2.0, 8.0])
def test_laplace_profiles(epsilon):
    curve = laplace_curve(epsilon)
    expected = least(lambda e: np.maximum(-np.expm1((e - epsilon) / 2), 0.0), 0.05, epsilon)
    found, _ = any_knowledge_bound(curve, curve.gap(), 0.05)
    assert expected - 1e-9 * expected <= found <= expected * (1 + 1e-4)


@every("seed", range(25))
def test_polygons_are_never_left_below(seed):
    """Curves with corners, of two random laws: the true profile is a sum over their outputs."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.full(int(rng.integers(2, 30)), 10 ** rng.uniform(-1.5, 1.0)), 2)
    order = np.argsort(-p / q)
    fpr, tpr = np.cumsum(q[order]), np.cumsum(p[order])
    # The break points of both orders: the curve below all of them holds in both.
    curve = piecewise_curve(np.clip(np.append(fpr, 1.0 - tpr), 0, 1), np.clip(np.append(1.0 - tpr, fpr), 0, 1))

    def delta(e: np.ndarray) -> np.ndarray:
        growth = np.exp(e)[:, None]
        return np.maximum(np.maximum(p - growth * q, 0.0).sum(axis=1), np.maximum(q - growth * p, 0.0).sum(axis=1))

    for collision in (0.0, 0.1, 0.6):
        expected = least(delta, collision, 12.0)
        found, at = any_knowledge_bound(curve, curve.gap(), collision)
        t = math.tanh(at / 4.0)
        assert found >= t + (1.0 - t) * (1.0 - collision) * float(delta(np.array([at]))[0]) - 1e-13
        assert expected - 1e-4 <= found <= expected + 2e-3


def test_what_says_nothing():
    for guarantee in (dr.ApproxDP(0.0, 1.0, RO), dr.PureDP(2000.0, RO), dr.GDP(80.0, RO)):
        answer = dr.assess(guarantee)
        assert answer.rad.value == 1.0
        assert answer.rad.rule != RULE
    assert dr.assess(dr.PureDP(0.0, RO), everything(10)).rad.value == 0.0
    assert any_knowledge_bound(approx_curve(1.0, 0.0), math.tanh(0.5), 1.0) == (0.0, 0.0)
    reasons = {o.rule: o.why for o in dr.assess(dr.GDP(1.0, RO), dr.Threat.membership(0.5)).others}
    assert "two records" in reasons[RULE]


def test_every_prior_and_the_gain():
    """Without a prior kappa is 0 and the gain, never above rad, is bounded too."""
    answer = dr.assess(dr.PureDP(1.0, RO))
    assert answer.rad.value == answer.gain.value == pytest.approx(math.tanh(0.25), rel=1e-12)
    assert answer.rad.rule == answer.gain.rule == RULE
    assert answer.worst_gain.value == pytest.approx(math.tanh(0.5), rel=1e-12)
    assert any("independent" in note for note in answer.rad.assumes)
    baseline = dr.assess(dr.PureDP(1.0, RO), dr.Threat.baseline(0.3))
    assert baseline.rad.value == pytest.approx(math.tanh(0.25), rel=1e-12)


@every("epsilon", [0.01, 1.0, 5.0])
def test_two_steps_of_add_remove(epsilon):
    """(1 - kappa)(1 - e^-eps) of two laws within eps of a third: reached by answers yes, no and neither."""
    r = np.array([0.5, 0.5]) * math.exp(-epsilon)
    for delta in (0.0, 1e-3, 0.4):
        tv = dr.ApproxDP(epsilon, delta, AR).privacy(RO).tv
        assert tv <= dr.ApproxDP(2 * epsilon, min(1.0, (1 + math.exp(epsilon)) * delta), RO).privacy(RO).tv
        # Doubled curve of (epsilon, delta), by brute force.
        x = np.linspace(0.0, 1.0, 200_001)
        f = approx_curve(epsilon, delta).fnr
        assert np.max(1.0 - f(1.0 - f(x)) - x) <= tv + 1e-12
    assert dr.PureDP(epsilon, AR).privacy(RO).tv == pytest.approx(1.0 - 2.0 * r[0], rel=1e-12)
    lone = dr.assess(dr.PureDP(epsilon, AR), everything(2))
    assert other_bound(lone, "thm-4.2") == pytest.approx(0.5 * -math.expm1(-epsilon), rel=1e-12)


# ---------------------------------------------------------------- backwards


INVERTED = [(0.2, 0.01, None), (0.2, 0.5, 2), (0.2, 0.2, 5), (0.6, 0.01, 100), (1e-5, 0.3, None)]


@every(("rad", "collision", "m"), INVERTED)
def test_the_audit_inverts_it(rad, collision, m):
    for delta in (0.0, 1e-6, 0.01):
        epsilon = epsilon_from_rad(rad, collision, delta, m)
        if epsilon == 0.0:
            continue

        def bound(e: float, d: float = delta) -> float:
            t = float(pure_any_knowledge(np.array([e]), m)[0])
            tv = (math.expm1(e) + 2 * d) / (math.exp(e) + 1)
            return min(t + (1 - t) * (1 - collision) * d, (1 - collision) * tv)

        assert bound(epsilon * (1 - 1e-9)) <= rad
        assert bound(epsilon) == pytest.approx(rad, rel=1e-8)


def test_what_an_audit_gains():
    assert epsilon_from_rad(0.2, 0.01) == pytest.approx(0.811, abs=5e-4)
    assert epsilon_from_rad(0.2, 0.5) == epsilon_from_rad(0.2, 0.5, m=2) == pytest.approx(0.847, abs=5e-4)
    # No protocol is found to have more than it has.
    for epsilon in (0.1, 1.0, 4.0):
        for protocol in (dr.SUE(m=20, epsilon=epsilon), dr.OUE(m=20, epsilon=epsilon), dr.GRR(m=20, epsilon=epsilon)):
            rad = dr.assess(protocol, everything(20)).rad.value
            assert epsilon_from_rad(rad, 0.05, m=20) <= epsilon * (1 + 1e-9)


# ---------------------------------------------------------------- dependent records


def chain_rad(stay: float, target: int) -> float:
    """Rad of one bit of eight of a symmetric chain whose ones are counted with Laplace noise of scale 1."""
    laws = np.zeros((2, 9))
    for bits in itertools.product((0, 1), repeat=8):
        chance = 0.5 * math.prod(stay if a == b else 1.0 - stay for a, b in itertools.pairwise(bits))
        laws[bits[target], sum(bits)] += 2.0 * chance
    y = np.linspace(-30.0, 38.0, 68_001)
    apart = (laws[0] - laws[1]) @ (0.5 * np.exp(-np.abs(y - np.arange(9.0)[:, None])))
    return float(0.25 * np.trapezoid(np.abs(apart), y))


def test_dependent_records_exceed_the_bound():
    """Each record has epsilon 1 given the others, and rad is above tanh(1/4) when they are unknown and dependent."""
    assert chain_rad(0.5, 3) == pytest.approx(0.10796, abs=1e-5)  # independent: below
    assert chain_rad(0.9, 3) == pytest.approx(0.3839, abs=1e-4)
    assert chain_rad(0.9, 3) > math.tanh(0.25) + 0.13


def test_what_knows_of_dependence_does_not_use_it():
    chain = Chain([[0.9, 0.1], [0.1, 0.9]], length=8)
    answer = assess_dependent(chain.joint(), target=3, epsilon=1.0)
    assert answer.rad.value == pytest.approx(0.3839, abs=2e-4)
    assert all(RULE not in bound.rule for bound in answer.bounds.values() if bound is not None)
