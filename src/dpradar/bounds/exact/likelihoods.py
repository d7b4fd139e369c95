"""The likelihood of an output as a function of the record: averages over cells of records, and where it is large."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from ...mechanisms.noise.kernels import GaussianKernel, LaplaceKernel
from ...numerics.lazy_numpy import Floats, np
from ...numerics.special import ndtr, ndtri
from ..question import Inapplicable

__all__ = ["AtEnd", "GaussianNoise", "LaplaceNoise", "Likelihood", "noise_of"]

_NARROW = 1e-3  # of the unit: in narrower cells differences of distribution functions lose digits
_NARROWER = 1e-4
_HALF = 0.5


class Likelihood(Protocol):
    """p(y | x) for columns of outputs y and rows of records x, without the factor of a renormalised mechanism."""

    def at(self, y: Floats, x: Floats) -> Floats:
        """Return p(y | x)."""

    def average(self, y: Floats, x: Floats, width: Floats) -> Floats:
        """Return the average of p(y | .) over [x, x + width]."""

    def largest(self, y: Floats, start: Floats, stop: Floats, ends: Floats) -> Floats:
        """Return the largest p(y | .) over [start, stop], given the larger one of the values at the ends."""

    def above(self, y: Floats, level: Floats) -> tuple[Floats, Floats]:
        """Return the ends of the interval of records with p(y | x) > level."""


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """Gaussian noise around the record."""

    unit: float

    @property
    def top(self) -> float:
        """The largest density."""
        return 1.0 / (self.unit * math.sqrt(2.0 * math.pi))

    @property
    def reach(self) -> float:
        """Less than 1e-7 of the noise lies beyond."""
        return 5.5 * self.unit

    def at(self, y: Floats, x: Floats) -> Floats:
        """Return p(y | x)."""
        u = (x - y) / self.unit
        return np.asarray(self.top * np.exp(-0.5 * u * u))

    def average(self, y: Floats, x: Floats, width: Floats) -> Floats:
        """Return the average over [x, x + width]."""
        start = (x - y) / self.unit
        share = np.broadcast_to(width / self.unit, start.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            wide = (ndtr(start + share) - ndtr(start)) / (share * self.unit)
        narrow = share < _NARROW
        if not narrow.any():
            return np.asarray(wide)
        # Midpoint rule with its first correction; the next one is below 1e-13 of the top.
        u, s = start[narrow] + 0.5 * share[narrow], share[narrow]
        wide[narrow] = self.top * np.exp(-0.5 * u * u) * (1.0 + s * s * (u * u - 1.0) / 24.0)
        return np.asarray(wide)

    def averages(self, y: Floats, edges: Floats) -> Floats:
        """Return the averages over neighbouring cells, rows = outputs."""
        width = np.diff(edges)
        result = np.diff(ndtr((edges - y[:, None]) / self.unit), axis=1) / width
        narrow = np.flatnonzero(width < _NARROW * self.unit)
        result[:, narrow] = self.average(y[:, None], edges[narrow], width[narrow])
        return np.asarray(result)

    def largest(self, y: Floats, start: Floats, stop: Floats, ends: Floats) -> Floats:
        """Return the largest value over [start, stop], given that at the ends."""
        return np.where((start < y) & (y < stop), self.top, ends)

    def above(self, y: Floats, level: Floats) -> tuple[Floats, Floats]:
        """Return the ends of the interval of records above the level."""
        with np.errstate(divide="ignore"):
            radius = self.unit * np.sqrt(np.maximum(-2.0 * np.log(level / self.top), 0.0))
        return y - radius, y + radius


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """Laplace noise around the record."""

    unit: float

    @property
    def top(self) -> float:
        """The largest density."""
        return 0.5 / self.unit

    @property
    def reach(self) -> float:
        """Less than 1e-7 of the noise lies beyond."""
        return 16.2 * self.unit

    def at(self, y: Floats, x: Floats) -> Floats:
        """Return p(y | x)."""
        return np.asarray(self.top * np.exp(-np.abs(x - y) / self.unit))

    def average(self, y: Floats, x: Floats, width: Floats) -> Floats:
        """Return the average over [x, x + width]."""
        before = (y - x) / self.unit
        share = np.broadcast_to(width / self.unit, before.shape)
        past = share - before
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.where(width > 0.0, -np.expm1(-width / self.unit) / (width / self.unit), 1.0)
        result = self.top * np.exp(-np.maximum(np.maximum(-before, -past), 0.0)) * factor
        across = (before > 0.0) & (past > 0.0)
        if across.any():
            difference = np.expm1(-before[across]) + np.expm1(-past[across])
            result[across] = -self.top * difference / share[across]
        return np.asarray(result)

    def largest(self, y: Floats, start: Floats, stop: Floats, ends: Floats) -> Floats:
        """Return the largest value over [start, stop], given that at the ends."""
        return np.where((start < y) & (y < stop), self.top, ends)

    def above(self, y: Floats, level: Floats) -> tuple[Floats, Floats]:
        """Return the ends of the interval of records above the level."""
        with np.errstate(divide="ignore"):
            radius = self.unit * np.maximum(-np.log(level / self.top), 0.0)
        return y - radius, y + radius


@dataclass(frozen=True, slots=True)
class AtEnd:
    """The end of a clamped output, which has the probability that the noise leads beyond it; y plays no part.

    ``side`` is -1 for the lower end, 1 for the upper one.
    """

    noise: GaussianNoise | LaplaceNoise
    end: float
    side: float

    def _depth(self, x: Floats) -> Floats:
        """How far the record lies beyond the end, in units of the noise."""
        return np.asarray(self.side * (x - self.end) / self.noise.unit)

    def at(self, y: Floats, x: Floats) -> Floats:
        """Return p(y | x)."""
        depth = self._depth(x) + 0.0 * y
        if isinstance(self.noise, GaussianNoise):
            return np.asarray(ndtr(depth))
        half = 0.5 * np.exp(-np.abs(depth))
        return np.where(depth > 0.0, 1.0 - half, half)

    def average(self, y: Floats, x: Floats, width: Floats) -> Floats:
        """Return the average over [x, x + width]."""
        start = self._depth(x) + 0.0 * y
        share = np.broadcast_to(self.side * width / self.noise.unit, start.shape)
        middle = self.at(y, x + 0.5 * width)
        narrow = np.abs(share) < _NARROWER
        with np.errstate(divide="ignore", invalid="ignore"):
            wide = (self._integral(start + share) - self._integral(start)) / share
        # In a narrow cell the value in the middle is off by less than 1e-4^2 / 24 times a second derivative below 1/2.
        return np.asarray(np.where(narrow, middle, wide))

    def _integral(self, depth: Floats) -> Floats:
        """The integral of the probability over the depth, less the part max(depth, 0) where that is all of it."""
        if isinstance(self.noise, GaussianNoise):
            return np.asarray(depth * ndtr(depth) + np.exp(-0.5 * depth * depth) / math.sqrt(2.0 * math.pi))
        return np.asarray(np.maximum(depth, 0.0) + 0.5 * np.exp(-np.abs(depth)))

    def largest(self, y: Floats, start: Floats, stop: Floats, ends: Floats) -> Floats:
        """Return the largest value over [start, stop], given that at the ends."""
        return ends

    def above(self, y: Floats, level: Floats) -> tuple[Floats, Floats]:
        """Return the ends of the interval of records above the level."""
        level = np.clip(level, 0.0, 1.0)
        with np.errstate(divide="ignore"):
            if isinstance(self.noise, GaussianNoise):
                depth = np.asarray(ndtri(level))
            else:
                depth = np.where(level < _HALF, np.log(2.0 * level), -np.log(2.0 * (1.0 - level)))
        place = self.end + self.side * self.noise.unit * depth
        far = np.full(np.shape(place), np.inf)
        return (place, far) if self.side > 0.0 else (-far, place)


def noise_of(kernel: object) -> GaussianNoise | LaplaceNoise:
    """Return the likelihood of the outputs of a kernel."""
    if isinstance(kernel, GaussianKernel):
        return GaussianNoise(kernel.sigma)
    if isinstance(kernel, LaplaceKernel):
        return LaplaceNoise(kernel.scale)
    message = "knows Laplace and Gaussian noise"
    raise Inapplicable(message)
