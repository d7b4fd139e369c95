"""Implementations to audit: one that keeps epsilon 1, one that has half the noise, one that lies."""

import numpy as np


def honest(inputs, rng):
    return inputs + rng.laplace(0.0, 1.0, len(inputs))


def half(inputs, rng):
    return inputs + rng.laplace(0.0, 0.5, len(inputs))


def lie(inputs, rng):
    keep = rng.random(len(inputs)) < 0.9
    return np.where(keep, inputs, rng.integers(0, 4, len(inputs)))


def total(data, rng):
    return float(np.sum(data) + rng.laplace(0.0, 0.25))


PAIRS = [([1, 2, 3], [1, 2])]
