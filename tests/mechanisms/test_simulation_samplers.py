"""Samplers: shapes, ranges, and the right probabilities, shown with the power to see wrong ones.

Each cell of a sample is compared with its probability by an exact binomial test at 1e-9 (divided by the number of
cells). Seeds are fixed, so a pass stays a pass; the same test must reject the mechanism with 0.7 and 1.3 times its
parameter.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import binom, laplace, norm

import dpradar as dr

FAILURE = 1e-9
DRAWS = 100_000
M = 4
VALUES = dr.Prior.uniform(M, [0.0, 1.0, 3.0, 4.0])


def compatible(counts: np.ndarray, probabilities: np.ndarray) -> bool:
    """Whether every count is possible for its probability at the failure level."""
    tail = FAILURE / (2 * counts.size)
    n = counts.sum()
    return bool(
        np.all(binom.cdf(counts, n, probabilities) > tail) and np.all(binom.sf(counts - 1, n, probabilities) > tail)
    )


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def finite_matrix(mechanism) -> np.ndarray:
    """The channel, columns in the mechanism's own order."""
    return np.hstack(list(mechanism.at(VALUES).finite.chunks(1 << 16)))


def bit_index(report: np.ndarray) -> np.ndarray:
    return report.astype(np.int64) @ (1 << np.arange(M))


def subset_index(mechanism, report: np.ndarray) -> np.ndarray:
    sets = {s: i for i, s in enumerate(itertools.combinations(range(M), mechanism.omega))}
    return np.array([sets[tuple(np.flatnonzero(row).tolist())] for row in report])


FINITE = {
    "grr": (lambda f: dr.GRR(M, 1.5 * f), lambda _, r: r),
    "sue": (lambda f: dr.SUE(M, 1.5 * f), lambda _, r: bit_index(r)),
    "oue": (lambda f: dr.OUE(M, 1.5 * f), lambda _, r: bit_index(r)),
    "subset": (lambda f: dr.SubsetSelection(M, 0.5 * f), subset_index),
    "exponential": (lambda f: dr.Exponential(3.0 * f), lambda _, r: r),
}


@pytest.mark.parametrize("value", range(M))
@pytest.mark.parametrize("name", FINITE)
def test_finite_mechanisms(name, value):
    make, index = FINITE[name]
    mechanism = make(1.0)
    report = mechanism.at(VALUES).sample(np.full(DRAWS, value), rng(value))
    assert len(report) == DRAWS
    outputs = finite_matrix(mechanism)[value]
    counts = np.bincount(index(mechanism, report), minlength=outputs.size)
    assert compatible(counts, outputs)
    for factor in (0.7, 1.3):
        assert not compatible(counts, finite_matrix(make(factor))[value])


def test_given_channel():
    matrix = np.array([[0.7, 0.3, 0.0], [0.1, 0.2, 0.7]])
    inputs = np.tile([0, 1], DRAWS)
    report = dr.Channel(matrix).at(None).sample(inputs, rng(1))
    for value in (0, 1):
        counts = np.bincount(report[inputs == value], minlength=3)
        assert compatible(counts[matrix[value] > 0], matrix[value][matrix[value] > 0])
        assert counts[matrix[value] == 0].sum() == 0
        assert not compatible(counts, matrix[1 - value])


LATTICE = {"geometric": dr.Geometric, "discrete gaussian": dr.DiscreteGaussian}


@pytest.mark.parametrize("name", LATTICE)
@pytest.mark.parametrize("clamp", [None, (0, 3)])
def test_whole_number_noise(name, clamp):
    """Counts of each distance from the value against the law, tails together."""
    kind, value, scale = LATTICE[name], 1, 1.5

    def probabilities(s: float) -> np.ndarray:
        k = np.arange(-60, 61)
        weight = np.exp(-np.abs(k) / s) if kind is dr.Geometric else np.exp(-(k**2) / (2 * s * s))
        out = np.clip(k + 1, *(clamp or (-5, 7))) - (clamp or (-5, 7))[0]
        return np.bincount(out, weights=weight / weight.sum())

    report = kind(scale, truncate=clamp).at(VALUES).sample(np.full(DRAWS, value), rng(2))
    assert np.issubdtype(report.dtype, np.integer)
    low, high = clamp or (-5, 7)
    counts = np.bincount(np.clip(report, low, high) - low, minlength=high - low + 1)
    if clamp:
        assert report.min() >= low
        assert report.max() <= high
    assert compatible(counts, probabilities(scale))
    assert not compatible(counts, probabilities(0.7 * scale))
    assert not compatible(counts, probabilities(1.3 * scale))


