"""The largest 0-RAD over DP channels: linear program, formula, attaining channel and certificates agree."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.every import every
from tests.twin import blackbox, brute, channels

F = Fraction


def prior(seed: int, largest: int) -> list[Fraction]:
    rng = channels.seeded(seed)
    return channels.random_row(rng, rng.randint(2, largest), top=rng.choice([2, 12, 200]))


@every("seed", range(40))
def test_program_formula_and_channel_agree(seed):
    pi, expeps = prior(seed, 8), [F(11, 10), F(3), F(10), F(400)][seed % 4]
    program = blackbox.pure_lp([float(x) for x in pi], math.log(expeps))
    value = blackbox.top_k_formula(pi, expeps)
    assert blackbox.grr_top_k_rad(pi, expeps) == value
    assert program.value == pytest.approx(float(value), abs=1e-12)
    assert float(value) - 1e-13 <= program.upper <= float(value) + 1e-12
    assert all(brute.max_ratio(blackbox.grr_top_k(pi, expeps, k)) == expeps for k in range(2, len(pi) + 1))


@every("seed", range(25))
def test_no_random_channel_beats_the_program(seed):
    """Random channels, scaled into epsilon-DP, and the published bounds stand on the right sides of the optimum."""
    pi, rng = prior(100 + seed, 5), channels.seeded(seed)
    m = len(pi)
    P = channels.random_channel(rng, m, 4)
    a, S = brute.nothing(m), brute.exact(m)
    floats, epsilon = [float(x) for x in pi], brute.epsilon(P)
    upper = blackbox.pure_lp(floats, epsilon).upper
    assert float(brute.rad(P, pi, a, S)) <= upper + 1e-12
    for bound in (blackbox.thm_5_5, blackbox.thm_7, blackbox.thm_4_2):
        assert upper <= bound(floats, epsilon) + 1e-12
    assert upper <= blackbox.prop_5_3(floats, S, epsilon) + 1e-12


@every("seed", range(30))
def test_program_with_delta(seed):
    pi, epsilon, delta = prior(200 + seed, 6), [0.1, 1.0, 3.0][seed % 3], [1e-5, 1e-2, 0.2][seed // 3 % 3]
    floats, m = [float(x) for x in pi], len(pi)
    program = blackbox.approx_lp(floats, epsilon, delta)
    channel = blackbox.rational_channel(program.channel)
    assert brute.hockey_stick(channel, F(math.exp(epsilon))) <= delta + 1e-9
    lower = brute.rad(channel, pi, brute.nothing(m), brute.exact(m))
    assert float(lower) - 1e-12 <= program.upper
    assert program.upper - float(lower) < 1e-9
    assert blackbox.pure_lp(floats, epsilon).value <= program.upper + 1e-12
    for bound in (blackbox.thm_5_5, blackbox.thm_7, blackbox.thm_4_2):
        assert program.upper <= bound(floats, epsilon, delta) + 1e-12


def test_program_with_delta_uniform_is_cor_5_6():
    for m, epsilon, delta in [(2, 1.0, 0.1), (4, 0.5, 0.01), (6, 2.0, 1e-5)]:
        program = blackbox.approx_lp([1 / m] * m, epsilon, delta)
        assert program.upper == pytest.approx(blackbox.cor_5_6(m, epsilon, delta), abs=1e-12)
        assert program.value == pytest.approx(program.upper, abs=1e-12)


@every("seed", range(60))
def test_knapsack_as_printed_is_the_program(seed):
    floats = [float(x) for x in prior(300 + seed, 12)]
    epsilon, delta = [0.2, 1.0, 4.0][seed % 3], [0.0, 1e-3, 0.05][seed // 3 % 3]
    printed, _, _ = blackbox.thm_5_5_printed(floats, epsilon, delta)
    assert blackbox.thm_5_5(floats, epsilon, delta) == pytest.approx(printed, abs=1e-12)


@every("seed", range(60))
def test_dual_multipliers_certify_the_formula(seed):
    """The explicit multipliers of the note prove the formula's value; tau is searched on a grid only, hence 1e-6."""
    rng = np.random.default_rng(seed)
    pi, expeps = rng.dirichlet(np.full(rng.integers(2, 30), rng.choice([0.3, 1.0, 5.0]))), math.exp(rng.uniform(0.1, 8))
    value = blackbox.top_k_formula(list(pi), expeps)
    assert value - 1e-12 <= blackbox.dual_bound(pi, expeps) <= value + 1e-5 * value + 1e-12


def test_certificate_sees_a_small_change_of_epsilon():
    pi = [0.5, 0.3, 0.2]
    value = blackbox.top_k_formula(pi, math.e)
    assert blackbox.pure_lp(pi, 1.0).upper >= value - 1e-14
    assert blackbox.pure_lp(pi, 1.001).upper > value
    assert blackbox.pure_lp(pi, 0.999).upper < value
