"""DP-SGD of many models at once, beside Opacus training one after the other."""

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
_MODELS, _STEPS = 128, 5
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


def _opacus() -> Work:
    """Return as many model-steps of Opacus, one model at a time; without any attack."""
    try:
        import torch
        from opacus import GradSampleModule
        from opacus.optimizers import DPOptimizer
    except ImportError:
        message = "needs Opacus: make bench"
        raise ImportError(message) from None
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


CASES = (
    Case(
        name="learning.mlp",
        what=f"{_MODELS} models of 784-10-10 on {_KNOWN + 1} images, {_STEPS} steps of DP-SGD each, with attack scores",
        prepare=_batched,
        peers=(Peer(name="Opacus, one by one", prepare=partial(_opacus), faster=10.0),),
        level=1,
    ),
)
