"""From the advantage of an attack back to epsilon, against assess and the numbers of 4-measurement.md 3.3.

All of them are exact or at expected counts; nothing is drawn.
"""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

import dpradar as dr
from dpradar.audits.epsilon_inversion import (
    epsilon_from_black_box,
    epsilon_from_own_curve,
    epsilon_from_rad,
    epsilon_from_uniform,
    ldp_auditor,
)
from dpradar.numerics.confidence_intervals import clopper_pearson_low
from tests.twin import formulas, oracles
from tests.worlds import printed_as

REPLACE = {"neighbours": "replace-one"}
PROTOCOLS = {
    "grr": dr.GRR,
    "ss": dr.SubsetSelection,
    "sue": dr.SUE,
    "oue": dr.OUE,
    "she": dr.SHE,
    "the": dr.THE,
    "blh": dr.BLH,
    "olh": dr.OLH,
}


def uniform(m):
    return dr.Threat(dr.Prior.uniform(m))


@pytest.mark.parametrize("m", [2, 8, 3052])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 12.0])
def test_uniform_inversion_returns_the_epsilon_of_grr(m, epsilon):
    rad = dr.assess(dr.GRR(m=m, epsilon=epsilon), uniform(m)).rad.value
    assert epsilon_from_uniform(rad, m) == pytest.approx(epsilon, rel=1e-9)
    # [RAD] Corollary 5.6 with delta, written out; what assess allows at most is never beyond it.
    delta = 0.01 / m
    most = (math.expm1(epsilon) + delta * m) / (m * (1.0 + math.exp(epsilon) / (m - 1)))
    assert epsilon_from_uniform(most, m, delta) == pytest.approx(epsilon, rel=1e-9)
    assert dr.assess(dr.ApproxDP(epsilon, delta, **REPLACE), uniform(m)).rad.value <= most * (1 + 1e-12)


@pytest.mark.parametrize("row", oracles.AUDIT_INVERSE)
def test_printed_inversions(row):
    assert printed_as(epsilon_from_uniform(row["rad"], row["m"]), row["epsilon"])


def test_inversions_at_their_ends():
    assert epsilon_from_uniform(0.0, 10) == epsilon_from_uniform(-0.05, 10) == 0.0
    assert epsilon_from_uniform(0.9, 10) is None
    assert epsilon_from_rad(0.75, 0.25) is None
    assert epsilon_from_rad(0.0, 0.25) == 0.0
    assert epsilon_from_rad(0.0, 0.25, delta=0.1) == 0.0
    assert epsilon_from_rad(0.5, 0.0, delta=1.0) == epsilon_from_rad(0.75, 0.25, delta=1.0) == 0.0
    assert epsilon_from_black_box(0.0, dr.Prior.uniform(4)) == 0.0
    assert epsilon_from_black_box(0.8, dr.Prior.uniform(4)) is None
    assert epsilon_from_own_curve(0.9, dr.OUE(m=20, epsilon=1.0), uniform(20)) is None


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("weights", [[0.5, 0.3, 0.1, 0.05, 0.05], [0.25] * 4, [0.9, 0.1]])
def test_inversions_undo_the_bounds_of_assess(weights, epsilon):
    prior = dr.Prior.of(weights)
    claim = dr.PureDP(epsilon, **REPLACE)
    blind = dr.assess(claim, dr.Threat(prior)).rad.value
    assert epsilon_from_black_box(blind, prior) == pytest.approx(epsilon, rel=1e-8)
    rad = dr.assess(claim, dr.Threat(prior, dr.Knowledge.everything())).rad.value
    m = prior.size if prior.is_uniform else None
    assert epsilon_from_rad(rad, prior.collision, m=m) == pytest.approx(epsilon, rel=1e-8)
    assert epsilon_from_rad(rad, prior.collision) <= epsilon * (1 + 1e-8)  # for every prior with this kappa
    # The bound for every threat is never below the exact one, so its inverse never says more.
    assert epsilon_from_rad(blind, prior.collision) <= epsilon + 1e-9


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("rare", [1e-4, 3e-8, 7e-13])
def test_no_digit_that_kappa_lost_is_held_against_the_claim(rare, epsilon):
    """With everything known randomised response reaches 2 pi (1 - pi) tanh(eps/2): 1 - kappa has few digits left."""
    prior = dr.Prior.of([1.0 - rare, rare])
    rad = 2.0 * rare * (1.0 - rare) * math.tanh(epsilon / 2.0)
    assert epsilon_from_rad(rad, prior.collision) <= epsilon * (1 + 1e-12)


def test_no_rounding_of_a_large_rad_is_held_against_the_claim():
    everything = dr.Threat(dr.Prior.uniform(3), dr.Knowledge.everything())
    rad = dr.assess(dr.SubsetSelection(m=3, epsilon=20.0), everything).rad.value
    assert 19.9 < epsilon_from_rad(rad, 1.0 / 3.0, m=3) <= 20.0


