"""Numbers far from 1: what differs stays different, and what is not seen is not called exact."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.stats import beta, expon, lognorm, norm

import dpradar as dr
from dpradar.guarantees.curves import gaussian_curve
from dpradar.guarantees.losses import pair_of_curve

NAN = float("nan")


@pytest.mark.parametrize("column", [[NAN] * 6, [float("nan") for _ in range(6)], np.full(6, np.nan), [None] * 6])
def test_missing_values_are_one_record(column):
    prior = dr.Prior.records({"income": [*column, 1.0, 2.0, 3.0, 4.0]})
    assert prior.size == 5
    assert dr.Threat(prior).best_blind_guess == pytest.approx(0.6)


def test_missing_values_are_one_label_also_in_another_process():
    labels = np.array([np.nan, np.nan, np.nan, 1.0])
    threat = dr.Threat(dr.Prior.uniform(4), goal=dr.Goal.labels(labels))
    assert dr.assess(dr.GRR(m=4, epsilon=1.0), threat).success.value == pytest.approx(0.75)
    assert np.unique(dr.Knowledge.labels(labels).codes(dr.Prior.uniform(4))).size == 2
    records = dr.Prior.records({"a": [NAN, NAN, 1.0, 1.0], "b": [0, 1, 0, 1]})
    for one in (records, pickle.loads(pickle.dumps(records))):  # noqa: S301 - made a word before
        assert dr.Knowledge.columns("a").codes(one).tolist() == [0, 0, 1, 1]


def test_a_value_that_is_missing_twice_is_refused():
    with pytest.raises(dr.ParameterError, match="stands twice"):
        dr.Prior.of([0.5, 0.5], values=[NAN, float("nan")])


@pytest.mark.parametrize(
    ("law", "low", "high", "eta", "mechanism"),
    [
        (lognorm(0.7, scale=40_000), 0.0, 1e9, 5_000.0, dr.Gaussian(1_000.0)),
        (lognorm(0.7, scale=40_000), 0.0, 1e9, 5_000.0, dr.Gaussian(30_000.0)),
        (lognorm(0.7, scale=40_000), 0.0, 1e9, 5_000.0, dr.Laplace(10_000.0)),
        (beta(2, 3), 0.0, 1.0, 0.01, dr.Gaussian(1e-7)),
        (beta(2, 3), 0.0, 1.0, 0.05, dr.Exponential(epsilon=1e8, interval=(0.0, 1.0))),
    ],
)
@pytest.mark.parametrize("known", [dr.Knowledge.nothing(), dr.Knowledge.everything()], ids=["nothing", "everything"])
def test_noise_that_no_grid_sees_is_not_called_harmless(law, low, high, eta, mechanism, known):
    """Saying the output is an attack, and a lower bound."""
    threat = dr.Threat(dr.Prior.continuous(law, low, high), known, dr.Goal.within(eta))
    assessment = dr.assess(mechanism, threat)
    rng = np.random.default_rng(1)
    x, other = law.rvs(4000, random_state=rng), law.rvs(4000, random_state=rng)
    if isinstance(mechanism, dr.Exponential):
        reports = x  # the noise is 1e-8
    else:
        noise = rng.normal if isinstance(mechanism, dr.Gaussian) else rng.laplace
        reports = x + noise(0.0, getattr(mechanism, "sigma", getattr(mechanism, "scale", None)), 4000)
    rad = (np.abs(reports - x) <= eta).mean() - (np.abs(reports - other) <= eta).mean()
    assert assessment.rad.value >= rad - 0.03


def test_no_noise_is_not_enough_because_no_grid_sees_it():
    threat = dr.Threat(dr.Prior.continuous(beta(2, 3), 0.0, 1.0), goal=dr.Goal.within(0.01))
    assert dr.calibrate(dr.Gaussian, dr.Limit(threat, rad=0.05), precision=0.1).status != "free"


@pytest.mark.parametrize(
    ("law", "low", "high", "eta", "sigma"),
    [(norm(), 8.2, 9.0, 0.05, 0.1), (norm(), 7.9, 9.0, 0.05, 0.02)],
)
def test_upper_tails_are_lower_tails_in_a_mirror(law, low, high, eta, sigma):
    goal = dr.Goal.within(eta)
    risk, mirrored = (
        dr.assess(dr.Gaussian(sigma), dr.Threat(dr.Prior.continuous(law, *ends), goal=goal)).rad.value
        for ends in ((low, high), (-high, -low))
    )
    assert risk == pytest.approx(mirrored, abs=1e-6)
    assert risk > 0.2


def test_the_tail_of_an_exponential_is_an_exponential():
    goal = dr.Goal.within(0.2)
    moved, first = (
        dr.assess(dr.Gaussian(0.5), dr.Threat(dr.Prior.continuous(expon(), low, low + 3.5), goal=goal)).rad.value
        for low in (36.5, 0.0)
    )
    assert moved == pytest.approx(first, abs=1e-6)


def test_a_tail_without_digits_is_refused():
    class Plain:
        cdf, ppf = norm().cdf, norm().ppf

    with pytest.raises(dr.ParameterError, match="too few"):
        dr.Prior.continuous(Plain(), 8.0, 9.0)
    assert dr.Prior.continuous(Plain(), 1.0, 2.0).is_continuous


@pytest.mark.parametrize("offset", [0, 1_700_000_000_000, 1_700_000_000_000_000])
@pytest.mark.parametrize("eta", [0, 1])
def test_time_stamps_are_as_far_apart_as_small_numbers(offset, eta):
    def risk(start):
        prior = dr.Prior.uniform(4, values=[start, start + 1, start + 2, start + 3])
        return dr.assess(dr.GRR(m=4, epsilon=2.0), dr.Threat(prior, goal=dr.Goal.within(eta)))

    shifted, expected = risk(offset), risk(0)
    assert (shifted.rad.value, shifted.success.value) == (expected.rad.value, expected.success.value)


def test_rounding_is_still_allowed_for():
    prior = dr.Prior.uniform(5, values=[0.1, 0.3, 0.5, 0.7, 0.9])
    assert dr.Goal.within(0.2).hits(prior).sum() == 13  # itself and its neighbours


@pytest.mark.parametrize("base", [2**53, 10**17, 1_700_000_000_000_000_000])
def test_whole_numbers_that_floats_cannot_hold_are_refused(base):
    values = [base, base + 1, base + 2]
    with pytest.raises(dr.ParameterError, match="Subtract the smallest"):
        dr.assess(dr.Laplace(0.3), dr.Threat(dr.Prior.uniform(3, values=values)))
    with pytest.raises(dr.ParameterError, match="Subtract the smallest"):
        dr.Laplace(0.3, query=values)
    assert dr.Laplace(0.3, query=[base, base + 4096]).query[1] == base + 4096


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
def test_what_all_vectors_have_in_common_does_not_count(offset):
    threat = dr.Threat(dr.Prior.uniform(3))
    expected = dr.assess(dr.Gaussian(1.0, query=2.0 * np.eye(3)), threat)
    release = dr.Gaussian(1.0, query=offset + 2.0 * np.eye(3))
    assert dr.assess(release, threat).success.value == pytest.approx(expected.success.value, abs=1e-9)
    noise = np.random.default_rng(1).normal(size=(50, 3))
    logs = [dr.Gaussian(1.0, query=at + 2.0 * np.eye(3)).at(None).likelihoods(at + noise) for at in (0.0, offset)]
    centred = [table - table.mean(axis=1, keepdims=True) for table in logs]
    np.testing.assert_allclose(centred[1], centred[0], atol=1e-6)


def test_losses_whose_masses_are_below_every_number():
    assessment = dr.assess(dr.Repeated(dr.GRR(m=2, epsilon=746.0), 8), dr.Threat(dr.Prior.uniform(2)))
    assert assessment.rad.value == pytest.approx(0.5)


@pytest.mark.parametrize("mu", [0.3, 1.0, 4.0, 8.0])
def test_the_pair_of_a_curve_dominates_it_in_both_orders_far_out(mu):
    pair = pair_of_curve(gaussian_curve(mu))
    epsilons = np.array([0.0, 1.0, 3.0, 5.0, 10.0, 20.0, 40.0])
    exact = norm.cdf(mu / 2 - epsilons / mu) - np.exp(epsilons + norm.logcdf(-mu / 2 - epsilons / mu))
    for one in (pair, pair.swapped()):
        assert np.all(one.delta(epsilons) >= exact - 1e-12)
