"""DP-SGD of many models at once beside Opacus, one after the other; and what recording adds to a step of Opacus."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dpradar.learning import Candidates, Network, Training, train

from .measure import Case, Peer

if TYPE_CHECKING:
    from .measure import Work

__all__ = ["CASES"]

_KNOWN, _CANDIDATES, _PIXELS, _CLASSES = 999, 8, 784, 10
_MODELS, _STEPS = 32, 20
_BATCH = 100  # expected, of the recorded training
_CLIP, _NOISE, _RATE = 0.1, 5.0, 1.0


def _data() -> Candidates:
    rng = np.random.default_rng(1)
    x = rng.random((_KNOWN + _CANDIDATES, _PIXELS), dtype=np.float32)
    y = rng.integers(0, _CLASSES, _KNOWN + _CANDIDATES)
    return Candidates(x[:_KNOWN], y[:_KNOWN], x[_KNOWN:], y[_KNOWN:])


def _batched() -> Work:
    network = Network((_PIXELS, 10, _CLASSES))
    training = Training(network=network, steps=_STEPS, clip=_CLIP, noise_multiplier=_NOISE, learning_rate=_RATE)
    data, targets = _data(), np.arange(_MODELS) % _CANDIDATES
    return lambda: train(training, data, targets, np.random.SeedSequence(1).spawn(_MODELS)).scores.steps


def _need_opacus() -> None:
    try:
        import opacus as _  # noqa: F401
    except ImportError:
        message = "needs Opacus: make bench"
        raise ImportError(message) from None


def _opacus() -> Work:
    """Return as many model-steps of Opacus, one model at a time; without any attack."""
    _need_opacus()
    import torch
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer

    data = _data()
    x = torch.tensor(np.concatenate([data.known_x, data.x[:1]]))
    y = torch.tensor(np.concatenate([data.known_y, data.y[:1]]))
    layers = torch.nn.Linear(_PIXELS, 10), torch.nn.ReLU(), torch.nn.Linear(10, _CLASSES)
    model = GradSampleModule(torch.nn.Sequential(*layers))
    optimizer = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=_RATE),
        noise_multiplier=_NOISE,
        max_grad_norm=_CLIP,
        expected_batch_size=_KNOWN + 1,
    )
    loss = torch.nn.CrossEntropyLoss()

    def work() -> int:
        for _ in range(_MODELS * _STEPS):
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()
        return _STEPS

    return work


def _private(*, record: bool) -> Work:
    """Return an epoch of an ordinary loop with Opacus, with or without the lines of the recorder."""
    _need_opacus()
    import warnings

    import torch
    from opacus import PrivacyEngine

    from dpradar.learning.opacus import Recorder

    data = _data()
    x = torch.tensor(np.concatenate([data.known_x, data.x[:1]]))
    y = torch.tensor(np.concatenate([data.known_y, data.y[:1]]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Opacus, about its random numbers
        torch.manual_seed(1)
        layers = torch.nn.Linear(_PIXELS, 10), torch.nn.ReLU(), torch.nn.Linear(10, _CLASSES)
        network = torch.nn.Sequential(*layers)
        model, optimizer, loader = PrivacyEngine().make_private(
            module=network,
            optimizer=torch.optim.SGD(network.parameters(), lr=0.1),
            data_loader=torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=_BATCH),
            noise_multiplier=1.0,
            max_grad_norm=1.0,
        )
    loss = torch.nn.CrossEntropyLoss()
    candidates = (torch.tensor(data.x), torch.tensor(data.y))
    settings = {"candidates": candidates, "target": 0, "loader": loader}
    recorder = Recorder(model, optimizer, loss, **settings) if record else None

    def work() -> int:
        steps = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for images, classes in loader:
                if recorder is not None:
                    recorder.batch(images, classes)
                optimizer.zero_grad()
                loss(model(images), classes).backward()
                optimizer.step()
                steps += 1
        return steps

    return work


CASES = (
    Case(
        name="learning.mlp",
        what=f"{_MODELS} models of 784-10-10 on {_KNOWN + 1} images, {_STEPS} steps of DP-SGD each, with attack scores",
        prepare=_batched,
        peers=(Peer(name="Opacus, one by one", prepare=partial(_opacus), faster=10.0),),
        level=1,
    ),
    Case(
        name="learning.recorder",
        what=f"an epoch of Opacus, batches of {_BATCH}, recorded for {_CANDIDATES} candidates: at most twice as long",
        prepare=partial(_private, record=True),
        peers=(Peer(name="Opacus, not recorded", prepare=partial(_private, record=False), faster=0.5),),
        level=1,
    ),
)
