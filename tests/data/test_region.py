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
from dpradar.data.sampling_region import expected_walk, sampling_distance, walk_average, weighted_average
from tests.twin import brute

F = Fraction


def test_expected_walk_is_the_sum_over_all_walks():
    for n in range(1, 60):
        exact = sum(F(math.comb(n, k), 2**n) * abs(2 * k - n) for k in range(n + 1))
        length = float(expected_walk(np.array([float(n)]))[0])
        assert float(exact) <= length * (1 + 1e-15)
        assert length <= float(exact) * (1 + 1e-11)


def test_expected_walk_of_many_steps_errs_upwards():
    for n in (10**4, 10**6, 10**9):
        truth = math.sqrt(2 * n / math.pi) * (1 - 1 / (4 * n))  # E|S_n| for even n, up to O(n^-2)
        length = float(expected_walk(np.array([float(n)]))[0])
        assert truth <= length <= math.sqrt(n)
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


def _drawn_with_weights(rng, n):
    """Return values and weights of rows whose weight depends on who was drawn: one in a hundred stands for 900."""
    large = rng.random(n) < 0.01
    return np.where(large, "rare", rng.choice(["a", "b"], n)), np.where(large, 900.0, 0.1)


def test_weights_that_depend_on_the_rows_are_refused_with_a_confidence():
    values, weights = _drawn_with_weights(np.random.default_rng(1), 500)
    table = pa.table({"x": values.tolist(), "w": weights.tolist()})
    with pytest.raises(dr.ParameterError, match="fixed_weights=True"):
        prior(table, ["x"], "w", confidence=0.95)
    stated = prior(table, ["x"], "w", confidence=0.95, fixed_weights=True)
    a = dr.assess(dr.GRR(m=stated.size, epsilon=1.0), dr.Threat(stated))
    for bound in (a.rad, a.success):
        assert "weights that were fixed before and do not depend on who was drawn" in bound.assumes[-1]
    # Without a confidence the weighted rows are everybody, and nothing is assumed about how they were drawn.
    assert "fixed" not in prior(table, ["x"], "w").measured.assumption


def test_the_region_does_not_hold_for_weights_that_depend_on_the_rows():
    # Why they are refused. The rare value has 0.01 * 900 / (0.01 * 900 + 0.99 * 0.1) of the weight.
    rng, truth, outside = np.random.default_rng(2), 9.0 / 9.099, 0
    for _ in range(300):
        values, weights = _drawn_with_weights(rng, 60)
        squares = np.array([(weights[values == x] ** 2).sum() for x in np.unique(values)])
        bound = sampling_distance(weighted_average(squares, weights.sum()), weights.sum() ** 2 / squares.sum(), 0.95)
        outside += abs(weights[values == "rare"].sum() / weights.sum() - truth) > bound
    assert outside > 0.3 * 300


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
        program = linprog(
            cost,
            A_ub=np.r_[above, [np.r_[np.zeros(3), np.ones(3)]]],
            b_ub=limits,
            A_eq=[np.r_[np.ones(3), np.zeros(3)]],
            b_eq=[1.0],
        )
        worst = max(worst, -program.fun)
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
        assert truth.rad.value <= a.rad.value
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
    p = prior(table, ["known", "sensitive"], suppress=fewest)
    assert p.size < whole.size or fewest == 2
    for epsilon in (0.5, 4.0):
        full = dr.assess(dr.GRR(m=whole.size, epsilon=epsilon), dr.Threat(whole, *THREAT))
        part = dr.assess(dr.GRR(m=p.size, epsilon=epsilon), dr.Threat(p, *THREAT))
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
    calibration = dr.calibrate(dr.GRR, dr.Limit(threat, rad=0.1), m=p.size)
    assert dr.assess(calibration.mechanism, threat).rad.value <= 0.1
    alone = dr.Threat(dr.Prior.records(p.columns, p.probabilities), *THREAT)
    assert dr.calibrate(dr.GRR, dr.Limit(alone, rad=0.1), m=p.size).value > calibration.value
    run = dr.attack(calibration.mechanism, threat, trials=5000, seed=1)
    assert run.rad.low <= dr.assess(calibration.mechanism, threat).rad.value


def test_noise_on_numbers_that_were_not_counted_is_not_trusted():
    # Somebody outside the sample may have a contribution further off than all that were seen.
    table = pa.table({"x": [0, 1, 2] * 300})
    a = dr.assess(dr.Laplace(scale=5.0), dr.Threat(prior(table, ["x"], confidence=0.9)))
    b = dr.assess(dr.Laplace(scale=5.0), dr.Threat(prior(table, ["x"])))
    distance = a.prior["region"]["distance"]
    assert b.rad.value + 3.0 * distance <= a.rad.value <= 1.1 * (b.rad.value + 3.0 * distance)
    assert any("contributions that were not counted" in text for text in a.worst_gain.assumes)


