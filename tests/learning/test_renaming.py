"""What the values of the sensitive column are called changes nothing about any attack."""

from __future__ import annotations

import numpy as np
import pytest

from dpradar.learning.models import ATTACKS, AttributeAttacker, View, model_risk
from tests.learning.classifiers import nearest

TARGETS, VALUES, CLASSES = 400, 3, 2


def tied_view(rng, order):
    """Scores and probabilities of few levels, so that most targets have ties; the values stand in the given order."""
    levels = np.random.default_rng(rng)
    scores = levels.integers(0, 3, (TARGETS, VALUES, CLASSES)) / 2.0
    imputed = levels.choice([0.2, 0.3, 0.5], (TARGETS, VALUES))
    labels = levels.integers(-1, CLASSES, TARGETS)
    prior = np.array([0.5, 0.3, 0.2])[order]
    return View(prior=prior, scores=scores[:, order], labels=labels, imputed=imputed[:, order], mean_loss=0.5)


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("order", [[2, 1, 0], [1, 2, 0]])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_attack_chooses_the_same_value_whatever_its_place(name, order, seed):
    straight = ATTACKS[name].guess(tied_view(seed, [0, 1, 2]), TARGETS)
    turned = ATTACKS[name].guess(tied_view(seed, order), TARGETS)
    assert np.array_equal(straight, np.array(order)[turned])


@pytest.mark.parametrize("name", ATTACKS)
def test_values_that_nothing_tells_apart_are_drawn_evenly(name):
    count = 6000
    view = View(
        prior=[0.5, 0.5],
        scores=np.full((count, 2, 2), 0.5),
        labels=np.ones(count, dtype=int),
        imputed=np.full((count, 2), 0.5),
        mean_loss=0.1,
    )
    first = int(np.sum(ATTACKS[name].guess(view, count) == 0))
    assert abs(first - count / 2) < 6 * np.sqrt(count) / 2


@pytest.mark.parametrize("attack", ["wcai", "csmia", "yeom"])
def test_the_measured_risk_does_not_depend_on_names(attack):
    """A nearest neighbour gives only scores 0 and 1, so that most targets have ties."""
    rng = np.random.default_rng(5)
    sex = rng.random(1200) < 0.33
    age, job = rng.normal(40.0, 12.0, 1200), rng.integers(0, 3, 1200)
    label = (rng.random(1200) < 0.2 + 0.3 * sex + 0.1 * (age > 45)).astype(int)

    def measured(names):
        table = {"sex": np.where(sex, names[0], names[1]), "age": age, "job": job, "label": label}
        parts = [{k: v[rows] for k, v in table.items()} for rows in (slice(0, 700), slice(700, 950), slice(950, 1200))]
        attacker = AttributeAttacker.of(parts[0], sensitive="sex", label="label")
        runs = model_risk(attack, attacker, lambda _: nearest(), *parts, seed=1)
        return runs[attack].rad

    assert measured(("Female", "Male")) == measured(("B", "A"))
