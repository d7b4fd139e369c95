"""Printed and recomputed numbers of accounting and calibration, each through the public call that a user makes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

import dpradar as dr

UNIFORM = {m: dr.Threat(dr.Prior.uniform(m)) for m in (2, 8, 10, 100)}
KNOWN = {m: dr.Threat(dr.Prior.uniform(m), dr.Knowledge.everything()) for m in (2, 8, 10, 100)}


def near(value, expected, rel=1e-3):
    assert value == pytest.approx(expected, rel=rel)


def by_rule(result, quantity, rule):
    """The value of a single rule, whether or not it won."""
    bounds = [getattr(result, quantity), *(o.bound for o in result.others if o.quantity == quantity)]
    return next(bound.value for bound in bounds if bound is not None and bound.rule == rule)


def test_census_state_level():
    """zCDP alone at its worst baseline, the Gaussian mechanism with the same rho; what dpradar says is tighter."""
    zcdp = dr.ZCDP(rho=1.0, neighbours="replace-one")
    grid = [k / 1000 for k in range(60, 250)]
    gains = [by_rule(dr.assess(zcdp, dr.Threat.baseline(b)), "success", "zcdp") - b for b in grid]
    near(max(gains), 0.7304)
    assert dr.assess(zcdp).worst_gain.value < 0.65
    near(dr.assess(dr.GDP(mu=math.sqrt(2.0), neighbours="replace-one")).worst_gain.value, 0.5205)


@pytest.mark.parametrize(("times", "gain"), [(15, 0.1976), (16, 0.2065)])
def test_laplace_queries(times, gain):
    near(
        dr.assess(
            dr.Repeated(dr.Laplace(scale=5.0, sensitivity=1.0, neighbours="replace-one"), times),
            dr.Threat.baseline(0.1),
        ).gain.value,
        gain,
    )


def test_dpsgd_of_the_language_model():
    run = dr.DPSGD(noise_multiplier=0.5715, sample_rate=256 / 67349, steps=789)
    near(dr.assess(run, neighbours="add-remove").worst_gain.value, 0.1606)
    limit = dr.Limit(epsilon=100.0, delta=1e-5, neighbours="add-remove")
    near(limit.achieved(run)[0].value, 3.94)


def test_gaussian_rate():
    near(dr.assess(dr.Gaussian(sigma=1.0, query=[0.0, 1.0])).tpr(fpr=0.01).value, 0.0923622, rel=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [
        (0.1, 1e-5, 30.749566),
        (0.5, 1e-6, 8.057618),
        (1.0, 1e-5, 3.730632),
        (2.0, 1e-5, 1.993812),
        (4.0, 1e-5, 1.081162),
        (8.0, 1e-5, 0.600229),
        (1.0, 0.1, 1.085878),
    ],
)
def test_analytic_gaussian(epsilon, delta, sigma):
    calibration = dr.calibrate(dr.Gaussian, dr.Limit(epsilon=epsilon, delta=delta), query=[0.0, 1.0])
    near(calibration.value, sigma, rel=2e-5)


@pytest.mark.parametrize(
    ("steps", "m", "rad", "thm_5_1", "thm_4_2"),
    [
        (100, 10, 0.1, 21.9332, 35.7883),
        (100, 8, 0.1, 24.0737, 34.7876),
        (100, 8, 0.2, 13.5227, 17.2113),
        (100, 8, 0.5, 6.1218, 6.3160),
        (100, 2, 0.1, 19.7358, 19.7358),
        (100, 100, 0.1, 9.0750, 39.3895),
    ],
)
def test_gdp_calibration_by_single_rules(steps, m, rad, thm_5_1, thm_4_2):
    """The printed noise is for add/remove; RAD replaces a record, so twice as much is needed for the same rule."""

    def value(sigma, threat, rules):
        result = dr.assess(dr.DPSGD(noise_multiplier=sigma, sample_rate=1.0, steps=steps), threat)
        return min(by_rule(result, "rad", rule) for rule in rules)

    for noise, rules in ((2 * thm_5_1, ("thm-5.1-interval", "thm-5.1-scaled")), (2 * thm_4_2, ("thm-4.2",))):
        assert value(noise * 1.001, UNIFORM[m], rules) < rad < value(noise * 0.999, UNIFORM[m], rules)


def test_full_batch_takes_the_tightest_rule():
    calibration = dr.calibrate(dr.DPSGD, dr.Limit(UNIFORM[10], rad=0.1), sample_rate=1.0, steps=100)
    near(calibration.value, 22.73)
    assert calibration.achieved[0].rule == "hayes-minus-blind"
    near(
        dr.calibrate(dr.DPSGD, dr.Limit(KNOWN[10], rad=0.1), sample_rate=1.0, steps=100).value, 49.944
    )  # thm-4.2: 71.58


@pytest.mark.parametrize(("m", "epsilon"), [(2, 0.405465), (100, 2.504379)])
def test_grr_rows(m, epsilon):
    near(dr.calibrate(dr.GRR, dr.Limit(UNIFORM[m], rad=0.1), m=m).value, epsilon, rel=2e-5)


@pytest.mark.parametrize(("rad", "epsilon"), [(0.05, 1.028851), (0.1, 2.120095), (0.2, 4.523660), (0.5, 14.596744)])
def test_laplace_rows(rad, epsilon):
    calibration = dr.calibrate(dr.Laplace, dr.Limit(UNIFORM[10], rad=rad))
    near(9.0 / calibration.value, epsilon, rel=2e-5)
    near(calibration.cost["error"] / 9.0, math.log(20.0) / epsilon, rel=2e-5)


@pytest.mark.parametrize("times", [1, 2, 3, 5, 13, 14, 15, 16, 40, 257, 30_000])
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_optimal_composition_of_pure_dp(times, epsilon):
    """Kairouz, Oh and Viswanath (2015): randomised response repeated is the worst case, and it is binomial."""
    p = 1.0 / (1.0 + math.exp(-epsilon))
    one, other = (binom(times, share) for share in (p, 1.0 - p))
    k = np.arange(times + 1)
    tv = 0.5 * float(np.abs(one.pmf(k) - other.pmf(k)).sum())
    promise = dr.Repeated(dr.PureDP(epsilon, "replace-one"), times).at(None).privacy("replace-one")
    assert tv - 1e-12 <= promise.tv <= tv + 1e-10
    # Neyman and Pearson: the largest ratios first.
    fpr, fnr = other.sf(k - 1), one.cdf(k - 1)
    rates = promise.curve.fnr(fpr)
    assert np.all(rates <= fnr + 1e-10)
    assert np.all((rates >= fnr - 1e-7) | (fpr < 1e-30))  # rates that small are bounded by 0
    assert promise.curve.gap() == pytest.approx(tv, abs=1e-9)


class TestDefectsOfRiskcal:
    """riskcal 1.5.1 reports more privacy than there is; the same questions here."""

    def test_losses_wholly_above_zero(self):
        """riskcal: false-negative rate 0.99 at false-positive rate 0.01, where an index wraps around."""
        run = dr.DPSGD(noise_multiplier=0.5, sample_rate=0.9, steps=100)
        assert dr.assess(run, neighbours="add-remove").tpr(fpr=0.01).value > 0.999999

    def test_calibration_that_misses_its_target(self):
        """riskcal's noise for a false-negative rate of 0.95 at 0.01: at most 0.94865 by dp-accounting's own profile."""
        run = dr.DPSGD(noise_multiplier=0.63299, sample_rate=0.002, steps=10_000)
        assert dr.assess(run, neighbours="add-remove").tpr(fpr=0.01).value >= 1.0 - 0.94866
