"""Privacy losses on a grid: discretised from above and from below, composed, and read as risk."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING

from ..errors import NumericsError
from ..numerics.lazy_numpy import Floats, Ints, np
from .dp_accounting_library import self_convolution
from .pairs import AtomPair, finite_pair

if TYPE_CHECKING:
    from .curves import TradeoffCurve
    from .pairs import Pair, Pairs

__all__ = ["SAME_LOSS", "Losses", "compose", "grid_of", "list_losses", "pair_of_curve"]

_TRUNCATION = 1e-15  # probability cut off by a composition; it counts as infinite loss
_MOST_STEPS = 2**53  # beyond, floats leave out whole numbers
_MOST_CELLS, _MOST_SINGLE = 4_000_000, 800_000
_LEAST_STEP, _HARDLY = 1e-9, 1e-3
_ROUNDING = 2e-16  # relative error of a Fourier transform raised to a power, per use
_LARGEST = 700.0
_TINY = 1e-320
_SPECK = 4e-15
_CURVE_NODES, _SAME_NODE = 300, 1e-14
_HULL_PASSES = 60
_MOST_ATOMS = 20_000  # losses of a composition that are listed one by one
SAME_LOSS = 1e-11
_SAME_PLACE = 1e-15  # relative to the largest loss: they are rounded, and this many times over stays below SAME_LOSS


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """P by privacy loss: ``masses`` at the ascending losses ``at``, ``infinite`` at infinity.

    From below, ``infinite`` is negative where a composition may have rounded the masses up by more than is at infinity.
    """

    at: Floats
    masses: Floats
    infinite: float

    def delta(self, epsilon: float) -> float:
        """Return sup P(E) - e^epsilon Q(E)."""
        start = int(np.searchsorted(self.at, epsilon, side="right"))
        if start >= self.masses.size:
            return min(max(self.infinite, 0.0), 1.0)
        # Summed by numpy and not as a product of vectors, whose last digit depends on the number of threads.
        delta = float(self.infinite - np.sum(np.expm1(epsilon - self.at[start:]) * self.masses[start:]))
        return min(max(delta, 0.0), 1.0)

    def deltas(self, epsilons: Floats) -> Floats:
        """Return delta at many epsilons, from sums that are formed once."""
        over_p = np.concatenate([np.cumsum(self.masses[::-1])[::-1], [0.0]]) + self.infinite
        with np.errstate(over="ignore"):
            q = self.masses * np.exp(np.minimum(-self.at, _LARGEST))
        over_q = np.concatenate([np.cumsum(q[::-1])[::-1], [0.0]])
        first = np.searchsorted(self.at, epsilons, side="right")
        subtrahend = np.exp(np.minimum(epsilons + np.log(np.maximum(over_q[first], _TINY)), 0.0))
        return np.asarray(np.clip(over_p[first] - np.where(over_q[first] > 0.0, subtrahend, 0.0), 0.0, 1.0))

    def positive(self) -> Floats:
        """Return 0 and the losses above it; a sum of losses that is 0 up to rounding is 0."""
        return np.concatenate([[0.0], self.at[self.at > SAME_LOSS]])


@dataclass(frozen=True, slots=True, eq=False)
class _Grid:
    """The same on a grid: ``masses[i]`` at (first + i) * step."""

    first: int
    step: float
    masses: Floats
    infinite: float

    def losses(self) -> Losses:
        if abs(self.first) > _MOST_STEPS:
            message = f"a loss of {float(self.first):.3g} steps of {self.step:.3g} cannot be told from the next one"
            raise NumericsError(message)
        at = np.asarray((self.first + np.arange(self.masses.size)) * self.step, dtype=float)
        return Losses(at, self.masses, self.infinite)


def _grid(pair: Pair, step: float, cap: float) -> tuple[int, Floats, Floats]:
    """Return the first grid index, the epsilons and the profile there.

    Both ends lie outside the losses, or outside [-cap, cap]: what lies above counts as infinite, below as -cap.
    """
    if step > _LARGEST:
        message = f"privacy losses in steps of {step:.3g} leave the range of numbers"
        raise NumericsError(message)
    low, high = (min(max(end, -cap), cap) for end in pair.span)
    first, last = math.floor(low / step + 1e-9) - 1, math.ceil(high / step - 1e-9) + 1
    if last - first > _MOST_SINGLE:
        message = f"privacy losses from {low:.3g} to {high:.3g} need more than {_MOST_SINGLE} cells of {step:.3g}"
        raise NumericsError(message)
    epsilon = np.asarray(np.arange(first, last + 1) * step, dtype=float)
    return first, epsilon, np.minimum.accumulate(np.clip(pair.delta(epsilon), 0.0, 1.0))


def _atoms(first: int, step: float, values: Floats) -> _Grid:
    """Return the losses whose profile joins the values on the grid by straight lines in e^epsilon.

    Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022), "Connect the dots", Algorithm 1.
    """
    change = np.diff(values)
    masses = np.empty_like(values)
    masses[0] = 1.0 - values[0] + change[0] / math.expm1(step)
    masses[1:-1] = (change[1:] - change[:-1] * math.exp(step)) / math.expm1(step)
    masses[-1] = change[-1] / math.expm1(-step)
    # Rounding leaves specks of either sign where the profile is nearly straight; those above 0 stay: the safe side.
    return _Grid(first, step, np.maximum(masses, 0.0), float(values[-1]))


def _upper_grid(pair: Pair, step: float, cap: float) -> _Grid:
    first, _, values = _grid(pair, step, cap)
    return _atoms(first, step, values)


def _lower_grid(pair: Pair, step: float, cap: float) -> _Grid:
    """Return losses on the grid whose profile lies below that of the pair (docs/derivations/losses.md)."""
    first, epsilon, values = _grid(pair, step, cap)
    at = np.exp(np.minimum(epsilon, _LARGEST))
    floor = pair.infinite  # infinite loss is seen whatever the grid
    lowered = values - _overshoot(at, values)
    vanishing = np.flatnonzero(lowered[:-1] <= floor)
    if vanishing.size:
        lowered[max(0, vanishing[0] - 1) :] = floor
    lowered[-1] = floor
    x, y = np.concatenate([[0.0], at]), np.concatenate([[1.0], lowered])
    hull = _lower_hull(x, y)
    start = int(hull[1]) - 1  # the first grid point on the hull: below it a straight line to (0, 1)
    values = np.interp(at[start:], x[hull], y[hull])
    values[-1] = floor
    if values.size < 2:
        return _Grid(first + start, step, np.full(1, 1.0 - floor), floor)
    grid = _atoms(first + start, step, values)
    # Differences of rounded values are off by specks; alone in a cell they are nothing, and together never more than 1.
    masses = np.where(grid.masses > _SPECK / math.expm1(step), grid.masses, 0.0)
    return replace(grid, masses=masses * min(1.0, (1.0 - floor) / max(float(masses.sum()), _TINY)))


def _overshoot(x: Floats, y: Floats) -> Floats:
    """Return at each point how far the chords beside it may lie above a convex curve through the points."""
    x0, x1, y0, y1 = x[1:-2], x[2:-1], y[1:-2], y[2:-1]
    with np.errstate(all="ignore"):
        slope = np.diff(y) / np.diff(x)
        left, right = slope[:-2], slope[2:]
        meet = np.where(right > left, (y1 - y0 + left * x0 - right * x1) / (left - right), x0)
    meet = np.clip(np.nan_to_num(meet), x0, x1)
    lowest = np.maximum(y0 + left * (meet - x0), y1 + right * (meet - x1))
    chord = y0 + slope[1:-1] * (meet - x0)
    cells = np.concatenate([[0.0], np.maximum(chord - lowest, 0.0), [0.0]])
    cells[-1] = max(y[-2] - y[-1], 0.0)  # in the last cell the profile lies between its ends; after it all is given up
    return np.concatenate([[0.0], np.maximum(cells[:-1], cells[1:]), [y[-1]]])


def _lower_hull(x: Floats, y: Floats) -> Ints:
    """Return the points on the lower convex hull, first and last included."""
    hull = np.arange(x.size)
    for _ in range(_HULL_PASSES):
        # Points are nearly convex, so a few passes that drop every dent at once are enough.
        with np.errstate(all="ignore"):
            slope = np.diff(y[hull]) / np.diff(x[hull])
        dent = np.flatnonzero(slope[1:] <= slope[:-1]) + 1
        if dent.size == 0:
            return hull
        # Of neighbouring dents only every other one: dropping the first may straighten the second.
        alone = np.concatenate([[True], np.diff(dent) > 1])
        alternate = (np.arange(dent.size) - np.maximum.accumulate(np.where(alone, np.arange(dent.size), 0))) % 2 == 0
        hull = np.delete(hull, dent[alternate])
    return hull[_hull_by_walk(x[hull].tolist(), y[hull].tolist())]


def _hull_by_walk(xs: list[float], ys: list[float]) -> list[int]:
    hull: list[int] = []
    for i in range(len(xs)):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            if (xs[b] - xs[a]) * (ys[i] - ys[a]) - (ys[b] - ys[a]) * (xs[i] - xs[a]) > 0.0:
                break
            hull.pop()
        hull.append(i)
    return hull


def pair_of_curve(curve: TradeoffCurve) -> AtomPair:
    """Return a pair whose trade-off curve is a polygon below the given convex curve, close to it.

    Examples
    --------
    >>> from dpradar.guarantees.curves import gaussian_curve
    >>> pair = pair_of_curve(gaussian_curve(1.0))
    >>> bool(0.382925 < pair.delta(np.zeros(1))[0] < 0.3832)
    True
    """
    small = np.geomspace(1e-10, 0.5, _CURVE_NODES)
    x = np.unique(np.clip(np.concatenate([[0.0], small, curve.fnr(small), [1.0]]), 0.0, 1.0))
    x = x[np.concatenate([[True], np.diff(x) > _SAME_NODE])]
    y = np.clip(curve.fnr(x), 0.0, 1.0)
    low = np.maximum(y - _overshoot(x, y), 0.0)
    low[0] = min(float(low[0]), float(y[1]))  # in the first cell the curve may fall at once
    low[-1] = 0.0
    hull = _lower_hull(x, low)
    x, low = x[hull], low[hull]
    jump = max(0.0, 1.0 - float(low[0]))  # seen under P only
    return finite_pair(np.append(np.maximum(-np.diff(low), 0.0), jump), np.append(np.diff(x), 0.0))


def compose(pairs: Pairs, step: float, cap: float = 700.0, *, below: bool = False) -> Losses:
    """Return the losses of all pairs together: from above, or with ``below`` from below; single ones up to ``cap``.

    Losses are rounded to multiples of ``step``, up or down, so that delta is never below, or never above, the true one.

    Examples
    --------
    >>> from dpradar.theorems import GaussianPair
    >>> round(float(compose([(GaussianPair(1.0), 4)], 1e-3).delta(1.0)), 3)
    0.51
    """
    from scipy import signal

    total: _Grid | None = None
    for pair, times in pairs:
        single = (_lower_grid if below else _upper_grid)(pair, step, cap)
        part = _power(single, times, below=below)
        if total is None:
            total = part
            continue
        if total.masses.size + part.masses.size > _MOST_CELLS:
            message = f"the composition needs more than {_MOST_CELLS} cells of {step:.3g}"
            raise NumericsError(message)
        masses = np.maximum(signal.fftconvolve(total.masses, part.masses), 0.0)
        infinite = 1.0 - (1.0 - total.infinite) * (1.0 - part.infinite)
        total = _Grid(total.first + part.first, step, masses, infinite)
    if total is None:
        message = "nothing to compose"
        raise NumericsError(message)
    return total.losses()


def _power(single: _Grid, times: int, *, below: bool) -> _Grid:
    if times == 1:
        return single
    offset, masses = self_convolution(single.masses, times, _TRUNCATION, _MOST_CELLS)
    infinite = -math.expm1(times * math.log1p(-min(single.infinite, 1.0 - 1e-16)))
    slack = _TRUNCATION + _ROUNDING * times
    return _Grid(single.first * times + offset, single.step, masses, infinite + (-slack if below else slack))


def list_losses(pairs: Pairs) -> Losses | None:
    """Return the losses of finite pairs together, one by one, while there are few of them."""
    at, masses, infinite = np.zeros(1), np.ones(1), 0.0
    for pair, times in pairs:
        # Sums of n numbers out of k different ones are at least n (k - 1) + 1 different ones.
        if not isinstance(pair, AtomPair) or at.size + times * (len(pair.losses) - 1) > _MOST_ATOMS:
            return None
        single = np.array(pair.losses), np.array(pair.masses)
        together = _equidistant(*single, times)
        fits = together is not None and at.size * together[0].size <= 4 * _MOST_ATOMS
        for own, weights in [together] if together is not None and fits else repeat(single, times):
            if at.size * own.size > 4 * _MOST_ATOMS:
                return None
            at, masses = _merge_equal((at[:, None] + own).ravel(), (masses[:, None] * weights).ravel())
            if at.size > _MOST_ATOMS:
                return None
        infinite = 1.0 - (1.0 - infinite) * (1.0 - pair.infinite) ** times
    return Losses(at, masses, infinite)


def _equidistant(at: Floats, masses: Floats, times: int) -> tuple[Floats, Floats] | None:
    """Return the losses of this many uses where those of one lie at equal distances, as for local reports; else None.

    Sums of products of masses, without a transform: small masses are as exact as large ones. The cost grows with the
    square of the number of losses.
    """
    if at.size == 1:
        return times * at, masses**times
    distances, least = at - at[0], float(np.diff(at).min())
    if not 0.0 < distances[-1] * times < least * _MOST_ATOMS:
        return None
    places = np.rint(distances / least)
    step = float(np.max(distances[1:] / places[1:]))  # no loss is taken for a smaller one
    if np.max(places * step - distances) > _SAME_PLACE * max(abs(float(at[0])), abs(float(at[-1]))):
        return None
    base = np.zeros(int(places[-1]) + 1)
    base[places.astype(int)] = masses
    power, remaining = np.ones(1), times
    while remaining:
        if remaining % 2:
            power = np.convolve(power, base)
        remaining //= 2
        if remaining:
            base = np.convolve(base, base)
    possible = power > 0.0
    if not possible.any():  # all of it is below the smallest number
        return None
    return (times * at[0] + step * np.arange(power.size))[possible], power[possible]


def _merge_equal(at: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """Add up what differs by rounding only; the larger loss counts."""
    order = np.argsort(at)
    at, masses = at[order], masses[order]
    starts = np.flatnonzero(np.concatenate([[True], np.diff(at) > SAME_LOSS * (1.0 + np.abs(at[1:]))]))
    last = np.concatenate([starts[1:], [at.size]]) - 1
    return at[last], np.add.reduceat(masses, starts)


def grid_of(pairs: Pairs, cap: float) -> tuple[float, bool]:
    """Return a first grid step, and whether every loss lies on it exactly."""
    if len(pairs) == 1 and pairs[0][0].step is not None:
        return float(pairs[0][0].step), True
    steps = []
    for pair, _ in pairs:
        tv = float(pair.delta(np.zeros(1))[0])
        range_ = min(pair.span[1], cap) - max(pair.span[0], -cap)
        # A tenth of the loss that matters: the noise calibrated is then within 2e-4 of the least. Never more than a
        # fiftieth of the whole range.
        steps.append(max(min(0.1 * tv, 0.02 * range_), _LEAST_STEP))
    # A part that hardly matters must not make the grid of the others too fine.
    return max(min(steps), _HARDLY * max(steps)), False
