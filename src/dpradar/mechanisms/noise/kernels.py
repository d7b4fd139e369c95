"""Noise densities on the line."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...numerics.lazy_numpy import Floats, np
from ...numerics.special import erf, ndtr

__all__ = ["GaussianKernel", "LaplaceKernel"]

_ROOT2, _ROOT3 = math.sqrt(2.0), math.sqrt(3.0)
_PEAK3 = 2.0 * math.exp(-1.5) / math.sqrt(2.0 * math.pi)  # |x^2 - 1| phi(x) at sqrt(3), its maximum beyond 1


def _nearest(low: Floats, high: Floats) -> Floats:
    """Return the smallest absolute value in [low, high]."""
    return np.where((low <= 0.0) & (high >= 0.0), 0.0, np.minimum(np.abs(low), np.abs(high)))


@dataclass(frozen=True, slots=True)
class LaplaceKernel:
    """The Laplace density with the given scale."""

    scale: float

    @property
    def unit(self) -> float:
        """The length over which the density changes."""
        return self.scale

    @property
    def reach(self) -> float:
        """Less than 1e-18 of the noise lies beyond."""
        return 42.0 * self.scale

    @property
    def kinks(self) -> tuple[float, ...]:
        """The density has its kink at 0."""
        return (0.0,)

    def density(self, x: Floats) -> Floats:
        """Return the density at x."""
        return np.asarray(np.exp(-np.abs(x) / self.scale) / (2.0 * self.scale))

    def log_density(self, x: Floats) -> Floats:
        """Return the logarithm of the density at x, which does not vanish far out."""
        return np.asarray(-np.abs(x) / self.scale - math.log(2.0 * self.scale))

    def mass(self, low: Floats, high: Floats) -> Floats:
        """Return the probability of [low, high]."""
        near, far = np.abs(low), np.abs(high)
        inner, outer = np.minimum(near, far), np.maximum(near, far)
        across = (low < 0.0) & (high > 0.0)
        # Beyond 1e4 scales there is nothing in double precision; capping keeps inf - inf out.
        inner, outer = np.minimum(inner, 1e4 * self.scale), np.minimum(outer, 2e4 * self.scale)
        one_side = 0.5 * np.exp(-inner / self.scale) * -np.expm1(-np.maximum(outer - inner, 0.0) / self.scale)
        both = -0.5 * (np.expm1(-near / self.scale) + np.expm1(-far / self.scale))
        return np.asarray(np.where(across, both, one_side))

    @property
    def single_crossing(self) -> bool:
        """The density is log-concave."""
        return True

    def meeting(self, gap: float, ahead: float) -> float:
        """Return where this density, e^ahead times as large, equals a copy at ``gap``; infinite where nowhere."""
        if abs(ahead) * self.scale >= gap:
            return math.copysign(math.inf, ahead)
        return 0.5 * (gap + self.scale * ahead)

    @property
    def bends(self) -> bool:
        """Between kinks every mixture solves f'' = f/scale^2, so where it is positive it is convex."""
        return False

    def curvature(self, low: Floats, high: Floats) -> Floats:
        """Return the largest second derivative on [low, high], kink aside."""
        return self.density(_nearest(low, high)) / self.scale / self.scale

    def sample(self, size: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Draw noise; for simulation only."""
        return rng.laplace(0.0, self.scale, size)


@dataclass(frozen=True, slots=True)
class GaussianKernel:
    """The Gaussian density with standard deviation sigma."""

    sigma: float

    @property
    def unit(self) -> float:
        """The length over which the density changes."""
        return self.sigma

    @property
    def reach(self) -> float:
        """Less than 1e-18 of the noise lies beyond."""
        return 9.0 * self.sigma

    @property
    def kinks(self) -> tuple[float, ...]:
        """The density is smooth."""
        return ()

    def density(self, x: Floats) -> Floats:
        """Return the density at x."""
        scaled = x / self.sigma
        return np.asarray(np.exp(-0.5 * scaled * scaled) / (self.sigma * math.sqrt(2.0 * math.pi)))

    def log_density(self, x: Floats) -> Floats:
        """Return the logarithm of the density at x, which does not vanish far out."""
        return np.asarray(-0.5 * np.square(x / self.sigma) - math.log(self.sigma * math.sqrt(2.0 * math.pi)))

    def mass(self, low: Floats, high: Floats) -> Floats:
        """Return the probability of [low, high]; the upper tail is mirrored, so that nothing cancels there."""
        flip = low > 0.0
        left = np.asarray(np.where(flip, -high, low) / self.sigma)
        right = np.asarray(np.where(flip, -low, high) / self.sigma)
        mass = np.asarray(ndtr(right) - ndtr(left))
        across = (left < 0.0) & (right > 0.0)
        # A sum of two positive numbers, however small. Few cells hold 0, and erf is not cheap.
        mass[across] = 0.5 * (erf(right[across] / _ROOT2) - erf(left[across] / _ROOT2))
        return mass

    @property
    def single_crossing(self) -> bool:
        """The density is log-concave."""
        return True

    def meeting(self, gap: float, ahead: float) -> float:
        """Return where this density, e^ahead times as large, equals a copy at ``gap``."""
        return 0.5 * gap + (self.sigma * (self.sigma * ahead) / gap if ahead else 0.0)

    @property
    def bends(self) -> bool:
        """Mixtures of Gaussians may rise above 0 between two points where they are not."""
        return True

    def curvature(self, low: Floats, high: Floats) -> Floats:
        """Return a bound on |x^2 - 1| phi(x) over [low, high], in units of sigma."""
        near = _nearest(low, high) / self.sigma
        value = np.abs(near * near - 1.0) * np.exp(-0.5 * near * near) / math.sqrt(2.0 * math.pi)
        return (
            np.asarray(np.where(near < _ROOT3, np.maximum(value, _PEAK3), value)) / self.sigma / self.sigma / self.sigma
        )

    def sample(self, size: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Draw noise; for simulation only."""
        return rng.normal(0.0, self.sigma, size)
