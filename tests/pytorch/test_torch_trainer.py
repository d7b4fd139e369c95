"""The trainer for networks that need PyTorch, against the other one and against gradients made one by one."""

from __future__ import annotations

import numpy as np
import pytest

import dpradar as dr
from dpradar.learning import Candidates, Network, Training, attack_gradients, train
from dpradar.learning.torch_trainer import ConvNet, train_torch

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make test-torch)")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
nn = torch.nn
torch.set_num_threads(1)

SMALL = ConvNet(shape=(1, 10, 12), classes=3, channels=(2, 3), hidden=4)


def records(features, classes, least=0, known=30, candidates=4):
    rng = np.random.default_rng(7)
    x = rng.normal(size=(known + candidates, features))
    y = rng.integers(least, classes, known + candidates)
    return Candidates(x[:known], y[:known], x[known:], y[known:])


def settings(network, **changed):
    given = {"steps": 20, "clip": 0.6, "noise_multiplier": 1.1, "learning_rate": 0.5}
    return Training(network=network, **{**given, **changed})


@pytest.mark.parametrize("sample_rate", [1.0, 0.3])
@pytest.mark.parametrize(
    "network", [Network((8, 3)), Network((8, 5, 3), "tanh"), Network((8, 5, 4, 3), "elu"), Network((8, 5, 3), "relu")]
)
def test_both_trainers_agree(network, sample_rate):
    data, training = records(8, 3), settings(network, sample_rate=sample_rate)
    targets, seeds = [2, 0, 3], np.random.SeedSequence(1).spawn(3)
    ours, theirs = train(training, data, targets, seeds), train_torch(training, data, targets, seeds)
    for run, module in enumerate(theirs.models.modules):
        layers = [part for part in module if isinstance(part, nn.Linear)]
        for layer, weight, bias in zip(layers, ours.models.weights, ours.models.biases, strict=True):
            assert np.abs(layer.weight.detach().numpy().T - weight[run]).max() < 1e-5
            assert np.abs(layer.bias.detach().numpy() - bias[run]).max() < 1e-5
    for name in ("likelihoods", "plain", "distances"):
        assert getattr(theirs.scores, name) == pytest.approx(getattr(ours.scores, name), rel=1e-4, abs=1e-4)
    assert theirs.scores.steps == 20
    assert theirs.models.runs == 3
    assert theirs.models.probabilities(data.x) == pytest.approx(ours.models.probabilities(data.x), abs=1e-5)


def test_the_network_of_the_paper():
    network = ConvNet()
    module = network.module()
    assert sum(one.numel() for one in module.parameters()) == network.parameters == 225_034
    assert module(torch.zeros(2, 784)).shape == (2, 10)
    assert sum(one.numel() for one in SMALL.module().parameters()) == SMALL.parameters
    assert module(torch.zeros(0, 784)).shape == (0, 10)


def test_a_step_of_a_convolutional_network():
    """One step from gradients that are made and clipped one by one."""
    data, training = records(120, 3), settings(SMALL, steps=1, noise_multiplier=1e-4)
    found = train_torch(training, data, [1], [np.random.SeedSequence(4)])
    torch.manual_seed(0)
    module = SMALL.module()
    rows = [*zip(data.known_x, data.known_y, strict=True), (data.x[1], data.y[1])]
    total = [torch.zeros_like(one) for one in module.parameters()]
    for x, y in rows:
        loss = nn.functional.cross_entropy(module(torch.from_numpy(x)[None]), torch.tensor([int(y)]))
        own = torch.autograd.grad(loss, list(module.parameters()))
        norm = float(sum(one.square().sum() for one in own)) ** 0.5
        total = [sum_ + one * min(1.0, 0.6 / norm) for sum_, one in zip(total, own, strict=True)]
    for one, sum_, trained in zip(module.parameters(), total, found.models.modules[0].parameters(), strict=True):
        expected = one - 0.5 / 31.0 * sum_
        assert float((expected - trained).abs().max()) < 2e-5


def test_records_are_taken_in_parts(monkeypatch):
    data, training = records(120, 3), settings(SMALL, steps=3, sample_rate=0.5)
    whole = train_torch(training, data, [0], [np.random.SeedSequence(2)])
    monkeypatch.setattr("dpradar.learning.torch_trainer._NUMBERS", 4 * SMALL.parameters)
    parts = train_torch(training, data, [0], [np.random.SeedSequence(2)])
    assert parts.scores.likelihoods == pytest.approx(whole.scores.likelihoods, rel=1e-4, abs=1e-5)


def test_runs_have_their_own_seeds_and_are_attacked():
    data, training = records(120, 3), settings(SMALL, steps=5, noise_multiplier=0.05)
    seeds, seen = np.random.SeedSequence(1).spawn(4), []
    runs = train_torch(training, data, [0, 1, 2, 3], seeds, progress=lambda done, asked: seen.append((done, asked)))
    assert seen == [(done, 20) for done in range(1, 21)]
    alone = train_torch(training, data, [2], [seeds[2]])
    assert np.array_equal(alone.scores.likelihoods[0], runs.scores.likelihoods[2])
    threat = dr.Threat(dr.Prior.uniform(4))
    assert attack_gradients(runs.scores, runs.targets, threat).success.estimate == 1.0


def test_a_network_of_ones_own():
    class Own:
        def module(self):
            return nn.Sequential(nn.Linear(8, 6), nn.LayerNorm(6), nn.Linear(6, 3))

    runs = train_torch(settings(Own(), steps=2), records(8, 3), [0], [np.random.SeedSequence(1)])
    assert np.all(np.isfinite(runs.scores.likelihoods))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: train_torch(settings(SMALL), records(8, 3), [0], [np.random.SeedSequence(1)]), "120 features"),
        (lambda: train_torch(settings(SMALL), records(120, 3), [4], [np.random.SeedSequence(1)]), "from 0 to 3"),
        (lambda: train_torch(settings("mlp"), records(120, 3), [0], [np.random.SeedSequence(1)]), "PyTorch module"),
        (lambda: train_torch(settings(SMALL), records(120, 5), [0], [np.random.SeedSequence(1)]), "classes"),
        (lambda: train_torch(settings(SMALL), records(120, 3, -1), [0], [np.random.SeedSequence(1)]), "negative"),
        (lambda: ConvNet(shape=(1, 9, 28)), "at least 10"),
        (lambda: ConvNet(shape=(28, 28)), "channels, height, width"),
    ],
)
def test_bad_input(call, text):
    with pytest.raises(dr.ParameterError, match=text):
        call()
