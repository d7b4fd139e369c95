"""Attacks on models that Opacus trained: the adapters, what they leak, and bad input."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

import dpradar as dr
from dpradar.learning.models import AttributeAttacker, OpacusClassifier, TorchClassifier, attack_model, model_risk

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make test-torch)")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("opacus", reason="Opacus is not installed (make test-torch)")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
nn = torch.nn
torch.set_num_threads(1)


def logistic(features, classes):
    return nn.Linear(features, classes)


def people(n, rng):
    ill = rng.random(n) < 0.4
    return {
        "age": rng.normal(40.0 + 12.0 * ill, 10.0, n).round(1),
        "job": rng.choice(["office", "farm"], n),
        "ill": ill,
        "late": rng.random(n) < 0.3 + 0.3 * ill,
    }


def classifier(**changes):
    options = {"epochs": 3, "batch_size": 40, "noise_multiplier": 0.8, "clip": 1.0, "learning_rate": 0.5, "seed": 3}
    return OpacusClassifier(network=logistic, **{**options, **changes})


def blobs(n=400):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 3)) + 3.0 * y[:, None], np.where(y == 1, "yes", "no")


def test_it_learns_repeats_and_says_what_it_released():
    x, y = blobs()
    torch.manual_seed(99)
    before = torch.random.get_rng_state()
    one, two, other = classifier().fit(x, y), classifier().fit(x, y), classifier(seed=4).fit(x, y)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert one.classes_.tolist() == ["no", "yes"]
    assert np.mean(one.predict(x) == y) > 0.9
    assert np.array_equal(one.predict_proba(x), two.predict_proba(x))
    assert not np.array_equal(one.predict_proba(x), other.predict_proba(x))
    assert one.predict_proba(x).sum(axis=1) == pytest.approx(1.0)
    assert one.mechanism == dr.DPSGD(0.8, 0.1, 30)


def test_attacks_on_models_trained_with_opacus():
    rng = np.random.default_rng(5)
    known, targets, others = people(120, rng), people(40, rng), people(40, rng)
    attacker = AttributeAttacker.of(known, sensitive="ill", label="late")
    attacks = ["imputation", "yeom", "csmia", "wcai"]
    runs = model_risk(attacks, attacker, lambda seed: classifier(seed=seed), known, targets, others, seed=1)
    assert list(runs) == attacks
    for run in runs.values():
        assert run.trials == 40
        assert run.rad.low < 0.0 < run.rad.high  # nothing to be found with this much noise
    assert runs["imputation"].success.low > 0.4


def test_a_module_that_remembers_is_found():
    """It gives the label of its target only where the sensitive value is right."""
    rng = np.random.default_rng(6)
    known, targets, others = people(60, rng), people(60, rng), people(60, rng)
    attacker = AttributeAttacker.of(known, sensitive="ill", label="late", imputer=None)
    records = attacker.features(targets)

    class Remembers(nn.Module):
        def __init__(self, row, late):
            super().__init__()
            self.row, self.late = torch.tensor(np.asarray(row, dtype=np.float32)), int(late)

        def forward(self, x):
            same = (x - self.row).abs().max(dim=1).values < 1e-6
            scores = torch.zeros(len(x), 2)
            scores[:, self.late] = torch.where(same, 5.0, -5.0)
            return scores

    modules = [TorchClassifier(Remembers(records[i], targets["late"][i]), [False, True]) for i in range(60)]
    run = attack_model("csmia", attacker, modules, targets, others)["csmia"]
    assert run.success.estimate == 1.0
    assert run.rad.low > 0.0


def test_dropout_is_off_while_it_is_asked_and_on_again_after():
    module = nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.9)).train()
    model = TorchClassifier(module, ["a", "b"])
    x = np.random.default_rng(1).normal(size=(50, 3))
    assert np.array_equal(model.predict_proba(x), model.predict_proba(x))
    assert module.training


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: classifier(epochs=0), "epochs"),
        (lambda: classifier(noise_multiplier=0.0), "noise_multiplier"),
        (lambda: classifier(clip=-1.0), "clip"),
        (lambda: classifier(batch_size=0), "batch_size"),
        (lambda: OpacusClassifier(network="mlp"), "returns a PyTorch module"),
        (lambda: classifier().fit(np.full((4, 2), np.nan), [0, 1, 0, 1]), "finite"),
        (lambda: classifier().fit(np.zeros((4, 2)), [0, 1, 0]), "one class for each record"),
        (lambda: classifier().fit(np.zeros((4, 2)), [1, 1, 1, 1]), "two or more classes"),
        (lambda: classifier().predict(np.zeros((1, 2))), "fitted first"),
        (lambda: classifier().mechanism, "fitted first"),
        (lambda: TorchClassifier("net", [0, 1]), "a PyTorch module"),
        (lambda: TorchClassifier(nn.Linear(2, 2), [0, 0]), "different labels"),
        (lambda: TorchClassifier(nn.Linear(2, 3), [0, 1]).predict(np.zeros((1, 2))), "3 scores"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(dr.ParameterError, match=words):
        call()


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(dr.MissingExtra, match=r"dpradar\[torch\]"):
        TorchClassifier(len, [0, 1])
    monkeypatch.setitem(sys.modules, "opacus", None)
    with pytest.raises(dr.MissingExtra, match=r"dpradar\[torch\]"):
        classifier()