@pytest.mark.parametrize(("kind", "law"), [(dr.Laplace, laplace), (dr.Gaussian, norm)])
def test_real_noise(kind, law):
    """Twenty cells of the line; clamped mass sits on the ends."""
    edges = np.linspace(-4.0, 6.0, 21)
    report = kind(2.0).at(VALUES).sample(np.full(DRAWS, 1), rng(3))
    assert report.shape == (DRAWS,)
    counts = np.histogram(report, np.r_[-np.inf, edges, np.inf])[0]

    def cells(scale: float) -> np.ndarray:
        return np.diff(np.r_[0.0, law.cdf(edges, loc=1.0, scale=scale), 1.0])

    assert compatible(counts, cells(2.0))
    assert not compatible(counts, cells(1.4))
    assert not compatible(counts, cells(2.6))
    clamped = kind(2.0, truncate=(0.0, 3.0)).at(VALUES).sample(np.full(DRAWS, 1), rng(4))
    ends = np.array([(clamped == 0.0).sum(), (clamped == 3.0).sum(), ((clamped > 0.0) & (clamped < 3.0)).sum()])
    below, above = law.cdf(0.0, loc=1.0, scale=2.0), law.sf(3.0, loc=1.0, scale=2.0)
    assert compatible(ends, np.array([below, above, 1.0 - below - above]))


def test_noise_on_vectors_is_independent_per_coordinate():
    query = np.array([[0.0, 0.0, 5.0], [1.0, 2.0, 0.0]])
    prior = dr.Prior.uniform(2)
    report = dr.Gaussian(1.0, query=query).at(prior).sample(np.array([1] * DRAWS), rng(5))
    assert report.shape == (DRAWS, 3)
    # A mean of 100,000 unit Gaussians is within 6.2 standard errors, a product of two within 7 (failure below 1e-9).
    assert np.abs(report.mean(axis=0) - query[1]).max() < 6.2 / np.sqrt(DRAWS)
    residual = report - query[1]
    assert np.abs(np.corrcoef(residual.T) - np.eye(3)).max() < 7 / np.sqrt(DRAWS)


@pytest.mark.parametrize("value", [0, 2])
def test_exponential_on_an_interval(value):
    prior = dr.Prior.uniform(3, [0.0, 1.0, 2.5])
    edges = np.linspace(-1.0, 3.0, 17)

    def cells(epsilon: float) -> np.ndarray:
        s, z = 2 * 4.0 / epsilon, prior.values[value]
        inside = laplace.cdf(edges, loc=z, scale=s)
        return np.diff(inside) / (inside[-1] - inside[0])

    report = dr.Exponential(8.0, interval=(-1.0, 3.0)).at(prior).sample(np.full(DRAWS, value), rng(6))
    assert report.min() >= -1.0
    assert report.max() <= 3.0
    counts = np.histogram(report, edges)[0]
    assert counts.sum() == DRAWS
    assert compatible(counts, cells(8.0))
    assert not compatible(counts, cells(0.7 * 8.0))
    assert not compatible(counts, cells(1.3 * 8.0))


def test_composed_reports_are_tuples_of_independent_reports():
    composed = dr.Composed([dr.GRR(M, 1.0), dr.GRR(M, 2.0), dr.Laplace(1.0)]).at(VALUES)
    first, second, third = composed.sample(np.full(DRAWS, 2), rng(7))
    assert first.shape == second.shape == third.shape == (DRAWS,)
    joint = np.bincount(first * M + second, minlength=M * M)
    law = np.outer(finite_matrix(dr.GRR(M, 1.0))[2], finite_matrix(dr.GRR(M, 2.0))[2]).ravel()
    assert compatible(joint, law)


@pytest.mark.parametrize(
    "mechanism",
    [
        dr.GRR(M, 1.0),
        dr.OUE(M, 1.0),
        dr.SubsetSelection(M, 0.3),
        dr.Laplace(1.0),
        dr.Geometric(1.0),
        dr.Exponential(1.0),
    ],
)
def test_same_seed_same_reports(mechanism):
    release = mechanism.at(VALUES)
    inputs = rng(8).integers(0, M, 1000)
    first, second = release.sample(inputs, rng(9)), release.sample(inputs, rng(9))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, release.sample(inputs, rng(10)))
    assert len(release.sample(np.array([], dtype=np.intp), rng(9))) == 0


def test_rare_bits_are_not_rounded_away():
    """Other bits of OUE at epsilon 12 are set 6 in a million times: single precision must not distort that."""
    m, epsilon, n = 500, 12.0, 4000
    bits = dr.OUE(m, epsilon).at(None).sample(np.zeros(n, dtype=np.intp), rng(11))
    assert bits.shape == (n, m)
    others = int(bits[:, 1:].sum())
    probability = 1.0 / (np.exp(epsilon) + 1.0)
    assert binom.cdf(others, n * (m - 1), probability) > FAILURE
    assert binom.sf(others - 1, n * (m - 1), probability) > FAILURE
