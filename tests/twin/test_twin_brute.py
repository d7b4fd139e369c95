"""The formula of Thm 4.3 against the maximum over all attacks, and identities that tie the pieces together."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize

from tests.every import every
from tests.twin import brute, channels

F = Fraction


def random_case(seed: int) -> tuple[channels.Matrix, list[Fraction], list[int], brute.Success]:
    """A random channel, prior, knowledge and goal, small enough for all attacks to be listed."""
    rng = channels.seeded(seed)
    m, n, n_labels = rng.choice([(2, 4, 2), (3, 3, 1), (3, 3, 2), (3, 2, 3), (4, 2, 2)])
    P = channels.random_channel(rng, m, n, zeros=rng.choice([0, 0.3]))
    pi = channels.random_row(rng, m, zeros=rng.choice([0, 0.3]))
    a = [rng.randrange(n_labels) for _ in range(m)]
    goals = [
        brute.exact(m),
        brute.within([rng.randint(0, 4) for _ in range(m)], rng.randint(0, 4)),
        brute.labels([rng.randrange(2) for _ in range(m)]),
        brute.from_loss([[rng.randint(0, 3) for _ in range(3)] for _ in range(m)], 1),
    ]
    return P, pi, a, rng.choice(goals)


@every("seed", range(80))
def test_formula_is_the_maximum_over_all_attacks(seed):
    P, pi, a, S = random_case(seed)
    assert brute.rad(P, pi, a, S) == brute.rad_by_attacks(P, pi, a, S)
    assert brute.success(P, pi, a, S) == brute.success_by_attacks(P, pi, a, S)


@every("seed", range(80))
def test_terms_and_bounds_agree(seed):
    P, pi, a, S = random_case(seed)
    hit, false_hit = brute.hit_and_false_hit(P, pi, a, S)
    rad = brute.rad(P, pi, a, S)
    kappa = brute.kappas(pi, S)
    assert hit - false_hit == rad
    assert rad <= brute.total_variation(P) * (1 - kappa.kappa)
    assert brute.baseline(pi, a, S) <= brute.success(P, pi, a, S)
    assert hit <= brute.success(P, pi, a, S)
    if len(set(a)) == 1:
        assert brute.baseline(pi, a, S) == kappa.plus
        assert kappa.minus <= false_hit <= kappa.plus


@every("seed", range(20))
def test_the_post_processed_channel_leaks_less_and_the_composed_one_more(seed):
    rng = channels.seeded(1000 + seed)
    P, pi = channels.random_channel(rng, 4, 3), channels.random_row(rng, 4)
    a, S = [rng.randrange(2) for _ in range(4)], brute.within([0, 1, 3, 4], rng.choice([0, 1]))
    rad = brute.rad(P, pi, a, S)
    assert brute.rad(channels.post_processed(P, channels.random_channel(rng, 3, 3)), pi, a, S) <= rad
    assert brute.rad(channels.composed(P, channels.random_channel(rng, 4, 2)), pi, a, S) >= rad
    assert brute.rad(channels.composed(P, channels.constant(4)), pi, a, S) == rad


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("half", [F(3, 2), F(4)])
def test_channels_are_private_as_claimed(m, half):
    expeps = half * half
    family = [
        channels.grr(m, expeps),
        channels.sue(m, half),
        channels.oue(m, expeps),
        channels.local_hashing(m, 2, expeps),
        channels.subset_selection(m, expeps, max(1, m // 2)),
    ]
    for P in family:
        assert all(sum(row) == 1 for row in P)
        assert brute.max_ratio(P) == expeps
        assert brute.hockey_stick(P, expeps) == 0
        assert brute.hockey_stick(P, expeps - F(1, 100)) > 0
        assert brute.hockey_stick(P, 1) == brute.total_variation(P)


def test_ties_are_broken_uniformly():
    """A useless channel: every guess ties, so both terms are the mean mass of a success set."""
    P, pi, a = channels.constant(3), [F(1, 2), F(1, 3), F(1, 6)], brute.nothing(3)
    assert brute.hit_and_false_hit(P, pi, a, brute.exact(3)) == (F(1, 3), F(1, 3))
    by_label, by_input = brute.labels(["u", "v", "v"]), brute.labels_by_input(["u", "v", "v"])
    assert brute.hit_and_false_hit(P, pi, a, by_label)[0] == F(1, 2)
    assert brute.hit_and_false_hit(P, pi, a, by_input)[0] == F(1, 2)
    assert brute.hit_and_false_hit(P, [F(1, 4), F(1, 2), F(1, 4)], a, by_input)[0] == F(7, 12)


def test_infinite_ratio_is_seen():
    assert brute.epsilon(channels.identity(3)) == float("inf")
    assert brute.max_ratio(channels.repeated(channels.grr(3, F(3)), 2)) == 9


@every("seed", range(30))
def test_the_most_flagged_are_those_of_the_linear_programme(seed):
    rng = channels.seeded(2000 + seed)
    those, others = channels.random_channel(rng, 2, 6, zeros=rng.choice([0, 0.3]))
    most = rng.choice([F(1, 100), F(1, 5), F(0), F(1)])
    tests = scipy.optimize.linprog(
        -np.array(those, dtype=float), A_ub=[np.array(others, dtype=float)], b_ub=[float(most)], bounds=(0, 1)
    )
    hits, odds = brute.flagged(those, others, most)
    assert float(hits) == pytest.approx(-tests.fun, abs=1e-9)
    assert odds == max(float("inf") if q == 0 else p / q for p, q in zip(those, others, strict=True) if p)
