"""Noise on vectors: histograms, candidates on a line, and anything else between simulation and bound."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import dpradar as dr
from dpradar.bounds.exact.known_cell import known_cell_risk
from tests.twin import brute, formulas, lines, vectors
from tests.worlds import other_bound

# dpradar asks its quadrature for 1e-10, the twin observes better than 1e-12.
ERROR = 1e-9
PRIORS = [[0.05] * 20, [0.5, 0.3, 0.2], [0.7, 0.0, 0.2, 0.1, 0.0]]


def assert_near(bound: dr.Bound, value: float) -> None:
    assert bound.side == "exact"
    assert bound.low - 1e-11 <= value <= bound.high + 1e-11
    assert bound.high - bound.low <= ERROR


@pytest.mark.parametrize("mu", [0.05, 4.0])
@pytest.mark.parametrize("pi", PRIORS)
def test_gaussian_histogram(mu, pi):
    prior = dr.Prior.of(pi)
    answer = dr.assess(dr.Gaussian(1 / mu, query=np.eye(len(pi))), dr.Threat(prior))
    flat = prior.is_uniform
    expected = vectors.orthogonal_success_uniform(mu, len(pi)) if flat else vectors.orthogonal_success(mu, pi)
    assert_near(answer.success, expected)
    assert answer.baseline == pytest.approx(max(pi), rel=1e-15)
    if flat:
        assert_near(answer.rad, expected - 1 / len(pi))
        assert answer.false_hit == pytest.approx(1 / len(pi), rel=0, abs=ERROR)


@pytest.mark.parametrize("known", [[0, 0, 1, 1, 1], [0, 1, 1, 2, 3], [0, 1, 2, 3, 4]])
def test_gaussian_histogram_with_knowledge(known):
    """Given what is known, the best guess is the likeliest cell of the fibre."""
    pi, mu = [0.4, 0.25, 0.2, 0.15, 0.0], 1.3
    threat = dr.Threat(dr.Prior.of(pi), dr.Knowledge.labels(known))
    answer = dr.assess(dr.Gaussian(1 / mu, query=np.eye(5)), threat)
    parts = [[pi[z] for z in fibre] for fibre in brute.fibres(known)]
    expected = sum(part[0] if len(part) == 1 else vectors.orthogonal_success(mu, part) for part in parts)
    assert_near(answer.success, expected)


def laplace_success(c: float, pi: list[float]) -> float:
    """E[max pi_z L_z] = integral over t of 1 - prod_z Pr[pi_z L_z <= t], L = e^(|x| - |x - c|) under noise alone.

    Pr[L <= s] = 0 below e^-c, 1 - e^(-c/2) s^(-1/2) / 2 up to e^c, then 1.
    """

    def below(s: mpmath.mpf) -> mpmath.mpf:
        if s < mpmath.exp(-c):
            return mpmath.mpf(0)
        return mpmath.mpf(1) if s >= mpmath.exp(c) else 1 - mpmath.exp(-mpmath.mpf(c) / 2) / mpmath.sqrt(s) / 2

    with mpmath.workdps(25):
        weights = [mpmath.mpf(p) for p in pi if p > 0]
        breaks = sorted({w * mpmath.exp(s) for w in weights for s in (-c, -c / 2, 0, c / 2, c)})
        integral = mpmath.quad(lambda t: 1 - mpmath.fprod(below(t / w) for w in weights), [0, *breaks])
    return float(integral)


@pytest.mark.parametrize("scale", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("pi", PRIORS)
def test_laplace_histogram(scale, pi):
    prior = dr.Prior.of(pi)
    answer = dr.assess(dr.Laplace(scale, query=np.eye(len(pi))), dr.Threat(prior))
    expected = laplace_success(1 / scale, pi)
    assert_near(answer.success, expected)
    if prior.is_uniform:
        # The twin's SHE has noise 2/eps, by another integral.
        assert expected == pytest.approx(formulas.she_success(len(pi), 2 / scale), rel=0, abs=1e-12)
        assert_near(answer.rad, expected - 1 / len(pi))


def test_cells_of_any_height():
    threat = dr.Threat(dr.Prior.of([0.5, 0.3, 0.2]))
    for kind in (dr.Laplace, dr.Gaussian):
        one, seven = (dr.assess(kind(0.8 * h, query=h * np.eye(3)), threat) for h in (1.0, 7.0))
        assert seven.success.value == pytest.approx(one.success.value, rel=0, abs=1e-12)


def test_equidistant_vectors_are_a_histogram():
    """A simplex around any centre, in any orientation: distance sqrt(2) mu."""
    pi, mu = [0.5, 0.3, 0.2, 0.0], 1.3
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(7, 7)))[0]
    shifted = np.hstack([mu * np.eye(4), np.zeros((4, 3))]) @ turn + 11.0
    answer = dr.assess(dr.Gaussian(1.0, query=shifted), dr.Threat(dr.Prior.of(pi)))
    assert answer.success.value == pytest.approx(vectors.orthogonal_success(mu, pi), rel=0, abs=1e-8)


@pytest.mark.parametrize("known", [[0, 0, 0, 0], [0, 1, 2, 3], [0, 0, 1, 1]])
@pytest.mark.parametrize("eta", [None, 1.0])
def test_vectors_on_a_line(known, eta):
    """Only the position along the line matters: the same as one number per value."""
    values, pi, sigma = [0.0, 1.0, 2.5, 3.0], [0.4, 0.3, 0.0, 0.3], 1.2
    direction = np.array([3.0, 4.0, 0.0, 12.0]) / 13.0
    query = 5.0 + np.outer(values, direction)
    goal = dr.Goal.exact() if eta is None else dr.Goal.within(eta)
    threat = dr.Threat(dr.Prior.of(pi, values), dr.Knowledge.labels(known), goal)
    answer = dr.assess(dr.Gaussian(sigma, query=query), threat)
    S = brute.exact(4) if eta is None else brute.within(values, eta)
    rad, success, _ = lines.risks(lines.gaussian(sigma), values, pi, known, S)
    assert_near(answer.rad, rad)
    assert_near(answer.success, success)


@pytest.mark.parametrize("pi", [(0.5, 0.5), (0.9, 0.1)])
@pytest.mark.parametrize("known", [[0, 0], [0, 1]])
def test_two_candidates(pi, known):
    query = np.array([[1.0, 2.0, 3.0], [0.0, 2.5, 1.0]])
    rad, success = vectors.two_candidates(float(np.linalg.norm(query[0] - query[1])) / 1.5, pi)
    threat = dr.Threat(dr.Prior.of(pi), dr.Knowledge.labels(known))
    answer = dr.assess(dr.Gaussian(1.5, query=query), threat)
    assert_near(answer.rad, rad)
    assert_near(answer.success, 1.0 if known == [0, 1] else success)


@pytest.mark.parametrize("seed", range(4))
def test_any_vectors_between_simulation_and_bound(seed):
    """No exact engine: the twin's own simulation (6 standard errors) lies between the two sides."""
    rng = np.random.default_rng(seed)
    query, pi = rng.normal(size=(5, 3)), rng.dirichlet(np.ones(5))
    known = [0] * 5 if seed % 2 else [0, 0, 1, 1, 2]
    answer = dr.assess(dr.Gaussian(1.0, query=query), dr.Threat(dr.Prior.of(pi), dr.Knowledge.labels(known)))
    estimate = vectors.monte_carlo(query @ query.T, pi.tolist(), known, n=100_000, seed=seed)
    for quantity, value, error in (
        ("rad", estimate.rad, estimate.rad_error),
        ("success", estimate.success, estimate.success_error),
    ):
        upper = answer.bounds[quantity]
        assert upper.side == "upper"
        lower = other_bound(answer, "simulation", quantity)
        assert lower - 6 * error <= value <= upper.value + 6 * error
        assert value - lower < 0.03


