"""Outputs in pairs of equal cells, and the error of integrating a best score over them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .likelihoods import GaussianNoise

if TYPE_CHECKING:
    from .step_prior import StepPrior

__all__ = ["OutputGrid", "bulges", "errors", "output_grid"]

Floats = NDArray[np.float64]
_BASE = 400  # base cells of equal width, and about as many of equal number of the prior's cells
_FAR = 7.0  # units: what Gaussian noise leaves beyond is below 1e-11
_INNER = np.linspace(0.0, 1.0, 11)
_OUTER = np.array([1.0, 1.1, 1.2, 1.35, 1.5, 1.9, 2.1, 2.3, 2.6, 3.0, 3.5, 4.0, 5.0, _FAR + 3.0])


@dataclass(frozen=True, slots=True, eq=False)
class OutputGrid:
    """Pairs of cells: three outputs each, ``start``, ``start + half`` and ``start + 2 half``."""

    start: Floats
    half: Floats
    tails: tuple[tuple[float, float], ...]  # (output, weight): beyond it all likelihoods fall by one factor

    @property
    def outputs(self) -> Floats:
        """All outputs, pair by pair; the ends of neighbouring pairs stand twice only where the pairs do not touch."""
        return np.concatenate([self.start, self.start + self.half, self.start + 2.0 * self.half])


def output_grid(prior: StepPrior, low: float, high: float, kappa: float, tolerance: float, most: int) -> OutputGrid:
    """Return a grid on which the curvature of the scores costs at most about the tolerance, or with ``most`` pairs."""
    a, b = float(prior.edges[0]), float(prior.edges[-1])
    noise = prior.noise
    tails: tuple[tuple[float, float], ...] = ()
    if isinstance(noise, GaussianNoise):
        first, last = max(low, a - _FAR * noise.unit), min(high, b + _FAR * noise.unit)
    else:
        first, last = max(low, a), min(high, b)
        below = _fallen(a - min(high, a), noise.unit) - _fallen(a - low, noise.unit)
        above = _fallen(max(low, b) - b, noise.unit) - _fallen(high - b, noise.unit)
        tails = tuple((at, noise.unit * w) for at, w in ((a, below), (b, above)) if w > 0.0)
    if not first < last:
        return OutputGrid(np.empty(0), np.empty(0), tails)
    thin = prior.edges[:: max(1, prior.edges.size // _BASE)]
    base = np.unique(np.clip(np.concatenate([np.linspace(first, last, _BASE + 1), thin, [a, b]]), first, last))
    width = np.diff(base)
    fall, rise = curvature(prior, base[:-1], base[1:])
    bend = np.maximum(fall, (1.0 - kappa) * fall + kappa * rise)
    # The error of a pair is about bend * half^3 / 2; for a given number of pairs bend * half^3 is the same for all.
    share = np.cbrt(bend) * width
    total = float(share.sum())
    pairs = min(max(0.5 * total**1.5 * math.sqrt(0.25 / tolerance), 1.0), float(most))
    count = np.maximum(np.ceil(share / max(total, 1e-300) * pairs), 1.0).astype(np.intp)
    half = np.repeat(0.5 * width / count, count)
    within = np.arange(half.size) - np.repeat(np.cumsum(count) - count, count)
    return OutputGrid(np.repeat(base[:-1], count) + 2.0 * half * within, half, tails)


def _fallen(distance: float, unit: float) -> float:
    return math.exp(-max(distance, 0.0) / unit)


def curvature(prior: StepPrior, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return bounds, for cells of outputs, on how fast hits may bend down, and up.

    The second derivative in y of the hits of any window lies between minus the first and the second.
    """
    noise, unit = prior.noise, prior.noise.unit
    if not isinstance(noise, GaussianNoise):
        return _largest(prior, low, high) / unit**2, _mixture_top(prior, low, high) / unit**2
    steps = _Cumulative(prior)
    inner = (1.0 - _INNER**2) * np.exp(-0.5 * _INNER**2)
    fall = np.zeros(low.size)
    for weight, radius in zip(inner[:-1] - inner[1:], _INNER[1:], strict=True):
        fall += weight * (steps(high + radius * unit) - steps(low - radius * unit))
    height = (_OUTER**2 - 1.0) * np.exp(-0.5 * _OUTER**2)
    rise = np.zeros(low.size)
    for i in range(_OUTER.size - 1):
        near, far = _OUTER[i] * unit, _OUTER[i + 1] * unit
        top = 2.0 * math.exp(-1.5) if _OUTER[i] < math.sqrt(3.0) < _OUTER[i + 1] else max(height[i], height[i + 1])
        around = steps(high - near) - steps(low - far) + steps(high + far) - steps(low + near)
        rise += top * around
    return fall * noise.top / unit**2, rise * noise.top / unit**2


