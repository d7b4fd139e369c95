"""The bound from information: random channels against it, V against a numeric minimum, and what promises say of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import norm

import dpradar as dr
from dpradar.bounds.information_bound import information_advantage, information_rule
from dpradar.bounds.question import Case
from dpradar.guarantees.information import (
    information_of,
    information_of_pairs,
    laplace_information,
    sampled_gaussian_information,
)
from dpradar.guarantees.pairs import AtomPair, GaussianPair, LaplacePair, SampledGaussianPair, approx_pair, finite_pair
from dpradar.guarantees.profile import ProfilePair
from dpradar.mechanisms.adapters.accounted import SampledPair
from tests.bounds.test_oracles_any_knowledge import chain_rad, everything, exact_rads, random_channels, random_priors
from tests.every import every
from tests.worlds import other_bound

RULE = "information"
RO, AR = "replace-one", "add-remove"


def divergence(p: float, a: float) -> float:
    first = 0.0 if p <= 0.0 else p * math.log(p / a)
    return first + (0.0 if p >= 1.0 else (1.0 - p) * math.log((1.0 - p) / (1.0 - a)))


def least_divergence(v: float) -> float:
    """The least divergence of two answers v apart: a numeric minimum, hence never below the true one."""
    if v < 5e-3:  # there differences lose digits; the next term is below 1e-18 of the sum
        return v * v * (2.0 + v * v * (4.0 / 9.0 + v * v * 32.0 / 135.0))
    ends = (1e-12, 1.0 - v - 1e-12)
    return float(
        minimize_scalar(lambda a: divergence(a + v, a), bounds=ends, method="bounded", options={"xatol": 1e-13}).fun
    )


# ---------------------------------------------------------------- V


def test_printed_values():
    for information, value in ((0.02, 0.0998887), (0.125, 0.2482479), (0.5, 0.4855668)):
        assert information_advantage(information) == pytest.approx(value, abs=6e-8)
    assert least_divergence(0.1) == pytest.approx(0.0200447, abs=5e-8)
    assert information_advantage(0.0) == information_advantage(-1.0) == 0.0
    assert information_advantage(math.inf) == information_advantage(1e6) == 1.0


@every("v", [*np.geomspace(1e-6, 0.5, 25).tolist(), *np.linspace(0.55, 0.999, 10).tolist()])
def test_against_a_numeric_minimum(v):
    """V of the least divergence at v is v again: never below, and above by what the information was inflated."""
    found = information_advantage(least_divergence(v))
    assert found >= v * (1 - 1e-13)
    assert found <= v * (1 + 2e-9) + 5e-16 / v


@every("information", [1e-14, 1e-9, 1e-3, 0.1, 1.0, 5.0, 20.0, 35.9])
def test_pinsker_and_order(information):
    value = information_advantage(information)
    assert value <= min(1.0, math.sqrt(information / 2.0) * (1 + 1e-11))
    assert value <= information_advantage(1.01 * information)
    assert all(
        information_advantage(information, a, a) <= value * (1 + 1e-9) + 1e-9 for a in (0.0, 1e-9, 0.1, 0.4, 0.9, 1.0)
    )


@every("information", [1e-6, 0.02, 0.5, 3.0])
@every("rate", [1e-6, 0.01, 0.1, 0.3, 0.45, 0.7, 0.99])
def test_a_known_false_hit_rate(information, rate):
    """The largest p - a with d(p||a) <= I at one a, by a root finder."""
    root = 1.0 - rate
    if divergence(1.0, rate) > information:
        root = brentq(lambda v: divergence(rate + v, rate) - information, 1e-15, 1.0 - rate, xtol=1e-14)
    found = information_advantage(information, rate, rate)
    assert root - 1e-13 <= found <= root * (1 + 1e-6) + 1e-9
    # An interval that holds the best rate changes nothing; one below or above it counts at its end.
    best = minimize_scalar(
        lambda a: -information_advantage(information, a, a), bounds=(1e-6, 1 - 1e-6), method="bounded"
    ).x
    assert information_advantage(information, best / 2, (1 + best) / 2) == information_advantage(information)
    low, high = (0.0, rate) if rate < best else (rate, 1.0)
    assert information_advantage(information, low, high) == pytest.approx(found, rel=1e-6, abs=1e-9)


# ---------------------------------------------------------------- a search for counter-examples, in numpy alone


TABLE = np.unique(np.concatenate([np.geomspace(1e-5, 0.3, 300), np.linspace(0.3, 0.999999, 700)]))


def largest(information: np.ndarray) -> np.ndarray:
    """V by interpolation of the numeric minimum in sqrt(I), where it is nearly straight."""
    if not hasattr(largest, "roots"):
        largest.roots = np.sqrt([least_divergence(v) for v in TABLE.tolist()])  # type: ignore[attr-defined]
    roots = largest.roots  # type: ignore[attr-defined]
    return np.interp(np.sqrt(information), roots, TABLE)


def excess(seed: int, count: int, divided: float = 1.0) -> dict[str, float]:
    """Return the largest rad minus V(I / divided), I the mutual information, and of its bounds minus it."""
    rng = np.random.default_rng(seed)
    worst = {"mutual": -math.inf, "reference": -math.inf, "add-remove": -math.inf}
    for m in range(2, 7):
        p, pi = random_channels(rng, count, m, 2 * m), random_priors(rng, count, m)
        mean = np.einsum("cz,czy->cy", pi, p)
        reference = rng.dirichlet(np.ones(2 * m), count)
        chosen = np.where(rng.random((count, 1)) < 0.5, mean, reference)
        with np.errstate(divide="ignore", invalid="ignore"):
            to_mean = np.where(p > 0.0, p * np.log(p / mean[:, None, :]), 0.0).sum(axis=2)
            to_any = np.where(p > 0.0, p * np.log(p / chosen[:, None, :]), 0.0).sum(axis=2)
        mutual = (pi * to_mean).sum(axis=1)
        rad = exact_rads(rng, p, pi)
        worst["mutual"] = max(worst["mutual"], float(np.max(rad - largest(mutual / divided))))
        worst["reference"] = max(worst["reference"], float(np.max(rad - largest(to_any.max(axis=1) / divided))))
        # Rows within epsilon of a reference, most of them at its ends.
        epsilon = rng.uniform(0.05, 4.0, (count, 1, 1))
        ends = np.where(rng.random((count, m, 2 * m)) < 0.5, -epsilon, epsilon)
        ratio = np.exp(np.where(rng.random(ends.shape) < 0.8, ends, ends * rng.random(ends.shape)))
        total = (ratio * reference[:, None, :]).sum(axis=2, keepdims=True)
        pull = np.where(total > 1.0, np.exp(-epsilon), np.exp(epsilon))
        share = (total - 1.0) / (total - pull)
        near = ((1.0 - share) * ratio + share * pull) * reference[:, None, :]
        near_rad = exact_rads(rng, near, pi)
        bound = largest((epsilon * np.tanh(epsilon / 2.0))[:, 0, 0] / divided)
        worst["add-remove"] = max(worst["add-remove"], float(np.max(near_rad - bound)))
    return worst


@pytest.mark.slow
def test_a_hundred_thousand_random_cases():
    assert max(excess(1, 21_000).values()) < 1e-6


def test_random_cases_and_that_they_would_tell():
    assert max(excess(2, 1_000).values()) < 1e-6
    assert excess(2, 1_000, divided=1.05)["mutual"] > 1e-3  # less information is refuted


@every("seed", range(20))
def test_information_adds_up_over_adaptive_steps(seed):
    """Two steps, the second chosen by the first output: I is at most the sum of each step's largest divergence."""
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(2, 6)), int(rng.integers(2, 6))
    first, alone = rng.dirichlet(np.ones(k), m), rng.dirichlet(np.ones(k))
    second, absent = rng.dirichlet(np.ones(k), (k, m)), rng.dirichlet(np.ones(k), k)
    both = (first[:, :, None] * second.transpose(1, 0, 2)).reshape(m, -1)
    pi = rng.dirichlet(np.ones(m))
    steps = np.max(np.sum(first * np.log(first / alone), axis=1))
    steps += np.max(np.sum(second * np.log(second / absent[:, None, :]), axis=2))
    mean = pi @ both
    assert float(pi @ np.sum(both * np.log(both / mean), axis=1)) <= steps
    rad = float(np.sum(pi[:, None] * np.maximum(both - mean, 0.0)))
    assert rad <= information_advantage(float(steps))


