"""Priors that are only estimated: the region holds the truth, and what is assessed holds all over it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import dpradar as dr
from dpradar.data import prior
from dpradar.data.region import expected_walk, sampling_distance, walk_average, weighted_average
from tests.twin import brute

F = Fraction


def test_expected_walk_is_the_sum_over_all_walks():
    for n in range(1, 60):
        exact = sum(F(math.comb(n, k), 2**n) * abs(2 * k - n) for k in range(n + 1))
        found = float(expected_walk(np.array([float(n)]))[0])
        assert float(exact) <= found * (1 + 1e-15)
        assert found <= float(exact) * (1 + 1e-11)


def test_expected_walk_of_many_steps_errs_upwards():
    for n in (10**4, 10**6, 10**9):
        truth = math.sqrt(2 * n / math.pi) * (1 - 1 / (4 * n))  # E|S_n| for even n, up to O(n^-2)
        found = float(expected_walk(np.array([float(n)]))[0])
        assert truth <= found <= math.sqrt(n)
    assert float(expected_walk(np.array([1e4]))[0]) < 0.7980 * 100.0


POPULATIONS = {
    "two values": [0.7, 0.3],
    "uniform": [1 / 40] * 40,
    "long tail": (1.0 / np.arange(1, 400) ** 1.5 / np.sum(1.0 / np.arange(1, 400) ** 1.5)).tolist(),
}


# How loose the bound is: of a region so many times smaller the truth is outside too often. Few values, looser bound.
TOO_SMALL = {"two values": 0.2, "uniform": 0.4, "long tail": 0.4}


@pytest.mark.parametrize("population", POPULATIONS)
def test_the_region_holds_the_truth_and_a_part_of_it_does_not(population):
    pi, n, trials = np.array(POPULATIONS[population]), 500, 400
    rng = np.random.default_rng(5)
    outside = small = 0
    for rows in rng.multinomial(n, pi, size=trials):
        distance = 0.5 * np.abs(rows / n - pi).sum()
        bound = sampling_distance(walk_average(rows[rows > 0]), n, 0.8)
        outside += distance > bound
        small += distance > TOO_SMALL[population] * bound
    assert outside <= 0.2 * trials
    assert small > 0.2 * trials


def test_the_region_of_weighted_rows_holds_the_truth():
    # Rows are drawn from two strata with weights of their own; the population is what the weighted rows are drawn from.
    rng = np.random.default_rng(6)
    laws = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
    weights = np.r_[np.full(300, 1.0), np.full(100, 6.0)]
    stratum = (np.arange(400) >= 300).astype(int)
    truth = (weights[:, None] * laws[stratum]).sum(axis=0) / weights.sum()
    outside = small = 0
    for _ in range(300):
        drawn = np.array([rng.choice(3, p=laws[s]) for s in stratum])
        mass = np.bincount(drawn, weights, 3)
        squares = np.bincount(drawn, weights**2, 3)
        distance = 0.5 * np.abs(mass / weights.sum() - truth).sum()
        average = weighted_average(squares, weights.sum())
        bound = sampling_distance(average, weights.sum() ** 2 / squares.sum(), 0.8)
        outside += distance > bound
        small += distance > 0.15 * bound
    assert outside <= 60
    assert small > 60


def test_equal_weights_say_no_more_than_none():
    rows = np.array([40.0, 20.0, 10.0])
    weighted = weighted_average(9.0 * rows, 3.0 * rows.sum())
    assert walk_average(rows) <= weighted <= 1.3 * walk_average(rows)


def test_suppressed_rows_are_taken_for_the_worst():
    rows = np.array([30.0, 20.0, 1.0, 1.0, 2.0])
    assert walk_average(rows) <= walk_average(rows[:2], 4)


# ------------------------------------------------------------------------------------------ the numbers over the region

laws = st.lists(st.integers(1, 20), min_size=3, max_size=4).map(lambda c: [F(x, sum(c)) for x in c])


@st.composite
def worlds(draw):
    """Return a channel, a prior and one near it, knowledge, goal, and the distance of the two."""
    pi = draw(laws)
    m = len(pi)
    P = [
        [F(x, sum(row)) for x in row]
        for row in draw(st.lists(st.lists(st.integers(1, 30), min_size=3, max_size=3), min_size=m, max_size=m))
    ]
    away = draw(st.lists(st.integers(0, 20), min_size=m, max_size=m).filter(any))
    share = draw(st.sampled_from([F(1, 50), F(1, 10), F(1, 3), F(9, 10)]))
    near = [(1 - share) * x + share * F(y, sum(away)) for x, y in zip(pi, away, strict=True)]
    a = draw(st.lists(st.integers(0, 1), min_size=m, max_size=m))
    goal = draw(st.sampled_from(["exact", "labels"]))
    S = brute.exact(m) if goal == "exact" else brute.labels(draw(st.lists(st.integers(0, 1), min_size=m, max_size=m)))
    return P, pi, near, a, S


@settings(max_examples=150)
@given(worlds())
def test_no_near_prior_moves_the_numbers_further(world):
    P, pi, near, a, S = world
    t = sum(abs(x - y) for x, y in zip(pi, near, strict=True)) / 2
    tv = brute.total_variation(P)
    assert abs(brute.rad(P, near, a, S) - brute.rad(P, pi, a, S)) <= 3 * t * tv
    assert abs(brute.success(P, near, a, S) - brute.success(P, pi, a, S)) <= t
    assert abs(brute.baseline(near, a, S) - brute.baseline(pi, a, S)) <= t
    gains = [brute.success(P, x, a, S) - brute.baseline(x, a, S) for x in (pi, near)]
    assert abs(gains[0] - gains[1]) <= 2 * t
    assert gains[1] <= brute.rad(P, near, a, S) <= tv


def test_the_bound_on_success_is_reached_by_linear_programming():
    # For each attack the success is linear in the prior; the largest over the region is that of a linear program.
    P, pi, t = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]), np.array([0.4, 0.35, 0.25]), 0.1
    worst = 0.0
    for guesses in np.ndindex(3, 3):
        right = sum(P[:, out] * (np.arange(3) == guess) for out, guess in enumerate(guesses))
        # Variables: the prior, and the positive parts of its difference, which add up to t at most.
        cost = np.r_[-right, np.zeros(3)]
        above = np.c_[np.eye(3), -np.eye(3)]
        limits = np.r_[pi, t]
        found = linprog(
            cost,
            A_ub=np.r_[above, [np.r_[np.zeros(3), np.ones(3)]]],
            b_ub=limits,
            A_eq=[np.r_[np.ones(3), np.zeros(3)]],
            b_eq=[1.0],
        )
        worst = max(worst, -found.fun)
    own = float(brute.success(P.tolist(), pi.tolist(), [0, 0, 0], brute.exact(3)))
    assert own < worst <= own + t + 1e-12
    assert worst > own + 0.5 * t


def test_three_times_is_not_far_from_what_happens():
    # A channel that tells value 0 apart; the near prior moves mass to it: rad grows by about two of the three parts.
    P = [[F(1), F(0)], [F(0), F(1)]]
    pi, near = [F(1, 100), F(99, 100)], [F(2, 100), F(98, 100)]
    grown = brute.rad(P, near, [0, 1], brute.exact(2)) - brute.rad(P, pi, [0, 1], brute.exact(2))
    assert grown > F(19, 10) * F(1, 100)


# --------------------------------------------------------------------------------------------------------- end to end


def _drawn(rng, pi, n):
    known, sensitive = np.divmod(rng.choice(len(pi), size=n, p=pi), 3)
    return pa.table({"known": known.astype(str).tolist(), "sensitive": sensitive.astype(str).tolist()})


THREAT = dr.Knowledge.columns("known"), dr.Goal.columns("sensitive")


def test_the_true_numbers_lie_below_what_is_reported():
    rng = np.random.default_rng(8)
    pi = rng.dirichlet(np.full(12, 0.7))
    names = {"known": [str(i // 3) for i in range(12)], "sensitive": [str(i % 3) for i in range(12)]}
    mechanism = dr.GRR(m=12, epsilon=3.0)
    truth = dr.assess(mechanism, dr.Threat(dr.Prior.records(names, pi), *THREAT))
    for _ in range(20):
        p = prior(_drawn(rng, pi, 2000), ["known", "sensitive"], confidence=0.95, domain="product")
        if p.size != 12:
            continue
        a = dr.assess(mechanism, dr.Threat(p, *THREAT))
        assert a.rad.side == a.success.side == "upper"
        assert a.rad.low - 1e-12 <= truth.rad.value <= a.rad.value
        assert truth.success.value <= a.success.value
        assert truth.gain.value <= a.gain.value
        low, high = a.prior["region"]["baseline"]
        assert low <= truth.baseline <= high
        assert "with confidence 95 %" in a.rad.assumes[-1]
        assert a.hit is None


@pytest.mark.parametrize("fewest", [2, 10, 50])
def test_what_is_suppressed_is_covered(fewest):
    # Some values of the goal are in suppressed cells only: a guess may name them all the same.
    rng = np.random.default_rng(9)
    table = _drawn(rng, np.r_[0.5, 0.3, 0.002, 0.1, 0.05, 0.001, 0.02, 0.026, 0.001], 3000)
    whole = prior(table, ["known", "sensitive"])
    kept = prior(table, ["known", "sensitive"], suppress=fewest)
    assert kept.size < whole.size or fewest == 2
    for epsilon in (0.5, 4.0):
        full = dr.assess(dr.GRR(m=whole.size, epsilon=epsilon), dr.Threat(whole, *THREAT))
        part = dr.assess(dr.GRR(m=kept.size, epsilon=epsilon), dr.Threat(kept, *THREAT))
        assert full.rad.value <= part.rad.value + 1e-12
        assert full.success.value <= part.success.value + 1e-12
        assert full.gain.value <= part.gain.value + 1e-12


def test_a_prior_without_a_region_keeps_its_exact_numbers():
    table = _drawn(np.random.default_rng(3), np.full(12, 1 / 12), 500)
    p = prior(table, ["known", "sensitive"])
    same = dr.Prior.records(p.columns, p.probabilities)
    mechanism = dr.GRR(m=p.size, epsilon=2.0)
    a, b = (dr.assess(mechanism, dr.Threat(x, *THREAT)) for x in (p, same))
    assert (a.rad.side, a.rad.value, a.success.value, a.hit) == ("exact", b.rad.value, b.success.value, b.hit)
    assert "not themselves differentially private" in a.rad.assumes[-1]


def test_calibration_and_attack_keep_to_the_region():
    table = _drawn(np.random.default_rng(4), np.full(12, 1 / 12), 4000)
    p = prior(table, ["known", "sensitive"], confidence=0.9)
    threat = dr.Threat(p, *THREAT)
    found = dr.calibrate(dr.GRR, dr.Limit(threat, rad=0.1), m=p.size)
    assert dr.assess(found.mechanism, threat).rad.value <= 0.1
    alone = dr.Threat(dr.Prior.records(p.columns, p.probabilities), *THREAT)
    assert dr.calibrate(dr.GRR, dr.Limit(alone, rad=0.1), m=p.size).value > found.value
    run = dr.attack(found.mechanism, threat, trials=5000, seed=1)
    assert run.rad.low <= dr.assess(found.mechanism, threat).rad.value


def test_noise_on_numbers_that_were_not_counted_is_not_trusted():
    # Somebody outside the sample may have a contribution further off than all that were seen.
    table = pa.table({"x": [0, 1, 2] * 300})
    a = dr.assess(dr.Laplace(scale=5.0), dr.Threat(prior(table, ["x"], confidence=0.9)))
    b = dr.assess(dr.Laplace(scale=5.0), dr.Threat(prior(table, ["x"])))
    distance = a.prior["region"]["distance"]
    assert a.rad.value == pytest.approx(b.rad.value + 3.0 * distance)
    assert any("contributions that were not counted" in text for text in a.worst_gain.assumes)
