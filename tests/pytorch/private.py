"""A small training under Opacus, for the tests of the recorder."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dpradar as dr
from dpradar.learning import Candidates, Network
from dpradar.learning.opacus import Recorder

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make test-torch)")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    opacus = pytest.importorskip("opacus", reason="Opacus is not installed (make test-torch)")

nn = torch.nn
torch.set_num_threads(1)

RECORDS, FEATURES, HIDDEN, CLASSES, CANDIDATES, TARGET = 59, 12, 6, 4, 5, 3
CLIP, NOISE, LEARNING_RATE, STEPS = 0.7, 1.3, 0.5, 20
THREAT = dr.Threat(dr.Prior.uniform(CANDIDATES))


class Numbered(torch.utils.data.Dataset):
    """Records with their numbers; the target is the last one."""

    def __init__(self, data, target=TARGET):
        extra = [] if target is None else [target]
        self.x = torch.from_numpy(np.concatenate([data.known_x, data.x[extra]]))
        self.y = torch.from_numpy(np.concatenate([data.known_y, data.y[extra]]))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, number):
        return self.x[number], self.y[number], number


def mlp(network, start=0):
    stack = network.start(1, np.random.default_rng(start))
    parts = []
    for weight, bias in zip(stack.weights, stack.biases, strict=True):
        layer = nn.Linear(weight.shape[1], weight.shape[2])
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(weight[0].T.copy()))
            layer.bias.copy_(torch.from_numpy(bias[0]))
        parts += [layer, nn.ReLU()]
    return nn.Sequential(*parts[:-1])


class Private:
    """A model under Opacus."""

    def __init__(self, data, batch_size, target=TARGET, module=None, **settings):
        torch.manual_seed(3)
        module = module or mlp(Network((FEATURES, HIDDEN, CLASSES)))
        self.engine = opacus.PrivacyEngine()
        self.criterion = nn.CrossEntropyLoss()
        parts = self.engine.make_private(
            module=module,
            optimizer=torch.optim.SGD(module.parameters(), lr=LEARNING_RATE),
            criterion=self.criterion,
            data_loader=torch.utils.data.DataLoader(Numbered(data, target), batch_size=batch_size),
            noise_multiplier=NOISE,
            **{"max_grad_norm": CLIP, **settings},
        )
        self.model, self.optimizer, *_, self.loader = parts

    def recorder(self, data, **changed):
        options = {
            "candidates": (torch.from_numpy(data.x), torch.from_numpy(data.y)),
            "target": TARGET,
            "loader": self.loader,
            **changed,
        }
        return Recorder(self.model, self.optimizer, self.criterion, **options)

    def batches(self, steps):
        while steps > 0:
            for batch in self.loader:
                yield batch
                steps -= 1
                if steps == 0:
                    return

    def run(self, steps=STEPS, recorder=None):
        for x, y, _ in self.batches(steps):
            if recorder is not None:
                recorder.batch(x, y)
            self.optimizer.zero_grad()
            self.criterion(self.model(x), y).backward()
            self.optimizer.step()


def some_data():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(RECORDS + CANDIDATES, FEATURES)).astype(np.float32)
    y = rng.integers(0, CLASSES, RECORDS + CANDIDATES)
    return Candidates(x[:RECORDS], y[:RECORDS], x[RECORDS:], y[RECORDS:])
