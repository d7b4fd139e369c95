"""[RAD] Figures 10 and 11: the nested estimate converges to the quadrature, and the paper's error bound holds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpradar.mechanisms import Exponential
from dpradar.threats import Goal, Prior, Threat
from dpradar_reproduction import rad_fig10
from dpradar_reproduction.nested_monte_carlo import nested_monte_carlo, nested_monte_carlo_failure
from tests.twin import continuous

FIGURE = [(shape, epsilon, eta) for shape in (1.0, 0.1) for epsilon in rad_fig10.EPSILONS for eta in rad_fig10.ETAS]


def setting(shape: float, epsilon: float):
    law = rad_fig10.BetaLaw(shape)
    prior = Prior.continuous(law, 0.0, 1.0)
    return law, prior, Exponential(epsilon=epsilon, interval=(0.0, 1.0)).at(prior).continuous


def calculus(shape: float, epsilon: float, eta: float, draws: int, runs: int) -> np.ndarray:
    law, prior, model = setting(shape, epsilon)
    rng = np.random.default_rng(7)
    return np.array([rad_fig10.calculus_monte_carlo(model, prior, law, eta, draws, rng) for _ in range(runs)])


@pytest.mark.parametrize(("shape", "epsilon", "eta"), FIGURE)
def test_quadrature_of_the_figures(shape, epsilon, eta):
    (row, _) = rad_fig10.compute(shape, epsilons=[epsilon], etas=[eta], draws=[4], runs=2, grid_runs=2).rows
    reference = continuous.converged(shape, shape, epsilon, eta, known=False, n=500).limit.rad
    assert row["quadrature"] < row["quadrature_low"] + 1e-4
    assert row["quadrature_low"] - 1e-6 <= reference <= row["quadrature"] + 1e-6  # 1e-6 is the twin's own accuracy


@pytest.mark.parametrize("shape", [1.0, 0.1])
@pytest.mark.parametrize(("epsilon", "eta"), [(1.0, 0.05), (10.0, 0.2)])
def test_the_papers_estimate_agrees_with_the_quadrature_within_its_standard_error(shape, epsilon, eta):
    exact = continuous.converged(shape, shape, epsilon, eta, known=False, n=500).limit.rad
    values = calculus(shape, epsilon, eta, draws=120, runs=30)
    standard_error = values.std(ddof=1) / math.sqrt(values.size)
    assert abs(values.mean() - exact) <= 4 * standard_error
    assert standard_error < 0.02 * exact  # or the line above would prove nothing


@pytest.mark.parametrize("shape", [1.0, 0.1])
def test_the_papers_estimate_converges(shape):
    """Four times the draws halve the deviation: 30 runs tell 1/2 from 1 and from 1/4."""
    few, many = (calculus(shape, 5.0, 0.2, draws, 30).std(ddof=1) for draws in (40, 160))
    assert 0.3 < many / few < 0.8


def test_the_best_of_a_grid_of_guesses_is_too_large_until_there_are_many_draws():
    """The maximum over 201 noisy scores picks up noise; the few candidates of the paper do not."""
    _, prior, model = setting(1.0, 5.0)
    exact = continuous.converged(1, 1, 5, 0.05, known=False, n=500).limit.rad
    rng = np.random.default_rng(3)
    excess = []
    for draws in (50, 100, 200):
        values = np.array([nested_monte_carlo(model, prior.interval, 0.05, draws, rng) for _ in range(20)])
        excess.append(values.mean() - exact)
        assert excess[-1] > 4 * values.std(ddof=1) / math.sqrt(20)
    assert excess[0] > excess[1] > excess[2]
    assert abs(calculus(1.0, 5.0, 0.05, 100, 40).mean() - exact) < excess[1] / 3


def test_at_most_four_candidates():
    """The paper's error bound counts four."""
    for shape, epsilon, eta in [
        (1.0, 1.0, 0.05),
        (1.0, 20.0, 0.4),
        (0.1, 10.0, 0.2),
        (0.1, 50.0, 0.05),
        (3.0, 5.0, 0.6),
    ]:
        law, _, model = setting(shape, epsilon)
        outputs = np.linspace(0.0, 1.0, 101)[:, None]
        places = np.asarray(law.ppf((np.arange(2000) + 0.5) / 2000))[None, :]
        average = rad_fig10._density(model, outputs, places).mean(axis=1, keepdims=True)
        rows, guesses = rad_fig10._candidates(model, law, outputs, average, eta)
        counts = np.bincount(rows, minlength=101)
        assert counts.min() >= 1
        assert counts.max() <= 4
        assert np.all((guesses >= 0.0) & (guesses <= 1.0))


