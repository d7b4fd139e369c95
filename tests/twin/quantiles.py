"""A continuous prior as many points: Theorem 4.3 as written, by sums at two resolutions.

Cells of records follow the quantiles of the prior and the scale of the noise; the probability of a cell sits at its
median. Cells of outputs count with the density in their middle. For each output the best of the windows
[g - eta, g + eta] that begin or end on an edge of a cell is taken; inside a cell hits are taken to grow with the
prior's probability. Every error is of second order in the width of the cells, but for the kinks of best windows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

if TYPE_CHECKING:
    from collections.abc import Iterator

Array = NDArray[np.float64]
BLOCK = 64  # outputs that are looked at together
LITTLE = 1e-9  # cells with less probability may be wide


class Question(NamedTuple):
    """Who asks what: law on [low, high]; kind of noise, its scale, ends of the output and what they mean."""

    law: Any
    low: float
    high: float
    kind: str  # laplace or gaussian
    scale: float
    eta: float
    known: bool
    ends: tuple[float, float] | None = None
    clamped: bool = True  # or renormalised on the ends


class Reference(NamedTuple):
    """Values, and how far they moved when the grids were refined."""

    rad: float
    success: float
    moved: float


def density(question: Question, x: Array) -> Array:
    s = question.scale
    if question.kind == "laplace":
        return np.exp(-np.abs(x) / s) / (2 * s)
    return np.exp(-0.5 * (x / s) ** 2) / (s * math.sqrt(2 * math.pi))


def cumulative(question: Question, x: Array) -> Array:
    u = x / question.scale
    if question.kind == "gaussian":
        return ndtr(u)
    return np.where(u < 0, 0.5 * np.exp(np.minimum(u, 0)), 1 - 0.5 * np.exp(-np.maximum(u, 0)))


class Cells:
    """Cells of records: edges, the probability below each, and where the probability of each cell sits."""

    def __init__(self, question: Question, fine: int) -> None:
        q = self.question = question
        start, stop = float(q.law.cdf(q.low)), float(q.law.cdf(q.high))
        self.share = lambda x: (q.law.cdf(np.clip(x, q.low, q.high)) - start) / (stop - start)
        tails = 10.0 ** -np.arange(1.0, 16.0, 0.5 / fine)
        levels = np.unique(np.concatenate([np.arange(1, 250 * fine) / (250 * fine), tails, 1 - tails]))
        spread = q.law.ppf(start + levels * (stop - start))
        marks = [q.low, q.high, q.low + q.eta, q.high - q.eta]
        edges = np.unique(np.clip(np.concatenate([spread, marks]), q.low, q.high))
        step = q.scale / (4 * fine)
        while True:
            below = np.maximum.accumulate(self.share(edges))
            wide = np.flatnonzero((np.diff(edges) > step) & (np.diff(below) > LITTLE))
            if wide.size == 0:
                break
            edges = np.sort(np.concatenate([edges, (edges[wide] + edges[wide + 1]) / 2]))
        self.edges, self.below, self.mass = edges, below, np.diff(below)
        medians = q.law.ppf(start + (below[:-1] + self.mass / 2) * (stop - start))
        self.points = np.clip(medians, edges[:-1], edges[1:])
        middle = (edges[1:] + edges[:-1]) / 2
        self.free = np.maximum(middle - q.low, q.high - middle) > q.eta  # some guess is wrong
        self.factor = np.ones(self.mass.size)
        if q.ends is not None and not q.clamped:
            inside = cumulative(q, q.ends[1] - self.points) - cumulative(q, q.ends[0] - self.points)
            self.factor = 1 / inside

    def place(self, x: Array) -> Array:
        """Return x as the number of cells below it, with the part of the cell that it stands in."""
        cell = np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, self.mass.size - 1)
        part = (self.share(x) - self.below[cell]) / np.maximum(self.mass[cell], 1e-300)
        return cell + np.clip(np.where(self.mass[cell] > 0, part, 0.0), 0.0, 1.0)

    def windows(self) -> tuple[Array, Array, Array]:
        """Return the places of the ends of windows that begin on an edge or end on one, and their probabilities."""
        q, e = self.question, self.edges
        number = np.arange(e.size, dtype=float)
        begin, end = e + q.eta <= q.high, e - q.eta >= q.low
        left = np.concatenate([number[begin], self.place(np.maximum(e[end] - 2 * q.eta, q.low))])
        right = np.concatenate([self.place(np.minimum(e[begin] + 2 * q.eta, q.high)), number[end]])
        order = np.lexsort((right, left))
        left, right = left[order], np.maximum.accumulate(right[order])
        return left, right, interpolated(self.below, right) - interpolated(self.below, left)

    def outputs(self, fine: int) -> tuple[Array, Array]:
        """Return outputs and the widths of their cells, where records with some probability reach."""
        q = self.question
        far, step = q.scale * (24 if q.kind == "laplace" else 8), q.scale / (4 * fine)
        low, high = q.ends or (-np.inf, np.inf)
        some = self.mass > LITTLE / 100
        first, last = self.edges[:-1][some] - far, self.edges[1:][some] + far
        breaks = np.flatnonzero(first[1:] > last[:-1]) + 1
        edges = [self.edges]
        for part in np.split(np.arange(first.size), breaks):
            a, b = max(first[part[0]], low), min(last[part[-1]], high)
            if a < b:
                edges.append(np.linspace(a, b, math.ceil((b - a) / step) + 1))
        joined = np.unique(np.clip(np.concatenate(edges), low, high))
        return (joined[1:] + joined[:-1]) / 2, np.diff(joined)


def interpolated(values: Array, place: Array) -> Array:
    index = np.minimum(place.astype(int), values.shape[-1] - 2)
    part = place - index
    return values[..., index] * (1 - part) + values[..., index + 1] * part


def _tables(cells: Cells, fine: int) -> Iterator[tuple[slice, Array, Array]]:
    """Cells within reach, likelihoods (rows = outputs) of their points, and the weights of the outputs."""
    q, last = cells.question, cells.mass.size
    far = q.scale * (30 if q.kind == "laplace" else 8)
    y, weight = cells.outputs(fine)
    start = 0
    while start < y.size:
        stop = min(start + BLOCK, int(np.searchsorted(y, y[start] + 8 * q.scale)) + 1, y.size)
        first = max(int(np.searchsorted(cells.edges, y[start] - far, side="right")) - 1, 0)
        band = slice(min(first, last - 1), max(int(np.searchsorted(cells.edges, y[stop - 1] + far)), first + 1))
        yield band, density(q, y[start:stop, None] - cells.points[band]) * cells.factor[band], weight[start:stop]
        start = stop
    if q.ends is not None and q.clamped:
        below, above = cumulative(q, q.ends[0] - cells.points), cumulative(q, cells.points - q.ends[1])
        yield slice(0, last), np.stack([below, above]), np.ones(2)


def at_resolution(question: Question, fine: int) -> tuple[float, float]:
    """Return rad and success on one grid."""
    cells = Cells(question, fine)
    left, right, chance = cells.windows()
    rad = success = 0.0
    for band, table, weight in _tables(cells, fine):
        mass = cells.mass[band]
        p = table @ mass
        if question.known:
            success += float(weight @ p)
            rad += float(weight @ (np.maximum(table - p[:, None], 0) @ (mass * cells.free[band])))
            continue
        size, stop = mass.size, band.start + mass.size
        # Both ends rise from window to window.
        inside = np.concatenate(
            [np.arange(np.searchsorted(x, band.start, "right"), np.searchsorted(x, stop)) for x in (left, right)]
        )
        around = slice(np.searchsorted(right, stop), np.searchsorted(left, band.start, "right"))
        running = np.concatenate([np.zeros((p.size, 1)), np.cumsum(table * mass, axis=1)], axis=1)
        first, last = (interpolated(running, np.clip(x[inside] - band.start, 0, size)) for x in (left, right))
        hits = last - first
        gains = hits - p[:, None] * chance[inside]
        best, gain = (x.max(axis=1, initial=0.0) for x in (hits, gains))
        if around.start < around.stop:
            best, gain = np.maximum(best, p), np.maximum(gain, p * (1 - chance[around].min()))
        rad += float(weight @ gain)
        success += float(weight @ best)
    return rad, success


def reference(question: Question, fine: int = 2) -> Reference:
    """Return both values, extrapolated from two resolutions, and the larger one of the two changes."""
    coarse, finer = (at_resolution(question, k) for k in (fine, 2 * fine))
    moved = max(abs(f - c) for f, c in zip(finer, coarse, strict=True))
    rad, success = (f + (f - c) / 3 for f, c in zip(finer, coarse, strict=True))
    return Reference(rad, success, moved)
