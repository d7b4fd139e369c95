"""The best window of guesses for each output, certified from both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Bools, Floats, Ints, np
from .window_ends import Ends, densities, factors
from .window_hits import Hits

if TYPE_CHECKING:
    from .likelihoods import Likelihood
    from .output_grid import Bends, Lift
    from .windows import Windows

__all__ = ["Best", "Columns"]

_PARTS = 4  # into which an interval of guesses is cut
_ROUNDS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """For each output: the score of a window, a bound on the score of every window, and the hits of the first."""

    low: Floats
    high: Floats
    hits: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Some outputs in rising order, the hits of windows for them, and the windows that are looked at first."""

    windows: Windows
    hits: Hits
    scans: tuple[_WindowScan, ...]
    groups: Ints  # the rows at which groups of outputs begin, and the last row

    @classmethod
    def of(cls, windows: Windows, likelihood: Likelihood, y: Floats, reach: float, groups: Ints) -> Columns:
        """Return the columns of outputs in rising order; records beyond the reach do not matter."""
        hits = Hits.of(windows.prior, likelihood, y, reach, Ends.of)
        ranges = [np.arange(*r) for r in _ranges(windows, hits) if r[1] - r[0] > 1]
        return cls(windows, hits, tuple(_WindowScan.of(windows, hits, index, groups) for index in ranges), groups)

    def best(self, tolerance: Floats, bends: Bends) -> tuple[Best, Best]:
        """Return the best hits and the best hits less false hits.

        ``tolerance`` is by how much the bounds may exceed the scores, output by output.
        """
        y = self.hits.y[self.groups]
        hits, gains = (_WindowSearch.of(self, tolerance, rad=rad) for rad in (False, True))
        for search, lifted in zip((hits, gains), bends.lifts(y[:-1], y[1:]), strict=True):
            for scan in self.scans:
                search.scan(scan, lifted)
        return hits.result(), gains.result()

    def glance(self, *, rad: bool) -> Floats:
        """Return the best scores of the windows that are looked at first, at the first output of each group."""
        p = self.hits.total[self.groups]
        around = self.around()[0]
        best = p * (1.0 - float(around.min()) * rad) if around.size else np.zeros(p.size)
        for scan in self.scans:
            best = np.maximum(best, scan.scores(p, rad=rad).max(axis=1))
        return np.asarray(best)

    def around(self) -> tuple[Floats, Floats]:
        """Return the probabilities of the listed windows that hold every record that matters, and bounds on all."""
        w, x = self.windows, self.windows.prior.edges
        start = np.searchsorted(w.high.x, x[self.hits.last])
        stop = np.searchsorted(w.low.x, x[self.hits.first], side="right")
        least = np.concatenate([w.chance[start:stop], w.range[0][start : max(stop - 1, start)]])
        return w.chance[start:stop], least


def _ranges(windows: Windows, hits: Hits) -> list[tuple[int, int]]:
    """Return the ranges of guesses with a window that ends among the records that matter, and one neighbour."""
    low, high = windows.prior.edges[[hits.first, hits.last]]
    ranges = []
    for end in (windows.high.x, windows.low.x):
        start, stop = np.searchsorted(end, low, side="right") - 1, np.searchsorted(end, high, side="left") + 1
        ranges.append((max(int(start), 0), min(int(stop), end.size)))
    (a, b), (c, d) = ranges
    return [(a, max(b, d))] if c <= b else ranges


@dataclass(frozen=True, slots=True, eq=False)
class _WindowScan:
    """Neighbouring guesses at the first output of each group (rows), and how far guesses between may beat them."""

    index: Ints
    hits: Floats
    chance: Floats
    margins: tuple[Floats, Floats]  # of hits, and of hits less false hits

    @classmethod
    def of(cls, windows: Windows, hits: Hits, index: Ints, groups: Ints) -> _WindowScan:
        low, high = windows.low.take(index), windows.high.take(index)
        table = hits.table(groups, high) - hits.table(groups, low)
        y, p = hits.y[groups, None], hits.total[groups, None]
        first, last = index[:-1], index[1:]
        both = [(ends.take(first), ends.take(last)) for ends in (windows.low, windows.high)]
        margins = _margins(hits, y, p, windows.guesses[last] - windows.guesses[first], both)
        return cls(index, table, high.cdf - low.cdf, margins)

    def scores(self, p: Floats, *, rad: bool) -> Floats:
        """Return the scores of the guesses."""
        return self.hits - p[:, None] * self.chance if rad else self.hits


