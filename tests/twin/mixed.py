"""Noise on a line released together with the output of a finite channel about the same record.

Given the output t of the finite channel the candidates keep their noise and their prior weights become pi_z P[z][t]; so
every integral over the noisy number is one of `lines`, with other weights, and they are summed over t. Gaussian noise
repeated k times is Gaussian noise of sigma / sqrt(k): the mean holds all that the k numbers say of the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np

from tests.twin import lines
from tests.twin.brute import Success, fibres

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


def _weights(
    pi: Sequence[float], likelihood: Sequence[Any], fibre: Sequence[int], S: Success, *, advantage: bool
) -> lines.Array:
    p = np.array(pi, dtype=float)
    joint = p * np.array([float(x) for x in likelihood])
    rows = []
    for right in S:
        hit = np.array([float(z in right and z in fibre) for z in range(len(p))])
        rows.append(hit * joint - joint * float(hit @ p) if advantage else hit * joint)
    return np.array(rows)


def risks(
    noise: lines.Noise,
    values: Sequence[float],
    P: Sequence[Sequence[Any]],
    pi: Sequence[float],
    a: Sequence[Hashable],
    S: Success,
    step: float = 0.02,
) -> tuple[float, float]:
    """(rad, success) of the noisy value and the output of P together."""
    v, rad, success = np.array(values, dtype=float), mpmath.mpf(0), mpmath.mpf(0)
    with mpmath.workdps(lines.DIGITS):
        for column in zip(*P, strict=True):
            for fibre in fibres(a):
                for advantage in (True, False):
                    weights = _weights(pi, column, fibre, S, advantage=advantage)
                    part = lines._maximum(noise, v, weights, None, step)
                    rad, success = (rad + part, success) if advantage else (rad, success + part)
    return float(rad), float(success)
