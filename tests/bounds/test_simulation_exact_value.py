"""The simulated intervals hold the exact value where it is known, and are narrow enough to notice a wrong one.

An interval fails with probability 1e-9 by construction (empirical Bernstein), so a fixed seed is enough.
"""

from __future__ import annotations

import numpy as np
import pytest

import dpradar as dr
from dpradar.bounds.exact.simulation import simulated_risk
from tests.worlds import other_bound

PRIOR = dr.Prior.of([0.4, 0.3, 0.0, 0.2, 0.1], [0.0, 1.0, 2.0, 4.0, 7.0])
THREATS = {
    "reconstruction": dr.Threat(PRIOR),
    "known label, roughly": dr.Threat(PRIOR, dr.Knowledge.labels(["a", "a", "b", "b", "b"]), dr.Goal.within(1.0)),
    "known record": dr.Threat(PRIOR, dr.Knowledge.everything()),
    "attribute": dr.Threat(PRIOR, goal=dr.Goal.labels(["x", "y", "x", "y", "x"])),
}
MECHANISMS = {
    "grr": lambda f: dr.GRR(5, 1.5 * f),
    "sue": lambda f: dr.SUE(5, 2.0 * f),
    "oue": lambda f: dr.OUE(5, 2.0 * f),
    "subset": lambda f: dr.SubsetSelection(5, 1.0 * f),
    "channel": lambda f: dr.Channel(0.5 * f * np.eye(5)[:, [1, 2, 3, 4, 0]] + (1 - 0.5 * f) / 5),
    "exponential": lambda f: dr.Exponential(4.0 * f),
    "laplace": lambda f: dr.Laplace(1.0 / f),
    "gaussian": lambda f: dr.Gaussian(1.0 / f),
    "geometric": lambda f: dr.Geometric(1.0 / f),
    "discrete gaussian": lambda f: dr.DiscreteGaussian(1.0 / f),
    "composed": lambda f: dr.Composed([dr.GRR(5, 1.0 * f), dr.Geometric(2.0 / f)]),
    "line of vectors": lambda f: dr.Gaussian(1.0 / f, query=[[v, -v] for v in (0.0, 1.0, 2.0, 4.0, 7.0)]),
}


@pytest.mark.parametrize("who", THREATS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_interval_holds_the_exact_value(name, who):
    threat = THREATS[who]
    mechanism = MECHANISMS[name](1.0)
    exact = dr.assess(mechanism, threat)
    release = mechanism.at(PRIOR)
    rads, wins, draws = simulated_risk(release, PRIOR, threat.cover, np.random.default_rng(11))
    for (low, high), bound in ((rads, exact.rad), (wins, exact.success)):
        assert bound.side == "exact"
        assert low <= bound.high
        assert bound.low <= high
    # 400,000 draws of values in [-1, 1] with standard deviation at most 1: 2 (sqrt(2 ln(4e9) / n) + 14 ln(4e9) / 3n).
    widest = 2 * (np.sqrt(2 * np.log(4e9) / draws) + 14 * np.log(4e9) / (3 * draws))
    assert rads[1] - rads[0] <= widest


@pytest.mark.parametrize("name", ["grr", "oue", "laplace", "gaussian", "geometric", "composed"])
@pytest.mark.parametrize("factor", [0.7, 1.3])
def test_a_wrong_mechanism_is_noticed(name, factor):
    """Power: the interval of one mechanism does not hold the value of the same one with 0.7 or 1.3 times its noise."""
    threat = dr.Threat(PRIOR)
    wrong = dr.assess(MECHANISMS[name](factor), threat)
    release = MECHANISMS[name](1.0).at(PRIOR)
    (low, high), _, _ = simulated_risk(release, PRIOR, threat.cover, np.random.default_rng(12))
    assert wrong.rad.value < low or wrong.rad.low > high


@pytest.mark.parametrize("seed", range(2))
def test_many_values(seed):
    """Fewer draws for a larger prior, and still the exact value inside."""
    m = 300
    rng = np.random.default_rng(seed)
    prior = dr.Prior.of(rng.dirichlet(np.ones(m)))
    threat = dr.Threat(prior, goal=dr.Goal.within(5))
    mechanism = dr.Geometric(20.0)
    exact = dr.assess(mechanism, threat)
    (low, high), wins, draws = simulated_risk(mechanism.at(prior), prior, threat.cover, rng)
    assert draws == 20_000_000 // m
    assert low <= exact.rad.value <= high
    assert wins[0] <= exact.success.value <= wins[1]


def test_histogram_of_laplace_noise():
    """No exact engine for rad here unless all cells look alike: uniform prior, where it is success minus 1/m."""
    m = 6
    prior = dr.Prior.uniform(m)
    mechanism, threat = dr.Laplace(0.8, query=np.eye(m)), dr.Threat(prior)
    exact = dr.assess(mechanism, threat)
    (low, high), wins, _ = simulated_risk(mechanism.at(prior), prior, threat.cover, np.random.default_rng(4))
    assert low <= exact.rad.value <= high
    assert wins[0] <= exact.success.value <= wins[1]


def test_the_lower_end_is_shown_beside_a_bound():
    """A skewed prior on a Laplace histogram: simulation from below, a theorem from above."""
    threat = dr.Threat(dr.Prior.of([0.5, 0.3, 0.2]))
    answer = dr.assess(dr.Laplace(0.8, query=np.eye(3)), threat, rng=np.random.default_rng(5))
    lower = other_bound(answer, "simulation")
    shown = next(o for o in answer.others if o.rule == "simulation" and o.quantity == "rad")
    assert shown.bound.side == "lower"
    assert "simulation of 400000 outputs" in shown.bound.assumes[0]
    assert 0.0 < lower < answer.rad.value
    assert answer.rad.side == "upper"
