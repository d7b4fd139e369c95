"""Noise on the line against closed forms, a plain sum, and exact channels."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tests.every import every
from tests.twin import brute, lines

F = Fraction
VALUES = [0.0, 0.3, 1.0, 1.1, 2.5]
PRIOR = [0.3, 0.05, 0.25, 0.3, 0.1]
NOISES = [lines.laplace(0.7), lines.gaussian(0.6), lines.laplace(0.05), lines.gaussian(4.0)]
KNOWLEDGE = [[0] * 5, [0, 0, 1, 1, 1], [0, 1, 2, 3, 4]]
GOALS = [brute.exact(5), brute.within(VALUES, 0.8), brute.labels([0, 1, 0, 1, 1])]


@every("noise", NOISES)
@every("a", KNOWLEDGE)
@every("S", GOALS)
@pytest.mark.parametrize("clamp", [None, (-0.5, 2.0)])
def test_cells_agree_with_a_plain_sum(noise, a, S, clamp):
    rad, success, baseline = lines.risks(noise, VALUES, PRIOR, a, S, clamp, step=0.05)
    assert (rad, success) == pytest.approx(lines.risks_by_sum(noise, VALUES, PRIOR, a, S, clamp), abs=3e-5)
    assert baseline == pytest.approx(brute.baseline(PRIOR, a, S), abs=1e-15)
    assert baseline - 1e-15 <= success <= 1 + 1e-15


@pytest.mark.parametrize("scale", [0.05, 0.4, 3.0])
def test_uniform_closed_forms(scale):
    pi, a, S = [0.2] * 5, brute.nothing(5), brute.exact(5)
    by_laplace, by_gaussian = (lines.risks(n, VALUES, pi, a, S) for n in (lines.laplace(scale), lines.gaussian(scale)))
    assert by_laplace[0] == pytest.approx(lines.laplace_uniform(VALUES, scale), abs=1e-13)
    assert by_gaussian[0] == pytest.approx(lines.gaussian_uniform(VALUES, scale), abs=1e-13)
    assert by_laplace[1] - 0.2 == pytest.approx(by_laplace[0], abs=1e-13)


def test_two_values_closed_form():
    """Two values: RAD = 2 pi_0 pi_1 TV, whatever is known, and clamping outside the values changes nothing."""
    for noise, tv in [
        (lines.laplace(0.8), 1 - math.exp(-1 / 1.6)),
        (lines.gaussian(0.8), math.erf(1 / 1.6 / math.sqrt(2))),
    ]:
        for a in ([0, 0], [0, 1]):
            for clamp in (None, (0.0, 1.0), (-3.0, 1.5)):
                rad = lines.risks(noise, [0, 1], [0.3, 0.7], a, brute.exact(2), clamp)[0]
                assert rad == pytest.approx(2 * 0.3 * 0.7 * tv, abs=1e-13)


@pytest.mark.parametrize("noise", NOISES[:2])
@pytest.mark.parametrize("clamp", [None, (-0.5, 2.0)])
def test_halving_the_step_changes_nothing(noise, clamp):
    for a in KNOWLEDGE:
        for S in GOALS:
            assert lines.refined(noise, VALUES, PRIOR, a, S, clamp, step=0.04)[1] < 1e-12


@pytest.mark.parametrize("clamp", [None, (0, 4), (-3, 8)])
def test_geometric_noise_twice(clamp):
    values, pi = [0, 1, 4, 5], [F(1, 2), F(1, 4), F(1, 8), F(1, 8)]
    exact, summed = lines.geometric_channel(values, F(2, 3), clamp), lines.geometric_by_sum(values, 2 / 3, clamp)
    assert all(sum(row) == 1 for row in exact)
    for a in ([0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 2, 3]):
        for S in (brute.exact(4), brute.within(values, 1)):
            assert float(brute.rad(exact, pi, a, S)) == pytest.approx(float(brute.rad(summed, pi, a, S)), abs=1e-14)


def test_geometric_noise_is_private():
    assert brute.max_ratio(lines.geometric_channel([0, 1, 2], F(2, 3))) == F(9, 4)


def test_discrete_gaussian_approaches_the_gaussian():
    """At sigma = 12 the lattice is fine: the discrete risk is that of the continuous noise up to about 1e-3."""
    values, pi = [0, 9, 20], [0.5, 0.2, 0.3]
    P = lines.discrete_gaussian(values, 12.0)
    assert [float(sum(row)) for row in P] == pytest.approx([1.0] * 3, abs=1e-14)
    a, S = [0, 1, 1], brute.exact(3)
    continuous = lines.risks(lines.gaussian(12.0), values, pi, a, S)[0]
    discrete = float(brute.rad(P, pi, a, S))
    assert discrete == pytest.approx(continuous, abs=1e-3)
    assert discrete != pytest.approx(continuous, abs=1e-9)
