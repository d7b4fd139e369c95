"""The answer: what it holds, JSON both ways, sentences, calibration, simulation, and mistakes."""

from __future__ import annotations

import json
import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpradar as dr
from dpradar import correlated as co
from dpradar.correlated.noise_simulation import simulate
from dpradar.errors import ParameterError, UnsupportedError
from dpradar.results import Correlation
from tests.correlated.strategies import covariances, epsilons, joints, transitions

LAZY = [[0.9, 0.1], [0.3, 0.7]]
PAIR = [[225.0, 101.25], [101.25, 225.0]]


# Listed, so that tests are collected without computing anything.
NAMES = ("groups", "gaussian", "large", "chain", "three", "any", "joint", "fit")


@cache
def answers():
    return {
        "groups": co.leakage(co.Groups(3, records=30), 1.0, clip=(0.0, 10.0)),
        "gaussian": co.leakage(co.GaussianGroups(PAIR, means=[100.0, 100.0]), 1.0, clip=(40.0, 160.0)),
        "large": co.leakage(co.GaussianGroups(0.3 * np.ones((17, 17)) + 0.7 * np.eye(17)), 1.0, clip=(0.0, 9.0)),
        "chain": co.leakage(co.Chain(LAZY, 500), 2.0, values=(0.0, 1.0)),
        "three": co.leakage(co.Chain([[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]], 40), 1.0, values=(0, 1, 3)),
        "any": co.leakage(co.Chain(LAZY, 500), 2.0, target=5.0),
        "joint": co.leakage(co.Joint([[0.45, 0.05], [0.05, 0.45]]), 1.0),
        "fit": co.leakage(co.fit([0, 1, 1, 0, 0, None, 1, 0, 0, 1, 1, 1, 0]), 1.0),
    }


@pytest.mark.parametrize("name", NAMES)
def test_json_both_ways(name, tmp_path):
    result = answers()[name]
    text = json.dumps(result.to_dict(), allow_nan=False)
    assert Correlation.from_dict(json.loads(text)) == result
    result.save(tmp_path / "a.json")
    assert dr.load(tmp_path / "a.json") == result
    assert json.loads(text)["schema"] == "dpradar/correlation/2"
    hash(result)


def test_every_answer_has_a_name():
    assert tuple(answers()) == NAMES


def test_other_data_is_refused():
    with pytest.raises(ParameterError, match="dpradar/correlation/2"):
        Correlation.from_dict({"schema": "dpradar/assessment/2"})


@pytest.mark.parametrize("name", NAMES)
def test_every_number_says_where_it_is_from(name):
    result = answers()[name]
    bounds = [one.bound for one in result.theorems if one.bound is not None]
    bounds += [result.leakage, result.any_dependence, *([result.at_least] if result.at_least else [])]
    for bound in bounds:
        assert bound.rule
        assert bound.cites
        assert bound.assumes
        assert bound.side in ("exact", "upper", "lower")
        assert type(bound.value) is float
    assert result.leakage.value == pytest.approx(
        min(bound.value for bound in bounds if bound.side != "lower"), rel=1e-8
    )
    if result.at_least is not None:
        assert result.at_least.value <= result.leakage.value
    for one in result.theorems:
        assert one.why
        assert one.usable is (one.bound is not None)


@pytest.mark.parametrize("name", NAMES)
def test_sentences(name):
    result = answers()[name]
    text = result.explain()
    assert f"Released: {result.release[0].upper()}{result.release[1:]}." in text
    assert f"it would be {result.epsilon:g} if records were independent" in text
    assert "Assumes: " in text
    assert all(one.rule in text for one in result.theorems)
    assert "nan" not in text
    assert "np.float64" not in text


def test_sentences_word_by_word():
    lines = answers()["gaussian"].explain().splitlines()
    assert lines[:2] == [
        "MAY LEAK MORE THAN 1. Leakage: at most 1.4501; it would be 1 if records were independent (lemma-6.10, "
        "[GuerraThesis] Lemma 6.10).",
        "Whatever the dependence within a group: at most 2.0000 (thm-6.3).",
    ]
    for line in (
        "   A guess between two equally likely values is right for 50 of 100; after this release for at most 81 of 100 "
        "(74 if records were independent).",
        "  To keep the leakage at 1: epsilon 0.6896 (lemma-6.10), noise of scale 174; the answer is then off by less "
        "than 521.26 in 95 of 100 releases (359.49 with noise for independent records).",
        "Released: The sum of values clipped to [40, 160], Laplace noise of scale 120 (epsilon 1).",
        "Records: Gaussian groups of at most 2 records.",
    ):
        assert line in lines