@dataclass(slots=True, eq=False)
class _WindowSearch:
    """Branch and bound over intervals of guesses, for many outputs at once."""

    columns: Columns
    rad: bool
    tolerance: Floats
    low: Floats
    hits: Floats
    high: Floats

    @classmethod
    def of(cls, columns: Columns, tolerance: Floats, *, rad: bool) -> _WindowSearch:
        # Windows that hold all records that matter differ by their probability only.
        (around, least), total = columns.around(), columns.hits.total
        low = np.zeros(total.size)
        high = low.copy()
        if around.size:
            low = total * (1.0 - float(around.min())) if rad else total.copy()
            high = total * (1.0 - float(least.min())) if rad else total.copy()
        return cls(columns, rad, tolerance, low, total.copy(), high)

    def _scores(self, row: Ints, low: Ends, high: Ends) -> tuple[Floats, Floats]:
        """Return the scores and hits of windows with these ends."""
        h = self.columns.hits
        hits = h.below(row, high) - h.below(row, low)
        return (hits - h.total[row] * (high.cdf - low.cdf) if self.rad else hits), hits

    def scan(self, scan: _WindowScan, lifted: Lift) -> None:
        """Look at some neighbouring guesses and at all between them.

        ``lifted`` makes a bound for all outputs of a group from the larger one at its first output and the next one's.
        """
        w, groups, index = self.columns.windows, self.columns.groups, scan.index
        scores = scan.scores(self.columns.hits.total[groups], rad=self.rad)
        best, rows = scores.argmax(axis=1), np.arange(groups.size)
        self._improve(groups, scores[rows, best], scan.hits[rows, best])
        bound = np.maximum(scores[:, :-1], scores[:, 1:]) + scan.margins[self.rad]
        # What the bound for all outputs of a group leaves is looked at output by output.
        bound = lifted(np.maximum(bound[:-1], bound[1:]))
        level = np.minimum(self.low[groups[:-1]], self.low[groups[1:]])[:, None]
        open_ = bound > 2.0 * level - lifted(level)
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

    def _pieces(self, row: Ints, interval: Ints, left: Floats, right: Floats, hits: Floats) -> _WindowPieces:
        w = self.columns.windows
        return _WindowPieces(
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

    def _open(self, pieces: _WindowPieces) -> _WindowPieces:
        """Return the pieces that may hold a window better than the best by more than the tolerance."""
        return pieces.where(self._bound(pieces) > self.low[pieces.row] + self.tolerance[pieces.row])

    def _refine(self, pieces: _WindowPieces) -> None:
        for _ in range(_ROUNDS):
            if pieces.row.size == 0:
                return
            pieces = self._open(self._cut(pieces))
        np.maximum.at(self.high, pieces.row, self._bound(pieces))

    def _cut(self, pieces: _WindowPieces) -> _WindowPieces:
        """Cut every piece and keep the best of the new windows."""
        prior, n = self.columns.windows.prior, pieces.row.size
        step = pieces.width / _PARTS
        row = np.repeat(pieces.row, _PARTS - 1)
        inner = []
        for first, last in (pieces.low, pieces.high):
            offsets = (last.x - first.x)[:, None] * (np.arange(1, _PARTS) / _PARTS)
            inner.append(Ends.of(prior, (first.x[:, None] + offsets).ravel()))
        scores, hits = self._scores(row, *inner)
        self._improve(row, scores, hits)
        values = np.concatenate([pieces.left[:, None], scores.reshape(n, -1), pieces.right[:, None]], axis=1)
        counts = np.concatenate([pieces.hits[:, None], hits.reshape(n, -1)], axis=1)
        return _WindowPieces(
            np.repeat(pieces.row, _PARTS),
            np.repeat(step, _PARTS),
            pieces.low[0].split(inner[0], pieces.low[1]),
            pieces.high[0].split(inner[1], pieces.high[1]),
            values[:, :-1].ravel(),
            values[:, 1:].ravel(),
            counts.ravel(),
        )

    def _bound(self, pieces: _WindowPieces) -> Floats:
        """Return a bound on the scores of all windows of each piece."""
        h, row = self.columns.hits, pieces.row
        margins = _margins(h, h.y[row], h.total[row], pieces.width, [pieces.low, pieces.high])
        return np.asarray(np.maximum(pieces.left, pieces.right) + margins[self.rad])

    def result(self) -> Best:
        """Return what was found."""
        return Best(self.low, np.maximum(self.high, self.low + self.tolerance), self.hits)


def _margins(hits: Hits, y: Floats, p: Floats, width: Floats, both: list[tuple[Ends, Ends]]) -> tuple[Floats, Floats]:
    """Return by how much guesses inside intervals may beat those at both ends: in hits, and less false hits.

    ``both`` are the ways of the two ends of the window from one end of the interval, of some ``width``, to the other.
    """
    prior, likelihood = hits.prior, hits.likelihood
    slopes: Floats = np.zeros(())
    falses: Floats = np.zeros(())
    masses, spans, tops = [], [], []
    limited = np.ones((), dtype=bool)
    for first, last in both:
        start, stop = likelihood.at(y, first.x), likelihood.at(y, last.x)
        least, most = np.minimum(start, stop), likelihood.largest(y, first.x, last.x, np.maximum(start, stop))
        low, high, mass, unknown = densities(prior, first, last)
        least_factor, most_factor = factors(prior, first, last)
        least, most = least * least_factor, most * most_factor
        limited = limited & ~unknown
        slopes = slopes + (high * most - low * least)
        falses = falses + (high - low)
        masses.append(mass)
        spans.append(most - least)
        tops.append(np.maximum(most, p))
    lump = np.minimum(masses[0] * spans[0] + masses[1] * tops[1], masses[1] * spans[1] + masses[0] * tops[0])
    hit, gain = (
        np.minimum(np.where(limited, 0.25 * width * slope, np.inf), lump) for slope in (slopes, slopes + p * falses)
    )
    return np.asarray(hit), np.asarray(gain)


@dataclass(frozen=True, slots=True, eq=False)
class _WindowPieces:
    """Pieces of intervals of guesses: whose output, how wide, both ends of both ends of the window, their scores."""

    row: Ints
    width: Floats
    low: tuple[Ends, Ends]
    high: tuple[Ends, Ends]
    left: Floats
    right: Floats
    hits: Floats  # of the window at the left

    def where(self, mask: Bools) -> _WindowPieces:
        """Return some of the pieces."""
        index = np.flatnonzero(mask)
        return _WindowPieces(
            self.row[index],
            self.width[index],
            (self.low[0].take(index), self.low[1].take(index)),
            (self.high[0].take(index), self.high[1].take(index)),
            self.left[index],
            self.right[index],
            self.hits[index],
        )
