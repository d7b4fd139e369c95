"""The best window of guesses for each output, under a prior with a density of steps: certified from both sides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .likelihoods import LaplaceNoise
from .window_ends import Ends, densities, factors, halved

if TYPE_CHECKING:
    from .likelihoods import Likelihood
    from .step_prior import StepPrior

__all__ = ["Best", "Columns", "Windows", "windows"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
_STEP = 0.35  # of the noise's unit: how far apart the windows are that are looked at first
_PARTS = 4  # into which an interval of guesses is cut
_ROUNDS = 12
_CHANCE = 1e-6  # by how much the bounds on a window's probability may be apart from those at neighbouring guesses


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """For each output: the score of a window, a bound on the score of every window, and the hits of the first."""

    low: Floats
    high: Floats
    hits: Floats


@dataclass(frozen=True, eq=False)
class Windows:
    """Some guesses, and the two ends of the window of each, cut off at the ends of the prior's interval.

    Between two neighbouring guesses each end moves with the guess, or stays at the end of the interval.
    """

    prior: StepPrior
    guesses: Floats
    low: Ends
    high: Ends

    @cached_property
    def chance(self) -> Floats:
        """The probability of the window of each guess."""
        return self.high.cdf - self.low.cdf

    @cached_property
    def range(self) -> tuple[Floats, Floats]:
        """Bounds on the probabilities of all windows between neighbouring guesses."""
        return _chances(self)

    @cached_property
    def x(self) -> Floats:
        """The edges of the coarse cells."""
        return self.prior.edges

    @cached_property
    def below(self) -> Floats:
        """The measure of hits below each edge of a coarse cell."""
        return self.prior.hits[self.prior.coarse]

    @cached_property
    def laplace(self) -> _LaplaceSums:
        """Sums that make the hits of any window under Laplace noise a matter of two lookups."""
        return _LaplaceSums.of(self)


@dataclass(frozen=True, slots=True, eq=False)
class _LaplaceSums:
    """For each edge x of a coarse cell: the density of an output at x that records below it make, and those above."""

    windows: Windows
    noise: LaplaceNoise
    left: Floats
    right: Floats

    @classmethod
    def of(cls, windows: Windows) -> _LaplaceSums:
        noise, x = LaplaceNoise(windows.prior.noise.unit), windows.x
        own = np.diff(windows.below) * noise.average(x[1:], x[:-1], np.diff(x))
        fall = np.exp(-np.diff(x) / noise.unit)
        left, right = [0.0], [0.0]
        for factor, added in zip(fall.tolist(), own.tolist(), strict=True):
            left.append(left[-1] * factor + added)
        for factor, added in zip(fall[::-1].tolist(), own[::-1].tolist(), strict=True):
            right.append(right[-1] * factor + added)
        return cls(windows, noise, np.array(left), np.array(right)[::-1])

    def mixture(self, y: Floats) -> Floats:
        """Return p(y)."""
        w = self.windows
        ends = Ends.of(w.prior, np.clip(y, w.x[0], w.x[-1]))
        beyond = np.exp(-np.abs(y - ends.x) / self.noise.unit)
        return np.asarray((self._left(ends) + self._right(ends)) * beyond)

    def _left(self, ends: Ends) -> Floats:
        w, unit = self.windows, self.noise.unit
        cell = w.prior.coarse_cell[ends.fine]
        start = w.x[cell]
        part = self.noise.average(ends.x, start, ends.x - start) * (ends.hits - w.below[cell])
        return np.asarray(self.left[cell] * np.exp(-(ends.x - start) / unit) + part)

    def _right(self, ends: Ends) -> Floats:
        w, unit = self.windows, self.noise.unit
        cell = w.prior.coarse_cell[ends.fine]
        stop = w.x[cell + 1]
        part = self.noise.average(ends.x, ends.x, stop - ends.x) * (w.below[cell + 1] - ends.hits)
        return np.asarray(self.right[cell + 1] * np.exp(-(stop - ends.x) / unit) + part)

    def below(self, y: Floats, total: Floats, ends: Ends) -> Floats:
        """Return the hits below the ends, for one output each."""
        fallen = np.exp(-np.abs(y - ends.x) / self.noise.unit)
        return np.where(ends.x <= y, self._left(ends) * fallen, total - self._right(ends) * fallen)


def windows(prior: StepPrior, eta: float) -> Windows:
    """Return windows of half-width eta that end on some edges of coarse cells, and those at the ends."""
    edges = prior.edges
    a, b = float(edges[0]), float(edges[-1])
    _, some = np.unique(np.floor((edges - a) / (_STEP * prior.noise.unit)), return_index=True)
    x = np.append(edges[some], b)
    guesses = np.concatenate([x - eta, x + eta, [a, b]])
    low = np.concatenate([x - 2.0 * eta, x, [a - eta, b - eta]])
    high = np.concatenate([x, x + 2.0 * eta, [a + eta, b + eta]])
    allowed = (guesses >= a) & (guesses <= b)
    order = np.flatnonzero(allowed)[np.argsort(guesses[allowed], kind="stable")]
    low, high = (np.maximum.accumulate(np.clip(end[order], a, b)) for end in (low, high))
    return Windows(prior, guesses[order], Ends.of(prior, low), Ends.of(prior, high))


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Some outputs in rising order, and the hits below the edges of the coarse cells that matter for them."""

    windows: Windows
    likelihood: Likelihood
    y: Floats
    first: int  # of the edges of coarse cells that matter
    last: int
    running: Floats  # rows = outputs: hits below each of the edges first .. last (not needed for Laplace noise)
    total: Floats  # p(y)

    @classmethod
    def of(cls, windows: Windows, likelihood: Likelihood, y: Floats, reach: float) -> Columns:
        """Return the columns of outputs in rising order; records beyond the reach do not matter."""
        x = windows.x
        first = int(np.clip(np.searchsorted(x, y[0] - reach, side="right") - 1, 0, x.size - 2))
        last = int(np.clip(np.searchsorted(x, y[-1] + reach, side="left"), first + 1, x.size - 1))
        if isinstance(likelihood, LaplaceNoise):
            return cls(windows, likelihood, y, first, last, np.empty((0, 0)), windows.laplace.mixture(y))
        average = likelihood.average(y[:, None], x[None, first:last], np.diff(x[first : last + 1])[None, :])
        running = np.zeros((y.size, last - first + 1))
        np.cumsum(average * np.diff(windows.below[first : last + 1]), axis=1, out=running[:, 1:])
        return cls(windows, likelihood, y, first, last, running, running[:, -1].copy())

    def hits_below(self, row: Ints, ends: Ends) -> Floats:
        """Return the hits below the ends, for the outputs of these rows."""
        w = self.windows
        if self.running.size == 0:
            return w.laplace.below(self.y[row], self.total[row], ends)
        coarse = w.prior.coarse_cell[ends.fine]
        cell = np.clip(coarse - self.first, 0, self.running.shape[1] - 1)
        hits = self.running[row, cell]
        inside = (coarse >= self.first) & (coarse < self.last)
        start = w.x[coarse]
        part = self.likelihood.average(self.y[row], start, ends.x - start) * (ends.hits - w.below[coarse])
        return np.asarray(hits + np.where(inside, part, 0.0))

    def best(self, tolerance: Floats, groups: Ints, bulge: Floats, *, rad: bool) -> Best:
        """Return the best scores; ``tolerance`` is by how much the bound may exceed them, output by output.

        ``groups`` are the rows at which groups of outputs begin, and the last row; ``bulge`` is by how much the score
        of a window can exceed, inside a group, the larger one of the scores at its first output and at the next
        group's.
        """
        search = _Search.of(self, tolerance, rad=rad)
        for start, stop in self._ranges():
            if stop - start > 1:
                search.scan(np.arange(start, stop), groups, bulge)
        return search.result()

    def _ranges(self) -> list[tuple[int, int]]:
        """Return the ranges of guesses with a window that ends among the records that matter, and one neighbour."""
        w = self.windows
        low, high = w.x[self.first], w.x[self.last]
        ranges = []
        for end in (w.high.x, w.low.x):
            start, stop = np.searchsorted(end, low, side="right") - 1, np.searchsorted(end, high, side="left") + 1
            ranges.append((max(int(start), 0), min(int(stop), end.size)))
        (a, b), (c, d) = ranges
        return [(a, max(b, d))] if c <= b else ranges

    def around(self) -> tuple[Floats, Floats]:
        """Return the probabilities of the listed windows that hold every record that matters, and bounds on all."""
        w = self.windows
        start, stop = np.searchsorted(w.high.x, w.x[self.last]), np.searchsorted(w.low.x, w.x[self.first], side="right")
        least = np.concatenate([w.chance[start:stop], w.range[0][start : max(stop - 1, start)]])
        return w.chance[start:stop], least


