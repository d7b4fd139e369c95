"""Integrals of the maximum of several mixtures of shifted kernels, with a certified error.

Between two points the maximum of functions with second derivatives above -K is itself "convex up to K", which bounds
it by a chord and K h^3/12; cell integrals of each function are exact through the kernel's distribution function. So
every cell gives a lower value (the best single function on the whole cell) and an upper one, and only the cells in
which the winner changes need to be cut further. Costs grow with (cells x functions); a change of winner costs a handful
of cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .lazy_numpy import Floats, Ints, np

__all__ = ["Envelope", "Mixtures", "base_edges", "integrate_envelope"]

_RUN = 8  # neighbouring cells that are worked on together
_CUTS = (-0.3, -0.05, -0.002, 0.002, 0.05, 0.3)  # where a cell is cut, around the change of winner
_LEVELS = 30
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
    """The functions whose maximum is integrated, on many points or cells at once; ``tag`` names the problem of each.

    K below is a number such that (f_i - f_j)'' >= -K on the whole cell. Where every difference solves f'' = f/b^2
    (Laplace kernels between their kinks) none is needed: a difference that is positive is convex there, so it cannot
    rise above 0 between two points where it is not. Such functions say so by ``bends`` = False.
    """

    @property
    def bends(self) -> bool:
        """Whether K can be positive."""

    def values(self, x: Floats, tag: Ints) -> Floats:
        """Return the functions (rows) at the points x (columns)."""

    def integrals(self, low: Floats, high: Floats, tag: Ints) -> tuple[Floats, Floats]:
        """Return the integrals of the functions over the cells, and those of their companions."""

    def spread(self, low: Floats, high: Floats, tag: Ints) -> Floats:
        """Return, per cell, a K for any two of the functions."""

    def bend(self, low: Floats, high: Floats, tag: Ints, pairs: tuple[Ints, Ints, Ints]) -> Floats:
        """Return a K for each (function, function, cell) of ``pairs``."""

    def mass(self, low: Floats, high: Floats, tag: Ints) -> Floats:
        """Return, per cell, a bound on the integral of the absolute difference of any two of the functions."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The integral lies in [low, high] but for rounding; ``companion`` is that of the winner's companion function.

    ``cells`` says how many numbers were summed. Where functions differ by less than their rounding, the largest is
    chosen in each cell, so that errors do not cancel and the sum may be off by that of one integral times ``cells``.
    """

    low: float
    high: float
    companion: float
    cells: int = 0


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


def _integrate_cells(f: Mixtures, grid: Floats, tag: Ints) -> tuple[Floats, Floats, Floats, Floats]:
    """Weigh the cells of ``grid``, whose rows are runs of cells of one tag.

    Returns, per cell, the best single integral, its companion's, the error of taking it for the maximum, and a guess
    where in the cell (from 0 to 1) the winner changes.
    """
    steps = grid.shape[1] - 1
    at = f.values(grid.ravel(), np.repeat(tag, steps + 1)).reshape(-1, *grid.shape)
    left, right = at[:, :, :-1].reshape(at.shape[0], -1), at[:, :, 1:].reshape(at.shape[0], -1)
    low, high = grid[:, :-1].ravel(), grid[:, 1:].ravel()
    cell_tag = np.repeat(tag, steps)
    width = high - low
    inside, companion = f.integrals(low, high, cell_tag)
    cells = np.arange(low.size)
    winner = inside.argmax(axis=0)
    best = inside[winner, cells]
    left, right = left - left[winner, cells], right - right[winner, cells]
    rising_left, rising_right = left.max(axis=0), right.max(axis=0)
    chord = 0.5 * width * (rising_left + rising_right)
    error = np.where(chord > 0.0, chord, 0.0)
    if f.bends:
        error += _curvature_error(f, (low, high, cell_tag), np.maximum(left, right), winner)
    # The winner overtakes, or is overtaken, at one end: where a straight line would put it.
    lead_at_end = np.where(rising_left > rising_right, _runner_up(right, winner), _runner_up(left, winner))
    deficit = np.maximum(rising_left, rising_right)
    # (When rivals overtake at both ends there is no such place, and the middle will do.)
    share = np.divide(deficit, deficit - lead_at_end, out=np.full(width.size, 0.5), where=lead_at_end < 0.0)
    return best, companion[winner, cells], error, np.where(rising_left > rising_right, share, 1.0 - share)


def _runner_up(gap: Floats, winner: Ints) -> Floats:
    rivals = gap.copy()
    rivals[winner, np.arange(winner.size)] = -np.inf
    return np.asarray(rivals.max(axis=0)) if gap.shape[0] > 1 else np.zeros(winner.size)


def _curvature_error(f: Mixtures, cells: tuple[Floats, Floats, Ints], gap: Floats, winner: Ints) -> Floats:
    """Return what rivals may add between the ends: K h^3/12 unless each stays below the winner by more than K h^2/8."""
    low, high, tag = cells
    width = high - low
    open_ = gap + f.spread(low, high, tag) * width**2 / 8.0 > 0.0
    open_[winner, np.arange(winner.size)] = False
    rival, cell = np.nonzero(open_)
    bend = f.bend(low, high, tag, (rival, winner[cell], cell))
    may_win = gap[rival, cell] + bend * width[cell] ** 2 / 8.0 > 0.0
    worst = np.zeros(width.size)
    np.maximum.at(worst, cell[may_win], bend[may_win])
    return np.asarray(worst * width**3 / 12.0)


def _runs_of_cells(edges: Floats, tags: Ints) -> tuple[Floats, Ints]:
    """Return the cells between the edges as rows of a few cells each, for every tag, neighbouring cells together."""
    missing = -(edges.size - 1) % _RUN
    padded = np.concatenate([edges, np.full(missing, edges[-1])])  # cells of no width add nothing
    starts = np.arange(0, padded.size - 1, _RUN)
    rows = padded[starts[:, None] + np.arange(_RUN + 1)]
    return np.repeat(rows, tags.size, axis=0), np.tile(tags, starts.size)


def integrate_envelope(f: Mixtures, edges: Floats, tags: Ints, tolerance: float, batch: int) -> Envelope:
    """Return the sum over the tags of the integral of max_i f_i, cutting cells until the error is below the tolerance.

    ``batch`` is the number of points that are worked on at once, which bounds the memory. When the limit of cells is
    reached first, the interval is wider but still true.
    """
    if edges.size < 2:
        return Envelope(0.0, 0.0, 0.0)
    grid, tag = _runs_of_cells(edges, tags)
    total = companion = settled_error = 0.0
    cells = 0
    for level in range(_LEVELS + 1):
        step = max(1, batch // grid.shape[1])
        parts = [_integrate_cells(f, grid[k : k + step], tag[k : k + step]) for k in range(0, tag.size, step)]
        best, other, error, place = (np.concatenate(p) for p in zip(*parts, strict=True))
        low, high, cell_tag = grid[:, :-1].ravel(), grid[:, 1:].ravel(), np.repeat(tag, grid.shape[1] - 1)
        doubtful = np.flatnonzero(error > 0.0)
        for k in range(0, doubtful.size, batch):
            some = doubtful[k : k + batch]
            error[some] = np.minimum(error[some], f.mass(low[some], high[some], cell_tag[some]))
        cut = error > max(tolerance - settled_error, 0.0) / (4.0 * max(doubtful.size, 1))
        if level == _LEVELS or error.sum() + settled_error <= tolerance or int(cut.sum()) * len(_CUTS) > _MOST_CELLS:
            cut[:] = False
        total += float(best[~cut].sum())
        companion += float(other[~cut].sum())
        settled_error += float(error[~cut].sum())
        cells += int((~cut).sum())
        if not cut.any():
            break
        # Two narrow cells around the place where the winner seems to change, and wider ones beside them.
        inner = np.clip(place[cut, None] + np.array(_CUTS), 0.0, 1.0)
        split_points = np.tile([0.0, 0.5, 1.0], (inner.shape[0], 1))  # the middle too, so that every cut is progress
        shares = np.sort(np.hstack([inner, split_points]), axis=1)
        grid = low[cut, None] + (high - low)[cut, None] * shares
        grid[:, -1] = high[cut]
        tag = cell_tag[cut]
    return Envelope(total, total + settled_error, companion, cells)
