"""The trainer for networks that need PyTorch, against the other one and against gradients made one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpradar as dr
from dpradar.learning import Candidates, Network, Training, attack_gradients, train
from dpradar.learning.experiment import experiment
from dpradar.learning.torch_layers import LayerSums
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
    options = {"steps": 20, "clip": 0.6, "noise_multiplier": 1.1, "learning_rate": 0.5}
    return Training(network=network, **{**options, **changed})


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
    result = train_torch(training, data, [1], [np.random.SeedSequence(4)])
    torch.manual_seed(0)
    module = SMALL.module()
    rows = [*zip(data.known_x, data.known_y, strict=True), (data.x[1], data.y[1])]
    total = [torch.zeros_like(one) for one in module.parameters()]
    for x, y in rows:
        loss = nn.functional.cross_entropy(module(torch.from_numpy(x)[None]), torch.tensor([int(y)]))
        own = torch.autograd.grad(loss, list(module.parameters()))
        norm = float(sum(one.square().sum() for one in own)) ** 0.5
        total = [sum_ + one * min(1.0, 0.6 / norm) for sum_, one in zip(total, own, strict=True)]
    for one, sum_, trained in zip(module.parameters(), total, result.models.modules[0].parameters(), strict=True):
        expected = one - 0.5 / 31.0 * sum_
        assert float((expected - trained).abs().max()) < 2e-5


class Image(nn.Module):
    """Rows as images."""

    def forward(self, x):
        return x.reshape(-1, 1, 10, 12)


LAYERED = {
    "paper": SMALL.module,
    "strides": lambda: nn.Sequential(
        *(Image(), nn.Conv2d(1, 3, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), bias=False), nn.Tanh()),
        *(nn.Flatten(), nn.Linear(150, 5, bias=False), nn.ELU(), nn.Linear(5, 3)),
    ),
    "linear": lambda: nn.Linear(120, 3),
}
OTHERS = {
    "norms": lambda: nn.Sequential(nn.Linear(120, 6), nn.LayerNorm(6), nn.Linear(6, 3)),
    "groups": lambda: nn.Sequential(
        Image(), nn.Conv2d(1, 4, 3), nn.Conv2d(4, 4, 3, groups=2), nn.Flatten(), nn.Linear(192, 3)
    ),
    "rows of rows": lambda: nn.Sequential(nn.Unflatten(1, (4, 30)), nn.Linear(30, 2), nn.Flatten(), nn.Linear(8, 3)),
    "same": lambda: nn.Sequential(Image(), nn.Conv2d(1, 2, 3, padding="same"), nn.Flatten(), nn.Linear(240, 3)),
    "reflected": lambda: nn.Sequential(
        Image(), nn.Conv2d(1, 2, 3, padding=1, padding_mode="reflect"), nn.Flatten(), nn.Linear(240, 3)
    ),
}


class Twice(nn.Module):
    """One layer that is used two times."""

    def __init__(self):
        super().__init__()
        self.inner, self.last = nn.Linear(120, 120), nn.Linear(120, 3)

    def forward(self, x):
        return self.last(torch.tanh(self.inner(torch.tanh(self.inner(x)))))


@pytest.mark.parametrize("name", LAYERED)
@pytest.mark.parametrize("clip", [0.05, 1.5, 1e6])
def test_sums_by_layers_against_single_gradients(name, clip, monkeypatch):
    monkeypatch.setattr("dpradar.learning.torch_layers._TOGETHER", 7)
    torch.manual_seed(1)
    module, data = LAYERED[name](), records(120, 3)
    layers = LayerSums(module, clip)
    assert layers.fits(data.x)
    before = {key: one.clone() for key, one in module.named_parameters()}
    gradients = layers.summed(data.known_x, data.known_y)
    total = {key: torch.zeros_like(one) for key, one in module.named_parameters()}
    for x, y in zip(data.known_x, data.known_y, strict=True):
        loss = nn.functional.cross_entropy(module(torch.from_numpy(x)[None]), torch.tensor([int(y)]))
        own = torch.autograd.grad(loss, list(module.parameters()))
        norm = float(sum(one.double().square().sum() for one in own)) ** 0.5
        for key, one in zip(total, own, strict=True):
            total[key] += one * min(1.0, clip / norm)
    for key, one in total.items():
        assert float((gradients[key] - one).abs().max()) < 1e-5 * max(1.0, float(one.abs().max()))
        assert torch.equal(module.get_parameter(key), before[key])
        assert module.get_parameter(key).grad is None


@pytest.mark.parametrize("name", [*OTHERS, "twice"])
def test_other_networks_are_left_to_single_gradients(name):
    torch.manual_seed(1)
    module, data = Twice() if name == "twice" else OTHERS[name](), records(120, 3)
    assert not LayerSums(module, 1.0).fits(data.x)

    class Own:
        def module(self):
            return module

    runs = train_torch(settings(Own(), steps=2), data, [0], [np.random.SeedSequence(1)])
    assert np.all(np.isfinite(runs.scores.likelihoods))


def test_records_are_taken_in_parts(monkeypatch):
    data, training = records(120, 3), settings(SMALL, steps=3, sample_rate=0.5)
    whole = train_torch(training, data, [0], [np.random.SeedSequence(2)])
    monkeypatch.setattr("dpradar.learning.torch_trainer._NUMBERS", 4 * SMALL.parameters)
    monkeypatch.setattr(LayerSums, "fits", lambda *_: False)
    parts = train_torch(training, data, [0], [np.random.SeedSequence(2)])
    assert parts.scores.likelihoods == pytest.approx(whole.scores.likelihoods, rel=1e-4, abs=1e-5)


def test_runs_have_their_own_seeds_and_are_attacked():
    data, training = records(120, 3), settings(SMALL, steps=5, noise_multiplier=0.05)
    seeds, seen = np.random.SeedSequence(1).spawn(4), []
    runs = train_torch(training, data, [0, 1, 2, 3], seeds, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 20) for done in range(1, 21)]
    alone = train_torch(training, data, [2], [seeds[2]])
    assert np.array_equal(alone.scores.likelihoods[0], runs.scores.likelihoods[2])
    threat = dr.Threat(dr.Prior.uniform(4))
    assert attack_gradients(runs.scores, runs.targets, threat).success.estimate == 1.0


def test_the_attack_on_fixed_gradients_is_as_good_as_that_of_the_other_trainer():
    """Steps that hardly move: with 0.75 or 1.3 times the noise it would be 4 s. e. off; the other one is exact."""
    data, network = records(4, 3, candidates=2), Network((4, 3))
    training = settings(network, steps=2, noise_multiplier=1.2, learning_rate=1e-9)
    threat = dr.Threat(dr.Prior.uniform(2))
    targets = np.arange(800) % 2
    runs = train_torch(training, data, targets, np.random.SeedSequence(3).spawn(800))
    success = attack_gradients(runs.scores, targets, threat).success.estimate
    apart = runs.scores.distances[0, 1] ** 0.5  # the same in all runs
    expected = 0.5 * (1.0 + math.erf(apart / 2.0 / 2.0**0.5))
    assert 0.7 < expected < 0.9
    assert success == pytest.approx(expected, abs=3.5 * (expected * (1.0 - expected) / 800) ** 0.5)


class Beside(nn.Module):
    """The weight of a layer is used again, beside the layer."""

    def __init__(self):
        super().__init__()
        self.inner, self.last = nn.Linear(8, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.last(torch.tanh(nn.functional.linear(torch.tanh(self.inner(x)), self.inner.weight)))


def test_a_weight_that_is_used_beside_its_layer(monkeypatch):
    class Own:
        def module(self):
            return Beside()

    data, training = records(8, 3), settings(Own(), steps=3)
    assert LayerSums(Beside(), 1.0).fits(data.x)
    likelihoods = train_torch(training, data, [1], [np.random.SeedSequence(1)]).scores.likelihoods
    monkeypatch.setattr(LayerSums, "fits", lambda *_: False)
    assert np.array_equal(likelihoods, train_torch(training, data, [1], [np.random.SeedSequence(1)]).scores.likelihoods)


def test_networks_of_ones_own_do_not_share_shards(tmp_path):
    class Own:
        def __init__(self, activation):
            self.activation = activation

        def __repr__(self):
            return "Own()"

        def module(self):
            return nn.Sequential(nn.Linear(8, 6), self.activation, nn.Linear(6, 3))

    for activation in (nn.Tanh(), nn.ReLU()):
        training = settings(Own(activation), steps=2)
        saved = experiment(training, records(8, 3), 2, 1, keep=tmp_path)[1]
        assert np.array_equal(saved.likelihoods, experiment(training, records(8, 3), 2, 1)[1].likelihoods)
    assert len(list(tmp_path.glob("*.npz"))) == 4


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
        (lambda: train_torch(settings(SMALL), records(120, 3, -1), [0], [np.random.SeedSequence(1)]), "at least 0"),
        (lambda: train_torch(settings(SMALL), records(120, 3), [0.7], [np.random.SeedSequence(1)]), "from 0 to 3"),
        (lambda: ConvNet(shape=(1, 9, 28)), "at least 10"),
        (lambda: ConvNet(shape=(28, 28)), "channels, height, width"),
    ],
)
def test_bad_input(call, text):
    with pytest.raises(dr.ParameterError, match=text):
        call()


def test_workers_train_with_torch_too():
    rng = np.random.default_rng(7)
    data = Candidates(rng.normal(size=(9, 100)), rng.integers(0, 3, 9), rng.normal(size=(2, 100)), np.array([0, 2]))
    network = ConvNet(shape=(1, 10, 10), classes=3, channels=(2, 3), hidden=4)
    training = Training(network=network, steps=3, clip=0.6, noise_multiplier=1.1, learning_rate=0.5)
    seeds = [np.random.SeedSequence(5, spawn_key=(k,)) for k in range(3)]
    expected = train_torch(training, data, [0, 1, 0], seeds, start=5).scores
    for workers in (1, 2):
        targets, scores = experiment(training, data, 3, 5, workers=workers)
        assert targets.tolist() == [0, 1, 0]
        np.testing.assert_allclose(scores.likelihoods, expected.likelihoods, atol=1e-6)
        np.testing.assert_allclose(scores.distances, expected.distances, atol=1e-6)