def test_composed_gaussians_are_one_gaussian():
    """Two tables about the same person: vectors side by side, and the risk of both together."""
    first, second = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 6.0])
    threat = dr.Threat(dr.Prior.of([0.5, 0.3, 0.2]))
    both = dr.assess(dr.Composed([dr.Gaussian(1.0, query=first), dr.Gaussian(2.0, query=second)]), threat)
    together = lines.risks(
        lines.gaussian(1.0), [0.0, math.sqrt(2.0), 3 * math.sqrt(2.0)], [0.5, 0.3, 0.2], [0] * 3, brute.exact(3)
    )
    assert_near(both.rad, together[0])
    assert_near(both.success, together[1])


@pytest.mark.parametrize("pi", [[0.998, 0.001, 0.001], [0.999, 0.0009, 0.0001]])
def test_known_cells_under_much_noise(pi):
    """Hardly anything to learn: TV (1 - kappa) is nearly the value, so a lower end above it is wrong."""
    threat = dr.Threat(dr.Prior.of(pi), dr.Knowledge.everything())
    answer = dr.assess(dr.Gaussian(1000.0, query=np.eye(3)), threat)
    largest = formulas.gdp_tv(math.sqrt(2.0) / 1000.0) * (1 - sum(p * p for p in pi))
    assert (answer.rad.low or 0.0) <= answer.rad.value <= largest + 1e-9


