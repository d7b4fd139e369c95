"""The closed forms of the notes' section 3 against enumeration, in exact fractions: equality, not closeness."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tests.twin import brute, channels, lines

F = Fraction
EXPEPS = [F(3, 2), F(4), F(30)]


def priors(m: int) -> list[list[Fraction]]:
    rng = channels.seeded(m)
    return [[F(1, m)] * m, channels.random_row(rng, m), channels.random_row(rng, m, top=60)]


def kappa(pi: list[Fraction]) -> Fraction:
    return sum(x * x for x in pi)


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("expeps", EXPEPS)
def test_grr(m, expeps):
    P, gap = channels.grr(m, expeps), (expeps - 1) / (expeps + m - 1)
    for pi in priors(m):
        for eta in range(m - 1):
            S = brute.within(range(m), eta)
            # The middle of an odd path is within (m-1)/2 of every guess: no guess fails for it, nothing can be gained.
            if 2 * eta < m - 1:
                assert brute.rad(P, pi, brute.everything(m), S) == gap * (1 - kappa(pi))
            least = [min(sum(pi[z] for z in right) for right in S if theta in right) for theta in range(m)]
            expected = gap * (1 - sum(x * y for x, y in zip(pi, least, strict=True)))
            assert brute.rad(P, pi, brute.nothing(m), S) == expected
        assert brute.rad(P, pi, brute.nothing(m), brute.exact(m)) == gap * (1 - kappa(pi))


def test_full_knowledge_needs_a_guess_that_fails():
    """Below the diameter is not enough: on {0, 1, 2} with eta = 1 the guess is always right for 1."""
    P, pi, S = channels.grr(3, F(4)), [F(1, 3)] * 3, brute.within(range(3), 1)
    assert brute.rad(P, pi, brute.everything(3), S) == F(3, 6) * F(2, 3) * F(2, 3)
    assert brute.rad_by_attacks(P, pi, [0, 1, 2], S) == brute.rad(P, pi, [0, 1, 2], S)


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("expeps", EXPEPS)
def test_oue(m, expeps):
    P, q = channels.oue(m, expeps), 1 / (expeps + 1)
    p = 1 - q
    for pi in priors(m):
        ascending = sorted(pi)
        expected = F(1, 2) * (expeps - 1) / (expeps + 1) * (1 - kappa(pi))
        assert brute.rad(P, pi, brute.everything(m), brute.exact(m)) == expected
        powers = [p ** (m - i) for i in range(1, m + 1)]
        gain = sum(w * x * (1 - x) for w, x in zip(powers, ascending, strict=True))
        loss = sum(w * x * sum(ascending[:i]) for i, (w, x) in enumerate(zip(powers, ascending, strict=True)))
        assert brute.rad(P, pi, brute.nothing(m), brute.exact(m)) == (p - q) / (2 * p) * (gain - q * loss)
    uniform = (expeps - 1) / (2 * m) * (1 - (expeps / (1 + expeps)) ** (m - 1))
    assert brute.rad(P, [F(1, m)] * m, brute.nothing(m), brute.exact(m)) == uniform


@pytest.mark.parametrize("m", [2, 3, 5, 6])
@pytest.mark.parametrize("expeps", EXPEPS)
def test_subset_selection_uniform(m, expeps):
    for omega in {channels.default_omega(m, expeps), 1, m // 2}:
        P, pi = channels.subset_selection(m, expeps, omega), [F(1, m)] * m
        p = omega * expeps / (omega * expeps + m - omega)
        assert brute.rad(P, pi, brute.nothing(m), brute.exact(m)) == (p * m - omega) / (m * omega)
        expected = brute.total_variation(P) * (1 - F(1, m))
        assert brute.rad(P, pi, brute.everything(m), brute.exact(m)) == expected


@pytest.mark.parametrize("m", [2, 4])
@pytest.mark.parametrize("half", [F(6, 5), F(3)])
def test_unary_success(m, half):
    p, q = half / (half + 1), 1 / (half + 1)
    expected = p * (1 - (1 - q) ** m) / (m * q) + (1 - p) * (1 - q) ** (m - 1) / m
    assert brute.success(channels.sue(m, half), [F(1, m)] * m, brute.nothing(m), brute.exact(m)) == expected


def test_equal_spacing_is_the_worst_case_on_the_line():
    m, values = 5, [0.0, 0.1, 0.45, 0.7, 1.0]
    for scale in (0.05, 0.5, 5.0):
        laplace, gaussian = lines.laplace_uniform(values, scale), lines.gaussian_uniform(values, scale)
        assert laplace < (m - 1) / m * (1 - math.exp(-1 / (2 * scale * (m - 1))))
        assert gaussian < (m - 1) / m * math.erf(1 / (2 * scale * (m - 1)) / math.sqrt(2))
        spaced = [i / 4 for i in range(5)]
        assert lines.laplace_uniform(spaced, scale) > laplace
        assert lines.gaussian_uniform(spaced, scale) > gaussian


@pytest.mark.parametrize("seed", range(30))
def test_full_knowledge_and_exact_goal_special_cases(seed):
    rng = channels.seeded(500 + seed)
    P, pi = channels.random_channel(rng, 4, 4), channels.random_row(rng, 4)
    law = brute.output_law(P, pi)
    w = [[(P[z][t] - law[t]) * pi[z] for t in range(4)] for z in range(4)]
    expected = sum(max(x, F(0)) for row in w for x in row)
    assert brute.rad(P, pi, brute.everything(4), brute.exact(4)) == expected
    a = [0, 0, 1, 1]
    fibres = sum(max(F(0), w[z][t], w[z + 1][t]) for z in (0, 2) for t in range(4))
    assert brute.rad(P, pi, a, brute.exact(4)) == fibres
