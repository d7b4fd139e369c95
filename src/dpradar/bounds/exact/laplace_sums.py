"""Running sums that make the hits of any window under Laplace noise a matter of two lookups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Floats, Ints, np

if TYPE_CHECKING:
    from .likelihoods import LaplaceNoise

__all__ = ["LaplaceSums"]


@dataclass(frozen=True, slots=True, eq=False)
class LaplaceSums:
    """For each edge x of a coarse cell: the density of an output at x that records below it make, and those above."""

    noise: LaplaceNoise
    edges: Floats
    hits: Floats  # the measure of hits below each edge
    below: Floats
    above: Floats

    @classmethod
    def of(cls, noise: LaplaceNoise, edges: Floats, hits: Floats) -> LaplaceSums:
        """Return the sums over cells inside which the records are spread evenly."""
        width = np.diff(edges)
        terms = np.diff(hits) * noise.average(edges[1:], edges[:-1], width)
        fall = np.exp(-width / noise.unit)
        below, above = [0.0], [0.0]
        for factor, added in zip(fall.tolist(), terms.tolist(), strict=True):
            below.append(below[-1] * factor + added)
        for factor, added in zip(fall[::-1].tolist(), terms[::-1].tolist(), strict=True):
            above.append(above[-1] * factor + added)
        return cls(noise, edges, hits, np.array(below), np.array(above)[::-1])

    def at(self, x: Floats, cell: Ints, hits: Floats) -> Floats:
        """Return the densities of an output at x that records below and above x make, as two rows.

        ``cell`` is the coarse cell of x and ``hits`` the measure of hits below x, which are spread evenly over the
        part of the cell on either side of x.
        """
        unit, start, stop = self.noise.unit, self.edges[cell], self.edges[cell + 1]
        part = self.noise.average(x, start, x - start) * (hits - self.hits[cell])
        below = self.below[cell] * np.exp(-(x - start) / unit) + part
        part = self.noise.average(x, x, stop - x) * (self.hits[cell + 1] - hits)
        return np.stack([below, self.above[cell + 1] * np.exp(-(stop - x) / unit) + part])
