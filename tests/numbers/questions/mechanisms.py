"""Every mechanism under several threats, and the numbers that depend on the relation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import dpradar as dr
from tests.numbers.asking import assess
from tests.numbers.questions.parts import everything, labelled, line, skewed, stranger

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["QUESTIONS"]

_CHANNEL = [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4], [0.25, 0.5, 0.25], [0.0, 0.2, 0.8]]
_UTILITY = [
    [0.0, -1.0, -2.0],
    [-1.0, 0.0, -1.0],
    [-2.0, -1.0, 0.0],
    [0.0, 0.0, -1.0],
    [-0.5, 0.0, -2.0],
    [0.0, -2.0, 0.0],
]
_CELLS = np.eye(6).tolist()
_PLANE = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.5], [0.5, 2.0]]

# Each takes records 0 .. 5.
MECHANISMS: dict[str, Callable[[], Any]] = {
    "grr": lambda: dr.GRR(m=6, epsilon=1.0),
    "grr-epsilon-5": lambda: dr.GRR(m=6, epsilon=5.0),
    "sue": lambda: dr.SUE(m=6, epsilon=1.0),
    "oue": lambda: dr.OUE(m=6, epsilon=1.0),
    "subset-selection": lambda: dr.SubsetSelection(m=6, epsilon=1.0),
    "blh": lambda: dr.BLH(m=6, epsilon=1.0),
    "olh": lambda: dr.OLH(m=6, epsilon=1.0),
    "she": lambda: dr.SHE(m=6, epsilon=1.0),
    "the": lambda: dr.THE(m=6, epsilon=1.0),
    "the-threshold": lambda: dr.THE(m=6, epsilon=1.0, threshold=0.8),
    "hadamard": lambda: dr.HadamardResponse(m=6, epsilon=1.0),
    "channel": lambda: dr.Channel(_CHANNEL),
    "exponential": lambda: dr.Exponential(epsilon=1.0, utility=_UTILITY),
    "laplace": lambda: dr.Laplace(scale=2.0),
    "laplace-clamped": lambda: dr.Laplace(scale=2.0, truncate=(0.0, 5.0)),
    "laplace-query": lambda: dr.Laplace(scale=1.0, query=[0, 0, 1, 1, 4, 9]),
    "laplace-cells": lambda: dr.Laplace(scale=2.0, query=_CELLS),
    "gaussian": lambda: dr.Gaussian(sigma=2.0),
    "gaussian-clamped": lambda: dr.Gaussian(sigma=2.0, truncate=(0.0, 5.0)),
    "gaussian-query": lambda: dr.Gaussian(sigma=1.0, query=[0.5, 0.5, 1.0, 1.25, 4.0, 9.0]),
    "gaussian-cells": lambda: dr.Gaussian(sigma=1.0, query=_CELLS),
    "gaussian-collinear": lambda: dr.Gaussian(sigma=1.0, query=[[k, 2.0 * k] for k in range(6)]),
    "gaussian-plane": lambda: dr.Gaussian(sigma=1.0, query=_PLANE),
    "geometric": lambda: dr.Geometric(scale=2.0),
    "geometric-clamped": lambda: dr.Geometric(scale=2.0, truncate=(0, 5)),
    "discrete-gaussian": lambda: dr.DiscreteGaussian(sigma=2.0),
    "discrete-gaussian-clamped": lambda: dr.DiscreteGaussian(sigma=2.0, truncate=(0, 5)),
    "laplace-stated": lambda: dr.Laplace(scale=2.0, sensitivity=1.0, neighbours="add-remove"),
    "gaussian-stated": lambda: dr.Gaussian(sigma=2.0, sensitivity=1.0, neighbours="add-remove"),
    "gaussian-nonnegative": lambda: dr.Gaussian(sigma=2.0, sensitivity=1.0, neighbours="add-remove", nonnegative=True),
    "geometric-stated": lambda: dr.Geometric(scale=2.0, sensitivity=1, neighbours="replace-one"),
    "discrete-gaussian-stated": lambda: dr.DiscreteGaussian(sigma=2.0, sensitivity=1, neighbours="add-remove"),
    "repeated-grr": lambda: dr.Repeated(dr.GRR(m=6, epsilon=0.5), 3),
    "repeated-oue": lambda: dr.Repeated(dr.OUE(m=6, epsilon=0.5), 2),
    "repeated-laplace": lambda: dr.Repeated(dr.Laplace(scale=5.0), 3),
    "repeated-gaussian": lambda: dr.Repeated(dr.Gaussian(sigma=5.0), 4),
    "repeated-discrete-gaussian": lambda: dr.Repeated(dr.DiscreteGaussian(sigma=5.0), 4),
    "composed-grr": lambda: dr.Composed([dr.GRR(m=6, epsilon=0.5), dr.GRR(m=6, epsilon=1.0)]),
    "composed-mixed": lambda: dr.Composed([dr.GRR(m=6, epsilon=0.5), dr.Laplace(scale=10.0)]),
    "composed-guarantee": lambda: dr.Composed([dr.Gaussian(sigma=5.0), dr.PureDP(0.3, neighbours="replace-one")]),
    "composed-gaussian": lambda: dr.Composed([dr.Gaussian(sigma=5.0), dr.Gaussian(sigma=3.0)]),
    "dpsgd": lambda: dr.DPSGD(noise_multiplier=1.1, sample_rate=0.01, steps=100),
    "dpsgd-full-batches": lambda: dr.DPSGD(noise_multiplier=20.0, sample_rate=1.0, steps=100),
    "opacus": lambda: dr.from_opacus([(1.1, 0.01, 50), (0.9, 0.02, 20)]),
}  # fmt: skip
_VECTORS = ("laplace-cells", "gaussian-cells", "gaussian-plane", "she", "repeated-laplace", "composed-mixed")

THREATS: dict[str, Callable[[], dr.Threat | None]] = {
    "stranger": lambda: stranger(6),
    "skewed": skewed,
    "everything": lambda: everything(6),
    "labels": labelled,
    "within-1": lambda: line(6, 1.0),
    "membership": lambda: dr.Threat.membership(0.3),
    "baseline": lambda: dr.Threat.baseline(0.1),
    "worst": lambda: None,
}


def _question(mechanism: str, threat: str) -> Callable[[], Any]:
    return lambda: assess(MECHANISMS[mechanism](), THREATS[threat]())


QUESTIONS: dict[str, Callable[[], Any]] = {
    f"mechanism/{mechanism}/{threat}": _question(mechanism, threat) for mechanism in MECHANISMS for threat in THREATS
}
for relation in ("replace-one", "add-remove"):
    QUESTIONS |= {
        f"mechanism/{name}/{relation}": lambda name=name, relation=relation: assess(
            MECHANISMS[name](), dr.Threat.baseline(0.1), neighbours=relation
        )
        for name in ("grr", "gaussian-cells", "laplace", "dpsgd", "opacus", "composed-grr")
    }
