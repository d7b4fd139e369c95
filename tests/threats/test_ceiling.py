"""What publishing the raw data would add: the ceiling, beside brute force, closed forms and quadrature."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

import dpradar as dr
from dpradar.results.ceiling import Raw, rules_out_nothing
from dpradar.results.limit_result import LimitResult
from dpradar.threats.ceiling import range_minimum
from dpradar.threats.counted_prior import Measured
from tests.twin import brute

HIV = dr.Threat(dr.Prior.of([0.99, 0.01]))


def _identity(m):
    return [[Fraction(int(i == j)) for j in range(m)] for i in range(m)]


@pytest.mark.parametrize("goal", ["exact", "within", "labels", "loss"])
@pytest.mark.parametrize("known", ["nothing", "everything", "labels"])
def test_finite_ceilings_are_those_of_the_identity_channel(goal, known):
    rng = np.random.default_rng([len(goal), len(known)])
    for _ in range(25):
        m = int(rng.integers(2, 8))
        weights = rng.integers(0, 9, m) + (np.arange(m) == 0)
        law = [Fraction(int(w), int(weights.sum())) for w in weights]
        values = sorted(rng.choice(15, m, replace=False).tolist())
        names = rng.integers(0, 3, m).tolist()
        eta, loss = int(rng.integers(0, 9)), rng.integers(0, 4, (m, m))
        goals = {
            "exact": (dr.Goal.exact(), brute.exact(m)),
            "within": (dr.Goal.within(eta), brute.within(values, eta)),
            "labels": (dr.Goal.labels(names), brute.labels(names)),
            "loss": (dr.Goal.within(1.0, loss=loss), brute.from_loss(loss.tolist(), 1)),
        }
        groups = rng.integers(0, 3, m).tolist()
        knowledge = {
            "nothing": (dr.Knowledge.nothing(), brute.nothing(m)),
            "everything": (dr.Knowledge.everything(), brute.everything(m)),
            "labels": (dr.Knowledge.labels(groups), groups),
        }
        (success, right), (knows, codes) = goals[goal], knowledge[known]
        raw = dr.Threat(dr.Prior.of([float(p) for p in law], values=values), knows, success).raw
        expected = float(brute.rad(_identity(m), law, codes, right))
        assert raw.rad[0] <= expected <= raw.rad[1]
        assert raw.rad[1] - raw.rad[0] < 1e-13
        assert raw.success[0] == pytest.approx(float(brute.success(_identity(m), law, codes, right)), abs=1e-13)


def test_long_windows_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    values, law = np.sort(rng.choice(3000, 400, replace=False)), rng.dirichlet(np.full(400, 0.3))
    raw = dr.Threat(dr.Prior.of(law, values=values.tolist()), goal=dr.Goal.within(100.0)).raw
    near = np.abs(values[:, None] - values[None, :]) <= 100
    cheapest = np.where(near, (near @ law)[:, None], np.inf).min(axis=0)
    assert raw.rad[0] <= float(law @ (1.0 - cheapest)) <= raw.rad[1]


def test_range_minima_are_those_of_slices():
    rng = np.random.default_rng(2)
    values = rng.random(97)
    first = rng.integers(0, 97, 300)
    last = np.minimum(first + rng.integers(0, 98, 300), 97)
    expected = [min(values[a:b], default=np.inf) for a, b in zip(first, last, strict=True)]
    assert range_minimum(values, first, last).tolist() == expected


@pytest.mark.parametrize(
    ("law", "low", "high", "middle", "eta"),
    [
        (stats.norm(0.5, 1e-3), 0.0, 1.0, 0.5, 1e-3),
        (stats.norm(0.0, 1.0), -3.0, 3.0, 0.0, 0.25),
        (stats.laplace(0.0, 2.0), -50.0, 50.0, 0.0, 1.0),
    ],
)
def test_ceilings_of_symmetric_continuous_priors_contain_the_integral(law, low, high, middle, eta):
    # The lightest window that contains y reaches from y away from the middle, unless the end of the interval is nearer.
    inside = law.cdf(high) - law.cdf(low)

    def lightest(y):
        g = min(y + eta, high)
        return law.pdf(y) * (law.cdf(min(g + eta, high)) - law.cdf(g - eta)) / inside**2

    ends = [middle, min(middle + 12 * law.std(), high - eta), high]
    half = sum(integrate.quad(lightest, a, b, epsabs=1e-12, limit=200)[0] for a, b in pairwise(ends))
    low_end, high_end = dr.Threat(dr.Prior.continuous(law, low, high), goal=dr.Goal.within(eta)).raw.rad
    assert low_end <= 1.0 - 2.0 * half <= high_end
    assert high_end - low_end < 1e-4


def test_ceilings_of_a_uniform_interval_are_closed_forms():
    def raw(knowledge, eta):
        return dr.Threat(dr.Prior.continuous(stats.uniform(), 0.0, 1.0), knowledge, dr.Goal.within(eta)).raw.rad

    # Values up to eta: window [0, eta]; up to 2 eta: [0, y]; in between 2 eta. So the mean mass is
    # 2 (eta^2 + 1.5 eta^2) + (1 - 4 eta) 2 eta.
    low, high = raw(dr.Knowledge.nothing(), 0.1)
    assert low <= 0.83 <= high
    assert high - low < 1e-4
    # With everything known only records within eta of both ends cannot be missed: [0.4, 0.6] for eta 0.6.
    low, high = raw(dr.Knowledge.everything(), 0.6)
    assert low <= 0.8 <= high
    assert raw(dr.Knowledge.everything(), 0.0) == raw(dr.Knowledge.nothing(), 0.0) == (1.0, 1.0)
    assert raw(dr.Knowledge.nothing(), 1.0) == (0.0, 0.0)


@pytest.mark.parametrize("goal", [dr.Goal.exact(), dr.Goal.within(1.0)])
def test_the_lower_end_holds_for_every_prior_as_near_as_the_true_one_may_be(goal):
    rng = np.random.default_rng(3)
    law, t = rng.dirichlet(np.ones(6)), 0.04
    counted = replace(dr.Prior.of(law), measured=Measured(rows=100, cells=6, distance=t))
    low, high = dr.Threat(counted, goal=goal).raw.rad
    assert high - low > 0.1
    for _ in range(300):
        moved = law + t * (rng.dirichlet(np.full(6, 0.2)) - rng.dirichlet(np.full(6, 0.2)))
        if moved.min() >= 0.0:
            there = dr.Threat(dr.Prior.of(moved / moved.sum()), goal=goal).raw.rad
            assert low <= there[0] + 1e-12
            assert there[1] <= high + 1e-12


@pytest.mark.parametrize("goal", [dr.Goal.exact(), dr.Goal.within(1.0)])
def test_intervals_of_a_prior_counted_in_few_rows_stay_probabilities(goal):
    counted = replace(dr.Prior.uniform(6), measured=Measured(rows=2, cells=6, distance=0.9))
    raw = dr.Threat(counted, goal=goal).raw
    assert raw.rad == (0.0, 1.0)
    # Without a goal that every guess meets, the raw data name every record: at least 1 - t is left of that.
    assert raw.success == (pytest.approx(0.1, abs=1e-12), 1.0)
    assert raw.bound().value == 1.0


def test_a_release_as_good_as_the_raw_data_says_so():
    a = dr.assess(dr.Laplace(scale=0.01), HIV)
    assert a.ceiling is not None
    assert a.ceiling.low <= 2 * 0.99 * 0.01 <= a.ceiling.value <= a.ceiling.low + 1e-14
    assert a.ceiling.side == "exact"
    assert a.near_ceiling
    assert a.share == pytest.approx(1.0, abs=1e-9)
    # Laplace noise on 0 and 1: total variation 1 - exp(-1/(2 scale)), of which rad is 2 pi (1 - pi).
    b = dr.assess(dr.Laplace(scale=1.0), HIV)
    assert b.share == pytest.approx(1.0 - np.exp(-0.5), abs=1e-8)
    assert not b.near_ceiling


@pytest.mark.parametrize("threat", [dr.Threat.membership(0.5), dr.Threat.worst(), dr.Threat.baseline(0.1)])
def test_without_a_prior_there_is_no_ceiling_but_a_reason(threat):
    a = dr.assess(dr.PureDP(epsilon=1.0, neighbours="add-remove"), threat)
    assert a.ceiling is None
    assert a.share is None
    assert not a.near_ceiling
    assert "believed" in a.reason["ceiling"]


def test_ceilings_are_saved_and_older_files_are_read():
    a = dr.assess(dr.Laplace(scale=0.01), HIV)
    data = json.loads(json.dumps(a.to_dict()))
    assert data["near_ceiling"] is True
    assert dr.Assessment.from_dict(data) == a
    for key in ("ceiling", "share", "near_ceiling", "rarest", "digest"):
        del data[key]
    older = dr.Assessment.from_dict(data)
    assert (older.ceiling, older.rarest) == (None, None)


def test_the_skew_is_rounded_up_to_two_digits():
    assert dr.assess(dr.GRR(m=2, epsilon=1.0), dr.Threat(dr.Prior.of([0.9917, 0.0083]))).prior["skew"] == 120.0
    assert dr.assess(dr.GRR(m=3, epsilon=1.0), dr.Threat(dr.Prior.uniform(3))).prior["skew"] == 1.0


def _found(row, other, fpr):
    """Return the largest true-positive rate of a test between two laws: likelihood ratios, largest first."""
    order = np.argsort(-row / np.maximum(other, 1e-300))
    left, tpr = fpr, 0.0
    for i in order:
        share = 1.0 if other[i] <= left else left / other[i]
        tpr, left = tpr + share * row[i], left - share * other[i]
        if left <= 0.0:
            break
    return tpr


def test_the_row_of_the_rarest_value_bounds_every_test():
    rng = np.random.default_rng(4)
    for _ in range(40):
        m = int(rng.integers(2, 6))
        matrix, law = rng.dirichlet(np.ones(5), m), np.sort(rng.dirichlet(np.full(m, 0.4)))
        a = dr.assess(dr.Channel(matrix), dr.Threat(dr.Prior.of(law)))
        if law[-1] < 5.0 * law[0]:
            assert a.rarest is None
            continue
        assert a.rarest is not None
        others = law[1:] @ matrix[1:] / law[1:].sum()
        assert a.rarest.tpr.value >= _found(matrix[0], others, 0.01) - 1e-12
        assert a.rarest.odds is None or a.rarest.odds >= float((matrix[0] / others).max()) * (1 - 1e-9)


def test_the_row_of_the_rarest_value_of_laplace_noise_is_a_closed_form():
    rarest = dr.assess(dr.Laplace(scale=1.0), HIV).rarest
    assert rarest is not None
    assert rarest.tpr.value == pytest.approx(0.01 * np.e, rel=1e-9)
    assert rarest.odds == pytest.approx(np.e, rel=1e-12)
    assert dr.assess(dr.Laplace(scale=0.01), HIV).rarest.tpr.value == pytest.approx(1.0, abs=1e-9)
    assert dr.assess(dr.Laplace(scale=1.0), dr.Threat(dr.Prior.uniform(2))).rarest is None


@pytest.mark.parametrize(
    ("guarantee", "tpr", "odds"),
    [
        # At 1 % false positives: e^epsilon times them and delta on top; normal quantiles mu apart; the distance on top.
        (dr.PureDP(1.0, neighbours="replace-one"), 0.01 * np.e, np.e),
        (dr.PureDP(1.0, neighbours="add-remove"), 0.01 * np.e**2, np.e**2),
        (dr.PureDP(701.0, neighbours="replace-one"), 1.0, None),  # e^701 and more is no number
        (dr.ApproxDP(1.0, 1e-3, neighbours="replace-one"), 0.01 * np.e + 1e-3, None),
        (dr.GDP(1.0, neighbours="replace-one"), stats.norm.cdf(stats.norm.ppf(0.01) + 1.0), None),
        (dr.TotalVariation(0.2, neighbours="replace-one"), 0.21, None),
    ],
)
def test_the_row_of_the_rarest_value_of_a_guarantee(guarantee, tpr, odds):
    rarest = dr.assess(guarantee, HIV).rarest
    assert rarest is not None
    assert rarest.fpr == 0.01
    assert rarest.tpr.value == pytest.approx(tpr, rel=1e-9)
    assert rarest.odds is None if odds is None else rarest.odds == pytest.approx(odds, rel=1e-12)


def test_five_times_as_likely_is_skewed():
    def row(law):
        return dr.assess(dr.GRR(m=3, epsilon=1.0), dr.Threat(dr.Prior.of(law))).rarest

    assert row([0.5, 0.1, 0.4]) is not None
    assert row([0.49, 0.1, 0.41]) is None


def test_the_rarest_answer_counts_where_the_goal_names_a_class():
    prior = dr.Prior.uniform(20)
    goal = dr.Goal.labels(["yes"] + ["no"] * 19)
    assert dr.assess(dr.GRR(m=20, epsilon=1.0), dr.Threat(prior, goal=goal)).rarest is not None
    assert dr.assess(dr.GRR(m=20, epsilon=1.0), dr.Threat(prior)).rarest is None


def test_no_row_names_the_rarest_value():
    prior = dr.Prior.of([0.97, 0.02, 0.01], values=["healthy", "cold", "plague"])
    a = dr.assess(dr.GRR(m=3, epsilon=1.0), dr.Threat(prior))
    assert a.rarest is not None
    assert "plague" not in json.dumps(a.to_dict()) + a.explain()


# ----------------------------------------------------------------------------------------------------------- calibrate


def test_a_limit_that_the_raw_data_keep_is_called_idle():
    c = dr.calibrate(dr.Laplace, dr.Limit(HIV, rad=0.1))
    assert (c.status, c.near_ceiling, c.acknowledged) == ("free", True, False)
    assert c.achieved[0].idle
    assert dr.Calibration.from_dict(json.loads(json.dumps(c.to_dict()))) == c
    calibration = dr.calibrate(dr.Laplace, dr.Limit(HIV, rad=0.01))
    assert not calibration.near_ceiling
    assert not calibration.achieved[0].idle


def test_only_one_text_acknowledges():
    assert dr.Limit(HIV, rad=0.1, acknowledge="near-ceiling").acknowledge == "near-ceiling"
    with pytest.raises(dr.ParameterError, match="near-ceiling"):
        dr.Limit(HIV, rad=0.1, acknowledge="yes")


def test_what_the_raw_data_give_for_each_quantity():
    limit = dr.Limit(HIV, rad=0.1, success=0.995, gain=0.01, worst_gain=0.5, tpr=0.5, fpr=0.01, epsilon=1.0, delta=0.1)
    assert limit.raw("rad").most == pytest.approx(0.0198, abs=1e-14)
    assert (limit.raw("success").least, limit.raw("success").most) == pytest.approx((0.99, 1.0), abs=1e-14)
    assert limit.raw("gain").most == pytest.approx(0.01, abs=1e-14)
    assert limit.raw("worst_gain") == Raw(least=0.0, most=1.0)
    assert limit.raw("tpr") == Raw(least=0.01, most=1.0)
    assert limit.raw("epsilon") is None
    assert dr.Limit(dr.Threat.baseline(0.9), gain=0.05).raw("gain").most == pytest.approx(0.1, abs=1e-15)


def test_a_gain_that_the_raw_data_would_reach_is_near_them():
    limit = LimitResult(quantity="gain", limit=0.02, value=0.0099, met=True, raw=Raw(least=0.0, most=0.01))
    assert limit.near_ceiling
    assert limit.idle
    assert LimitResult.from_dict(limit.to_dict()) == limit


# ------------------------------------------------------------------------------------------------------------- vacuous


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [(0.9901, 0.0, 1.0, True), (0.9899, 0.0, 1.0, False), (0.9996, 0.1, 1.0, True), (0.95, 0.99, 0.99, True)],
)
def test_a_bound_that_excludes_less_than_a_hundredth_rules_out_almost_nothing(value, low, high, expected):
    assert rules_out_nothing(value, low, high) is expected


@pytest.mark.parametrize("epsilon", [9.98, 20.0, 700.0])
@pytest.mark.parametrize("knowledge", [dr.Knowledge.nothing(), dr.Knowledge.everything()])
def test_large_promises_say_nothing_whatever_is_known(epsilon, knowledge):
    threat = dr.Threat(dr.Prior.uniform(10), knowledge)
    assert dr.assess(dr.PureDP(epsilon=epsilon, neighbours="replace-one"), threat).says_nothing
    assert not dr.assess(dr.PureDP(epsilon=1.0, neighbours="replace-one"), threat).says_nothing


def test_an_exact_number_at_the_ceiling_says_something():
    a = dr.assess(dr.Laplace(scale=0.01), HIV)
    assert a.near_ceiling
    assert not a.says_nothing