@dataclass(slots=True, eq=False)
class _Search:
    """Branch and bound over intervals of guesses, for many outputs at once."""

    columns: Columns
    rad: bool
    tolerance: Floats
    low: Floats
    hits: Floats
    high: Floats

    @classmethod
    def of(cls, columns: Columns, tolerance: Floats, *, rad: bool) -> _Search:
        # Windows that hold all records that matter differ by their probability only.
        (around, least), total = columns.around(), columns.total
        low = np.zeros(total.size)
        high = low.copy()
        if around.size:
            low = total * (1.0 - float(around.min())) if rad else total.copy()
            high = total * (1.0 - float(least.min())) if rad else total.copy()
        return cls(columns, rad, tolerance, low, total.copy(), high)

    def _scores(self, row: Ints, low: Ends, high: Ends) -> tuple[Floats, Floats]:
        """Return the scores and hits of windows with these ends."""
        c = self.columns
        hits = c.hits_below(row, high) - c.hits_below(row, low)
        return (hits - c.total[row] * (high.cdf - low.cdf) if self.rad else hits), hits

    def scan(self, index: Ints, groups: Ints, bulge: Floats) -> None:
        """Look at some neighbouring guesses and at all between them."""
        w = self.columns.windows
        count, rows = index.size, groups.size
        tiled, row = np.tile(index, rows), np.repeat(groups, count)
        scores, hits = self._scores(row, w.low.take(tiled), w.high.take(tiled))
        self._improve(row, scores, hits)
        scores = scores.reshape(rows, count)
        tiled, row = np.tile(index[:-1], rows), np.repeat(groups, count - 1)
        whole = self._pieces(row, tiled, scores[:, :-1].ravel(), scores[:, 1:].ravel(), hits[: row.size])
        bound = self._bound(whole).reshape(rows, count - 1)
        # A bound for all outputs of a group from those at its ends; what it leaves is looked at output by output.
        bound = np.maximum(bound[:-1], bound[1:]) + bulge[:, None]
        level = np.minimum(self.low[groups[:-1]], self.low[groups[1:]]) - bulge
        open_ = bound > level[:, None]
        sizes = np.diff(groups)
        sizes[-1] += 1
        left_out = np.where(open_, -np.inf, bound).max(axis=1)
        self.high = np.maximum(self.high, np.repeat(left_out, sizes))
        group, interval = np.nonzero(open_)
        counts = sizes[group]
        offset = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        row, interval = np.repeat(groups[group], counts) + offset, index[np.repeat(interval, counts)]
        left, hits = self._scores(row, w.low.take(interval), w.high.take(interval))
        self._improve(row, left, hits)
        right, right_hits = self._scores(row, w.low.take(interval + 1), w.high.take(interval + 1))
        self._improve(row, right, right_hits)
        self._refine(self._open(self._pieces(row, interval, left, right, hits)))

    def _pieces(self, row: Ints, interval: Ints, left: Floats, right: Floats, hits: Floats) -> _Pieces:
        w = self.columns.windows
        return _Pieces(
            row,
            w.guesses[interval + 1] - w.guesses[interval],
            (w.low.take(interval), w.low.take(interval + 1)),
            (w.high.take(interval), w.high.take(interval + 1)),
            left,
            right,
            hits,
        )

    def _improve(self, row: Ints, scores: Floats, hits: Floats) -> None:
        """Keep better scores; where a row stands several times the best one is written last."""
        better = np.flatnonzero(scores > self.low[row])
        better = better[np.argsort(scores[better])]
        self.low[row[better]] = scores[better]
        self.hits[row[better]] = hits[better]

    def _open(self, pieces: _Pieces) -> _Pieces:
        """Return the pieces that may hold a window better than the best by more than the tolerance."""
        return pieces.where(self._bound(pieces) > self.low[pieces.row] + self.tolerance[pieces.row])

    def _refine(self, pieces: _Pieces) -> None:
        for _ in range(_ROUNDS):
            if pieces.row.size == 0:
                return
            pieces = self._open(self._cut(pieces))
        np.maximum.at(self.high, pieces.row, self._bound(pieces))

    def _cut(self, pieces: _Pieces) -> _Pieces:
        """Cut every piece and keep the best of the new windows."""
        prior, n = self.columns.windows.prior, pieces.row.size
        step = pieces.width / _PARTS
        row = np.repeat(pieces.row, _PARTS - 1)
        inner = []
        for first, last in (pieces.low, pieces.high):
            way = (last.x - first.x)[:, None] * (np.arange(1, _PARTS) / _PARTS)
            inner.append(Ends.of(prior, (first.x[:, None] + way).ravel()))
        scores, hits = self._scores(row, *inner)
        self._improve(row, scores, hits)
        values = np.concatenate([pieces.left[:, None], scores.reshape(n, -1), pieces.right[:, None]], axis=1)
        counts = np.concatenate([pieces.hits[:, None], hits.reshape(n, -1)], axis=1)
        return _Pieces(
            np.repeat(pieces.row, _PARTS),
            np.repeat(step, _PARTS),
            pieces.low[0].split(inner[0], pieces.low[1]),
            pieces.high[0].split(inner[1], pieces.high[1]),
            values[:, :-1].ravel(),
            values[:, 1:].ravel(),
            counts.ravel(),
        )

    def _bound(self, pieces: _Pieces) -> Floats:
        """Return a bound on the scores of all windows of each piece."""
        c = self.columns
        y, p = c.y[pieces.row], c.total[pieces.row]
        slopes, masses, spans, tops = np.zeros(p.size), [], [], []
        limited = np.ones(p.size, dtype=bool)
        for first, last in (pieces.low, pieces.high):
            start, stop = c.likelihood.at(y, first.x), c.likelihood.at(y, last.x)
            least, most = np.minimum(start, stop), c.likelihood.largest(y, first.x, last.x, np.maximum(start, stop))
            low, high, mass, unknown = densities(c.windows.prior, first, last)
            least_factor, most_factor = factors(c.windows.prior, first, last)
            least, most = least * least_factor, most * most_factor
            limited &= ~unknown
            slope = high * most - low * least
            if self.rad:
                slope += p * (high - low)
            slopes += slope
            masses.append(mass)
            spans.append(most - least)
            tops.append(np.maximum(most, p))
        smooth = np.where(limited, 0.25 * pieces.width * slopes, np.inf)
        lump = np.minimum(
            masses[0] * spans[0] + masses[1] * tops[1],
            masses[1] * spans[1] + masses[0] * tops[0],
        )
        return np.asarray(np.maximum(pieces.left, pieces.right) + np.minimum(smooth, lump))

    def result(self) -> Best:
        """Return what was found."""
        return Best(self.low, np.maximum(self.high, self.low + self.tolerance), self.hits)