# ---------------------------------------------------------------- what promises say


def by_quadrature(noise: float, rate: float) -> float:
    mean = 1.0 / noise
    return quad(
        lambda x: (
            ((1 - rate) * norm.pdf(x) + rate * norm.pdf(x - mean))
            * np.log(1 - rate + rate * math.exp(mean * x - 0.5 * mean * mean))
        ),
        -12,
        12 + mean,
        epsabs=1e-17,
        limit=400,
    )[0]


@every("noise", [0.3, 0.5715, 1.0, 5.0])
@every("rate", [0.002, 0.1, 0.6, 0.999])
def test_sampled_gaussian(noise, rate):
    exact, found = by_quadrature(noise, rate), sampled_gaussian_information(noise, rate)
    assert exact * (1 - 1e-8) <= found <= exact * (1 + 2e-7)
    assert found <= rate / (2 * noise * noise)


def test_sampled_gaussian_at_its_ends():
    assert sampled_gaussian_information(2.0, 1.0) == 0.125
    assert sampled_gaussian_information(0.01, 0.5) == 2500.0
    # q^2 (e^(mu^2) - 1)/2, the leading term, for rates that are next to nothing.
    for rate in (1e-4, 1e-7):
        assert sampled_gaussian_information(1.0, rate) == pytest.approx(rate**2 * math.expm1(1.0) / 2, rel=1e-2)
        assert sampled_gaussian_information(1e3, rate) == pytest.approx(rate**2 * math.expm1(1e-6) / 2, rel=1e-2)


