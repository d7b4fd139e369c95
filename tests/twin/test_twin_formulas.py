"""The sums for large domains against enumeration on small ones, and trade-off curves against their own definition."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tests.twin import brute, channels, formulas

F = Fraction


def uniform_success(P: channels.Matrix) -> float:
    m = len(P)
    return float(brute.success(P, [F(1, m)] * m, brute.nothing(m), brute.exact(m)))


@pytest.mark.parametrize("m", [2, 3, 6])
@pytest.mark.parametrize("half", [F(5, 4), F(2), F(6)])
def test_success_sums_equal_enumeration(m, half):
    expeps = half * half
    epsilon = math.log(expeps)
    assert formulas.grr_success(m, epsilon) == pytest.approx(uniform_success(channels.grr(m, expeps)), abs=1e-14)
    assert formulas.sue_success(m, epsilon) == pytest.approx(uniform_success(channels.sue(m, half)), abs=1e-13)
    assert formulas.oue_success(m, epsilon) == pytest.approx(uniform_success(channels.oue(m, expeps)), abs=1e-13)
    ss = channels.subset_selection(m, expeps)
    assert formulas.ss_success(m, epsilon) == pytest.approx(uniform_success(ss), abs=1e-14)


@pytest.mark.parametrize(("m", "g"), [(2, 2), (4, 2), (4, 3), (3, 5)])
def test_hashing_sum_equals_enumeration(m, g):
    P = channels.local_hashing(m, g, F(5, 2))
    assert formulas.hashing_success(m, g, math.log(2.5)) == pytest.approx(uniform_success(P), abs=1e-14)


def test_histogram_success_of_two_values():
    """The difference of two Laplace(b) variables exceeds -1 with probability 1 - e^(-1/b) (2 + 1/b) / 4."""
    for epsilon in (0.5, 3.0, 12.0):
        inverse = epsilon / 2
        expected = 1 - math.exp(-inverse) * (2 + inverse) / 4
        assert formulas.she_success(2, epsilon) == pytest.approx(expected, abs=1e-12)


def test_laplace_curve_in_pieces():
    """a < e^-eps/2: 1 - e^eps a; a <= 1/2: e^-eps/(4a); else e^-eps (1 - a)."""
    for epsilon in (0.3, 1.0, 4.0):
        f, shrink = formulas.laplace_curve(epsilon), math.exp(-epsilon)
        assert f(shrink / 3) == pytest.approx(1 - math.exp(epsilon) * shrink / 3, abs=1e-14)
        assert f((shrink / 2 + 0.5) / 2) == pytest.approx(shrink / (shrink + 1), abs=1e-14)
        assert f(0.8) == pytest.approx(0.2 * shrink, abs=1e-14)


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
def test_gdp_maxima_are_maxima(mu):
    f, grid = formulas.gdp_curve(mu), [i / 4000 for i in range(1, 4000)]
    assert formulas.gdp_tv(mu) == pytest.approx(max(1 - f(x) - x for x in grid), abs=1e-6)
    inside = max(1 - f(x) - x for x in grid if x <= 1 / 9)
    assert formulas.thm_5_1_uniform(mu, 10) == pytest.approx(0.9 * inside, abs=1e-3)
    assert formulas.thm_5_1_uniform(mu, 10) >= 0.9 * inside
    assert formulas.root_bound(f, 10) <= formulas.thm_5_1_uniform(mu, 10) + 1e-12


def test_delta_is_the_largest_gap_of_the_curve():
    f = formulas.gdp_curve(1.2)
    grid = [i / 20000 for i in range(1, 20000)]
    assert formulas.gdp_delta(1.2, 0.7) == pytest.approx(max(1 - f(x) - math.exp(0.7) * x for x in grid), abs=1e-6)


def test_two_ways_to_invert():
    assert formulas.audit_epsilon(50, formulas.grr_success(50, 2.5)) == pytest.approx(2.5, abs=1e-12)
    rad = formulas.grr_success(50, 2.5) - 1 / 50
    assert formulas.audit_epsilon_from_rad(50, rad) == pytest.approx(2.5, abs=1e-12)
