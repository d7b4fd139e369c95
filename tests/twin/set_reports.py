"""Reports that are sets of values, by listing every set: numpy only, and no formula but Theorem 4.3 itself.

``m`` values, a report is a row of m bits. ``known`` holds for each value what the attacker knows of it, ``right`` the
matrix (guess, value) of what counts as right.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

Matrix = Any

PROTOCOLS = ("OUE", "SUE", "THE", "BLH", "OLH", "SubsetSelection")
THRESHOLD = 0.7


def coins(name: str, epsilon: float) -> tuple[float, float]:
    """The probability that the bit of the true value is 1, and that another one is."""
    e = math.exp(epsilon)
    if name == "OUE":
        return 0.5, 1.0 / (e + 1.0)
    if name == "SUE":
        half = math.exp(epsilon / 2.0)
        return half / (half + 1.0), 1.0 / (half + 1.0)
    if name == "THE":  # 1 + noise and noise alone above the threshold, Laplace noise of scale 2/epsilon
        own = 1.0 - 0.5 * math.exp(-(1.0 - THRESHOLD) * epsilon / 2.0)
        return own, 0.5 * math.exp(-THRESHOLD * epsilon / 2.0)
    g = 2 if name == "BLH" else min(math.floor(e + 1.0), 1 << 32)  # more hashes are not used
    return e / (e + g - 1.0), 1.0 / g


def reports(name: str, m: int, epsilon: float) -> tuple[Matrix, Matrix]:
    """Every report as a row of bits, and Pr[report | value], rows = values."""
    bits = np.array(list(product((0, 1), repeat=m)))
    if name == "SubsetSelection":
        size = max(1, math.floor(m / (math.exp(epsilon) + 1.0)))
        bits = bits[bits.sum(axis=1) == size]
        odds = math.exp(epsilon)
        weight = np.where(bits.T == 1, odds, 1.0)
        return bits, weight / weight.sum(axis=1, keepdims=True)
    own, other = coins(name, epsilon)
    law = np.empty((m, len(bits)))
    for z in range(m):
        one = np.full(m, other)
        one[z] = own
        law[z] = np.where(bits == 1, one, 1.0 - one).prod(axis=1)
    return bits, law


def risk(law: Matrix, pi: Matrix, known: Matrix, right: Matrix, tie: float = 1e-13) -> tuple[float, float, float]:
    """Rad, success and the hit of the rad-optimal attack that breaks ties at random."""
    pi, known, right = np.asarray(pi), np.asarray(known), np.asarray(right, dtype=float)
    joint = pi[:, None] * law
    scores = joint - pi[:, None] * joint.sum(axis=0)
    rad = success = hit = 0.0
    for x in sorted(set(known.tolist())):
        fibre = known == x
        gains, hits = right[:, fibre] @ scores[fibre], right[:, fibre] @ joint[fibre]
        rad += gains.max(axis=0).sum()
        success += hits.max(axis=0).sum()
        best = gains >= gains.max(axis=0) - tie * joint.max(axis=0)
        hit += ((best * hits).sum(axis=0) / best.sum(axis=0)).sum()
    return float(rad), float(success), float(hit)


def exact(m: int) -> Matrix:
    """A guess names one value."""
    return np.eye(m, dtype=bool)


def cells(labels: Matrix) -> Matrix:
    """A guess names one label."""
    labels = np.asarray(labels)
    return np.array([labels == label for label in dict.fromkeys(labels.tolist())])


def windows(m: int, eta: int) -> Matrix:
    """A guess is right for the values at most eta places away."""
    place = np.arange(m)
    return np.abs(place[:, None] - place[None, :]) <= eta
