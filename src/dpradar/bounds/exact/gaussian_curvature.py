"""Gaussian noise: how far scores may bend between two outputs.

The second derivative in y of the hits of any window lies between -N and P, the averages of the noise's own second
derivative's negative and positive parts; that of hits less false hits above -max(N, (1 - kappa) N + kappa P).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Floats, np
from .range_maximum import largest_touching

if TYPE_CHECKING:
    from collections.abc import Callable

    from .output_grid import Lift
    from .step_prior import StepPrior

__all__ = ["FAR", "GaussianBends"]

FAR = 7.0  # units: what Gaussian noise leaves beyond is below 1e-11
_RADII = (1.0, 1.1, 1.2, 1.35, 1.5, 1.9, 2.1, 2.3, 2.6, 3.0, 3.5, 4.0, 5.0, FAR + 3.0)


@dataclass(frozen=True, slots=True, eq=False)
class GaussianBends:
    """The prior, and the largest probability of a window."""

    prior: StepPrior
    kappa: float

    def curvature(self, low: Floats, high: Floats) -> Floats:
        """Return bounds, for cells of outputs, on how fast hits (first row) and hits less false hits may bend down."""
        unit, top = self.prior.noise.unit, self.prior.noise.top
        radii, outer = np.linspace(0.0, 1.0, 11), np.array(_RADII)
        inner = (1.0 - radii**2) * np.exp(-0.5 * radii**2)
        fall = np.zeros(low.size)
        for weight, radius in zip(inner[:-1] - inner[1:], radii[1:], strict=True):
            fall += weight * self._mass(low - radius * unit, high + radius * unit)
        height = (outer**2 - 1.0) * np.exp(-0.5 * outer**2)
        rise = np.zeros(low.size)
        for i in range(outer.size - 1):
            near, far = outer[i] * unit, outer[i + 1] * unit
            largest = max(height[i], height[i + 1])
            if outer[i] < math.sqrt(3.0) < outer[i + 1]:
                largest = 2.0 * math.exp(-1.5)
            rise += largest * (self._mass(low - far, high - near) + self._mass(low + near, high + far))
        both = np.maximum(fall, (1.0 - self.kappa) * fall + self.kappa * rise)
        return np.stack([fall, both]) * (top / unit**2)

    def _mass(self, low: Floats, high: Floats) -> Floats:
        x, hits = self.prior.fine.edges, self.prior.hits
        return np.asarray(np.interp(high, x, hits) - np.interp(low, x, hits))

    def weights(self, half: Floats) -> tuple[Floats, Floats]:
        """Return the weights of the middle of pairs of cells from below, and of each end of a cell from above."""
        return 2.0 * half, 0.5 * half

    def errors(self, start: Floats, half: Floats) -> tuple[Floats, Floats]:
        """Return what pairs of cells cost from below and from above, two rows each: hits, hits less false hits.

        A score that bends down by at most K has an integral over a pair of at least 2 half * its value in the middle
        less K half^3/3, and at most the trapezoidal rule on both cells plus K half^3/6.
        """
        cost = self.curvature(start, start + 2.0 * half) * half**3
        return cost / 3.0, cost / 6.0

    def slope_sums(self, start: Floats, half: Floats) -> Floats:
        """Return bounds, for x in each coarse cell, on the sum over outputs above x of weight * slope of the noise.

        They are in units of the noise's peak, the integral of the slope, and hold for outputs below x, too. The slope
        u exp(-u^2/2) rises and falls, so a sum over pairs exceeds its integral by at most their width times its top, or
        times what is left of it beyond some distance.
        """
        unit, edges = self.prior.noise.unit, np.append(start, start[-1] + 2.0 * half[-1])
        low, high = self.prior.edges[:-1], self.prior.edges[1:]
        total = np.ones(low.size)
        for reach, left in ((3.0, 1.0), (8.0, 3.0)):
            widest = largest_touching(2.0 * half, edges, low - reach * unit, high + reach * unit)
            total += 2.0 * left * math.exp(-0.5 * left * left) * widest / unit
        return total + 16.0 * math.exp(-32.0) * 2.0 * float(half.max()) / unit

    def lifts(self, low: Floats, high: Floats) -> tuple[Lift, Lift]:
        """Return what makes bounds on scores over cells of outputs (rows) from the larger ones at their two ends."""
        hits, gains = self.curvature(low, high)[:, :, None] * ((high - low) ** 2 / 8.0)[:, None]
        return (lambda bounds: bounds + hits), (lambda bounds: bounds + gains)

    def bend(self, low: Floats, high: Floats, glance: Callable[[Floats], tuple[Floats, Floats, Floats]]) -> Floats:
        """Return the bound on how fast scores bend in cells of outputs."""
        return np.asarray(self.curvature(low, high)[1])
