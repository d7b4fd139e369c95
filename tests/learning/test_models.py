"""Attribute inference on models: guesses computed by hand, leaks found, and no leak where there is none."""

from __future__ import annotations

import sys
from math import log

import numpy as np
import pytest
from scipy.stats import binom

from dpradar.errors import MissingExtra, ParameterError
from dpradar.learning.models import (
    ATTACKS,
    AttributeAttack,
    AttributeAttacker,
    NetworkClassifier,
    View,
    attack_model,
    csmia,
    imputation,
    model_risk,
    wcai,
    yeom,
    yeom_membership,
)
from dpradar.learning.models.columns import columns_of
from tests.learning.classifiers import logistic, naive_bayes, nearest

# Guesses by hand: two classes, three values a, b, c of the sensitive column, true label 1.

PRIOR = [0.5, 0.3, 0.2]


def scores(*of_label_1):
    return [[[1.0 - p, p] for p in row] for row in of_label_1]


def view(*of_label_1, **more):
    return View(prior=PRIOR, scores=scores(*of_label_1), labels=[1] * len(of_label_1), **more)


def test_imputation_by_hand():
    guesses = imputation(View(prior=PRIOR, imputed=[[0.2, 0.5, 0.3], [0.4, 0.3, 0.3]]))
    assert guesses.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("of_label", "expected"),
    [
        ((0.4, 0.6, 0.9), 0),  # .20 .18 .18
        ((0.2, 0.6, 0.8), 1),  # .10 .18 .16
        ((0.2, 0.1, 0.9), 2),  # .10 .03 .18
        ((0.6, 1.0, 0.0), 0),  # .30 .30 .00: of equal ones the more frequent
    ],
)
def test_yeom_by_hand(of_label, expected):
    assert yeom(view(of_label)).tolist() == [expected]


def test_yeom_with_membership_by_hand():
    # A mean loss of log 2: members are those with a score of 1/2 or more.
    guesses = yeom_membership(
        view((0.4, 0.6, 0.9), (0.5, 0.9, 0.9), (0.1, 0.2, 0.3), (0.1, 0.2, 0.7), mean_loss=log(2))
    )
    assert guesses.tolist() == [1, 0, 0, 2]


@pytest.mark.parametrize(
    ("of_label", "expected"),
    [
        ((0.6, 0.4, 0.1), 0),  # one predicted as 1: that one, though the others are more confident
        ((0.4, 0.1, 0.55), 2),
        ((0.6, 0.9, 0.4), 1),  # two: the more confident of these; the third does not count
        ((0.4, 0.2, 0.1), 0),  # none: the least confident, .6 against .8 and .9
        ((0.1, 0.45, 0.2), 1),
        ((0.8, 0.7, 0.95), 2),  # all three
    ],
)
def test_csmia_by_hand(of_label, expected):
    assert csmia(view(of_label)).tolist() == [expected]


def test_csmia_with_three_classes():
    one = [[[0.5, 0.3, 0.2], [0.1, 0.5, 0.4], [0.2, 0.2, 0.6]]]
    assert [int(csmia(View(prior=PRIOR, scores=one, labels=[y]))[0]) for y in range(3)] == [0, 1, 2]
    unsure = [[[0.5, 0.3, 0.2], [0.6, 0.2, 0.2], [0.7, 0.2, 0.1]]]
    assert csmia(View(prior=PRIOR, scores=unsure, labels=[2])).tolist() == [0]


def test_wcai_by_hand():
    guesses = wcai(view((0.4, 0.6, 0.9), (0.4, 0.6, 0.9), imputed=[[0.5, 0.4, 0.1], [0.1, 0.2, 0.7]]))
    assert guesses.tolist() == [1, 2]  # .20 .24 .09 and .04 .12 .63


def test_a_label_that_the_model_does_not_know_has_score_0():
    unknown = View(prior=PRIOR, scores=scores((0.4, 0.6, 0.9)), labels=[-1])
    assert unknown.label_scores.tolist() == [[0.0, 0.0, 0.0]]
    assert csmia(unknown).tolist() == [0]  # predicted by no value: the least confident, .6 .6 .9


# A world in which everything is known: s is 1 with probability .3; x = s, flipped with probability .1.


def world(n, rng):
    s = rng.random(n) < 0.3
    x = s ^ (rng.random(n) < 0.1)
    return {
        "hint": np.where(x, "yes", "no"),
        "age": rng.normal(40.0, 9.0, n).round(2),
        "ill": s.astype(int),
        "paid": np.where(rng.random(n) < 0.3 + 0.4 * s, "late", "on time"),
    }