@pytest.mark.parametrize(("shape", "epsilon", "eta"), [(1.0, 1.0, 0.05), (1.0, 5.0, 0.2), (0.1, 1.0, 0.05)])
def test_the_papers_failure_bound_holds_for_both_estimators(shape, epsilon, eta):
    _, prior, model = setting(shape, epsilon)
    blind = Threat(prior, goal=Goal.within(eta)).kappa_plus
    exact = continuous.converged(shape, shape, epsilon, eta, known=False, n=500).limit.rad
    rng = np.random.default_rng(11)
    draws, runs = 100, 30
    grid = np.array([nested_monte_carlo(model, prior.interval, eta, draws, rng) for _ in range(runs)])
    for values, candidates in ((calculus(shape, epsilon, eta, draws, runs), 4), (grid, 201)):
        errors = np.abs(values - exact)
        for t in np.linspace(0.001, 6.0, 600):
            allowed = nested_monte_carlo_failure(float(t), draws, continuous.sup_density(epsilon), blind, candidates)
            assert np.mean(errors >= t) <= allowed
        promised = rad_fig10.guaranteed_error(draws, epsilon, blind, candidates)
        assert promised < 6.0  # so that the loop reached errors at which the bound says something
        assert errors.max() < promised / 5  # and it says little: the promise is far above what happens


def test_guaranteed_error_is_the_least_one():
    error = rad_fig10.guaranteed_error(400, 5.0, 0.4, 4)
    largest = continuous.sup_density(5.0)
    assert nested_monte_carlo_failure(error, 400, largest, 0.4, 4) <= 0.05
    assert nested_monte_carlo_failure(error * (1 - 1e-9), 400, largest, 0.4, 4) > 0.05
    assert rad_fig10.guaranteed_error(1600, 5.0, 0.4, 4) == pytest.approx(error / 2, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_largest_density(epsilon):
    assert rad_fig10.sup_density(epsilon) == pytest.approx(continuous.sup_density(epsilon), rel=1e-14)
    _, _, model = setting(1.0, epsilon)
    z, theta = np.meshgrid(np.linspace(0, 1, 101), np.linspace(0, 1, 101))
    assert rad_fig10._density(model, theta, z).max() == pytest.approx(rad_fig10.sup_density(epsilon), rel=1e-12)


@pytest.mark.parametrize("shape", [1.0, 0.1])
def test_laws(shape):
    law = rad_fig10.BetaLaw(shape)
    x = np.linspace(0.01, 0.99, 99)
    assert law.ppf(law.cdf(x)) == pytest.approx(x, rel=1e-9)
    slope = (law.cdf(x + 1e-6) - law.cdf(x - 1e-6)) / 2e-6
    assert law.density(x) == pytest.approx(slope, rel=1e-4)
    assert law.density(np.array([-0.5, 0.0, 1.0, 1.5])).tolist() == [0.0] * 4


def test_summary_of_the_runs():
    table = rad_fig10.compute(1.0, epsilons=[1.0], etas=[0.1], draws=[20, 40], runs=5, grid_runs=5)
    assert [(row["draws"], row["estimator"]) for row in table.rows] == [
        (20, "calculus"),
        (20, "grid"),
        (40, "calculus"),
        (40, "grid"),
    ]
    for row in table.rows:
        reach = 2.7764451051977987 * row["deviation"] / math.sqrt(5)  # Student's quantile, 4 degrees of freedom
        assert (row["low"], row["high"]) == pytest.approx((row["mean"] - reach, row["mean"] + reach), rel=1e-12)


@pytest.mark.slow
def test_settings_of_the_paper():
    """Appendix A.2, before Figures 10 and 11: eta in {.1, .25, .5, .75}, J = 500; the quick version has fewer runs."""
    assert rad_fig10.ETAS == (0.1, 0.25, 0.5, 0.75)
    assert rad_fig10.RUNS == 500
    table = rad_fig10.compute(0.1, epsilons=[1.0], draws=[4], grid_runs=2)
    assert [(row["eta"], row["runs"]) for row in table.where(estimator="calculus").rows] == [
        (eta, 500) for eta in rad_fig10.ETAS
    ]
    assert set(table.where(estimator="grid").numbers("runs")) == {2}


@pytest.mark.parametrize(("eta", "shape"), [(0.5, 1.0), (0.75, 0.1)])
def test_many_runs_agree_with_the_quadrature(eta, shape):
    """500 runs see a bias of a few thousandths; windows of more than half the range leave only the ends to guess."""
    exact = continuous.converged(shape, shape, 5.0, eta, known=False, n=500).limit.rad
    values = calculus(shape, 5.0, eta, draws=60, runs=500)
    standard_error = values.std(ddof=1) / math.sqrt(values.size)
    assert abs(values.mean() - exact) <= 4 * standard_error + 0.005
    assert standard_error < 0.01


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers():
    first, second = (
        rad_fig10.compute(0.1, epsilons=[1.0], etas=[0.1], draws=[20], runs=3, grid_runs=3) for _ in range(2)
    )
    assert first == second
    other = rad_fig10.compute(
        0.1, epsilons=[1.0], etas=[0.1], draws=[20], runs=3, grid_runs=3, rng=np.random.default_rng(2)
    )
    assert other != first
