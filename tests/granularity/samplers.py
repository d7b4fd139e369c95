"""Implementations with and without the mistakes that the linter knows."""

from __future__ import annotations

import numpy as np

# Two databases: a record of "d" more in the first.
WITH, WITHOUT = ("a", "a", "b", "d"), ("a", "a", "b")
PAIRS = [(WITH, WITHOUT)]
UNIVERSE = "abcde"
GRID = 2.0**-10


def counts(data):
    return {value: data.count(value) for value in UNIVERSE}


def noise(epsilon, size, rng):
    """Two-sided geometric noise."""
    stop = 1.0 - np.exp(-epsilon)
    return rng.geometric(stop, size) - rng.geometric(stop, size)


def private_rows(data, rng):
    """Noise on every row that could be there; those with a positive noisy count are released."""
    noisy = np.array(list(counts(data).values())) + noise(1.0, len(UNIVERSE), rng)
    return {value for value, count in zip(UNIVERSE, noisy, strict=True) if count > 0}


def present_rows(data, rng):
    """Noise only on rows that are there."""
    return {value for value in sorted(set(data)) if data.count(value) + noise(1.0, 1, rng)[0] > 0}


def float_laplace(inputs, rng):
    return inputs + rng.laplace(0.0, 1.0, len(inputs))


def float_gaussian(inputs, rng):
    return inputs + rng.normal(0.0, 1.0, len(inputs))


def rounded_laplace(inputs, rng):
    """Laplace noise, the sum rounded to a public grid."""
    return np.round((inputs + rng.laplace(0.0, 1.0, len(inputs))) / GRID) * GRID


def geometric(inputs, rng):
    return inputs + noise(1.0, len(inputs), rng)


def half_noise(inputs, rng):
    return inputs + noise(2.0, len(inputs), rng)


def nothing(inputs, rng):
    return inputs * 1


def narrow(inputs, rng):
    """Uniform noise: outputs that the neighbour never has."""
    return inputs + rng.integers(0, 10, len(inputs))


def two_outputs(inputs, rng):
    """Two releases of one value; the second has too little noise."""
    grid = np.stack([inputs + noise(0.5, len(inputs), rng), inputs + noise(3.0, len(inputs), rng)], axis=1)
    return grid.astype(float)


def randomised_response(inputs, rng):
    return np.where(rng.random(len(inputs)) < 1.0 / (1.0 + np.exp(-1.0)), inputs, 1 - inputs)


def half_rounded(inputs, rng):
    """Too little noise, on a public grid."""
    return np.round((inputs + rng.laplace(0.0, 0.4, len(inputs))) * 4.0) / 4.0


def no_noise(inputs, rng):
    return inputs * 0.1


def half_rows(data, rng):
    """Noise on every row, but too little."""
    noisy = np.array(list(counts(data).values())) + noise(3.0, len(UNIVERSE), rng)
    return {value for value, count in zip(UNIVERSE, noisy, strict=True) if count > 0}