@pytest.fixture(scope="module")
def attacker():
    return AttributeAttacker.of(world(5_000, np.random.default_rng(7)), sensitive="ill", label="paid")


def hits_of_imputation(attacker, n, seed):
    people = attacker.targets(world(n, np.random.default_rng(seed)))
    attack = ATTACKS["imputation"]
    return attack.guess(attacker.view(None, people, attack.needs), n) == people.truth


def test_imputation_reaches_the_bayes_accuracy(attacker):
    # max over s of Pr[s] Pr[x|s] Pr[y|s], summed over x and y.
    best = 0.0
    for x in (0, 1):
        for y in (0, 1):
            joint = [
                (0.3 if s else 0.7) * (0.9 if x == s else 0.1) * (p if y else 1 - p) for s, p in ((0, 0.3), (1, 0.7))
            ]
            best += max(joint)
    n = 20_000
    hits = int(hits_of_imputation(attacker, n, 8).sum())
    assert best == pytest.approx(0.9)
    # Age is noise, so no rule beats the best one; the fitted one reaches it but for what age misleads.
    assert binom.ppf(1e-6, n, best - 0.005) <= hits <= binom.ppf(1 - 1e-6, n, best)


def test_imputation_never_asks_the_model(attacker):
    targets, others = world(300, np.random.default_rng(1)), world(300, np.random.default_rng(2))
    run = attack_model("imputation", attacker, [None] * 300, targets, others)["imputation"]
    assert run.success.estimate > 0.8
    assert run.rad.low <= 0.0 <= run.rad.high
    same = attack_model("imputation", attacker, [None] * 300, targets, others, models_without=[None] * 300)
    assert same["imputation"].rad.estimate == 0.0
    assert same["imputation"].rad.high < 0.02


# Leaks


def people(n, rng):
    return {"age": rng.normal(size=n), "ill": rng.integers(0, 2, n), "paid": rng.integers(0, 2, n)}


@pytest.mark.parametrize("design", ["same-model", "same-target"])
def test_a_model_that_remembers_is_found_to_leak(design):
    """The nearest neighbour, with the sensitive column among the features: only the true value gives the true label."""
    rng = np.random.default_rng(3)
    known, targets, others = (people(n, rng) for n in (40, 200, 200))
    attacker = AttributeAttacker.of(known, sensitive="ill", label="paid")
    runs = model_risk(
        ["imputation", "yeom", "csmia", "wcai"],
        attacker,
        lambda _: nearest(),
        known,
        targets,
        others,
        design=design,
        seed=1,
    )
    for name in ("yeom", "csmia", "wcai"):
        assert runs[name].rad.low > 0.05
        assert runs[name].success.estimate > 0.65
    assert runs["imputation"].rad.low <= 0.0 <= runs["imputation"].rad.high
    assert runs["yeom"].rad.estimate == pytest.approx(runs["yeom"].success.estimate - runs["yeom"].false_hit.estimate)


class Linear:
    """A model that has seen nobody: a random direction."""

    classes_ = np.array(["late", "on time"])

    def __init__(self, direction):
        self.direction = direction

    def predict_proba(self, x):
        late = 1.0 / (1.0 + np.exp(x @ self.direction))
        return np.column_stack([late, 1.0 - late])


@pytest.mark.parametrize("design", ["same-model", "same-target"])
def test_no_leak_is_found_where_there_is_none(design):
    """Models that never saw the record, over many seeds: 0 lies outside no more often than was said."""
    confidence, seeds, n = 0.8, 200, 40
    attacker = AttributeAttacker.of(world(300, np.random.default_rng(4)), sensitive="ill", label="paid", imputer=None)
    rng, outside = np.random.default_rng(5), {"yeom": 0, "csmia": 0}
    fitted = [Linear(rng.normal(size=5)) for _ in range(30)]
    for _ in range(seeds):
        models, again = (rng.choice(30, n) for _ in range(2))
        runs = attack_model(
            ["yeom", "csmia"],
            attacker,
            [fitted[i] for i in models],
            world(n, rng),
            world(n, rng),
            models_without=[fitted[i] for i in again] if design == "same-target" else None,
            confidence=confidence,
        )
        for name, run in runs.items():
            outside[name] += not run.rad.low <= 0.0 <= run.rad.high
    allowed = binom.ppf(1 - 1e-6, seeds, 1 - confidence)
    assert all(count <= allowed for count in outside.values())


