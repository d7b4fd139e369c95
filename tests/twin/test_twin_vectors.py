"""Vector noise: quadrature, quasi Monte Carlo, Monte Carlo and closed forms against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from tests.twin import brute, lines, vectors

PRIOR = (0.5, 0.2, 0.2, 0.1)


@pytest.mark.parametrize("mu", [0.1, 1.0, 4.0])
def test_two_orthogonal_candidates(mu):
    rad, success = vectors.two_candidates(mu * math.sqrt(2), (0.3, 0.7))
    assert vectors.orthogonal_success(mu, (0.3, 0.7)) == pytest.approx(success, abs=1e-13)
    known, error = vectors.orthogonal_rad_known(mu, (0.3, 0.7))
    assert known == pytest.approx(rad, abs=6 * error + 1e-9)
    assert error < 1e-5


def test_two_candidates_are_noise_on_a_line():
    rad, success = vectors.two_candidates(1.3, (0.3, 0.7))
    on_line = lines.risks(lines.gaussian(1.0), [0.0, 1.3], [0.3, 0.7], [0, 0], brute.exact(2))
    assert on_line[:2] == pytest.approx((rad, success), abs=1e-13)


@pytest.mark.parametrize("m", [2, 3, 5])
def test_uniform_success_is_a_special_case(m):
    uniform = vectors.orthogonal_success_uniform(1.5, m)
    assert vectors.orthogonal_success(1.5, [1 / m] * m) == pytest.approx(uniform, abs=1e-14)
    if m == 2:
        assert uniform == pytest.approx(ndtr(1.5 / math.sqrt(2)), abs=1e-14)
    if m == 3:  # Monte Carlo of the event itself: the true coordinate is the largest
        x = np.random.default_rng(3).standard_normal((400_000, 3)) + np.array([1.5, 0, 0])
        assert uniform == pytest.approx((x.argmax(axis=1) == 0).mean(), abs=4e-3)


@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_monte_carlo_of_orthogonal_candidates(mu):
    gram = vectors.orthogonal_gram(mu, 4)
    free, known = (vectors.monte_carlo(gram, PRIOR, a, 100_000, seed=5) for a in ([0] * 4, [0, 1, 2, 3]))
    assert free.success == pytest.approx(vectors.orthogonal_success(mu, PRIOR), abs=5 * free.success_error)
    expected, error = vectors.orthogonal_rad_known(mu, PRIOR)
    assert known.rad == pytest.approx(expected, abs=5 * (known.rad_error + error))
    assert known.success == pytest.approx(1, abs=1e-12)
    assert free.rad < known.rad


def test_monte_carlo_has_power():
    """Ten per cent more signal must be seen."""
    estimate = vectors.monte_carlo(vectors.orthogonal_gram(2.2, 4), PRIOR, [0, 1, 2, 3], 100_000, seed=5)
    assert abs(estimate.rad - vectors.orthogonal_rad_known(2.0, PRIOR)[0]) > 10 * estimate.rad_error


def test_monte_carlo_of_collinear_candidates_is_noise_on_a_line():
    values, known = np.array([0.0, 0.7, 1.5, 3.0]), [0, 0, 1, 1]
    S = [*brute.exact(4), frozenset()]  # the empty set: "not a member"
    estimate = vectors.monte_carlo(np.outer(values, values), PRIOR, known, 200_000, seed=2)
    rad, success, _ = lines.risks(lines.gaussian(1.0), list(values), PRIOR, known, S)
    assert estimate.rad == pytest.approx(rad, abs=5 * estimate.rad_error)
    assert estimate.success == pytest.approx(success, abs=5 * estimate.success_error)