def _chances(windows: Windows) -> tuple[Floats, Floats]:
    """Return bounds on the probabilities of the windows between neighbouring guesses, cutting where they are wide."""
    prior, n = windows.prior, windows.guesses.size
    which = np.arange(n - 1)
    low, high = ((ends.take(which), ends.take(which + 1)) for ends in (windows.low, windows.high))
    least, most = np.full(n - 1, np.inf), np.full(n - 1, -np.inf)
    for round_ in range(_ROUNDS):
        left, right = high[0].cdf - low[0].cdf, high[1].cdf - low[1].cdf
        width = np.maximum(low[1].x - low[0].x, high[1].x - high[0].x)
        (low_min, low_max, low_mass, a), (high_min, high_max, high_mass, b) = (
            densities(prior, *ends) for ends in (low, high)
        )
        smooth = np.where(a | b, np.inf, 0.25 * width * (low_max - low_min + high_max - high_min))
        off = np.minimum(smooth, np.minimum(low_mass, high_mass))
        wide = off > _CHANCE if round_ < _ROUNDS - 1 else np.zeros(off.size, dtype=bool)
        np.minimum.at(least, which[~wide], (np.minimum(left, right) - off)[~wide])
        np.maximum.at(most, which[~wide], (np.maximum(left, right) + off)[~wide])
        if not wide.any():
            break
        which = np.repeat(which[wide], 2)
        low, high = (halved(prior, first.take(wide), last.take(wide)) for first, last in (low, high))
    return least, most


@dataclass(frozen=True, slots=True, eq=False)
class _Pieces:
    """Pieces of intervals of guesses: whose output, how wide, both ends of both ends of the window, their scores."""

    row: Ints
    width: Floats
    low: tuple[Ends, Ends]
    high: tuple[Ends, Ends]
    left: Floats
    right: Floats
    hits: Floats  # of the window at the left

    def where(self, chosen: NDArray[np.bool_]) -> _Pieces:
        """Return some of the pieces."""
        index = np.flatnonzero(chosen)
        return _Pieces(
            self.row[index],
            self.width[index],
            (self.low[0].take(index), self.low[1].take(index)),
            (self.high[0].take(index), self.high[1].take(index)),
            self.left[index],
            self.right[index],
            self.hits[index],
        )
