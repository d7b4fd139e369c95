"""Laplace noise: how far scores may bend between two outputs.

For a set W of records the score S(y) = H(y; W) - pi(W) p(y) solves b^2 S'' = S - (1_W - pi(W)) f, f being the density
of hits. So S'' >= (S - c)/b^2 where c bounds (1 - pi(W)) f, and S lies below the solution of the equation with c that
has the same values at both ends, and its even part above the one that has the same value in the middle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Floats, np
from .range_maximum import largest_touching

if TYPE_CHECKING:
    from collections.abc import Callable

    from .output_grid import Lift
    from .step_prior import StepPrior

__all__ = ["LaplaceBends"]

_LEAST = 0.03  # of the density of outputs: what outputs are placed for, at least
_FAR = 8.0  # units
_NEAR = 2.0  # units: in wider pairs the score in the middle says little


@dataclass(frozen=True, slots=True, eq=False)
class LaplaceBends:
    """The prior, and ``least(low, high)``: a bound on the probability of windows that meet each of some intervals."""

    prior: StepPrior
    least: Callable[[Floats, Floats], Floats]

    def ceilings(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return c for cells of outputs: of hits, and of hits less false hits."""
        fine = self.prior.fine
        top = largest_touching(fine.density * self.prior.factor, fine.edges, low, high)
        return top, top * (1.0 - self.least(low, high))

    def _mass(self, low: Floats, high: Floats) -> Floats:
        x, hits = self.prior.fine.edges, self.prior.hits
        return np.asarray(np.interp(high, x, hits) - np.interp(low, x, hits))

    def weights(self, half: Floats) -> tuple[Floats, Floats]:
        """Return the weights of the middle of pairs of cells from below, and of each end of a cell from above."""
        b = self.prior.noise.unit
        return 2.0 * b * np.sinh(np.minimum(half / b, _NEAR)), b * np.tanh(0.5 * half / b)

    def errors(self, start: Floats, half: Floats) -> tuple[Floats, Floats]:
        """Return what pairs of cells cost from below and from above, two rows each: hits, hits less false hits."""
        b, stop = self.prior.noise.unit, start + 2.0 * half
        top = np.stack(self.ceilings(start, stop))
        mass = self._mass(start, stop)
        below, above = self.weights(half)
        near = np.minimum(half / b, _NEAR)
        # In a wide pair the middle counts with the weight of a narrower one around it, and the rest with nothing.
        lower = np.minimum(top * (below - 2.0 * b * near), mass * (np.cosh(near) - 1.0))
        upper = np.minimum(
            top * 2.0 * (half - 2.0 * above), mass * (1.0 - 1.0 / np.cosh(np.minimum(0.5 * half / b, 300.0)))
        )
        return lower, upper

    def slope_sums(self, start: Floats, half: Floats) -> Floats:
        """Return bounds, for x in each coarse cell, on the sum over outputs above x of weight * slope of the noise.

        They are in units of the noise's peak, the integral of the slope, and hold for outputs below x, too. A pair
        above x counts with at most the integral over it times its weight over its width, as the slope is convex; the
        pair around x with its weight times the largest slope.
        """
        b, edges = self.prior.noise.unit, np.append(start, start[-1] + 2.0 * half[-1])
        weight = self.weights(half)[0]
        ratio = np.maximum(weight / (2.0 * half), 1.0)
        low, high = self.prior.edges[:-1], self.prior.edges[1:]
        around = largest_touching(weight, edges, low, high)
        near = largest_touching(ratio, edges, low - _FAR * b, high + _FAR * b)
        return np.asarray(near + around / b + float(ratio.max()) * np.exp(-_FAR))

    def lifts(self, low: Floats, high: Floats) -> tuple[Lift, Lift]:
        """Return what makes bounds on scores over cells of outputs (rows) from the larger ones at their two ends."""
        b, width = self.prior.noise.unit, high - low
        share = (1.0 - 1.0 / np.cosh(np.minimum(0.5 * width / b, 300.0)))[:, None]
        lump = (self._mass(low, high) * width / (4.0 * b * b))[:, None]

        def lift(top: Floats) -> Lift:
            return lambda bounds: (
                bounds + np.minimum(share * np.maximum(top - bounds, 0.0), lump + share * np.maximum(-bounds, 0.0))
            )

        hits, gains = self.ceilings(low, high)
        return lift(hits[:, None]), lift(gains[:, None])

    def bend(self, low: Floats, high: Floats, glance: Callable[[Floats], tuple[Floats, Floats, Floats]]) -> Floats:
        """Return about how fast scores bend in cells of outputs, to place outputs by; nothing rests on it."""
        gain, success, p = glance(0.5 * (low + high))
        top = self.ceilings(low, high)
        gap = np.maximum(top[0] - success, top[1] - gain)
        return np.asarray(np.maximum(gap, _LEAST * np.maximum(p, top[0])) / self.prior.noise.unit**2)
