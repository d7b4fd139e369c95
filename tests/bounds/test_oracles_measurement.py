"""4-measurement.md 3.3: the derived oracles of the mechanisms this engine knows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dpradar as dr
from tests.twin import channels, formulas, oracles, vectors
from tests.worlds import other_bound, printed_as

F = Fraction
PROTOCOLS = {
    "grr": (dr.GRR, formulas.grr_success),
    "ss": (dr.SubsetSelection, formulas.ss_success),
    "sue": (dr.SUE, formulas.sue_success),
    "oue": (dr.OUE, formulas.oue_success),
}


def uniform(m: int) -> dr.Threat:
    return dr.Threat(dr.Prior.uniform(m))


@pytest.mark.parametrize(("m", "table"), [(3052, oracles.AUDIT_3052), (5356, oracles.AUDIT_5356)])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_success_and_expected_audit(m, table, name):
    mechanism, success = PROTOCOLS[name]
    column = oracles.AUDIT_COLUMNS.index(name)
    for epsilon, row in table.items():
        answer = dr.assess(mechanism(m, epsilon), uniform(m))
        # Both sides sum about m terms of at most 1/m each: 1e-12 relative is generous.
        assert answer.success.value == pytest.approx(success(m, epsilon), rel=1e-12)
        assert printed_as(formulas.audit_epsilon(m, answer.success.value), oracles.p(row[column]))


@pytest.mark.parametrize("m", oracles.AUDIT_LIMITS)
def test_limit_of_oue(m):
    success = dr.assess(dr.OUE(m, 700), uniform(m)).success.value
    assert success == pytest.approx((m + 1) / (2 * m), rel=1e-14)
    assert printed_as(formulas.audit_epsilon(m, success), oracles.AUDIT_LIMITS[m])


@pytest.mark.parametrize("m", oracles.GRR_UNIFORM)
def test_grr_uniform(m):
    for epsilon, printed in oracles.GRR_UNIFORM[m].items():
        assert printed_as(dr.assess(dr.GRR(m, epsilon), uniform(m)).rad.value, printed)


@pytest.mark.parametrize("row", oracles.GRR_SKEWED)
def test_grr_with_a_skewed_prior(row):
    """One value of probability x, the others alike: x^2 + (1-x)^2/(m-1) = kappa."""
    m, kappa = row["m"], row["kappa"]
    x = (1 + math.sqrt(1 - m * (1 - kappa * (m - 1)))) / m
    prior = dr.Prior.of([x, *[(1 - x) / (m - 1)] * (m - 1)])
    assert prior.collision == pytest.approx(kappa, rel=1e-12)
    assert printed_as(dr.assess(dr.GRR(m, row["epsilon"]), dr.Threat(prior)).rad.value, row["rad"])
    limit = dr.assess(dr.GRR(m, 700), dr.Threat(prior)).rad.value
    assert limit == pytest.approx(row["limit"], rel=1e-12)


@pytest.mark.parametrize("row", oracles.PATH_12)
def test_exponential_mechanism_on_a_path(row):
    mechanism = dr.Exponential(row["epsilon"])
    for eta, printed in row["optimal"].items():
        answer = dr.assess(mechanism, dr.Threat(dr.Prior.uniform(12), goal=dr.Goal.within(eta)))
        assert printed_as(answer.rad.value, printed)
        assert printed_as(answer.worst_gain.value, row["tv"])
    promise = mechanism.at(dr.Prior.uniform(12)).privacy("replace-one")
    assert promise.epsilon == pytest.approx(row["actual_epsilon"], rel=1e-12)
    utility = [[-abs(i - j) for j in range(12)] for i in range(12)]
    explicit = dr.assess(dr.Exponential(row["epsilon"], utility=utility), uniform(12))
    assert printed_as(explicit.rad.value, row["optimal"][0])


@pytest.mark.parametrize("row", oracles.MARKOV_ATTACK)
def test_markov_knowledge(row):
    """Records (previous, current) with the previous state known and the current one reported by GRR."""
    chain = np.array([[float(x) for x in r] for r in oracles.MARKOV_CHAIN])
    start = np.array([p.value for p in oracles.MARKOV_STATIONARY])
    pairs = [(i, j) for i in range(3) for j in range(3) if chain[i, j] > 0]
    weights = [start[i] * chain[i, j] for i, j in pairs]
    prior = dr.Prior.records({"before": [i for i, _ in pairs], "now": [j for _, j in pairs]}, weights)
    release = dr.Channel([[float(x) for x in channels.grr(3, F(math.exp(row["epsilon"])))[j]] for _, j in pairs])
    threat = dr.Threat(prior, dr.Knowledge.columns("before"), dr.Goal.columns("now"))
    rad = dr.assess(release, threat).rad
    assert rad.side == "exact"
    # The stationary law is printed to 6 digits, so the result is good to a few of the last one.
    assert rad.value == pytest.approx(row["bound"].value, rel=0, abs=3e-6)
    assert rad.value > row["terms"][2].value


@pytest.mark.parametrize("case", oracles.BLACK_BOX_PRIORS)
def test_black_box_priors(case):
    for epsilon, (exact, thm_5_5, thm_7, thm_4_2) in case["rows"].items():
        answer = dr.assess(dr.PureDP(epsilon, "replace-one"), dr.Threat(dr.Prior.of(case["prior"])))
        assert answer.rad.rule == "black-box-pure"
        assert printed_as(answer.rad.value, exact)
        assert printed_as(other_bound(answer, "thm-5.5"), thm_5_5)
        assert printed_as(other_bound(answer, "thesis-thm-7"), thm_7)
        assert printed_as(other_bound(answer, "thm-4.2"), thm_4_2)


def test_cor_1():
    for row in oracles.COR_1:
        answer = dr.assess(dr.PureDP(row["epsilon"], "replace-one"), uniform(row["m"]))
        assert printed_as(answer.rad.value, row["bound"])
        back = formulas.audit_epsilon(row["m"], answer.rad.value + 1 / row["m"])
        assert back == pytest.approx(row["epsilon"], rel=0, abs=1e-12)
    for row in oracles.THM_5_COR_1:
        answer = dr.assess(dr.ApproxDP(row["epsilon"], 1e-5, "replace-one"), uniform(100))
        assert printed_as(other_bound(answer, "cor-5.6"), row["cor_1"])


@pytest.mark.parametrize("row", oracles.ORTHOGONAL)
def test_orthogonal_candidates(row):
    mu = formulas.gdp_mu(row["epsilon"], 1e-5)
    answer = dr.assess(dr.Gaussian(1 / mu, query=np.eye(8)), uniform(8))
    assert answer.rad.side == answer.success.side == "exact"
    assert printed_as(answer.success.value, row["success_8"])
    assert printed_as(answer.rad.value, row["rad_8"])
    assert answer.success.value == pytest.approx(vectors.orthogonal_success_uniform(mu, 8), rel=0, abs=1e-9)
    # Any orthogonal matrix will do: only distances matter.
    turned = np.linalg.qr(np.random.default_rng(1).normal(size=(20, 8)))[0].T
    again = dr.assess(dr.Gaussian(1 / mu, query=turned), uniform(8))
    assert again.rad.value == pytest.approx(answer.rad.value, rel=0, abs=1e-9)
    large = dr.assess(dr.Gaussian(1 / mu, query=np.eye(128)), uniform(128))
    assert printed_as(large.rad.value, oracles.ORTHOGONAL_RAD_128[row["epsilon"]])
    hayes = dr.assess(dr.GDP(mu, "add-remove"), uniform(8)).success
    assert hayes.rule == "rero-3"
    assert printed_as(hayes.value, oracles.ORTHOGONAL_HAYES_8[row["epsilon"]])


def test_uniform_success_minus_rad_is_one_over_m():
    for mechanism in (dr.GRR(7, 1.3), dr.OUE(7, 1.3), dr.SUE(7, 1.3), dr.SubsetSelection(7, 1.3)):
        answer = dr.assess(mechanism, uniform(7))
        assert answer.success.value - answer.rad.value == pytest.approx(1 / 7, rel=0, abs=1e-14)
        assert answer.false_hit == pytest.approx(1 / 7, rel=0, abs=1e-14)
