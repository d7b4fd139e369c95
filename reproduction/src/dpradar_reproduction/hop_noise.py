"""The exponential mechanism on a road graph: a report w from v has weight exp(-epsilon hops(v, w) / (2 diameter)).

Only distances matter, so a report is drawn as a distance and then a node at this distance, and the normaliser is a sum
over distances: no m x m matrix of probabilities is kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .roads import Roads

__all__ = ["HopNoise", "Law"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_MOST_PAIRS = 700  # nodes for which all pairs are compared
_OUTER = 48  # else so many outermost nodes
_ROWS = 256


@dataclass(frozen=True, slots=True, eq=False)
class HopNoise:
    """All distances of a graph, sorted from every node."""

    hops: NDArray[np.int16]
    order: NDArray[np.int32]  # the nodes from the nearest to the farthest, one row per node
    counts: Ints  # counts[v, d]: nodes at distance d from v

    @classmethod
    def of(cls, roads: Roads) -> HopNoise:
        """Return the mechanism's view of the roads."""
        hops, m, diameter = roads.hops, roads.size, roads.diameter
        order = np.empty((m, m), dtype=np.int32)
        counts = np.empty((m, diameter + 1), dtype=np.int64)
        for v in range(m):
            order[v] = np.argsort(hops[v], kind="stable")
            counts[v] = np.bincount(hops[v], minlength=diameter + 1)
        return cls(hops, order, counts)

    @property
    def diameter(self) -> int:
        """The most hops between two nodes."""
        return int(self.counts.shape[1]) - 1

    def law(self, epsilon: float) -> Law:
        """Return the mechanism with this epsilon."""
        weights = np.exp(-epsilon * np.arange(self.diameter + 1) / (2.0 * self.diameter))
        return Law(self, epsilon, weights, self.counts @ weights)

    def within(self, eta: float) -> Ints:
        """Return how many targets each guess is right for: those from which it is at most eta hops away."""
        return np.asarray(np.count_nonzero(self.hops <= eta, axis=0), dtype=np.int64)

    def share_within(self, eta: float, probabilities: Floats) -> Floats:
        """Return the probability that each guess is within eta hops of a target drawn with these probabilities."""
        shares = np.zeros(self.hops.shape[0])
        for start in range(0, self.hops.shape[0], _ROWS):
            some = slice(start, start + _ROWS)
            shares += probabilities[some] @ (self.hops[some] <= eta)
        return shares


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """The exponential mechanism with one epsilon."""

    noise: HopNoise
    epsilon: float
    weights: Floats
    normaliser: Floats

    def likely(self, v: Ints, w: Ints) -> Floats:
        """Return the probability of the report w from node v."""
        return np.asarray(self.weights[self.noise.hops[v, w]] / self.normaliser[v])

    def reports(self, targets: Ints, rng: np.random.Generator) -> Ints:
        """Return a report for each target."""
        counts = self.noise.counts[targets]
        limits = np.cumsum(counts * self.weights, axis=1)
        point = rng.random((targets.size, 1)) * limits[:, -1:]
        distance = np.minimum((limits <= point).sum(axis=1), counts.shape[1] - 1)
        rows = np.arange(targets.size)
        number = counts[rows, distance]
        before = np.cumsum(counts, axis=1)[rows, distance] - number
        return np.asarray(self.noise.order[targets, before + rng.integers(0, number)], dtype=np.int64)

    def marginal(self, probabilities: Floats) -> Floats:
        """Return the probability of each report from a target drawn with these probabilities."""
        masses = np.zeros(self.normaliser.size)
        scaled = probabilities / self.normaliser
        for start in range(0, scaled.size, _ROWS):
            some = slice(start, start + _ROWS)
            masses += scaled[some] @ self.weights[self.noise.hops[some]]
        return masses

    def success(self, eta: float) -> float:
        """Return Pr[the report is within eta hops of the target], uniform prior."""
        near = int(min(eta, self.weights.size - 1)) + 1
        return float(np.mean(self.noise.counts[:, :near] @ self.weights[:near] / self.normaliser))

    def total_variation(self) -> tuple[float, float]:
        """Return the largest total variation between two nodes, from below and from above; equal for small graphs.

        For large graphs the lower value is that of the outermost nodes, the upper one the smaller of tanh(eps'/2), eps'
        being the actual epsilon, and 1 - what all inputs have in common.
        """
        m = self.normaliser.size
        if m <= _MOST_PAIRS:
            largest = _largest(self._rows(np.arange(m)))
            return largest, largest
        far = np.argsort(-self.noise.hops.max(axis=1).astype(np.int64), kind="stable")[:_OUTER]
        return _largest(self._rows(far)), self._ceiling()

    def _rows(self, nodes: Ints) -> Floats:
        return np.asarray(self.weights[self.noise.hops[nodes]] / self.normaliser[nodes, None])

    def _ceiling(self) -> float:
        m = self.normaliser.size
        high, low = np.zeros(m), np.full(m, np.inf)
        for start in range(0, m, _ROWS):
            rows = self._rows(np.arange(start, min(start + _ROWS, m)))
            np.maximum(high, rows.max(axis=0), out=high)
            np.minimum(low, rows.min(axis=0), out=low)
        actual = float(np.max(np.log(high) - np.log(low)))
        return min(math.tanh(actual / 2.0), 1.0 - float(low.sum()))


def _largest(rows: Floats) -> float:
    return max(float(np.abs(rows[i + 1 :] - rows[i]).sum(axis=1).max()) for i in range(len(rows) - 1)) / 2.0