def atoms(p: np.ndarray, q: np.ndarray) -> float:
    return float(np.sum(p * np.log(p / q)))


@every("seed", range(10))
def test_finite_pairs(seed):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(5), 2)
    expected = max(atoms(p, q), atoms(q, p))
    assert information_of_pairs(((finite_pair(p, q), 3),)) == pytest.approx(3 * expected, rel=1e-10)
    epsilon = float(rng.uniform(0.01, 5.0))
    assert information_of_pairs(((approx_pair(epsilon, 0.0), 1),)) == pytest.approx(
        epsilon * math.tanh(epsilon / 2), rel=1e-10
    )
    # The integral over profiles, for pairs that are not known by name.
    profile = ProfilePair((0.0, epsilon), (math.tanh(epsilon / 2), 0.0))
    assert information_of_pairs(((profile, 1),)) == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=1e-5)
    assert information_of_pairs(((profile, 1),)) >= epsilon * math.tanh(epsilon / 2)
    rate = float(rng.uniform(0.01, 0.99))
    mixed = rate * p + (1 - rate) * q
    sampled = information_of_pairs(((SampledPair(finite_pair(p, q), rate), 1),))
    expected = max(atoms(mixed, q), atoms(q, mixed))
    assert expected <= sampled <= expected * (1 + 1e-4) + 1e-12


def test_pairs_that_say_nothing():
    assert information_of_pairs(((approx_pair(1.0, 1e-9), 1),)) == math.inf
    assert information_of_pairs(((AtomPair((0.0, 1.0), (0.5, 0.4), 0.1), 1),)) == math.inf
    assert information_of_pairs(((SampledGaussianPair(1.0, 0.1, "replace"), 1),)) == math.inf
    assert information_of_pairs(((ProfilePair((0.0, 1.0), (0.5, 0.1)), 1),)) == math.inf
    assert information_of_pairs(((GaussianPair(1.0), 2), (LaplacePair(1.0), 1))) == pytest.approx(1.0 + math.exp(-1.0))


