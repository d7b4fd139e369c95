"""A slow, fine value for the continuous exponential mechanism, made without anything of dpradar.

On [0, 1] the output has density e^(-|z - t|/s) / N(z), s = 2/epsilon, N(z) = s (2 - e^(-z/s) - e^(-(1-z)/s)). The prior
is Beta(a, a). All integrals over records are differences of I+(z) = int e^(z/s)/N dpi, I-(z) = int e^(-z/s)/N dpi and
the prior's own distribution function, tabulated in a variable u in which the prior's density is smooth,
z = u^p / (u^p + (1-u)^p) with p = 1/a, dpi = p D^(-2a) / B(a, a) du with D = u^p + (1-u)^p, and interpolated by cubics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import beta

__all__ = ["reference_rad"]

Floats = NDArray[np.float64]
_TABLE = 40_000  # cells of the tables
_OUTPUTS = 10_000  # panels of two Gauss-Legendre nodes each
_GUESSES = 400  # per output, before the best one is refined
_STEPS = 60  # of the refinement
_CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class _Table:
    """Running integrals over the records up to z, by cubic Hermite interpolation in u."""

    power: float
    values: Floats  # rows: I+, I-, the prior's distribution function
    slopes: Floats

    @classmethod
    def of(cls, scale: float, a: float) -> _Table:
        power = 1.0 / a
        edges = np.linspace(0.0, 1.0, _TABLE + 1)
        nodes, weights = np.polynomial.legendre.leggauss(4)

        def slopes(u: Floats) -> Floats:
            d = u**power + (1.0 - u) ** power
            z = u**power / d
            mass = power * d ** (-2.0 * a) / beta(a, a)
            norm = scale * -(np.expm1(-z / scale) + np.expm1(-(1.0 - z) / scale))
            return np.stack([np.exp(z / scale) / norm * mass, np.exp(-z / scale) / norm * mass, mass])

        inner = 0.5 * (edges[1:] + edges[:-1])[:, None] + 0.5 / _TABLE * nodes
        cells = slopes(inner.ravel()).reshape(3, _TABLE, nodes.size) @ weights * 0.5 / _TABLE
        values = np.concatenate([np.zeros((3, 1)), np.cumsum(cells, axis=1)], axis=1)
        return cls(power, values, slopes(edges) / _TABLE)

    def at(self, z: Floats) -> Floats:
        z = np.clip(z, 0.0, 1.0)
        left, right = z ** (1.0 / self.power), (1.0 - z) ** (1.0 / self.power)
        place = left / (left + right) * _TABLE
        index = np.minimum(place.astype(np.intp), _TABLE - 1)
        t = place - index
        low, high = self.values[:, index], self.values[:, index + 1]
        start, end = self.slopes[:, index], self.slopes[:, index + 1]
        rise = high - low
        return low + t * (start + t * (3.0 * rise - 2.0 * start - end + t * (start + end - 2.0 * rise)))


def reference_rad(epsilon: float, eta: float, a: float = 1.0) -> float:
    """Return rad for the prior Beta(a, a) when nothing is known; the guess may be off by ``eta``.

    Halving every grid moves it by less than 1e-8 for epsilon up to 20.
    """
    scale = 2.0 / epsilon
    table = _Table.of(scale, a)
    nodes, weights = np.polynomial.legendre.leggauss(2)
    outputs = ((np.arange(_OUTPUTS)[:, None] + 0.5 + 0.5 * nodes) / _OUTPUTS).ravel()
    grid = np.unique(np.concatenate([np.linspace(0.0, 1.0, _GUESSES), [eta, 1.0 - eta]]))
    total = 0.0
    for start in range(0, outputs.size, _CHUNK):
        t = outputs[start : start + _CHUNK, None]
        middle, end = table.at(t), table.at(np.ones(1))
        law = np.exp(-t / scale) * middle[0] + np.exp(t / scale) * (end[1] - middle[1])

        def score(g: Floats, t: Floats = t, middle: Floats = middle, law: Floats = law) -> Floats:
            low, high = table.at(g - eta), table.at(g + eta)
            below = np.minimum(high[0], middle[0]) - np.minimum(low[0], middle[0])
            above = np.maximum(high[1], middle[1]) - np.maximum(low[1], middle[1])
            return np.exp(-t / scale) * below + np.exp(t / scale) * above - law * (high[2] - low[2])

        best = score(grid[None, :]).argmax(axis=1)
        low, high = grid[np.maximum(best - 1, 0)][:, None], grid[np.minimum(best + 1, grid.size - 1)][:, None]
        top = score(grid[best][:, None])
        for _ in range(_STEPS):
            left, right = low + (high - low) / 3.0, high - (high - low) / 3.0
            at_left, at_right = score(left), score(right)
            top = np.maximum(top, np.maximum(at_left, at_right))
            low, high = np.where(at_left < at_right, left, low), np.where(at_left < at_right, high, right)
        total += float(top[:, 0].reshape(-1, 2) @ weights @ np.ones(t.size // 2)) * 0.5 / _OUTPUTS
    return total
