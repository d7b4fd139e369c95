"""Every number of `oracles` about Gaussian noise on vectors and Gaussian differential privacy, recomputed."""

from __future__ import annotations

import pytest

from tests.twin import formulas, oracles, vectors
from tests.twin.oracles import off

HALF = 0.5 + 1e-6
SIGMAS = 5  # standard errors allowed to a Monte Carlo estimate on top of the printed digits


@pytest.mark.parametrize("row", oracles.GDP_CALIBRATION)
def test_gdp_calibration(row):
    setting = row["steps"], row["m"], row["rad"]
    assert off(formulas.noise_for(formulas.thm_5_1_uniform, *setting), row["thm_5_1"]) <= HALF
    assert off(formulas.noise_for(formulas.thm_4_2_uniform, *setting), row["thm_4_2"]) <= HALF


@pytest.mark.parametrize("row", oracles.DPSGD_M8)
def test_dpsgd_bounds(row):
    mu = formulas.gdp_mu(row["epsilon"], 1e-5)
    assert off(mu, row["mu"]) <= HALF
    assert off(formulas.hayes_success(mu, 8), row["rero"]) <= HALF
    assert off(formulas.thm_4_2_uniform(mu, 8), row["thm_4_2"]) <= HALF
    assert off(formulas.thm_5_1_uniform(mu, 8), row["thm_5_1"]) <= HALF


@pytest.mark.parametrize("row", oracles.ORTHOGONAL)
def test_orthogonal_candidates(row):
    mu = formulas.gdp_mu(row["epsilon"], 1e-5)
    assert off(mu, row["mu"]) <= HALF
    assert off(10 / mu, row["sigma"]) <= HALF
    success = vectors.orthogonal_success_uniform(mu, 8)
    assert off(success, row["success_8"]) <= HALF
    assert off(success - 1 / 8, row["rad_8"]) <= HALF
    rad_128 = vectors.orthogonal_success_uniform(mu, 128) - 1 / 128
    assert off(rad_128, oracles.ORTHOGONAL_RAD_128[row["epsilon"]]) <= HALF
    assert off(formulas.hayes_success(mu, 8), oracles.ORTHOGONAL_HAYES_8[row["epsilon"]]) <= HALF


def test_sigma_routes():
    def root(mu: float, m: int) -> float:
        return formulas.root_bound(formulas.gdp_curve(mu), m)

    def sigma(bound, factor):
        return formulas.noise_for(bound, 100, 10, 0.1, factor)

    routes = oracles.SIGMA_ROUTES
    assert off(sigma(formulas.thm_5_1_uniform, 1), routes["thm_5_1_printed"]) <= HALF
    assert off(sigma(formulas.thm_5_1_uniform, 2), routes["thm_5_1_replace_one"]) <= HALF
    assert off(sigma(root, 2), routes["root"]) <= HALF
    assert off(sigma(formulas.thm_5_1_first, 1), routes["success_add_remove"]) <= HALF
    assert off(sigma(formulas.thm_4_2_uniform, 2), routes["thm_4_2_replace_one"]) <= HALF
    assert off(sigma(formulas.thm_4_2_uniform, 1), routes["thm_4_2_printed"]) <= HALF


def test_bounds_at_mu_2():
    rows = oracles.MU_2_M_8
    assert off(formulas.thm_4_2_uniform(2, 8), rows["thm_4_2"]) <= HALF
    assert formulas.thm_5_1_uniform(2, 8) == pytest.approx(rows["thm_5_1"].ours, abs=1e-6)
    assert off(formulas.root_bound(formulas.gdp_curve(2), 8), rows["root"]) <= HALF
    assert off(formulas.thm_5_1_first(2, 8), rows["hayes_minus_1_m"]) <= HALF
    assert off(formulas.hayes_success(2, 8) - 1 / 8, rows["hayes_minus_1_m"]) <= HALF


@pytest.mark.parametrize(("mu", "printed"), oracles.ORTHOGONAL_KNOWN_8.items())
def test_orthogonal_candidates_known(mu, printed):
    rad, error = vectors.orthogonal_rad_known(mu, [1 / 8] * 8)
    assert error < 2e-5
    assert off(rad, printed[0]) <= HALF + SIGMAS * error * 10 ** printed[0].digits
    assert off(vectors.orthogonal_rad_mean_rule(mu, 8), printed[1]) <= HALF


@pytest.mark.parametrize("row", oracles.ORTHOGONAL_KNOWN_MONTE_CARLO)
def test_orthogonal_candidates_known_again(row):
    rad, error = vectors.orthogonal_rad_known(row["mu"], [1 / 8] * 8)
    rule = vectors.orthogonal_rad_mean_rule(row["mu"], 8)
    assert rad == pytest.approx(row["exact"].ours, abs=1e-5 + SIGMAS * error)
    assert rad == pytest.approx(row["exact"].value, abs=2e-3)
    assert off(rule, row["rule"]) <= HALF
    assert rule == pytest.approx(row["rule"].value, abs=2e-3)
    assert off(formulas.thm_4_2_uniform(row["mu"], 8), row["bound"]) <= HALF


def test_orthogonal_candidates_against_add_remove_bounds():
    case = oracles.ORTHOGONAL_UNKNOWN_MONTE_CARLO
    rad = vectors.orthogonal_success_uniform(case["mu"], 8) - 1 / 8
    assert rad == pytest.approx(case["rad"].ours, abs=1e-6)
    assert rad == pytest.approx(case["rad"].value, abs=2e-3)
    for row in oracles.ADJACENCY_COUNTEREXAMPLES:
        mu = formulas.gdp_mu(row["epsilon"], 1e-5)
        rad = vectors.orthogonal_success_uniform(mu, row["m"]) - 1 / row["m"]
        assert off(rad, row["rad"]) <= HALF
        assert off(formulas.thm_4_2_uniform(mu, row["m"]), row["claimed"]) <= HALF
        assert rad > formulas.thm_4_2_uniform(mu, row["m"])


def test_antipodal_candidates():
    exact, _ = vectors.two_candidates(2 * oracles.ANTIPODAL["mu"], (0.5, 0.5))
    claimed, _ = vectors.two_candidates(oracles.ANTIPODAL["mu"], (0.5, 0.5))
    assert off(exact, oracles.ANTIPODAL["exact"]) <= HALF
    assert off(claimed, oracles.ANTIPODAL["claimed"]) <= HALF


@pytest.mark.parametrize("rule", ["map", "rad"])
def test_map_is_not_rad_optimal(rule):
    case = oracles.MAP_AGAINST_RAD
    gram, known = vectors.orthogonal_gram(case["mu"], 6), [0] * 6
    estimate = vectors.monte_carlo(gram, case["prior"], known, 1_000_000, seed=1, rule=rule)
    assert off(estimate.rad, case[rule]) <= HALF + 3 * estimate.rad_error * 10**3