def test_guesses_in_people_follow_from_the_leakage():
    """Two equally likely values, e^L/(1+e^L): what assess says of a guarantee with that epsilon."""
    level = answers()["gaussian"].leakage.value
    success = dr.assess(dr.PureDP(level, neighbours="replace-one"), dr.Threat(dr.Prior.uniform(2))).success.value
    assert success == pytest.approx(1.0 / (1.0 + math.exp(-level)), abs=1e-9)
    assert math.ceil(100 * success) == 81


@given(covariances(most=4), st.floats(0.05, 5.0))
@settings(max_examples=30)
def test_calibrated_noise_for_groups_keeps_the_target(S, target):
    model = co.GaussianGroups(S)
    calibration = co.calibrate(model, target, clip=(0.0, 1.0))
    assert calibration.leakage.value <= target
    assert co.leakage(model, 1.01 * calibration.epsilon, clip=(0.0, 1.0)).leakage.value > target


@given(st.sampled_from([2, 3]), st.data(), st.floats(0.1, 20.0), st.integers(1, 60))
@settings(max_examples=25)
def test_calibrated_noise_for_chains_keeps_the_target(states, data, target, length):
    chain = co.Chain(data.draw(transitions(states=states)), length)
    calibration = co.calibrate(chain, target)
    assert calibration.leakage.value <= target
    assert co.leakage(chain, 1.01 * calibration.epsilon).leakage.value > target
    assert calibration.epsilon <= target


@given(joints(most_records=3, most_values=2), st.floats(0.2, 4.0))
@settings(max_examples=20)
def test_calibrated_noise_for_tables_keeps_the_target(array, target):
    calibration = co.calibrate(co.Joint(array), target)
    assert calibration.leakage.value <= target
    assert target / array.ndim * (1.0 - 1e-9) <= calibration.epsilon <= target


@given(transitions(states=3), epsilons, st.floats(1.05, 3.0), st.integers(1, 40))
@settings(max_examples=15)
def test_more_epsilon_and_longer_series_leak_more(P, epsilon, factor, length):
    first = co.leakage(co.Chain(P, length), epsilon).leakage.value
    assert co.leakage(co.Chain(P, length), factor * epsilon).leakage.value > first
    assert co.leakage(co.Chain(P, length + 5), epsilon).leakage.value >= first - 1e-9
    assert epsilon <= first <= length * epsilon + 1e-9


def test_independent_records_leak_epsilon():
    assert co.leakage(co.Groups(1), 1.5).leakage.value == 1.5
    assert co.leakage(co.GaussianGroups(np.diag([1.0, 4.0, 9.0])), 1.5, clip=(0.0, 1.0)).leakage.value == pytest.approx(
        1.5
    )
    coin = co.leakage(co.Chain([[0.6, 0.4], [0.6, 0.4]], 1000), 1.5, values=(0.0, 1.0))
    assert coin.leakage.value == pytest.approx(1.5, abs=1e-9)
    assert co.leakage(co.Joint(np.full((2, 2), 0.25)), 1.5).leakage.value == pytest.approx(1.5, abs=1e-9)


def test_copies_leak_once_for_each():
    copies = np.zeros((2, 2, 2))
    copies[0, 0, 0] = copies[1, 1, 1] = 0.5
    assert co.leakage(co.Joint(copies), 0.7).leakage.value == pytest.approx(2.1, abs=1e-9)
    same = co.leakage(co.GaussianGroups([[1.0, 1.0], [1.0, 1.0]]), 1.0, clip=(0.0, 1.0))
    assert same.leakage.rule == "thm-6.3"
    assert "invertible" in next(one.why for one in same.theorems if one.rule == "lemma-6.10")


def test_noise_without_a_clip_interval():
    result = co.leakage(co.GaussianGroups(PAIR), 1.0)
    assert result.leakage.rule == "thm-6.3"
    assert all("needs a clip interval" in one.why for one in result.theorems if not one.usable)
    assert result.chosen.error is None


def test_no_epsilon_at_all():
    result = co.leakage(co.Chain(LAZY, 50), 0.0)
    assert result.leakage.value < 1e-9
    assert result.chosen is None