@pytest.mark.parametrize(("m", "table"), [(3052, oracles.AUDIT_3052), (5356, oracles.AUDIT_5356)])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_expected_audit(name, m, table):
    """The expected audit of 4-measurement.md 3.3: the exact rad of each protocol, inverted as a black box."""
    column, answers = oracles.AUDIT_COLUMNS.index(name), []
    for epsilon, row in table.items():
        answer = epsilon_from_uniform(dr.assess(PROTOCOLS[name](m=m, epsilon=epsilon), uniform(m)).rad.value, m)
        answers.append(answer)
        corrected = oracles.AUDIT_CORRECTED.get((m, epsilon, name))
        if corrected is not None:
            assert answer == pytest.approx(corrected, abs=1e-6)
        elif row[column] is not None:
            assert printed_as(answer, oracles.p(row[column]))
        assert answer <= epsilon * (1 + 1e-9)
    assert all(b >= a - 1e-9 for a, b in pairwise(answers))


@pytest.mark.parametrize("row", oracles.LDP_AUDITOR)
def test_the_estimator_of_ldp_auditor_and_ours(row):
    """At expected counts of 10^6 runs: GRR says v1 with p and q; OUE's guess is one of the bits set."""
    m, n, epsilon = 3052, 10**6, row["epsilon"]
    success = dr.assess(PROTOCOLS[row["protocol"]](m=m, epsilon=epsilon), uniform(m)).success.value
    false = (1.0 - success) / (m - 1)
    assert printed_as(ldp_auditor(round(n * success), round(n * false), n), row["auditor"])
    lower = clopper_pearson_low(round(n * success), n, 0.005)
    assert printed_as(epsilon_from_uniform(lower - 1 / m, m), row["lower"])
    assert row["lower"].value > row["auditor"].value


def test_ceilings():
    for tail, printed in oracles.AUDITOR_CEILING.items():
        assert printed_as(ldp_auditor(10**6, 0, 10**6, significance=4.0 * tail), printed)
    for row in oracles.AUDIT_CEILING:
        m = row["m"]
        assert printed_as(epsilon_from_uniform(1 - 1e-6 - 1 / m, m), row["one_failure"])
        assert printed_as(epsilon_from_uniform(clopper_pearson_low(10**6, 10**6, 0.005) - 1 / m, m), row["lower"])
    assert ldp_auditor(0, 0, 100) == 0.0


# --------------------------------------------------------------------------------------- what broken code looks like


def test_a_lie_that_may_be_the_truth():
    """(a) and (b) of 4-measurement.md 3.3, GRR: a lie over the whole domain, and 0.1 more truth."""
    m = 3052
    for epsilon, printed in oracles.BUG_GRR_FULL_DOMAIN.items():
        p = 1.0 / (1.0 + (m - 1) * math.exp(-epsilon))
        success = p + (1 - p) / m
        assert printed_as(epsilon_from_uniform(success - 1 / m, m), printed)
    for row in oracles.BUG_GRR_KEEPS_MORE:
        for epsilon, printed in row["audit"].items():
            p = 1.0 / (1.0 + (row["m"] - 1) * math.exp(-epsilon))
            assert printed_as(epsilon_from_uniform(p + 0.1 - 1 / row["m"], row["m"]), printed)


@pytest.mark.parametrize("name", ["sue", "oue"])
def test_a_true_bit_that_is_not_cleared(name):
    """(c) and (d): black-box inversion, true epsilon, and the inversion of the protocol's own success."""
    m, kind = 3052, PROTOCOLS[name]

    def broken(epsilon):
        q = 1 / (math.exp(epsilon / 2) + 1) if name == "sue" else 1 / (math.exp(epsilon) + 1)
        p = 1 - q if name == "sue" else 0.5
        return p + (1 - p) * q, q

    for epsilon, printed in oracles.BUG_UNARY_AUDIT[name].items():
        success = formulas.unary_success(m, *broken(epsilon))
        assert printed_as(epsilon_from_uniform(success - 1 / m, m), printed)
    for epsilon, printed in oracles.BUG_UNARY_TRUE[name].items():
        p, q = broken(epsilon)
        assert printed_as(math.log(p * (1 - q) / (q * (1 - p))), printed)
    for epsilon, printed in oracles.BUG_UNARY_OWN_CURVE[name].items():
        success = formulas.unary_success(m, *broken(epsilon))
        for value, quantity in ((success, "success"), (success - 1 / m, "rad")):
            assert printed_as(epsilon_from_own_curve(value, kind(m=m, epsilon=1.0), uniform(m), quantity), printed)


@pytest.mark.parametrize("kind", [dr.GRR, dr.SUE, dr.OUE, dr.SubsetSelection, dr.SHE, dr.THE, dr.BLH, dr.OLH])
def test_own_curve_of_every_protocol_near_zero(kind):
    """Histogram encoding does not exist with epsilon 0, where the search used to begin."""
    threat = dr.Threat(dr.Prior.uniform(12))
    rad = dr.assess(kind(m=12, epsilon=0.3), threat).rad.value
    assert epsilon_from_own_curve(rad, kind(m=12, epsilon=2.0), threat) == pytest.approx(0.3, rel=1e-3)
    assert epsilon_from_own_curve(1e-12, kind(m=12, epsilon=2.0), threat) == 0.0
    assert epsilon_from_own_curve(-0.1, kind(m=12, epsilon=2.0), threat) == 0.0
