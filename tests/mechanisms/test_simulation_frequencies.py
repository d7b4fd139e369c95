"""Frequencies from reports: unbiased, with the variance that is stated, for every protocol."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, norm

import dpradar as dr

PROTOCOLS = (dr.GRR, dr.SUE, dr.OUE, dr.SubsetSelection, dr.BLH, dr.OLH, dr.SHE, dr.THE, dr.HadamardResponse)
M, REPEATS = 7, 400
COUNTS = np.array([900, 500, 300, 150, 100, 50, 0])


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.__name__)
def test_unbiased_with_the_stated_deviation(protocol):
    mechanism = protocol(M, 1.2)
    sample, rng = mechanism.at(None).sample, np.random.default_rng(7)
    values = np.repeat(np.arange(M), COUNTS)
    truth = COUNTS / COUNTS.sum()
    results = [dr.frequencies(mechanism, sample(values, rng)) for _ in range(REPEATS)]
    estimates = np.array([one.estimate for one in results])
    deviation = np.median([one.deviation for one in results], axis=0)
    # Per value: the mean of the estimates, and their spread, each at 1e-7.
    z = (estimates.mean(axis=0) - truth) / (deviation / np.sqrt(REPEATS))
    assert np.abs(z).max() < norm.isf(1e-7 / 2)
    spread = estimates.var(axis=0, ddof=1) / deviation**2 * (REPEATS - 1)
    low, high = chi2.ppf([5e-8, 1 - 5e-8], REPEATS - 1)
    assert low < spread.min()
    assert spread.max() < high


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.__name__)
def test_batches_add_up(protocol):
    mechanism = protocol(M, 1.0)
    reports = mechanism.at(None).sample(np.arange(60) % M, np.random.default_rng(1))
    whole = dr.frequencies(mechanism, reports)
    parts = dr.frequencies(mechanism, (reports[k : k + 17] for k in range(0, 60, 17)))
    np.testing.assert_allclose(parts.estimate, whole.estimate, atol=1e-12)
    assert parts.reports == whole.reports == 60


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.__name__)
def test_deviation_near_zero_is_the_cost(protocol):
    mechanism = protocol(M, 1.0)
    reports = mechanism.at(None).sample(np.zeros(4000, dtype=int), np.random.default_rng(2))
    estimates = dr.frequencies(mechanism, reports)
    least = estimates.deviation[np.argmin(estimates.estimate)] * np.sqrt(4000)
    assert least == pytest.approx(mechanism.cost()["frequency_error"], rel=1e-9)


@pytest.mark.parametrize(
    ("protocol", "reports", "words"),
    [
        (dr.OUE(5, 1.0), np.zeros((3, 4), dtype=bool), "reports of OUE"),
        (dr.GRR(5, 1.0), np.array([1.5, 2.0]), "reports of GRR"),
        (dr.GRR(5, 1.0), np.array([7]), "reports of GRR"),
        (dr.GRR(5, 1.0), np.array([], dtype=int), "at least one report"),
        (dr.GRR(5, 0.0), np.array([1]), "depend on the value"),
        (dr.GRR(5, 1.0), 3, "an array of reports"),
        (dr.Laplace(1.0), np.array([1.0]), "a local protocol"),
    ],
)
def test_bad_input(protocol, reports, words):
    with pytest.raises(dr.ParameterError, match=words):
        dr.frequencies(protocol, reports)
