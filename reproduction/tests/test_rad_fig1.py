"""[RAD] Figure 1: values, order and crossing, against closed sums and 40-digit arithmetic."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq

from dpradar_reproduction import rad_fig1
from tests.twin import formulas, lines, oracles

EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 10.0, 13.75, 14.0, 16.0)
VALUES = np.linspace(0.0, 1.0, 11)


@pytest.fixture(scope="module")
def table():
    return rad_fig1.compute(epsilons=EPSILONS)


def delta_of(sigma: float, epsilon: float) -> mpmath.mpf:
    """Delta of Gaussian noise at distance 1, 40 digits."""
    with mpmath.workdps(40):
        s, e = mpmath.mpf(sigma), mpmath.mpf(epsilon)
        return mpmath.ncdf(1 / (2 * s) - e * s) - mpmath.exp(e) * mpmath.ncdf(-1 / (2 * s) - e * s)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.25, 1.0, 4.0, 10.0, 16.0, 30.0])
@pytest.mark.parametrize("delta", [1e-5, 1e-9])
def test_gaussian_noise_is_calibrated_on_the_safe_side(epsilon, delta):
    sigma = rad_fig1.gaussian_sigma(epsilon, delta)
    assert delta_of(sigma, epsilon) <= delta
    assert delta_of(sigma * (1 - 1e-8), epsilon) > delta


def test_gaussian_noise_of_the_notes():
    assert round(rad_fig1.gaussian_sigma(1.0, 1e-5), 6) == 3.730632
    assert rad_fig1.gaussian_sigma(4.0, 1e-5) == pytest.approx(1 / formulas.gdp_mu(4.0, 1e-5), rel=1e-9)


def expected(mechanism: str, epsilon: float) -> float:
    """The exact value from the twin: success of the optimal attack as a sum, or the closed form on the line."""
    m = 11
    if mechanism == "Laplace":
        return lines.laplace_uniform(VALUES, 1.0 / epsilon)
    if mechanism == "Gaussian":
        return lines.gaussian_uniform(VALUES, 1.0 / formulas.gdp_mu(epsilon, 1e-5))
    success = {"GRR": formulas.grr_success, "OUE": formulas.oue_success, "SS": formulas.ss_success}[mechanism]
    return success(m, epsilon) - 1.0 / m


@pytest.mark.parametrize("mechanism", rad_fig1.MECHANISMS)
def test_exact_values(table, mechanism):
    own = table.where(mechanism=mechanism)
    reference = [expected(mechanism, epsilon) for epsilon in EPSILONS]
    if mechanism == "Gaussian":  # with the figure's own sigma, which lies a hair on the safe side of the twin's
        sigmas = own.numbers("noise")
        assert sigmas == pytest.approx([1.0 / formulas.gdp_mu(epsilon, 1e-5) for epsilon in EPSILONS], rel=1e-8)
        reference = [lines.gaussian_uniform(VALUES, float(sigma)) for sigma in sigmas]
    assert own.numbers("rad") == pytest.approx(reference, abs=2e-10)
    assert np.all(own.numbers("rad_low") <= np.array(reference) + 1e-12)
    assert np.all(own.numbers("rad") >= np.array(reference) - 1e-12)


def test_values_of_the_notes(table):
    for row in oracles.LINE_M11:
        for mechanism, column in (("Laplace", "laplace"), ("OUE", "oue")):
            value = table.numbers("rad", mechanism=mechanism, epsilon=float(row["epsilon"]))
            assert oracles.off(value[0], row[column]) <= 0.5
    gaussian = table.numbers("rad", mechanism="Gaussian", epsilon=1.0)[0]
    assert oracles.off(gaussian, oracles.GAUSSIAN_M11["rad"]) <= 0.5


def test_theorem_4_3_improves_on_theorem_4_2_for_every_mechanism_and_epsilon(table):
    rad, own, promised = (table.numbers(c) for c in ("rad", "thm_4_2_mechanism", "thm_4_2_guarantee"))
    assert np.all(rad <= own + 1e-12)
    assert np.all(own <= promised + 1e-12)
    assert np.all(rad < promised)


def test_theorem_4_2_values(table):
    factor = 10 / 11
    for mechanism, delta in (("GRR", 0.0), ("Gaussian", 1e-5)):
        e = np.exp(EPSILONS)
        reference = factor * (e - 1 + 2 * delta) / (e + 1)
        assert table.numbers("thm_4_2_guarantee", mechanism=mechanism) == pytest.approx(reference, rel=1e-12)
    tv = [formulas.gdp_tv(formulas.gdp_mu(epsilon, 1e-5)) for epsilon in EPSILONS]
    assert table.numbers("thm_4_2_mechanism", mechanism="Gaussian") == pytest.approx(factor * np.array(tv), rel=1e-8)


def test_theorem_4_2_with_its_own_total_variation_is_exact_for_randomised_response(table):
    grr = table.where(mechanism="GRR")
    assert grr.numbers("rad") == pytest.approx(grr.numbers("thm_4_2_mechanism"), abs=1e-14)


def test_laplace_leaks_less_than_oue_up_to_the_crossing():
    crossing = rad_fig1.laplace_oue_crossing()
    assert oracles.off(crossing, oracles.LAPLACE_OUE_CROSSING) <= 0.5
    reference = brentq(
        lambda e: lines.laplace_uniform(VALUES, 1 / e) - formulas.oue_success(11, e) + 1 / 11, 5, 30, xtol=1e-12
    )
    assert crossing == pytest.approx(reference, abs=1e-7)


def test_order_of_the_mechanisms(table):
    rad = {name: table.numbers("rad", mechanism=name) for name in rad_fig1.MECHANISMS}
    before = np.array(EPSILONS) < 13.86
    assert np.all(rad["Laplace"][before] < rad["OUE"][before])
    # The paper says "for all epsilon in [0, 14]": at 14 it is already the other way round.
    assert np.all(rad["Laplace"][~before] > rad["OUE"][~before])
    assert np.all(rad["Gaussian"] < np.minimum(rad["Laplace"], rad["OUE"]))
    assert np.all(rad["OUE"] < 10 / 22)  # the limit (m-1)/(2m)
    assert np.all(rad["SS"] <= rad["GRR"] + 1e-14)


def test_the_whole_grid_of_the_figure_keeps_the_order():
    """On the figure's own epsilon, with the twin's formulas, which agree with the values above."""
    for epsilon in rad_fig1.EPSILONS:
        assert (expected("Laplace", epsilon) < expected("OUE", epsilon)) == (epsilon < 13.86282)