def test_several_models_of_a_target_count_once():
    """Five copies of one model add nothing: the interval is that of the targets."""
    rng = np.random.default_rng(6)
    known, targets, others = (people(n, rng) for n in (40, 60, 60))
    attacker = AttributeAttacker.of(known, sensitive="ill", label="paid", imputer=None)
    model = nearest().fit(attacker.features(known), known["paid"])
    one = attack_model("csmia", attacker, [model] * 60, targets, others)["csmia"]
    five = attack_model("csmia", attacker, [[model] * 5] * 60, targets, others)["csmia"]
    assert five.rad.estimate == pytest.approx(one.rad.estimate)
    assert five.trials == one.trials == 60
    assert five.rad.high - five.rad.low >= one.rad.high - one.rad.low
    assert "300 results about 60 targets" in five.notes
    assert any("people who are not in their training data" in note for note in five.notes)


def test_several_models_are_trained_for_each_target():
    rng = np.random.default_rng(9)
    known, targets, others = (people(n, rng) for n in (30, 20, 20))
    attacker = AttributeAttacker.of(known, sensitive="ill", label="paid", imputer=None)
    seeds, progress = [], []

    def make(seed):
        seeds.append(seed)
        return naive_bayes()

    arguments = (attacker, make, known, targets, others)
    run = model_risk(
        "yeom", *arguments, models=3, design="same-target", seed=4, progress=lambda *at: progress.append(at)
    )
    assert len(seeds) == len(set(seeds)) == 2 * 3 * 20
    assert progress[-1] == (20, 20)
    assert (run["yeom"].trials, run["yeom"].seed) == (20, 4)
    assert model_risk("yeom", *arguments, models=3, design="same-target", seed=4) == run


# What is asked of the model


class Counted:
    classes_ = np.array(["late", "on time"])

    def __init__(self):
        self.asked = []

    def predict_proba(self, x):
        self.asked.append(x)
        return np.full((len(x), 2), 0.5)


def test_one_question_for_each_value_on_all_targets(attacker):
    model, targets = Counted(), attacker.targets(world(50, np.random.default_rng(1)))
    seen = attacker.view(model, targets)
    assert [len(x) for x in model.asked] == [50, 50]
    assert seen.scores.shape == (50, 2, 2)
    # Only the sensitive columns differ between the questions, and the true value is what a model is trained on.
    first, second = model.asked
    assert np.array_equal(first[:, :-2], second[:, :-2])
    assert first[:, -2:].tolist() == [[1.0, 0.0]] * 50
    assert second[:, -2:].tolist() == [[0.0, 1.0]] * 50
    true = attacker.features(targets)
    assert np.array_equal(true, np.where(targets.truth[:, None] == 0, first, second))


def test_tables_of_every_kind_are_encoded_alike(attacker):
    table = world(5, np.random.default_rng(2))
    records = [dict(zip(table, row, strict=True)) for row in zip(*(c.tolist() for c in table.values()), strict=True)]
    assert np.array_equal(attacker.features(table), attacker.features(records))
    assert attacker.known == ("hint", "age")
    assert abs(attacker.features(world(4_000, np.random.default_rng(3)))[:, 2].mean()) < 0.1  # standardised
    strange = {**table, "hint": np.array(["never seen"] * 5), "ill": np.array([0, 1, 0, 1, 7])}
    assert attacker.features(strange)[:, :2].tolist() == [[0.0, 0.0]] * 5
    assert attacker.targets(strange).truth.tolist() == [0, 1, 0, 1, -1]


def test_an_attack_of_ones_own(attacker):
    always = AttributeAttack(
        "always 0", lambda seen: np.zeros(len(seen.imputed), dtype=int), ATTACKS["imputation"].needs
    )
    targets, others = world(80, np.random.default_rng(1)), world(80, np.random.default_rng(2))
    run = attack_model([always, "imputation"], attacker, [None] * 80, targets, others)["always 0"]
    assert run.success.estimate == pytest.approx(np.mean(targets["ill"] == 0))
    wrong = AttributeAttack("wrong", lambda _: np.array([5]), always.needs)
    with pytest.raises(ParameterError, match="the guesses of wrong must be 2 whole numbers from 0 to 1"):
        attack_model(wrong, attacker, [None] * 80, targets, others)


# The network


