"""Results: JSON both ways, what an answer says about itself, and the dispatch that made it."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json

import numpy as np
import pytest
from scipy.stats import uniform

import dpradar as dr
from dpradar import correlated
from dpradar.bounds.rule import Finding, Rule
from dpradar.bounds.rules import RULES

ANSWERS = {
    "exact": lambda: dr.assess(dr.GRR(4, 1.0), dr.Threat(dr.Prior.of([0.4, 0.3, 0.3, 0.0]))),
    "interval": lambda: dr.assess(dr.Laplace(1.0), dr.Threat(dr.Prior.uniform(3), dr.Knowledge.everything())),
    "simulated": lambda: dr.assess(dr.Laplace(1.0, query=[[0, 1], [2, 0], [1, 1]]), dr.Threat(dr.Prior.uniform(3))),
    "continuous": lambda: dr.assess(
        dr.Exponential(2.0, interval=(0, 1)),
        dr.Threat(dr.Prior.continuous(uniform(), 0.0, 1.0), goal=dr.Goal.within(0.1)),
    ),
    "guarantee": lambda: dr.assess(dr.GDP(1.0, "add-remove"), dr.Threat(dr.Prior.uniform(3))),
    "worst": lambda: dr.assess(dr.ApproxDP(1.0, 1e-5, "replace-one")),
    "membership": lambda: dr.assess(dr.PureDP(1.0, "add-remove"), dr.Threat.membership(0.2)),
    "baseline": lambda: dr.assess(dr.PureDP(1.0, "add-remove"), dr.Threat.baseline(0.2)),
}

SKEWED = dr.Threat(dr.Prior.of([0.5, 0.3, 0.2]))


@pytest.mark.parametrize("name", ANSWERS)
def test_json_round_trip(name, tmp_path):
    answer = ANSWERS[name]()
    text = json.dumps(answer.to_dict(), allow_nan=False)
    assert dr.Assessment.from_dict(json.loads(text)) == answer
    answer.save(tmp_path / "a.json")
    assert dr.load(tmp_path / "a.json") == answer


@pytest.mark.parametrize("name", ANSWERS)
def test_every_number_knows_its_rule(name):
    answer = ANSWERS[name]()
    rules = {rule.name: rule for rule in RULES}
    for quantity, bound in answer.bounds.items():
        if bound is None:
            assert answer.reason[quantity]
            continue
        assert bound.side in {"exact", "upper"}
        assert bound.rule in rules or bound.rule == "blind-plus-rad"
        assert 0.0 <= bound.value <= 1.0
        if bound.low is not None:
            assert 0.0 <= bound.low <= bound.high == bound.value
    # Every rule about rad is accounted for: it won, or it says why not.
    spoke = {o.rule for o in answer.others if o.quantity == "rad"} | {b.rule for b in answer.bounds.values() if b}
    if answer.rad is not None:
        assert {rule.name for rule in RULES if "rad" in rule.quantities} <= spoke
    assert all(o.why for o in answer.others)


@pytest.mark.parametrize("name", ANSWERS)
def test_repr_is_one_line_and_words_come_along(name):
    answer = ANSWERS[name]()
    assert "\n" not in repr(answer)
    assert repr(answer).startswith("Assessment(")
    assert isinstance(answer.explain(), str)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"schema": "other/1"}', "null"])
def test_files_that_are_not_ours_are_refused(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(dr.ParameterError):
        dr.load(path)
    with pytest.raises(dr.ParameterError):
        dr.load(tmp_path / "missing.json")


def test_results_are_frozen():
    answer = ANSWERS["exact"]()
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.baseline = 0.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.rad.value = 0.0


def failing_rule(error: Exception) -> Rule:
    def find(_case):
        raise error

    return Rule(name="broken", title="broken", cites=("none",), quantities=("rad",), find=find)


def test_a_rule_that_fails_is_dropped_and_named():
    """A numerical failure leaves the other rules' answer, never a 0."""
    rule = failing_rule(dr.NumericsError("no convergence"))
    answer = dr.assess(dr.PureDP(1.0, "replace-one"), SKEWED, extra_rules=[rule])
    assert answer.rad.rule == "black-box-pure"
    assert any(o.rule == "broken" and "no convergence" in o.why for o in answer.others)


def test_an_unexpected_error_is_not_swallowed():
    with pytest.raises(ZeroDivisionError):
        dr.assess(
            dr.PureDP(1.0, "replace-one"),
            dr.Threat(dr.Prior.uniform(3)),
            extra_rules=[failing_rule(ZeroDivisionError())],
        )