def test_a_target_that_nothing_keeps():
    with pytest.raises(ParameterError):
        co.calibrate(co.Groups(3), 0.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: co.leakage(co.Groups(2), -1.0), "epsilon must be a number at least 0"),
        (lambda: co.leakage(co.Groups(2), 501.0), "at most 500"),
        (lambda: co.leakage("groups", 1.0), "given Groups"),
        (lambda: co.leakage(co.GaussianGroups(PAIR), 1.0, clip=(3.0, 1.0)), "low below high"),
        (lambda: co.leakage(co.GaussianGroups(PAIR), 1.0, clip=(0.0, 1.0), targets="all"), '"any" or'),
        (lambda: co.leakage(co.Chain(LAZY, 5), 1.0, values=(1.0,)), "2 finite numbers"),
        (lambda: co.leakage(co.Chain(LAZY, 5), 1.0, values=(1.0, 1.0)), "not all equal"),
        (lambda: co.Groups(0), "at least 1"),
        (lambda: co.Groups(5, records=3), "at least the size of a group"),
        (lambda: co.GaussianGroups([[1.0, 2.0]]), "square"),
        (lambda: co.GaussianGroups([[1.0, 0.5], [0.2, 1.0]]), "symmetric"),
        (lambda: co.GaussianGroups([[0.0, 0.0], [0.0, 1.0]]), "variances above 0"),
        (lambda: co.GaussianGroups(PAIR, means=[1.0]), "other sizes"),
        (lambda: co.Chain([[0.5, 0.4], [0.5, 0.5]], 5), "sum to 1"),
        (lambda: co.Chain([[1.0, 0.0], [0.0, 1.0]], 5), "several distributions stay"),
        (lambda: co.Chain(LAZY, 0), "at least 1"),
        (lambda: co.Chain(LAZY, 5, [0.5, 0.4, 0.1]), "2 probabilities"),
        (lambda: co.Chain(LAZY, 40).joint(), "at most"),
        (lambda: co.Joint([[0.5, 0.6], [0.1, 0.1]]), "sum to 1"),
        (lambda: co.Joint([0.5, 0.5], values=[1.0, math.inf]), "finite"),
        (lambda: co.assess(co.Joint([[0.5, 0.0], [0.0, 0.5]]), target=2, epsilon=1.0), "from 0 to 1"),
        (lambda: co.assess(co.Joint([[0.5, 0.0], [0.0, 0.5]]), target=0, epsilon=1.0, known={1: 0}), "two values"),
        (lambda: co.assess(co.Joint([[0.5, 0.0], [0.0, 0.5]]), target=0), "either epsilon or channel"),
        (lambda: co.assess(co.Joint([0.5, 0.5]), target=0, epsilon=1.0, query=[1.0, 1.0]), "depends on the records"),
    ],
)
def test_mistakes_are_told(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_too_many_attackers_are_told():
    big = co.Joint(np.full((2,) * 14, 2.0**-14))
    with pytest.raises(UnsupportedError, match="too many attackers"):
        co.leakage(big, 1.0)


def test_a_channel_on_all_records():
    flip = 0.2
    one = np.array([[1 - flip, flip], [flip, 1 - flip]])
    model = co.Joint([[0.45, 0.05], [0.05, 0.45]])
    result = co.assess(model, target=0, channel=np.kron(one, one))
    rows = np.array([[0.9, 0.1], [0.1, 0.9]]) @ one  # of the other record's answer
    joint = np.array([np.kron(one[x], rows[x]) for x in (0, 1)])
    expected = 0.5 * np.abs(joint[0] - joint[1]).sum()
    assert result.worst_gain.value == pytest.approx(expected, abs=1e-12)
    assert result.rad.value == pytest.approx(expected / 2, abs=1e-12)


def test_simulated_errors():
    rng = np.random.default_rng(1)
    run = simulate([100.0, 400.0], 3.0, runs=200_000, rng=rng)
    assert run.error_exact == pytest.approx(3.0 * math.log(20.0))
    assert run.error == pytest.approx(run.error_exact, rel=0.02)
    assert run.mape_exact == pytest.approx(3.0 * (1 / 100 + 1 / 400) / 2)
    assert run.mape == pytest.approx(run.mape_exact, rel=0.02)
    wrong = simulate([100.0, 400.0], 3.2, runs=200_000, rng=rng)
    assert abs(wrong.error / run.error_exact - 1.0) > 0.02  # seven percent more noise is noticed
    assert simulate(0.0, 1.0, runs=10, rng=rng).mape is None


def test_importing_dpradar_does_not_import_it():
    import subprocess
    import sys

    code = "import sys, dpradar; sys.exit('dpradar.correlated' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_model_that_the_data_speak_against_is_not_used_unless_claimed():
    """A state depends on the one before the last, which looks like independence to a chain: it would say 1.02."""
    rng, states = np.random.default_rng(5), [0, 1]
    for _ in range(4000):
        states.append(int(rng.random() < (0.9 if states[-2] else 0.1)))
    result = co.leakage(co.fit(states), 1.0)
    assert (result.leakage.rule, result.leakage.value) == ("thm-6.3", len(states))
    claimed = co.leakage(co.fit(states, model="markov"), 1.0)
    assert claimed.leakage.value < 1.1
    doubt = "The model is taken as given, and the data speak against it"
    assert doubt in claimed.explain().splitlines()[0]
    assert doubt not in result.explain()


def test_a_model_that_fits_is_used():
    rng, states = np.random.default_rng(6), [0]
    for _ in range(4000):
        states.append(int(rng.random() < (0.7 if states[-1] else 0.3)))
    result = co.leakage(co.fit(states), 1.0)
    assert result.leakage.rule == "chain-steps"
    assert "speak against" not in result.explain()