def test_network_learns_and_repeats(attacker):
    table = world(1_000, np.random.default_rng(1))
    x = attacker.features(table)
    net = NetworkClassifier(
        hidden=(8,), steps=150, clip=1.0, noise_multiplier=0.5, sample_rate=0.2, optimizer="adam", learning_rate=0.03
    )
    model = net.fit(x, table["ill"])
    assert model.classes_.tolist() == [0, 1]
    assert np.mean(model.predict(x) == table["ill"]) > 0.95
    assert np.allclose(model.predict_proba(x).sum(axis=1), 1.0)
    again = NetworkClassifier(
        hidden=(8,), steps=150, clip=1.0, noise_multiplier=0.5, sample_rate=0.2, optimizer="adam", learning_rate=0.03
    )
    assert np.array_equal(again.fit(x, table["ill"]).predict_proba(x), model.predict_proba(x))


def test_many_networks_equal_single_ones(attacker):
    rng = np.random.default_rng(2)
    known, extra = world(200, rng), world(3, rng)
    x, row = attacker.features(known), attacker.features(extra)
    net = NetworkClassifier(hidden=(4,), steps=10, clip=1.0, noise_multiplier=1.0, sample_rate=0.5, learning_rate=0.5)
    for i, model in enumerate(net.models(x, known["paid"], row, extra["paid"], [5, 6, 7])):
        single = NetworkClassifier(
            hidden=(4,), steps=10, clip=1.0, noise_multiplier=1.0, sample_rate=0.5, learning_rate=0.5, seed=5 + i
        )
        single.fit(np.vstack([x, row[i : i + 1]]), np.append(known["paid"], extra["paid"][i]))
        assert np.array_equal(single.predict_proba(x), model.predict_proba(x))


def test_noise_has_the_stated_size():
    """One step of plain descent from known parameters: what moved beyond the gradient is the noise."""
    x, y = np.zeros((400, 50), dtype=np.float32), np.repeat([0, 1], 200)
    moved = []
    for noise in (0.0, 3.0):
        net = NetworkClassifier(hidden=(), steps=1, clip=2.0, noise_multiplier=noise, learning_rate=400.0, seed=3)
        moved.append(net.fit(x, y).stack_.weights[0].ravel())
    spread = np.std(moved[1] - moved[0])
    assert spread == pytest.approx(6.0, rel=5.0 / np.sqrt(2 * moved[0].size))


def test_a_step_without_any_record_is_noise():
    net = NetworkClassifier(hidden=(3,), steps=50, clip=1.0, noise_multiplier=1.0, sample_rate=0.01, learning_rate=1e-3)
    assert np.all(np.isfinite(net.fit(np.eye(4), [0, 1, 0, 1]).predict_proba(np.eye(4))))


def test_networks_in_an_experiment(attacker):
    rng = np.random.default_rng(3)
    known, targets, others = (world(n, rng) for n in (200, 30, 30))
    net = NetworkClassifier(hidden=(4,), steps=5, clip=1.0, noise_multiplier=1.0, sample_rate=0.5, learning_rate=0.5)
    runs = model_risk(list(ATTACKS), attacker, net, known, targets, others, seed=1)
    assert set(runs) == set(ATTACKS)
    assert all(run.trials == 30 for run in runs.values())


# Bad input


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sensitive": "paid"}, "another column than the sensitive one"),
        ({"sensitive": "secret"}, "no 'secret'"),
        ({"known": []}, "one or more columns other than"),
        ({"known": ["ill"]}, "one or more columns other than"),
        ({"numeric": ["weight"]}, "AttributeAttacker.numeric must be known columns; got 'weight'"),
    ],
)
def test_bad_attackers(changes, message):
    with pytest.raises(ParameterError, match=message):
        AttributeAttacker.of(world(50, np.random.default_rng(1)), **{"sensitive": "ill", "label": "paid", **changes})


def test_errors_never_show_records(attacker):
    rng = np.random.default_rng(1)
    broken = world(20, rng)
    broken["age"][3] = np.nan
    with pytest.raises(ParameterError, match=r"targets\['age'\] must be finite numbers; got nan or infinite"):
        attacker.targets(broken)
    words = {**world(5, rng), "ill": np.array(["secret"] * 5)}
    with pytest.raises(ParameterError, match="among the 2 values of 'ill'") as caught:
        attacker.targets(words)
    assert "secret" not in str(caught.value)
    ragged = {**world(5, rng), "age": np.arange(4.0)}
    with pytest.raises(ParameterError, match="columns of equal length"):
        attacker.targets(ragged)
    for nothing in ([], 5, {}):
        with pytest.raises(ParameterError):
            columns_of("table", nothing)
    constant = {**world(20, rng), "ill": np.zeros(20)}
    with pytest.raises(ParameterError, match="a column with two values or more"):
        AttributeAttacker.of(constant, sensitive="ill", label="paid")


