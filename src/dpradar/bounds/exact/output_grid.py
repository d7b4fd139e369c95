"""Outputs in pairs of equal cells, placed where the best scores bend."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ...numerics.lazy_numpy import Floats, np
from .gaussian_curvature import FAR
from .likelihoods import GaussianNoise

if TYPE_CHECKING:
    from .step_prior import StepPrior

__all__ = ["Bends", "Lift", "OutputGrid", "output_grid"]

Lift = Callable[[Floats], Floats]
_BASE = 400  # base cells of equal width, and about as many of equal number of the prior's cells
_MANY = 24_000  # pairs of cells: of more, which take seconds for Gaussian noise, the cost may be
_DEAR = 5.0  # times the tolerance
_LITTLE = 1e-9  # base cells with less probability may have pairs wider than two units


class Bends(Protocol):
    """How far the scores of attacks may bend between two outputs, for one kind of noise."""

    def weights(self, half: Floats) -> tuple[Floats, Floats]:
        """Return the weights of the middle of pairs of cells from below, and of each end of a cell from above."""

    def errors(self, start: Floats, half: Floats) -> tuple[Floats, Floats]:
        """Return what pairs of cells cost from below and from above, two rows each: hits, hits less false hits."""

    def slope_sums(self, start: Floats, half: Floats) -> Floats:
        """Return bounds, for x in each coarse cell, on the sum over outputs above x of weight * slope of the noise.

        They are in units of the noise's peak, the integral of the slope, and hold for outputs below x, too.
        """

    def lifts(self, low: Floats, high: Floats) -> tuple[Lift, Lift]:
        """Return what makes bounds on scores over cells of outputs (rows) from the larger ones at their two ends.

        The first is for hits, the second for hits less false hits.
        """

    def bend(self, low: Floats, high: Floats, glance: Callable[[Floats], tuple[Floats, Floats, Floats]]) -> Floats:
        """Return about how fast scores bend in cells of outputs, to place outputs by; nothing rests on it."""


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


def output_grid(
    prior: StepPrior,
    ends: tuple[float, float],
    bends: Bends,
    glance: Callable[[Floats], tuple[Floats, Floats, Floats]],
    tolerance: float,
    most: int,
) -> OutputGrid:
    """Return a grid on which the bending of the scores costs about the tolerance, or with about ``most`` pairs.

    ``ends`` are those of the output; ``glance`` returns roughly rad, success and density of some outputs.
    """
    a, b, unit = float(prior.edges[0]), float(prior.edges[-1]), prior.noise.unit
    low, high = ends
    tails: tuple[tuple[float, float], ...] = ()
    if isinstance(prior.noise, GaussianNoise):
        first, last = max(low, a - FAR * unit), min(high, b + FAR * unit)
    else:
        first, last = max(low, a), min(high, b)
        below = _decay(a - min(high, a), unit) - _decay(a - low, unit)
        above = _decay(max(low, b) - b, unit) - _decay(high - b, unit)
        tails = tuple((at, unit * w) for at, w in ((a, below), (b, above)) if w > 0.0)
    if not first < last:
        return OutputGrid(np.empty(0), np.empty(0), tails)
    thin = prior.edges[:: max(1, prior.edges.size // _BASE)]
    base = np.unique(np.clip(np.concatenate([np.linspace(first, last, _BASE + 1), thin, [a, b]]), first, last))
    width = np.diff(base)
    bend = bends.bend(base[:-1], base[1:], glance)
    # The error of a pair is about bend * half^3 / 2; for a given number of pairs bend * half^3 is the same for all.
    share = np.cbrt(bend) * width
    total = float(share.sum())
    pairs = max(0.5 * total**1.5 * math.sqrt(0.25 / tolerance), 1.0)
    if isinstance(prior.noise, GaussianNoise):
        pairs = min(max(pairs / math.sqrt(_DEAR), min(pairs, _MANY)), 2.0 * _MANY)
    pairs = min(pairs, float(most))
    count = np.maximum(np.ceil(share / max(total, 1e-300) * pairs), 1.0)
    some = bend * unit**2 * width > _LITTLE
    least = np.where(some, 0.5 * width / unit, 0.0)
    least *= min(1.0, 2.0 * _MANY / max(float(least.sum()), 1.0))  # an interval of millions of units has wider pairs
    count = np.maximum(count, np.ceil(least)).astype(np.intp)
    half = np.repeat(0.5 * width / count, count)
    within = np.arange(half.size) - np.repeat(np.cumsum(count) - count, count)
    return OutputGrid(np.repeat(base[:-1], count) + 2.0 * half * within, half, tails)


def _decay(distance: float, unit: float) -> float:
    return math.exp(-max(distance, 0.0) / unit)
