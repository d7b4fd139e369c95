"""Integrals of the maximum of several mixtures of shifted kernels, with a certified error.

Between two points the maximum of functions with second derivatives above -K is itself "convex up to K", which bounds
it by a chord and K h^3/12; cell integrals of each function are exact through the kernel's distribution function. So
every cell gives a lower value (the best single function on the whole cell) and an upper one, and only the cells in
which the winner changes need to be cut further. Costs grow with (cells x functions); a change of winner costs a handful
of cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Envelope", "Mixtures", "base_edges", "integrate_envelope"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
_SPLIT = 8  # pieces a cell is cut into
_LEVELS = 14
_MOST_ENTRIES = 2_000_000  # of one work array
_MOST_CELLS = 400_000


class KernelLike(Protocol):
    """What the base grid needs to know of a kernel."""

    @property
    def unit(self) -> float: ...
    @property
    def reach(self) -> float: ...
    @property
    def kinks(self) -> tuple[float, ...]: ...


class Mixtures(Protocol):
    """The functions whose maximum is integrated, evaluated on many cells at once."""

    def values(self, x: Floats, tag: Ints) -> Floats:
        """Return the functions (rows) at the points x (columns); ``tag`` says which problem a cell belongs to."""

    def integrals(self, low: Floats, high: Floats, tag: Ints) -> tuple[Floats, Floats]:
        """Return the integrals of the functions over the cells, and those of their companions."""

    def curvature(self, low: Floats, high: Floats, tag: Ints, winner: Ints) -> Floats:
        """Return, per function and cell, K >= 0 with (f_i - f_winner)'' >= -K wherever that difference is positive.

        0 is right for functions with f'' = f/b^2 (Laplace kernels between their kinks): a difference that is positive
        is convex there, so it cannot rise above 0 between two points where it is not.
        """

    def mass(self, low: Floats, high: Floats, tag: Ints) -> Floats:
        """Return, per cell, a bound on the integral of the absolute difference of any two of the functions."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The integral lies in [low, high]; ``companion`` is the integral of the winner's companion function."""

    low: float
    high: float
    companion: float


def base_edges(points: Floats, kernel: KernelLike, low: float, high: float) -> Floats:
    """Return cell edges fine enough to start from: kinks, and steps of the kernel's unit around every point."""
    bottom, top = float(points.min()) - kernel.reach, float(points.max()) + kernel.reach
    bottom, top = max(bottom, low), min(top, high)
    if not bottom < top:  # clamped to a range that the noise practically never reaches
        return np.array([low, high]) if np.isfinite(low) and np.isfinite(high) else np.empty(0)
    kinks = (points[:, None] + np.asarray((0.0, *kernel.kinks))).ravel()
    count = (top - bottom) / (0.5 * kernel.unit)
    offsets = kernel.unit * np.array([0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0, 20.0, 30.0, 42.0])
    offsets = offsets[offsets <= kernel.reach]
    if count <= 2 * offsets.size * points.size:
        steps = np.linspace(bottom, top, int(np.ceil(count)) + 1)
    else:
        steps = (points[:, None] + np.concatenate([-offsets, offsets])).ravel()
    edges = np.unique(np.concatenate([[bottom, top], kinks, steps]))
    return edges[(edges >= bottom) & (edges <= top)]


def _batches(count: int, rows: int) -> Iterator[slice]:
    step = max(1, _MOST_ENTRIES // max(rows, 1))
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def _weigh(f: Mixtures, low: Floats, high: Floats, tag: Ints) -> tuple[Floats, Floats, Floats]:
    """Return, per cell, the best single integral, its companion's and the error of taking it for the maximum."""
    width = high - low
    left, right = f.values(low, tag), f.values(high, tag)
    inside, companion = f.integrals(low, high, tag)
    cells = np.arange(low.size)
    winner = inside.argmax(axis=0)
    best = inside[winner, cells]
    left = left - left[winner, cells]
    right = right - right[winner, cells]
    bend = f.curvature(low, high, tag, winner)
    # A rival below the winner at both ends by more than it can bulge in between never wins.
    open_ = np.maximum(left, right) + bend * width**2 / 8.0 > 0.0
    open_[winner, cells] = False
    chord = 0.5 * width * (left.max(axis=0) + right.max(axis=0))
    bulge = np.where(open_, bend, 0.0).max(axis=0) * width**3 / 12.0
    return best, companion[winner, cells], np.where(open_.any(axis=0), chord + bulge, 0.0)


def integrate_envelope(f: Mixtures, edges: Floats, tags: Ints, tolerance: float, rows: int) -> Envelope:
    """Return the sum over the tags of the integral of max_i f_i, cutting cells until the error is below the tolerance.

    ``rows`` is the length of the columns the functions work on, which bounds the memory of a batch. When the limit of
    cells is reached first, the interval is wider but still true.
    """
    if edges.size < 2:
        return Envelope(0.0, 0.0, 0.0)
    # Cell-major order: a batch sees few different cells, so what does not depend on the tag is computed once for each.
    low, high = np.repeat(edges[:-1], tags.size), np.repeat(edges[1:], tags.size)
    tag = np.tile(tags, edges.size - 1)
    total = companion = settled = 0.0
    for level in range(_LEVELS + 1):
        parts = [_weigh(f, low[s], high[s], tag[s]) for s in _batches(low.size, rows)]
        best, other, error = (np.concatenate(p) for p in zip(*parts, strict=True))
        doubtful = np.flatnonzero(error > 0.0)
        for s in _batches(doubtful.size, rows):
            some = doubtful[s]
            error[some] = np.minimum(error[some], f.mass(low[some], high[some], tag[some]))
        share = max(tolerance - settled, 0.0) / (4.0 * max(doubtful.size, 1))
        cut = error > share
        done = error.sum() + settled <= tolerance
        if level == _LEVELS or done or int(cut.sum()) * _SPLIT > _MOST_CELLS:
            cut[:] = False
        total += float(best[~cut].sum())
        companion += float(other[~cut].sum())
        settled += float(error[~cut].sum())
        if not cut.any():
            break
        grid = low[cut, None] + (high - low)[cut, None] * np.linspace(0.0, 1.0, _SPLIT + 1)
        low, high, tag = grid[:, :-1].ravel(), grid[:, 1:].ravel(), np.repeat(tag[cut], _SPLIT)
    return Envelope(total, total + settled, companion)
