"""The later references of the twin, each against something else: enumeration, closed forms, plain sums, simulation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from tests.twin import brute, channels, continuous, counted, densities, lines, mixed, protocols, repeated, vectors

F = Fraction

# Protocols.


@pytest.mark.parametrize(("epsilon", "threshold"), [(1.0, 0.5), (1.0, 0.9), (4.0, 0.7)])
def test_the_bits_are_what_noise_does(epsilon, threshold):
    """A million noisy coordinates; the interval is narrow enough to tell a wrong scale (1/eps) apart."""
    rng = np.random.default_rng(1)
    noise = rng.laplace(0, 2 / epsilon, 1_000_000)
    p, q = protocols.the_bits(epsilon, threshold)
    assert np.mean(1 + noise > threshold) == pytest.approx(float(p), abs=0.0025)
    assert np.mean(noise > threshold) == pytest.approx(float(q), abs=0.0025)
    assert abs(float(q) - math.exp(-epsilon * threshold) / 2) > 0.0025


def test_the_is_private_and_takes_the_threshold_of_least_variance():
    assert brute.epsilon(protocols.the(3, 2.0)) <= 2.0 + 1e-12
    best = protocols.the_threshold(2.0)

    def variance(t):
        p, q = map(float, protocols.the_bits(2.0, t))
        return q * (1 - q) / (p - q) ** 2

    assert all(variance(best) <= variance(t) + 1e-15 for t in np.linspace(0.5, 1, 501))


@pytest.mark.parametrize("m", [2, 3, 4, 7])
def test_hadamard_response_is_a_channel_of_its_epsilon(m):
    P = protocols.hadamard(m, F(3))
    assert all(sum(row) == 1 for row in P)
    assert brute.max_ratio(P) == 3
    assert len(P[0]) == 2 ** math.ceil(math.log2(m + 1))
    assert all(sum(x > 1 / F(len(row)) for x in row) == len(row) // 2 for row in P)


@pytest.mark.parametrize("name", ["GRR", "SUE", "OUE", "SubsetSelection", "BLH", "OLH", "THE", "HadamardResponse"])
def test_protocols_have_the_epsilon_they_are_given(name):
    P = protocols.protocol(name, 3, 1.0)
    assert all(abs(sum(row) - 1) < F(1, 10**30) for row in P)
    assert brute.epsilon(P) == pytest.approx(1.0, rel=1e-12) if name != "THE" else brute.epsilon(P) <= 1.0


def test_exponential_keeps_the_digits_of_small_numbers():
    assert float(protocols.exponential(1e-20) - 1) == pytest.approx(1e-20, rel=1e-15)


# Repeated reports.


@pytest.mark.parametrize("times", [1, 2, 4])
def test_counts_of_reports_are_as_good_as_their_sequence(times):
    rng = channels.seeded(times)
    P, pi = channels.random_channel(rng, 3, 3), channels.random_row(rng, 3)
    listed = repeated.sequence_risk(repeated.sequences(P, times), pi, [0, 0, 1])
    by_counts = repeated.counted_channel(P, times)
    assert brute.rad(by_counts, pi, [0, 0, 1], brute.exact(3)) == listed["rad"]
    assert brute.success(by_counts, pi, [0, 0, 1], brute.exact(3)) == listed["success"]


@pytest.mark.parametrize("times", [5, 12])
def test_many_reports_have_the_success_of_the_closed_form(times):
    uniform = [F(1, 3)] * 3
    by_counts = repeated.counted_channel(channels.grr(3, F(2)), times)
    assert brute.success(by_counts, uniform, [0] * 3, brute.exact(3)) == repeated.grr_success(3, times, F(2))
    bits = repeated.unary_counts(3, F(1, 2), F(1, 5), times)
    assert brute.success(bits, uniform, [0] * 3, brute.exact(3)) == repeated.unary_success(3, times, F(1, 2), F(1, 5))


# Noise together with a finite channel.


def test_a_channel_that_says_nothing_adds_nothing():
    values, pi, a, S = [0.0, 1.0, 2.5], [0.5, 0.3, 0.2], [0, 0, 1], brute.within([0, 1, 2.5], 1)
    alone = lines.risks(lines.laplace(1.0), values, pi, a, S)
    together = mixed.risks(lines.laplace(1.0), values, channels.constant(3), pi, a, S)
    assert together == pytest.approx(alone[:2], abs=1e-10)


def test_noise_that_says_nothing_adds_nothing():
    P, pi, S = channels.grr(3, F(4)), [F(1, 2), F(3, 10), F(1, 5)], brute.exact(3)
    rad, success = mixed.risks(lines.gaussian(1e6), [0.0, 1.0, 2.0], P, [0.5, 0.3, 0.2], [0, 0, 0], S)
    assert rad == pytest.approx(float(brute.rad(P, pi, [0, 0, 0], S)), abs=1e-5)
    assert success == pytest.approx(float(brute.success(P, pi, [0, 0, 0], S)), abs=1e-5)


@pytest.mark.parametrize("noise", [lines.laplace(0.7), lines.gaussian(0.9)])
def test_noise_and_channel_by_a_plain_sum(noise):
    """The joint channel written out on a fine grid; alone, either part is worth clearly less."""
    values, pi = np.array([0.0, 1.0, 3.0]), np.array([0.5, 0.3, 0.2])
    P = np.array([[float(x) for x in row] for row in channels.grr(3, F(3))])
    edges = np.linspace(-40, 43, 40_001)
    middle = (edges[1:] + edges[:-1]) / 2
    density = noise.density(middle[None, :] - values[:, None]) * np.diff(edges)
    joint = np.concatenate([P[:, [t]] * density for t in range(3)], axis=1)
    plain = np.maximum.reduce(pi[:, None] * (joint - pi @ joint)).sum(), np.maximum.reduce(pi[:, None] * joint).sum()
    S = brute.exact(3)
    assert mixed.risks(noise, values, channels.grr(3, F(3)), pi, [0, 0, 0], S) == pytest.approx(plain, abs=2e-6)
    assert plain[0] > lines.risks(noise, values, pi, [0, 0, 0], S)[0] + 0.01


# Vectors.


def test_laplace_on_vectors_of_one_coordinate_is_noise_on_the_line():
    points, pi = np.array([[0.0], [1.0], [3.0]]), [0.5, 0.3, 0.2]
    for a in ([0, 0, 0], [0, 0, 1], [0, 1, 2]):
        rad, success, _ = lines.risks(lines.laplace(1.0), points[:, 0], pi, a, brute.exact(3))
        simulated = vectors.laplace_monte_carlo(points, pi, a)
        assert simulated.rad == pytest.approx(rad, abs=5 * simulated.rad_error)
        assert simulated.success == pytest.approx(success, abs=5 * simulated.success_error + 1e-12)
        assert simulated.rad_error < 0.002  # half the scale would be seen
        assert abs(lines.risks(lines.laplace(0.5), points[:, 0], pi, a, brute.exact(3))[0] - rad) > 0.05


# Continuous priors.


def enclosed(law, low, high, noise, eta, *, known=False, clamp=None):
    return densities.enclosed(densities.Setting(law, low, high, noise, eta, clamp), known=known)


def test_uniform_prior_far_from_its_ends_is_the_closed_form():
    """Window and noise small beside the interval: success is Pr[|noise| <= eta], but for the ends."""
    sigma, eta = 0.005, 0.004
    inside = 2 * scipy.stats.norm.cdf(eta / sigma) - 1
    truth = enclosed(scipy.stats.uniform(), 0.0, 1.0, densities.gaussian(sigma), eta)
    assert truth.baseline[0] <= 2 * eta <= truth.baseline[1]
    assert truth.rad[0] < inside - 2 * eta * (1 - 2 * eta) + 0.5 * sigma
    assert truth.success[0] <= inside + sigma
    assert truth.success[1] >= inside


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 3), (0.5, 0.5)])
@pytest.mark.parametrize("known", [False, True])
def test_a_fine_finite_prior_has_nearly_the_same_risk(a, b, known):
    """The prior as 400 points at the means of its cells, the noisy number as 800 cells, by the formula for channels."""
    n, scale, eta = 400, 0.2, 0.1
    mass, mean = continuous.prior_cells(a, b, n)
    edges = np.linspace(-4, 5, 1601)
    cdf = densities.laplace(scale).cdf(edges[None, :] - mean[:, None])
    P = np.diff(np.hstack([np.zeros((n, 1)), cdf, np.ones((n, 1))]), axis=1)
    weights = mass[:, None] * (P - mass @ P)
    if known:
        free = np.maximum(mean, 1 - mean) > eta
        rad = np.maximum(weights[free], 0).sum()
    else:
        sums = np.vstack([np.zeros(P.shape[1]), np.cumsum(weights, axis=0)])
        k, g = round(eta * n), np.arange(n + 1)
        rad = (sums[np.minimum(g + k, n)] - sums[np.maximum(g - k, 0)]).max(axis=0).sum()
    low, high = enclosed(scipy.stats.beta(a, b), 0.0, 1.0, densities.laplace(scale), eta, known=known).rad
    assert low - 1e-4 <= rad <= high + 1e-4
    assert high - low < 2e-3


def test_a_narrow_prior_on_a_wide_interval_is_seen():
    """The same prior on the interval that holds it and on one a hundred times as wide."""
    law, noise = scipy.stats.norm(0.5, 1e-3), densities.laplace(1e-3)
    wide, tight = enclosed(law, 0.0, 1.0, noise, 1e-3), enclosed(law, 0.49, 0.51, noise, 1e-3)
    assert wide.rad == pytest.approx(tight.rad, abs=1e-4)
    assert wide.rad[0] <= 0.2708 <= wide.rad[1]


def test_a_window_that_ends_inside_the_prior_is_used():
    """Every guess near the middle is always right and gains nothing; one that covers half of the prior does."""
    low, _ = enclosed(scipy.stats.norm(0.5, 0.01), 0.0, 1.0, densities.gaussian(0.01), 0.2).rad
    assert low > 0.1


def test_clamping_takes_information():
    law, noise = scipy.stats.uniform(), densities.laplace(0.3)
    free, clamped = (enclosed(law, 0.0, 1.0, noise, 0.1, clamp=c) for c in (None, (0.3, 0.7)))
    assert clamped.rad[1] < free.rad[0]
    wide = enclosed(law, 0.0, 1.0, noise, 0.1, clamp=(-30.0, 30.0))
    assert wide.rad == pytest.approx(free.rad, abs=1e-4)


# Tables.


def test_counting_by_hand():
    rows = [("a",), ("b",), ("a",), (None,), (float("nan"),)]
    assert counted.prior(rows) == {("a",): F(2, 5), ("b",): F(1, 5), (None,): F(2, 5)}
    assert counted.prior(rows, [1, 2, 1, 0, 0.5])[("b",)] == F(4, 9)
    assert counted.suppressed(rows, 2) == {("b",)}


def test_bins_are_of_decimals():
    tenth = counted.width_bin("0.1")
    assert [tenth(x) for x in (0.3, 0.7, 0.29999999999999993, -0.1, math.nan)] == [3, 7, 2, -1, None]
    assert [counted.edges_bin([0, 1, 5])(x) for x in (0, 0.5, 1, 5)] == [0, 0, 1, 1]
