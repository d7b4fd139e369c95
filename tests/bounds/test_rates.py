"""True-positive rates of an assessment: live, saved, and under which relation."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import dpradar as dr

ADD, REPLACE = "add-remove", "replace-one"
RATES = [0.0, 1e-9, 1e-6, 2.7e-6, 1e-4, 0.0033, 0.01, 0.12345, 0.37, 0.5, 0.77, 0.95, 0.9993, 1 - 1e-7, 1.0]
PAIR = dr.Threat(dr.Prior.uniform(2))

RELEASES = {
    "Gaussian": dr.Gaussian(1.0, query=[0.0, 1.0]),
    "Laplace": dr.Laplace(0.7, query=[0.0, 1.0]),
    "Laplace, hardly any noise": dr.Laplace(0.01, query=[0.0, 1.0]),
    "Geometric": dr.Geometric(1.3, query=[0.0, 1.0]),
    "GRR": dr.GRR(4, 1.0),
    "PureDP": dr.PureDP(1.0, REPLACE),
    "ApproxDP": dr.ApproxDP(0.5, 0.01, ADD),
    "GDP 0": dr.GDP(0.0, ADD),
    "GDP": dr.GDP(2.0, ADD),
    "ZCDP": dr.ZCDP(0.3, REPLACE),
    "TotalVariation": dr.TotalVariation(0.2, ADD),
    "Tradeoff": dr.Tradeoff([0.1, 0.4], [0.6, 0.2], REPLACE),
    "DPSGD": dr.DPSGD(0.8, 0.1, 30),
    "composed": dr.Composed([dr.Laplace(2.0, query=[0.0, 1.0]), dr.ApproxDP(0.3, 1e-4, REPLACE)]),
}


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_rates_rise_stay_above_chance_and_are_upper_bounds(release):
    a = dr.assess(release)
    values = [a.tpr(x).value for x in RATES]
    assert all(0.0 <= v <= 1.0 for v in values)
    assert all(low <= high + 1e-12 for low, high in pairwise(values))
    assert all(v >= x - 1e-12 for v, x in zip(values, RATES, strict=True))
    assert values[-1] == 1.0
    assert {a.tpr(x).side for x in RATES} == {"upper"}
    assert a.tpr(0.1).rule == "trade-off"


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_saved_rates_are_never_below_the_live_ones(release, tmp_path):
    live = dr.assess(release)
    live.save(tmp_path / "a.json")
    saved = dr.load(tmp_path / "a.json")
    assert saved == live
    rng = np.random.default_rng(3)
    drawn = np.concatenate([rng.random(60), 10.0 ** rng.uniform(-8, 0, 60), 1 - 10.0 ** rng.uniform(-8, 0, 30)])
    for x in [*RATES, *drawn.tolist()]:
        assert saved.tpr(x).value >= live.tpr(x).value - 1e-12, x
        assert saved.tpr(x).side == "upper"


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_saved_rates_are_exact_at_the_nodes_and_close_between(release):
    live = dr.assess(release)
    data = live.to_dict()
    saved = dr.Assessment.from_dict(data)
    nodes = data["rates"]["fpr"]
    assert {0.0, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.5, 1.0} <= set(nodes)
    for x in nodes:
        assert saved.tpr(x).value == pytest.approx(live.tpr(x).value, abs=1e-15)
    middles = np.sqrt(np.array(nodes[1:-1]) * np.array(nodes[2:]))
    middles = middles[(middles > 1e-5) & (middles < 0.999)]
    assert max(saved.tpr(x).value - live.tpr(x).value for x in middles.tolist()) < 0.05


def test_saving_twice_changes_nothing():
    once = dr.Assessment.from_dict(dr.assess(dr.Gaussian(1.0, query=[0.0, 1.0])).to_dict())
    twice = dr.Assessment.from_dict(once.to_dict())
    assert [once.tpr(x).value for x in RATES] == [twice.tpr(x).value for x in RATES]


def test_gaussian_rates_are_the_closed_form():
    a = dr.assess(dr.Gaussian(0.8, query=[0.0, 1.0]))
    for x in RATES[1:-1]:
        assert a.tpr(x).value == pytest.approx(ndtr(ndtri(x) + 1 / 0.8), abs=1e-12)


@pytest.mark.parametrize("fpr", [-0.1, 1.1, math.nan, math.inf, "0.1", None, True])
def test_a_false_positive_rate_outside_its_domain_is_refused_live_and_saved(fpr):
    live = dr.assess(dr.Gaussian(1.0, query=[0.0, 1.0]))
    for result in (live, dr.Assessment.from_dict(live.to_dict())):
        with pytest.raises(dr.ParameterError, match=r"tpr\.fpr must be a number at least 0 and at most 1"):
            result.tpr(fpr)


def test_without_a_curve_nothing_can_be_said():
    # A local report has no add/remove.
    a = dr.assess(dr.GRR(4, 1.0), neighbours=ADD)
    assert a.tpr(0.01).value == 1.0
    assert "nothing can be said" in a.tpr(0.01).assumes[0]
    saved = dr.Assessment.from_dict(a.to_dict())
    assert saved.to_dict()["rates"] is None
    with pytest.raises(dr.ParameterError, match="trade-off curve"):
        saved.tpr(0.01)


# ------------------------------------------------------------------------------------------------------- which relation


def relation(bound: dr.Bound) -> str:
    return next(note.removeprefix("neighbours: ") for note in bound.assumes if note.startswith("neighbours: "))


def test_a_guarantee_speaks_under_its_own_relation():
    for own in (ADD, REPLACE):
        a = dr.assess(dr.GDP(1.0, own))
        assert relation(a.tpr(0.01)) == own
        assert a.tpr(0.01).value == pytest.approx(ndtr(ndtri(0.01) + 1.0), abs=1e-12)


def test_the_relation_asked_for_comes_first():
    a = dr.assess(dr.GDP(1.0, ADD), neighbours=REPLACE)
    assert relation(a.tpr(0.01)) == REPLACE
    assert a.tpr(0.01).value == pytest.approx(ndtr(ndtri(0.01) + 2.0), abs=1e-12)
    # From replace-one nothing follows for add/remove.
    assert dr.assess(dr.GDP(1.0, REPLACE), neighbours=ADD).tpr(0.01).value == 1.0


@pytest.mark.parametrize(
    ("values", "replace", "add"), [([0, 1], 1.0, 1.0), ([-1, 1], 2.0, 1.0), ([4, 5], 1.0, 5.0), ([3, 3], 0.0, 3.0)]
)
def test_without_a_relation_the_worse_of_the_two_counts(values, replace, add):
    release = dr.Gaussian(2.0, query=values)
    mu_of = {REPLACE: replace / 2.0, ADD: add / 2.0}
    for neighbours, mu in mu_of.items():
        rate = dr.assess(release, PAIR, neighbours=neighbours).tpr(0.05)
        assert relation(rate) == neighbours
        assert rate.value == pytest.approx(ndtr(ndtri(0.05) + mu), abs=1e-12)
    rate = dr.assess(release, PAIR).tpr(0.05)
    assert rate.value == pytest.approx(ndtr(ndtri(0.05) + max(mu_of.values())), abs=1e-12)
    assert mu_of[relation(rate)] == max(mu_of.values())


def test_the_parts_of_a_composition_settle_the_relation_only_together():
    together = dr.Composed([dr.GDP(0.3, ADD), dr.GDP(0.4, ADD)])
    assert relation(dr.assess(together).tpr(0.1)) == ADD
    assert dr.assess(together).tpr(0.1).value == pytest.approx(ndtr(ndtri(0.1) + 0.5), abs=1e-12)
    mixed = dr.Composed([dr.GDP(0.3, ADD), dr.GDP(0.4, REPLACE)])
    assert relation(dr.assess(mixed).tpr(0.1)) == REPLACE
    assert dr.assess(mixed).tpr(0.1).value == pytest.approx(ndtr(ndtri(0.1) + math.hypot(0.6, 0.4)), abs=1e-12)


# Replace-one: Gaussian noise only. Add/remove: Laplace noise and half as much Gaussian, worse at middle rates.
CROSSING = dr.Composed([dr.Laplace(1.0, query=[1.0, 1.0]), dr.Gaussian(1.0, query=[-0.5, 0.5])])


def test_which_relation_is_worse_depends_on_the_rate():
    live = dr.assess(CROSSING, PAIR)
    assert [relation(live.tpr(x)) for x in (0.01, 0.2)] == [REPLACE, ADD]
    for neighbours in (ADD, REPLACE):
        one = dr.assess(CROSSING, PAIR, neighbours=neighbours)
        assert all(live.tpr(x).value >= one.tpr(x).value for x in (0.01, 0.1, 0.2))


def test_saved_rates_stay_on_the_safe_side_where_two_relations_cross():
    live = dr.assess(CROSSING, PAIR)
    saved = dr.Assessment.from_dict(live.to_dict())
    rates = np.linspace(0.1, 0.14, 41).tolist()  # between two saved rates, at 0.124702 by 0.0032
    assert min(saved.tpr(x).value - live.tpr(x).value for x in rates) >= -1e-12


def test_rates_agree_with_worst_gain_and_membership():
    a = dr.assess(dr.Laplace(0.7, query=[0.0, 1.0]), dr.Threat.membership(0.5))
    x = np.linspace(0.0, 1.0, 4001)
    gap = max(a.tpr(v).value - v for v in x.tolist())
    assert gap == pytest.approx(a.worst_gain.value, abs=1e-4)
    assert a.success.value == pytest.approx(0.5 + a.worst_gain.value / 2, abs=1e-9)


CAPPED = {
    "Channel": dr.Channel([[0.5, 0.5, 0.0], [0.4, 0.5, 0.1]]),
    "Exponential": dr.Exponential(1.0, utility=[[1, 0, 0], [0, 1, 0]]),
    "Laplace noise on vectors": dr.Laplace(1.0, query=[[0, 0], [1, 1]]),
}


@pytest.mark.parametrize("release", CAPPED.values(), ids=CAPPED)
def test_no_rate_exceeds_chance_by_more_than_the_total_variation(release):
    a = dr.assess(release, PAIR)
    assert max(a.tpr(x).value - x for x in np.linspace(0.0, 1.0, 201).tolist()) <= a.worst_gain.value + 1e-9
