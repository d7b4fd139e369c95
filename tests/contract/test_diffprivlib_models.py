"""Attacks on models of diffprivlib: any classifier with fit and predict_proba will do."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from dpradar.learning.models import AttributeAttacker, model_risk

pytestmark = [pytest.mark.contract, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def models():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("diffprivlib.models", reason="diffprivlib is not installed (make test-peers)")


def people(n, rng):
    ill = rng.random(n) < 0.4
    late = rng.random(n) < 0.3 + 0.3 * ill
    return {"age": rng.normal(40.0 + 12.0 * ill + 6.0 * late, 8.0, n).round(1), "ill": ill, "late": late}


@pytest.mark.parametrize("name", ["GaussianNB", "DecisionTreeClassifier", "RandomForestClassifier"])
def test_private_models_are_attacked(models, name):
    rng = np.random.default_rng(5)
    known, targets, others = people(150, rng), people(40, rng), people(40, rng)
    attacker = AttributeAttacker.of(known, sensitive="ill", label="late")
    width = attacker.features(known).shape[1]

    def make(seed):
        bounds = (np.full(width, -5.0), np.full(width, 5.0))
        options = {"bounds": bounds, "random_state": seed}
        if name != "GaussianNB":
            options |= {"classes": [False, True]}
        if name == "RandomForestClassifier":
            options |= {"n_estimators": 3}
        return getattr(models, name)(epsilon=1.0, **options)

    attacks = ["imputation", "yeom", "csmia", "wcai"]
    runs = model_risk(attacks, attacker, make, known, targets, others, seed=1)
    assert list(runs) == attacks
    for run in runs.values():
        assert run.trials == 40
        assert run.rad.low <= 0.0  # epsilon 1: nothing that 40 targets could show
    assert runs["imputation"].success.low > 0.4