@pytest.mark.parametrize("mu", [0.05, 0.5, 2.0, 5.0])
@pytest.mark.parametrize("pi", [(0.5, 0.5), (0.9, 0.1)])
def test_known_cells_from_above(mu, pi):
    """Two cells: the closed form lies below the proven end, and close to it."""
    prior = dr.Prior.of(pi)
    cover = dr.Threat(prior, dr.Knowledge.everything()).cover
    low, high = known_cell_risk(dr.Gaussian(1 / mu, query=np.eye(2)).at(prior).one_hot, prior, cover).rad
    exact, _ = vectors.two_candidates(math.sqrt(2.0) * mu, pi)
    assert low <= exact <= high <= exact + 5e-4


def two_near_and_one_far(apart: float, far: float, sigma: float) -> mpmath.mpf:
    """Return the rad of two values ``apart`` and a third of weight ``far`` that no noise hides, by its definition."""
    near = 1 / (2 + mpmath.mpf(far))
    third = far * near
    closer = mpmath.ncdf(mpmath.mpf(apart) / (2 * mpmath.mpf(sigma)))  # the output is nearer to the true one of the two
    return 2 * near * ((1 - near) * closer - near * (1 - closer)) + third * (1 - third)


@pytest.mark.parametrize("coordinates", [1, 2, 5])
@pytest.mark.parametrize(
    ("apart", "origin", "sigma"),
    [(3, 2**52, 2e5), (25, 2**47, 549907.6), (17, 2**46, 361369.4), (2, 2**41, 214080.2), (37, 2**41, 20957.0)],
)
def test_rounding_of_a_long_line_is_part_of_the_interval(apart, origin, sigma, coordinates):
    with mpmath.workdps(40):
        truth = two_near_and_one_far(apart * mpmath.sqrt(coordinates), 1e-8, sigma)
    query = np.array([[origin + apart] * coordinates, [origin] * coordinates, [0] * coordinates], dtype=float)
    threat = dr.Threat(dr.Prior.of(np.array([1.0, 1.0, 1e-8]) / (2.0 + 1e-8)))
    rad = dr.assess(dr.Gaussian(sigma=sigma, query=query), threat).rad
    assert (rad.low or 0.0) <= truth <= rad.value
    assert rad.value <= 2.0 * truth  # an interval of any use