class _Cumulative:
    """The hits' measure of everything below x."""

    def __init__(self, prior: StepPrior) -> None:
        self._x = prior.fine.edges
        self._f = prior.hits

    def __call__(self, x: Floats) -> Floats:
        return np.interp(x, self._x, self._f)


def _largest(prior: StepPrior, low: Floats, high: Floats) -> Floats:
    """Return the largest step of the hits' density that each cell of outputs meets."""
    density, edges = prior.fine.density * prior.factor, prior.fine.edges
    first = np.clip(np.searchsorted(edges, low, side="right") - 1, 0, density.size - 1)
    last = np.clip(np.searchsorted(edges, high, side="left"), first + 1, density.size)
    pairs = np.stack([first, last], axis=1).ravel()
    return np.asarray(np.maximum.reduceat(np.append(density, 0.0), pairs)[::2])


def _mixture_top(prior: StepPrior, low: Floats, high: Floats) -> Floats:
    """Return a bound on p(y) over each cell: the masses at growing distances times the density there."""
    noise, steps = prior.noise, _Cumulative(prior)
    distances = noise.unit * np.array([0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0, 24.0])
    heights = noise.at(np.zeros(1), distances)
    total = np.full(low.size, float(heights[-1]))
    for i in range(distances.size - 1):
        inside = steps(high + distances[i + 1]) - steps(low - distances[i + 1])
        total += (heights[i] - heights[i + 1]) * inside
    return np.asarray(np.minimum(total, noise.top * float(steps(prior.edges[-1:])[0])))


def bulges(prior: StepPrior, y: Floats, kappa: float) -> tuple[Floats, Floats]:
    """Return by how much a score may exceed its chord between neighbours of y: hits, and hits less false hits."""
    low, high = y[:-1], y[1:]
    width = high - low
    fall, rise = curvature(prior, low, high)
    down = fall * width**2 / 8.0
    if not isinstance(prior.noise, GaussianNoise):
        steps = _Cumulative(prior)
        down = np.minimum(down, (steps(high) - steps(low)) * width / (4.0 * prior.noise.unit**2))
    return down, np.maximum(down, (1.0 - kappa) * down + kappa * rise * width**2 / 8.0)


def errors(prior: StepPrior, grid: OutputGrid, kappa: float) -> tuple[float, float, float, float]:
    """Return what the curvature may cost: success from below and above, rad from below and above.

    A score that bends down by at most K has an integral over a pair of at least 2 half * its value in the middle less
    K half^3/3, and at most the trapezoidal rule on both cells plus K half^3/6. A bend of total nu, wherever it lies,
    costs at most nu half^2/2 and nu half^2/8.
    """
    if grid.start.size == 0:
        return 0.0, 0.0, 0.0, 0.0
    stop, h = grid.start + 2.0 * grid.half, grid.half
    fall, rise = curvature(prior, grid.start, stop)
    cost = []
    for smooth, lump in ((1.0 / 3.0, 1.0 / 2.0), (1.0 / 6.0, 1.0 / 8.0)):
        down = fall * h**3 * smooth
        if not isinstance(prior.noise, GaussianNoise):
            steps = _Cumulative(prior)
            mass = (steps(stop) - steps(grid.start)) / prior.noise.unit**2
            down = np.minimum(down, mass * h**2 * lump)
        both = np.maximum(down, (1.0 - kappa) * down + kappa * rise * h**3 * smooth)
        cost.append((float(down.sum()), float(both.sum())))
    (success_low, rad_low), (success_high, rad_high) = cost
    return success_low, success_high, rad_low, rad_high
