"""3-composition-and-correlation.md section 13: every row about RAD, through `assess` or the rule it belongs to."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dpradar as dr
from dpradar.bounds.rad import knapsack
from dpradar.guarantees.curves import laplace_curve
from tests.twin import formulas, oracles
from tests.worlds import exact_world, floats, other_bound, printed_as, window_world

F = Fraction
SPACED = np.linspace(0.0, 1.0, 11).tolist()


def uniform(m: int, knowledge: dr.Knowledge | None = None) -> dr.Threat:
    return dr.Threat(dr.Prior.uniform(m), knowledge or dr.Knowledge.nothing())


def replace_one(epsilon: float, delta: float = 0.0):
    if delta:
        return dr.ApproxDP(epsilon, delta, "replace-one")
    return dr.PureDP(epsilon, "replace-one")


@pytest.mark.parametrize("row", oracles.TINY_RAD)
def test_tiny_channel(row):
    P, pi = [[F(x) for x in r] for r in oracles.TINY_CHANNEL], [F(x) for x in oracles.TINY_PRIOR]
    world = (window_world(pi, [0, 1, 2], row["eta"]) if row["eta"] else exact_world(pi)).knowing(row["knowledge"])
    answer = dr.assess(dr.Channel(floats(P)), world.threat)
    assert answer.rad.value == pytest.approx(float(row["rad"]), rel=0, abs=1e-14)
    assert answer.worst_gain.value == pytest.approx(float(oracles.TINY_TV), rel=0, abs=1e-14)
    assert world.threat.kappa == pytest.approx(float(oracles.TINY_KAPPA), rel=0, abs=1e-15)
    assert other_bound(answer, "thm-4.2") == pytest.approx(float(oracles.TINY_THM_4_2), rel=0, abs=1e-14)
    promise = dr.Channel(floats(P)).at(None).privacy("replace-one")
    assert printed_as(promise.epsilon, oracles.TINY_EPSILON)


@pytest.mark.parametrize("row", oracles.LINE_M11)
def test_laplace_and_oue_m11(row):
    epsilon = row["epsilon"]
    laplace = dr.assess(dr.Laplace(1 / epsilon), dr.Threat(dr.Prior.uniform(11, SPACED)))
    assert printed_as(laplace.rad.value, row["laplace"])
    assert printed_as(dr.assess(dr.OUE(11, epsilon), uniform(11)).rad.value, row["oue"])


def test_gaussian_m11():
    answer = dr.assess(dr.Gaussian(oracles.GAUSSIAN_M11["sigma"]), dr.Threat(dr.Prior.uniform(11, SPACED)))
    assert printed_as(answer.rad.value, oracles.GAUSSIAN_M11["rad"])


def test_laplace_crosses_oue():
    threat = dr.Threat(dr.Prior.uniform(11, SPACED))

    def gap(epsilon: float) -> float:
        return dr.assess(dr.Laplace(1 / epsilon), threat).rad.value - dr.assess(dr.OUE(11, epsilon), threat).rad.value

    crossing, step = oracles.LAPLACE_OUE_CROSSING, 0.5e-5
    assert gap(crossing.value - step) < 0 < gap(crossing.value + step)


@pytest.mark.parametrize("row", oracles.LDP_UNIFORM)
def test_local_protocols_uniform(row):
    m, epsilon = row["m"], row["epsilon"]
    assert dr.SubsetSelection(m, epsilon).omega == row["omega"]
    for mechanism, name in ((dr.GRR, "grr"), (dr.OUE, "oue"), (dr.SubsetSelection, "ss")):
        answer = dr.assess(mechanism(m, epsilon), uniform(m))
        assert answer.rad.side == "exact"
        assert printed_as(answer.rad.value, row[name])
        assert answer.success.value - answer.rad.value == pytest.approx(1 / m, rel=0, abs=1e-13)


@pytest.mark.parametrize("row", oracles.BLACK_BOX_U10)
def test_black_box_u10(row):
    answer = dr.assess(replace_one(row["epsilon"], 1e-5), uniform(10))
    thm_4_2 = other_bound(answer, "thm-4.2")
    assert printed_as(thm_4_2, row["thm_4_2"])
    # dpradar's rule has the two new terms of Prop 5.3; its third is Thm 4.2.
    assert printed_as(min(other_bound(answer, "prop-5.3"), thm_4_2), row["prop_5_3"])
    assert printed_as(other_bound(answer, "thm-5.5"), row["thm_5_5"])
    assert printed_as(other_bound(answer, "cor-5.6"), row["thm_5_5"])
    # Figure 3: Thm 4.2 >= Prop 5.3 >= Thm 5.5 >= what OUE really leaks (and it satisfies the guarantee).
    oue = dr.assess(dr.OUE(10, row["epsilon"]), uniform(10)).rad.value
    assert oue < answer.rad.value <= row["thm_5_5"].value + 1e-7


@pytest.mark.parametrize("row", oracles.THM_5_5)
def test_thm_5_5(row):
    answer = dr.assess(replace_one(row["epsilon"]), dr.Threat(dr.Prior.of(row["prior"])))
    assert printed_as(other_bound(answer, "thm-5.5"), row["bound"])
    direct = knapsack(np.array(row["prior"]), math.tanh(row["epsilon"] / 2), row["epsilon"], 0.0)
    assert printed_as(direct, row["bound"])
    assert answer.rad.value <= direct + 1e-15


@pytest.mark.parametrize("row", oracles.AUDIT_INVERSE)
def test_audit_inverse(row):
    """The rad of PureDP grows with epsilon, so the printed epsilon is right when its neighbours lie on both sides."""
    step = 0.5 * 10 ** -row["epsilon"].digits
    low, high = (dr.assess(replace_one(row["epsilon"].value + s), uniform(row["m"])).rad.value for s in (-step, step))
    assert low < row["rad"] < high


def gdp_bound(mu: float, m: int, rule: str, neighbours: str) -> float:
    return other_bound(dr.assess(dr.GDP(mu, neighbours), uniform(m)), rule)


@pytest.mark.parametrize("rule", ["thm_5_1", "thm_4_2"])
@pytest.mark.parametrize("row", oracles.GDP_CALIBRATION)
def test_gdp_calibration(row, rule):
    name = {"thm_5_1": "thm-5.1-scaled", "thm_4_2": "thm-4.2"}[rule]
    sigma, step = row[rule].value, 0.5 * 10 ** -row[rule].digits
    # An add/remove mu counts twice, so the same bound needs twice the noise.
    for neighbours, factor in (("replace-one", 1), ("add-remove", 2)):
        mus = [math.sqrt(row["steps"]) / (factor * (sigma + s)) for s in (step, -step)]
        low, high = (gdp_bound(mu, row["m"], name, neighbours) for mu in mus)
        assert low < row["rad"] < high


@pytest.mark.parametrize("row", oracles.DPSGD_M8)
def test_dpsgd_bounds(row):
    mu = formulas.gdp_mu(row["epsilon"], 1e-5)
    assert printed_as(mu, row["mu"])
    answer = dr.assess(dr.GDP(mu, "replace-one"), uniform(8))
    assert printed_as(other_bound(answer, "rero-3", "success"), row["rero"])
    assert printed_as(other_bound(answer, "thm-4.2"), row["thm_4_2"])
    assert printed_as(other_bound(answer, "thm-5.1-scaled"), row["thm_5_1"])


@pytest.mark.parametrize("row", oracles.LAPLACE_CALIBRATION)
def test_laplace_calibration(row):
    threat = dr.Threat(dr.Prior.uniform(10, np.linspace(0, 1, 10).tolist()))
    step = 0.5 * 10 ** -row["epsilon"].digits
    low, high = (dr.assess(dr.Laplace(1 / (row["epsilon"].value + s)), threat).rad.value for s in (-step, step))
    assert low < row["rad"] < high


@pytest.mark.parametrize("row", oracles.LAPLACE_RERO_CALIBRATION)
def test_laplace_calibration_by_success(row):
    step = 0.5 * 10 ** -row["epsilon"].digits
    low, high = (1 - laplace_curve(row["epsilon"].value + s).at(0.1) for s in (-step, step))
    assert low < row["success"] < high


def adult(epsilon: float, eta: int, pi: list[float] | None = None) -> dr.Assessment:
    prior = dr.Prior.uniform(101) if pi is None else dr.Prior.of(pi)
    mechanism = dr.Laplace(100 / epsilon, truncate=(0, 100))
    return dr.assess(mechanism, dr.Threat(prior, goal=dr.Goal.within(eta)))


@pytest.mark.parametrize("epsilon", [1, 10, 20])
def test_adult_uniform(epsilon):
    for i, eta in enumerate(oracles.ADULT_ETAS):
        answer = adult(epsilon, eta)
        assert answer.rad.side == "exact"
        assert printed_as(answer.rad.value, oracles.ADULT_UNIFORM_RAD[epsilon][i])
        if epsilon in oracles.ADULT_UNIFORM_SUCCESS:
            assert printed_as(answer.success.value, oracles.ADULT_UNIFORM_SUCCESS[epsilon][i])


def test_adult_two_points():
    pi = [0.5, *[0.0] * 99, 0.5]
    for epsilon, printed in oracles.ADULT_TWO_POINT_RAD.items():
        rads = [adult(epsilon, eta, pi).rad.value for eta in (0, 40, 99)]
        assert all(printed_as(rad, printed) for rad in rads)
        assert rads == pytest.approx([0.5 * -math.expm1(-epsilon / 2)] * 3, rel=0, abs=1e-9)
        assert adult(epsilon, 100, pi).rad.value == pytest.approx(0, abs=1e-9)
    worst = oracles.ADULT_WORST_PRIOR
    assert printed_as(adult(20, 20).rad.value, worst["uniform"])
    assert printed_as(adult(20, 20, pi).rad.value, worst["two_point"])


@pytest.mark.parametrize(("epsilon", "peak"), oracles.ADULT_PEAK_ETA.items())
def test_adult_peak(epsilon, peak):
    rads = {eta: adult(epsilon, eta).rad.value for eta in (0, 5, peak - 1, peak, peak + 1, 50, 75)}
    assert max(rads, key=rads.get) == peak


@pytest.mark.parametrize("row", oracles.GRR_CALIBRATION)
def test_grr_calibration(row):
    step = 0.5 * 10 ** -row["epsilon"].digits
    mechanisms = [dr.GRR(row["m"], row["epsilon"].value + s) for s in (-step, step)]
    low, high = (dr.assess(mechanism, uniform(row["m"])).rad.value for mechanism in mechanisms)
    assert low < row["rad"] < high