@pytest.mark.parametrize("value", [1.1, -0.1, float("nan")])
def test_a_value_that_is_not_a_probability_is_not_used(value):
    def find(_case):
        return [Finding(quantity="rad", value=value, side="exact", low=value)]

    rule = Rule(name="wild", title="wild", cites=("none",), quantities=("rad",), find=find)
    answer = dr.assess(dr.PureDP(1.0, "replace-one"), SKEWED, extra_rules=[rule])
    # An upper bound above 1 is 1; anything else is refused.
    assert answer.rad.rule == "black-box-pure"


def test_nothing_known_about_a_release_is_the_vacuous_bound():
    """A mechanism that promises and offers nothing: what holds for every mechanism, never 0."""

    class Silent:
        neighbours = "replace-one"

        def privacy(self, _relation):
            return None

    answer = dr.assess(Silent(), dr.Threat(dr.Prior.uniform(4)))
    assert answer.rad.value == pytest.approx(0.75)
    assert answer.rad.rule == answer.success.rule == "trivial"
    assert answer.success.value == 1.0
    assert answer.worst_gain is None


def test_simulation_is_repeatable_and_takes_a_generator():
    mechanism, threat = dr.Laplace(1.0, query=[[0, 1], [2, 0], [1, 1]]), dr.Threat(dr.Prior.uniform(3))
    first, second = dr.assess(mechanism, threat), dr.assess(mechanism, threat)
    assert first == second
    other = dr.assess(mechanism, threat, rng=np.random.default_rng(5))
    assert [o.bound for o in other.others if o.rule == "simulation"] != [
        o.bound for o in first.others if o.rule == "simulation"
    ]


def test_success_is_never_rounded_below_the_blind_guess():
    """e^epsilon times a sum of tenths came out at 1 - 1e-16, where knowing everything is always right."""
    for m in (3, 7, 10, 30, 101):
        for what in (dr.PureDP(1.0, neighbours="replace-one"), dr.GRR(m=m, epsilon=0.3), dr.Laplace(scale=5.0)):
            a = dr.assess(what, dr.Threat(dr.Prior.uniform(m), dr.Knowledge.everything()))
            assert a.success.value >= a.baseline
            assert a.gain.value >= 0.0


def test_a_guarantee_that_is_silent_about_taking_part_says_so():
    a = dr.assess(dr.PureDP(1.0, neighbours="replace-one"), dr.Threat.membership(0.5))
    assert (a.success.rule, a.success.value) == ("trivial", 1.0)
    assert any("add-remove" in note for note in a.success.assumes)
    assessment = dr.assess(dr.PureDP(1.0, neighbours="add-remove"), dr.Threat.membership(0.5))
    assert assessment.success.value < 0.74


def test_rounding_carries_no_hit_above_1():
    values, weights = [13, 11, 26, 28, 16, 9], [2, 1, 1, 7, 3, 9]
    prior = dr.Prior.of([w / 23 for w in weights], values)
    a = dr.assess(dr.DiscreteGaussian(sigma=0.9780470284366866), dr.Threat(prior, goal=dr.Goal.within(19.0)))
    assert a.hit <= 1.0
    assert a.false_hit <= 1.0
    assert dr.Assessment.from_dict(a.to_dict()).to_dict() == a.to_dict()


def test_risks_among_correlated_records_are_read_back(tmp_path):
    for seed in range(12):
        joint = np.random.default_rng(seed).dirichlet(np.ones(4)).reshape(2, 2)
        risk = correlated.assess(correlated.Joint(joint), target=0, epsilon=1.0)
        risk.save(tmp_path / "risk.json")
        assert dr.load(tmp_path / "risk.json") == risk


@pytest.mark.parametrize("name", [np.int64(1), 1, None, ("a", "b"), dt.date(2026, 3, 1)])
def test_results_about_columns_with_any_name_are_read_back(tmp_path, name):
    prior = dr.Prior.records({name: [0, 0, 1, 1], "other": [0, 1, 0, 1]})
    threat = dr.Threat(prior, dr.Knowledge.columns(name), dr.Goal.columns("other"))
    result = dr.assess(dr.GRR(m=4, epsilon=1.0), threat)
    result.save(tmp_path / "columns.json")
    assert dr.load(tmp_path / "columns.json") == result