@every(
    ("release", "relation", "nats"),
    [
        (dr.GDP(0.2, AR), AR, 0.02),
        (dr.GDP(0.2, RO), RO, 0.02),
        (dr.ZCDP(0.125, AR), AR, 0.125),
        (dr.RDP((2, 8), (0.5, 2.0), AR), AR, 0.5),
        (dr.PureDP(1.0, AR), AR, math.tanh(0.5)),
        (dr.DPSGD(2.0, 1.0, 10), AR, 1.25),
        (dr.DPSGD(2.0, 0.1, 10), AR, 10 * sampled_gaussian_information(2.0, 0.1)),
        (dr.Laplace(2.0, sensitivity=1.0, neighbours=AR), AR, laplace_information(0.5)),
        (dr.Laplace(2.0, query=[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), AR, laplace_information(1.0)),
        (dr.Gaussian(2.0, query=[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), AR, 0.25),
        (dr.DiscreteGaussian(3.0, sensitivity=2, neighbours=AR), AR, 4 / 18),
        (dr.Repeated(dr.DiscreteGaussian(3.0, query=[0, 2]), 5), AR, 5 * 4 / 18),
        (dr.Geometric(1.0, sensitivity=1, neighbours=AR), AR, math.tanh(0.5)),
        (dr.Composed([dr.GDP(0.2, AR), dr.PureDP(1.0, AR), dr.ZCDP(0.1, AR)]), AR, 0.02 + math.tanh(0.5) + 0.1),
        (dr.Repeated(dr.Laplace(2.0, sensitivity=1.0, neighbours=AR), 7), AR, 7 * laplace_information(0.5)),
        (dr.Composed([dr.GDP(0.2, AR), dr.ApproxDP(1.0, 1e-6, AR)]), AR, math.inf),
        (dr.ApproxDP(1.0, 1e-6, AR), AR, math.inf),
        (dr.TotalVariation(0.1, AR), AR, math.inf),
    ],
)
def test_promises(release, relation, nats):
    source = release.at(None) if hasattr(release, "at") else release
    found = information_of(source.privacy(relation))
    assert found == nats or found == pytest.approx(nats, rel=1e-9)


@every("scale", [0.7, 2.0])
def test_laplace_noise_on_vectors(scale):
    """The divergence of any two vectors is at most that of one coordinate that far away."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        apart = rng.exponential(1.0, int(rng.integers(1, 6))) / scale
        assert sum(laplace_information(x) for x in apart.tolist()) <= laplace_information(float(apart.sum())) + 1e-15
    exact = quad(lambda x: 0.5 * math.exp(-abs(x)) * (abs(x - 1 / scale) - abs(x)), -40, 40, points=[0, 1 / scale])[0]
    assert laplace_information(1 / scale) == pytest.approx(exact, rel=1e-7)


# ---------------------------------------------------------------- answers


def found_by(release, threat, rule: str = RULE) -> float:
    answer = dr.assess(release, threat)
    return answer.rad.value if answer.rad.rule == rule else other_bound(answer, rule)


def test_the_figures_of_the_theory():
    for release, value, digits in (
        (dr.GDP(0.2, AR), 0.0999, 4),
        (dr.ZCDP(0.125, AR), 0.2482, 4),
        (dr.DPSGD(1.0, 0.002, 10_000), 0.1305, 4),
        (dr.DPSGD(0.7, 0.1, 50), 0.665, 3),
    ):
        assert round(found_by(release, everything(100)), digits) == value
    for m, rad, sigma in ((10, 0.1, 49.944), (8, 0.2, 24.887), (100, 0.05, 99.97)):
        low, high = (dr.assess(dr.DPSGD(s, 1.0, 100), everything(m)).rad for s in (sigma * 1.0002, sigma * 0.9998))
        assert low.rule == high.rule == RULE
        assert low.value <= rad < high.value
    two = dr.assess(dr.DPSGD(39.47, 1.0, 100), everything(2)).rad
    assert two.value == pytest.approx(0.1, abs=1e-5)
    assert two.rule == "thm-4.2"


def test_a_stranger_has_a_known_false_hit_rate():
    """Uniform prior, exact goal, nothing known: d(1/m + rad || 1/m) <= I."""
    for m in (2, 10, 1000):
        value = found_by(dr.GDP(0.5, AR), dr.Threat(dr.Prior.uniform(m)))
        assert divergence(1 / m + value, 1 / m) == pytest.approx(0.125, rel=1e-6)
        assert value <= information_advantage(0.125)
    # A little known about a long list of values: blind guesses are poor, and that helps.
    prior = dr.Prior.uniform(1000)
    some = dr.Threat(prior, dr.Knowledge.labels([i % 2 for i in range(1000)]))
    assert found_by(dr.GDP(0.5, AR), some) < 0.5 * found_by(dr.GDP(0.5, AR), dr.Threat.worst())
    assert found_by(dr.GDP(0.5, AR), dr.Threat.baseline(0.002)) < 0.5 * found_by(dr.GDP(0.5, AR), dr.Threat.worst())


def test_vectors_against_the_exact_value():
    """Half the variance of the vectors: above the exact rad on a line, below the bound by the largest distance."""
    rng = np.random.default_rng(5)
    for _ in range(8):
        values = np.outer(rng.integers(0, 30, 6), [0.6, 0.8])
        prior = dr.Prior.of(rng.dirichlet(np.ones(6)))
        for knowledge in (dr.Knowledge.nothing(), dr.Knowledge.everything()):
            release, threat = dr.Gaussian(25.0, query=values), dr.Threat(prior, knowledge)
            answer = dr.assess(release, threat)
            assert answer.rad.rule == "exact-collinear"
            assert next(o.why for o in answer.others if o.rule == RULE).startswith("not run")
            (bound,) = information_rule(Case(release, threat))
            pi = np.asarray(prior.probabilities)
            spread = float(pi @ np.square(values - pi @ values).sum(axis=1)) / 25.0**2 / 2
            assert answer.rad.value <= bound.value <= information_advantage(spread) * (1 + 1e-8)


def test_the_gain_over_every_threat():
    answer = dr.assess(dr.GDP(0.2, AR))
    assert answer.rad.rule == RULE
    assert answer.rad.value == pytest.approx(0.0998887, abs=1e-7)
    assert answer.gain.value <= answer.rad.value
    assert any("independent" in note for note in answer.rad.assumes)


def test_what_does_not_apply():
    for release, threat in (
        (dr.ApproxDP(1.0, 1e-9, AR), everything(10)),
        (dr.GDP(40.0, AR), dr.Threat.worst()),
        (dr.GDP(1.0, AR), dr.Threat.membership(0.5)),
    ):
        answer = dr.assess(release, threat)
        assert RULE not in {o.rule for o in answer.others if o.bound is not None}
        assert any(o.rule == RULE for o in answer.others)


def test_dependent_records_exceed_it():
    assert chain_rad(0.99, 3) == pytest.approx(0.4808, abs=1e-4)
    assert chain_rad(0.99, 3) > information_advantage(math.tanh(0.5)) == pytest.approx(0.4679, abs=1e-4)


def test_many_small_pure_releases():
    """Against the exact law of randomised answers, all of them against one without the record."""
    epsilon, times = 0.2, 12
    p, q = 1 / (1 + math.exp(-epsilon)), 0.5
    masses = [
        (math.comb(times, k) * p**k * (1 - p) ** (times - k), math.comb(times, k) * q**times) for k in range(times + 1)
    ]
    exact = sum(a * math.log(a / b) for a, b in masses)
    assert exact <= times * epsilon * math.tanh(epsilon / 2)
    assert found_by(dr.Repeated(dr.PureDP(epsilon, AR), times), everything(50)) == pytest.approx(
        information_advantage(times * epsilon * math.tanh(epsilon / 2)), rel=1e-8
    )