def test_bad_models(attacker):
    targets, others = world(5, np.random.default_rng(1)), world(5, np.random.default_rng(2))
    model = Counted()

    def run(models, **more):
        return attack_model("yeom", attacker, models, targets, more.pop("others", others), **more)

    with pytest.raises(ParameterError, match="a fitted classifier with predict_proba"):
        run([logistic()] * 5)
    with pytest.raises(ParameterError, match="5 entries, one for each target; got 4"):
        run([model] * 4)
    with pytest.raises(ParameterError, match="5 entries, one for each target; got more"):
        run([model] * 6)
    with pytest.raises(ParameterError, match="as many without it; got 1 and 0 for target 2"):
        run([model] * 5, models_without=[model] * 2)
    with pytest.raises(ParameterError, match="other people than the targets"):
        run([model] * 5, others=targets)
    with pytest.raises(ParameterError, match="5 records, one for each target; got 6"):
        run([model] * 5, others=world(6, np.random.default_rng(2)))
    with pytest.raises(ParameterError, match="one of imputation, yeom"):
        attack_model("guess", attacker, [model] * 5, targets, others)
    with pytest.raises(ParameterError, match="with different names"):
        attack_model(["yeom", "yeom"], attacker, [model] * 5, targets, others)
    silent = AttributeAttacker.of(world(50, np.random.default_rng(1)), sensitive="ill", label="paid", imputer=None)
    with pytest.raises(ParameterError, match=r"AttributeAttacker\.imputer must be a classifier, for this attack"):
        attack_model("wcai", silent, [model] * 5, targets, others)
    numbers = Counted()
    numbers.classes_ = np.array([0, 1])
    with pytest.raises(ParameterError, match="'1' is never equal to 1"):
        run([numbers] * 5)
    numbers.classes_ = np.array(["late", "on time", "never"])
    with pytest.raises(ParameterError, match=r"model\.predict_proba must be of shape \(2, 3\)"):
        run([numbers] * 5)
    with pytest.raises(ParameterError, match="same-model or same-target"):
        model_risk("yeom", attacker, NetworkClassifier(), targets, targets, others, design="other")
    with pytest.raises(ParameterError, match="a function of a seed, or a NetworkClassifier"):
        model_risk("yeom", attacker, 3, targets, targets, others)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "steps"),
        ({"clip": 0.0}, "clip"),
        ({"noise_multiplier": -1.0}, "noise_multiplier"),
        ({"sample_rate": 1.5}, "sample_rate"),
        ({"optimizer": "best"}, "sgd or adam"),
        ({"hidden": (0,)}, "whole numbers above 0"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_networks(changes, message):
    with pytest.raises(ParameterError, match=message):
        NetworkClassifier(**changes)


def test_bad_training_data():
    net = NetworkClassifier(steps=1)
    with pytest.raises(ParameterError, match="fitted first"):
        net.predict_proba(np.zeros((1, 2)))
    with pytest.raises(ParameterError, match="a table of finite numbers"):
        net.fit([[np.nan]], [1])
    with pytest.raises(ParameterError, match="2 classes, one for each record"):
        net.fit([[1.0], [2.0]], [1])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"prior": [[0.5, 0.5]]}, "in 1 dimensions"),
        ({"prior": [0.5, 0.5], "imputed": [[1.0, 0.0, 0.0]]}, "for the 2 values of the prior"),
        ({"prior": [0.5, 0.5], "scores": [[[0.5, np.nan], [0.5, 0.5]]], "labels": [0]}, "not negative"),
        ({"prior": [0.5, 0.5], "scores": [[[0.5, 0.5], [0.5, 0.5]]], "labels": [2]}, "from -1 to 1"),
        ({"prior": [0.5, 0.5], "scores": [[[0.5, 0.5], [0.5, 0.5]]]}, "from -1 to 1"),
    ],
)
def test_bad_views(fields, message):
    with pytest.raises(ParameterError, match=message):
        View(**fields)


def test_a_view_without_what_an_attack_needs():
    with pytest.raises(ParameterError, match="given with the mean loss in training"):
        yeom_membership(view((0.1, 0.2, 0.3)))
    with pytest.raises(ParameterError, match="given with imputed probabilities"):
        imputation(view((0.1, 0.2, 0.3)))


@pytest.mark.parametrize("module", ["sklearn.compose", "sklearn.linear_model"])
def test_missing_scikit_learn(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"dpradar\[search\]"):
        AttributeAttacker.of(world(20, np.random.default_rng(1)), sensitive="ill", label="paid")
