"""Everything known, candidates equally far apart: the bound from the law of the sum against independent references."""

from __future__ import annotations

import numpy as np
import pytest

import dpradar as dr
from dpradar.bounds.approx_black_box import _fewer_levels, approx_black_box
from dpradar.bounds.exact.known_cell import known_cell_risk
from dpradar.guarantees.approx import tv_of_approx
from tests.twin import vectors

CASES = [(0.2681, [1 / 8] * 8), (1.666, [1 / 8] * 8), (2.0, [1 / 8] * 8), (2.9, [1 / 8] * 8), (4.0, [1 / 8] * 8)]
CASES += [(2.0, [0.5, 0.2, 0.1, 0.1, 0.05, 0.05]), (1.0, [0.9, 0.1])]


@pytest.mark.parametrize(("mu", "pi"), CASES)
def test_gaussian_interval_holds_the_reference(mu, pi):
    prior = dr.Prior.of(pi)
    threat = dr.Threat(prior, dr.Knowledge.everything())
    release = dr.Gaussian(1.0 / mu, query=np.eye(len(pi))).at(prior)
    low, high = known_cell_risk(release.one_hot, prior, threat.cover).rad
    value, error = vectors.orthogonal_rad_known(mu, pi)
    assert low - 6 * error <= value <= high + 6 * error
    assert high - value <= 1e-3  # the proven end is close, not only right


def test_two_candidates_against_the_closed_form():
    prior = dr.Prior.uniform(2)
    release = dr.Gaussian(2.0, query=np.eye(2)).at(prior)
    _, high = known_cell_risk(release.one_hot, prior, dr.Threat(prior, dr.Knowledge.everything()).cover).rad
    exact, _ = vectors.two_candidates(0.5 * np.sqrt(2.0), [0.5, 0.5])
    assert exact <= high <= exact + 1e-7


@pytest.mark.parametrize("scale", [0.2, 0.5, 1.0, 3.0])
def test_laplace_two_cells_against_a_sum_over_a_fine_grid(scale):
    # Two cells with Laplace noise on each: rad = TV/2, and the log-likelihood ratio is a sum of two clipped variables.
    step = 0.002 * scale
    x = np.arange(-40.0 * scale, 1.0 + 40.0 * scale, step) + step / 2
    density = np.exp(-np.abs(x) / scale) / (2 * scale)
    shifted = np.exp(-np.abs(x - 1.0) / scale) / (2 * scale)
    ratio = np.clip(2.0 * x - 1.0, -1.0, 1.0) / scale  # log(shifted/density), non-decreasing in x
    # TV = P(r1 - r2 > 0) - Q(...): by symmetry 2 P(first cell's ratio larger) - 1 with ties split.
    weight_other = density * step
    below = np.searchsorted(ratio, ratio, side="left")
    upto = np.searchsorted(ratio, ratio, side="right")
    running = np.concatenate([[0.0], np.cumsum(weight_other)])
    larger = float((shifted * step) @ (0.5 * (running[below] + running[upto])))
    reference = 0.5 * (2 * larger - 1)
    prior = dr.Prior.uniform(2)
    release = dr.Laplace(scale, query=np.eye(2)).at(prior)
    _, high = known_cell_risk(release.one_hot, prior, dr.Threat(prior, dr.Knowledge.everything()).cover).rad
    assert reference - 5e-6 <= high <= reference + 2e-4  # the reference is a midpoint sum of second order


def test_assess_takes_it_and_stays_above_the_simulation():
    prior = dr.Prior.uniform(8)
    a = dr.assess(dr.Gaussian(0.5, query=np.eye(8)), dr.Threat(prior, dr.Knowledge.everything()))
    assert a.rad.rule == "exact-known-cell"
    assert a.rad.value == pytest.approx(0.6612, abs=1e-4)
    simulated = next(o.bound for o in a.others if o.rule == "simulation" and o.quantity == "rad")
    assert simulated.value <= a.rad.value


def test_rounding_a_prior_is_charged_enough():
    rng = np.random.default_rng(3)
    for _ in range(60):
        m = int(rng.integers(3, 10))
        pi = rng.dirichlet(np.ones(m))
        epsilon, delta = float(rng.choice([0.2, 1.0, 3.0])), float(rng.choice([1e-6, 1e-3, 0.05]))
        rounded = _fewer_levels(pi, int(rng.integers(2, m)))
        assert rounded.sum() == pytest.approx(1.0, abs=1e-12)
        charge = (tv_of_approx(epsilon, delta) + 0.5 * rounded.max()) * np.abs(pi - rounded).sum()
        primal, _ = approx_black_box(pi, epsilon, delta)
        assert primal <= approx_black_box(rounded, epsilon, delta)[1] + charge + 1e-9


def test_many_different_probabilities_still_get_a_program():
    pi = np.random.default_rng(1).dirichlet(np.ones(60))
    a = dr.assess(dr.ApproxDP(4.0, 1e-6, "replace-one"), dr.Threat(dr.Prior.of(pi)))
    pure = dr.assess(dr.PureDP(4.0, "replace-one"), dr.Threat(dr.Prior.of(pi)))
    assert a.rad.rule == "black-box-program"
    assert a.rad.value >= pure.rad.value - 1e-12
