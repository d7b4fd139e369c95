"""The laws of noise on whole numbers: their probabilities, and how they are drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from ...numerics.lazy_numpy import Floats, Int64s, np

__all__ = ["DiscreteGaussianLaw", "GeometricLaw", "Law", "SummedLaw"]


@dataclass(frozen=True, slots=True)
class GeometricLaw:
    """Pr[noise = k] proportional to e^(-|k| / scale)."""

    scale: float

    @property
    def margin(self) -> int:
        """How far beyond the contributions outputs must be listed: not at all.

        Beyond the extreme contributions all likelihoods fall by the same factor, so one column holds the whole tail.
        """
        return 0

    def below(self, k: Floats) -> Floats:
        """Return Pr[noise <= k]."""
        r = math.exp(-1.0 / self.scale)
        return np.where(
            k < 0,
            np.exp(np.minimum(k, 0.0) / self.scale) / (1 + r),
            1 - r * np.exp(-np.maximum(k, 0.0) / self.scale) / (1 + r),
        )

    def pmf(self, k: Floats) -> Floats:
        """Return Pr[noise = k]."""
        return np.asarray(np.exp(-np.abs(k) / self.scale) * math.tanh(0.5 / self.scale))

    def epsilon(self, distance: float) -> float | None:
        """Return the pure-DP epsilon for two contributions at this distance."""
        return distance / self.scale

    def information(self, distance: float) -> float | None:
        """None: its two listed distributions say it."""
        return None

    def sample(self, size: int, rng: np.random.Generator) -> Int64s:
        """Draw noise as the difference of two geometric variables; for simulation only."""
        p = -math.expm1(-1.0 / self.scale)
        return rng.geometric(p, size) - rng.geometric(p, size)


@dataclass(frozen=True, slots=True)
class DiscreteGaussianLaw:
    """Pr[noise = k] proportional to e^(-k^2 / (2 sigma^2)) (Canonne, Kamath and Steinke 2020)."""

    sigma: float

    @property
    def margin(self) -> int:
        """Less than 1e-20 of the noise lies beyond this distance; it is lumped into the end columns."""
        return math.ceil(9.5 * self.sigma) + 2

    def _weights(self) -> tuple[Floats, Floats]:
        k = np.arange(-self.margin - 1, self.margin + 2, dtype=float)
        with np.errstate(over="ignore"):
            weights = np.exp(-0.5 * np.square(k / self.sigma))
        return k, weights / weights.sum()

    def below(self, k: Floats) -> Floats:
        """Return Pr[noise <= k]."""
        support, weights = self._weights()
        index = np.clip(np.floor(k) - support[0] + 1, 0, support.size).astype(int)
        return np.asarray(np.minimum(np.concatenate([[0.0], np.cumsum(weights)])[index], 1.0))

    def pmf(self, k: Floats) -> Floats:
        """Return Pr[noise = k]."""
        support, weights = self._weights()
        index = np.clip(k - support[0], 0, support.size - 1).astype(int)
        return np.where(np.abs(k) <= support[-1], weights[index], 0.0)

    def epsilon(self, distance: float) -> float | None:
        """The discrete Gaussian is not pure DP, except at distance 0."""
        return 0.0 if distance == 0.0 else None

    def information(self, distance: float) -> float | None:
        """Return distance^2 / (2 sigma^2), the Kullback-Leibler divergence: the mean of the noise is 0."""
        return 0.5 * (distance / self.sigma) ** 2

    def sample(self, size: int, rng: np.random.Generator) -> Int64s:
        """Draw noise by inversion; for simulation only."""
        support, weights = self._weights()
        return rng.choice(support.astype(np.int64), size=size, p=weights)


@dataclass(frozen=True, eq=False)
class SummedLaw:
    """The sum of independent draws of discrete Gaussian noise."""

    law: DiscreteGaussianLaw
    times: int

    @property
    def margin(self) -> int:
        """Less than 1e-18 of the sum lies beyond this distance: it is subgaussian with variance times sigma^2."""
        return math.ceil(9.5 * self.law.sigma * math.sqrt(self.times)) + 2

    @cached_property
    def _masses(self) -> Floats:
        # Convolution by repeated squaring; every product is positive, so nothing cancels, and tails are cut at the end.
        reach = self.law.margin
        one = self.law.pmf(np.arange(-reach, reach + 1, dtype=float))
        result, power, remaining = np.ones(1), one, self.times
        while remaining:
            if remaining & 1:
                result = _truncate_to_reach(np.convolve(result, power), self.margin)
            remaining >>= 1
            if remaining:
                power = _truncate_to_reach(np.convolve(power, power), self.margin)
        return np.asarray(result / result.sum())

    def pmf(self, k: Floats) -> Floats:
        """Return Pr[noise = k]."""
        masses = self._masses
        half = masses.size // 2
        index = np.clip(k + half, 0, masses.size - 1).astype(int)
        return np.where(np.abs(k) <= half, masses[index], 0.0)

    def below(self, k: Floats) -> Floats:
        """Return Pr[noise <= k]."""
        masses = self._masses
        index = np.clip(np.floor(k) + masses.size // 2 + 1, 0, masses.size).astype(int)
        return np.asarray(np.minimum(np.concatenate([[0.0], np.cumsum(masses)])[index], 1.0))

    def epsilon(self, distance: float) -> float | None:
        """Not pure DP, except at distance 0."""
        return self.law.epsilon(distance)

    def information(self, distance: float) -> float | None:
        """At most that of all draws together, each of which is 1/times as far away."""
        return 0.5 * (distance / self.law.sigma) ** 2 / self.times

    def sample(self, size: int, rng: np.random.Generator) -> Int64s:
        """Draw the sum; for simulation only."""
        total = self.law.sample(size, rng)
        for _ in range(self.times - 1):  # one by one: all of them together may not fit into memory
            total += self.law.sample(size, rng)
        return total


def _truncate_to_reach(masses: Floats, reach: int) -> Floats:
    extra = masses.size // 2 - reach
    return masses[extra:-extra] if extra > 0 else masses


Law = GeometricLaw | DiscreteGaussianLaw | SummedLaw
