"""The continuous prior: convergence, limits, a plain double sum, and a fine finite channel."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.twin import brute, continuous

SETTINGS = [(1, 1, 1, 0.1), (1, 1, 10, 0.1), (0.1, 0.1, 1, 0.1), (0.1, 0.1, 10, 0.2), (2, 3, 4, 0.6)]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("known", [False, True])
def test_two_resolutions_agree(setting, known):
    at_250, at_500 = (continuous.converged(*setting, known=known, n=n) for n in (250, 500))
    assert abs(at_500.fine.rad - at_500.coarse.rad) < 1e-5
    assert tuple(at_500.limit) == pytest.approx(tuple(at_250.limit), abs=1e-5)


@pytest.mark.parametrize("known", [False, True])
def test_useless_release(known):
    assert continuous.converged(1, 1, 1e-9, 0.1, known=known, n=100).fine.rad == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("eta", [0.05, 0.1, 0.2])
def test_perfect_release(eta):
    """theta = z: the best window around z of least prior mass: RAD = 1 - (2 eta - 3 eta^2) for U(0, 1), eta <= 1/4.

    A window [g - eta, g + eta] cut off at 0 costs eta for z <= eta, z up to 2 eta, then 2 eta; the same at 1.
    """
    rads = [1 - (2 * eta - 3 * eta**2) - continuous.risk_unknown(1, 1, e, eta, 500).rad for e in (1e4, 1e5)]
    assert 0 < rads[1] < rads[0] < 0.02
    assert rads[1] < 5e-3


def test_everything_is_within_one():
    assert continuous.risk_unknown(1, 1, 5, 1.0, 100) == pytest.approx((0, 1, 1), abs=1e-12)
    assert continuous.risk_known(1, 1, 5, 1.0, 100).rad == 0


@pytest.mark.parametrize(("a", "b"), [(1, 1), (0.1, 0.1), (2, 5)])
def test_prior_cells(a, b):
    mass, mean = continuous.prior_cells(a, b, 50)
    assert mass.sum() == pytest.approx(1, abs=1e-14)
    assert mass @ mean == pytest.approx(a / (a + b), abs=1e-14)


def test_output_cells_have_the_density():
    """Cell probability / width is the density, whose supremum is the M of the nested estimator."""
    epsilon, n = 6.0, 4000
    cells = continuous.output_cells(np.array([0.0, 0.37]), epsilon, n) * n
    t = (np.arange(n) + 0.5) / n
    weight = np.exp(-epsilon * np.abs(0.37 - t) / 2)
    assert np.abs(cells[1] - weight / weight.mean()).max() < 1e-3
    assert cells[0].max() == pytest.approx(continuous.sup_density(epsilon), rel=1e-3)
    assert cells.mean(axis=1) == pytest.approx([1, 1], abs=1e-14)


def test_plain_double_sum():
    """RAD from the densities on a 1500 x 1500 midpoint grid, with none of the exact cells."""
    epsilon, eta, n = 8.0, 0.1, 1500
    z = (np.arange(n) + 0.5) / n
    density = np.exp(-epsilon * np.abs(z[:, None] - z[None, :]) / 2)
    density *= n / density.sum(axis=1, keepdims=True)
    gain = (density - density.mean(axis=0)) / n**2
    inside = (np.abs(z[:, None] - np.linspace(0, 1, 201)[None, :]) <= eta + 1e-12).astype(float)
    unknown, known = (inside.T @ gain).max(axis=0).sum(), np.maximum(gain, 0).sum()
    assert continuous.converged(1, 1, epsilon, eta, known=False).limit.rad == pytest.approx(unknown, abs=3e-4)
    assert continuous.converged(1, 1, epsilon, eta, known=True).limit.rad == pytest.approx(known, abs=3e-5)


def test_a_coarse_grid_is_a_finite_channel():
    """With 10 cells the grid is a 10 x 10 channel and 11 guesses: brute force must give the same numbers."""
    mass, mean = continuous.prior_cells(0.5, 2, 10)
    P, pi = continuous.output_cells(mean, 3.0, 10).tolist(), mass.tolist()
    S = [frozenset(range(max(0, g - 2), min(10, g + 2))) for g in range(11)]
    risk = continuous.risk_unknown(0.5, 2, 3.0, 0.2, 10)
    assert risk.rad == pytest.approx(brute.rad(P, pi, brute.nothing(10), S), abs=1e-14)
    assert risk.success == pytest.approx(brute.success(P, pi, brute.nothing(10), S), abs=1e-14)
    assert risk.baseline == pytest.approx(brute.baseline(pi, brute.nothing(10), S), abs=1e-14)
    known = continuous.risk_known(0.5, 2, 3.0, 0.2, 10).rad
    assert known == pytest.approx(brute.rad(P, pi, brute.everything(10), S), abs=1e-14)
    assert math.isfinite(known)