# --------------------------------------------------------------------------------- guesses that the counted prior lacks


def _whole_and_kept(numbers, fewest, goal, mechanism, known="nothing"):
    """Return what is assessed from all cells and from those that are kept."""
    table = pa.table({"x": numbers})
    for p in (prior(table, ["x"]), prior(table, ["x"], suppress=fewest)):
        release = mechanism(p.size) if callable(mechanism) else mechanism
        yield dr.assess(release, dr.Threat(p, getattr(dr.Knowledge, known)(), goal))


def _covered(whole, part):
    for name in ("rad", "success", "gain"):
        assert getattr(whole, name).value <= getattr(part, name).value + 1e-12, name
        assert getattr(part, name).side == "upper"
        assert getattr(part, name).low is None
    low, high = part.prior["region"]["baseline"]
    assert low - 1e-12 <= whole.baseline <= high + 1e-12


def test_a_suppressed_value_may_be_the_best_guess():
    # Within 1 of 1 is everybody, but 1 was left out; 0 and 2 are right for half.
    whole, part = _whole_and_kept([0] * 500 + [1] * 2 + [2] * 500, 5, dr.Goal.within(1), dr.Laplace(10.0))
    assert whole.success.value == 1.0
    _covered(whole, part)
    whole, part = _whole_and_kept([0, 2, 4, 6] * 100 + [1, 5], 5, dr.Goal.within(1), dr.Laplace(1.0))
    assert whole.rad.value == pytest.approx(0.4943, abs=1e-4)
    _covered(whole, part)


@pytest.mark.parametrize("seed", range(25))
def test_every_completion_of_a_suppressed_table_is_covered(seed):
    rng = np.random.default_rng(seed)
    counts = np.where(rng.random(8) < 0.5, rng.integers(1, 5, 8), rng.integers(5, 200, 8))
    counts[rng.choice(8, 2, replace=False)] = 100
    numbers = np.repeat(np.arange(8), counts).tolist()
    eta = float(rng.choice([0.0, 0.5, 1.0, 1.5, 2.0, 3.0]))
    known = str(rng.choice(["nothing", "everything"]))
    mechanism = [dr.Laplace(0.7), lambda m: dr.GRR(m=m, epsilon=2.0)][seed % 2]
    if counts.min() >= 5:
        counts[0] = 1
    losses = [dr.Goal.within(eta), dr.Goal.within(eta, loss=lambda z, g: abs(z["x"] - g["x"]))]
    for goal in losses[: 1 if known == "everything" else 2]:
        whole, part = _whole_and_kept(numbers, 5, goal, mechanism, known)
        if part.prior["counted"]["distance"]:
            _covered(whole, part)


def test_windows_of_any_guess_are_those_of_a_fine_grid():
    # Independent of the sweep: every guess on a grid that is finer than the gaps of the values and the window's ends.
    rng = np.random.default_rng(2)
    for _ in range(20):
        values = np.sort(rng.choice(40, size=6, replace=False))
        eta = int(rng.integers(0, 12))
        table = pa.table({"x": [*np.repeat(values, 10).tolist(), 1000]})
        threat = dr.Threat(prior(table, ["x"], suppress=5), goal=dr.Goal.within(eta))
        block = threat.cover.blocks[0]
        ours = {tuple(range(a, b)) for a, b in zip(block.low, block.high, strict=True)}
        grid = np.arange(-20, 80, 0.25)
        truth = {tuple(np.flatnonzero(np.abs(values - g) <= eta).tolist()) for g in grid} - {()}
        assert ours == truth
        assert block.misses > 0


def test_a_loss_of_ones_own_says_nothing_about_values_that_were_not_counted():
    def loss(z, g):
        return abs(z["x"] - g["x"])

    whole, part = _whole_and_kept([0] * 500 + [1] * 2 + [2] * 500, 5, dr.Goal.within(1, loss=loss), dr.Laplace(10.0))
    _covered(whole, part)
    assert part.success.value == 1.0
    guarantee = dr.PureDP(0.5, neighbours="replace-one")
    whole, part = _whole_and_kept([0] * 500 + [1] * 2 + [2] * 500, 5, dr.Goal.within(1, loss=loss), guarantee)
    _covered(whole, part)
    # The total variation of epsilon 0.5, for any goal: tanh(1 / 4) = 0.2449, with two digits rounded up.
    assert part.rad.value == 0.25
