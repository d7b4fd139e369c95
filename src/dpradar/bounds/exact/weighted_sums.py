"""Sums of weights that are each counted or not, independently, and the mean of the largest of several such sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Floats, np
from ..question import Inapplicable

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Levels", "SumLaw", "binomial", "expected_largest", "levels_of", "sum_laws"]

_SAME = 1e-13  # weights, and sums of them, this close relative to the largest are one
_NEVER = 1e-40  # a probability that moves no digit
_PRODUCT = 1 << 20  # entries of a work array
_WORK = 40_000_000  # laws x sums that are compared: about a second

Levels = tuple[tuple[float, int], ...]  # weights in rising order, and how many there are of each


@dataclass(frozen=True, slots=True, eq=False)
class SumLaw:
    """A law on finitely many numbers, in rising order."""

    values: Floats
    masses: Floats

    def log_below(self, at: Floats) -> Floats:
        """Return the logarithm of Pr[sum <= at], accurate where it is near 0 and where it is near 1."""
        place = np.searchsorted(self.values, at, side="right")
        below = np.concatenate([[0.0], np.cumsum(self.masses)])[place]
        above = np.concatenate([np.cumsum(self.masses[::-1])[::-1], [0.0]])[place]
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(above < below, np.log1p(-np.minimum(above, 1.0)), np.log(below)))


def levels_of(weights: Floats) -> Levels:
    """Return the different weights above 0, which rounding does not tell apart, and how many there are of each.

    Examples
    --------
    >>> levels_of(np.array([0.2, 0.1, 0.2, 0.0]))
    ((0.1, 1), (0.2, 2))
    """
    ordered = np.sort(weights[weights > 0.0])
    levels: list[tuple[float, int]] = []
    start = 0
    while start < ordered.size:
        stop = int(np.searchsorted(ordered, ordered[start] * (1.0 + _SAME), side="right"))
        levels.append((float(ordered[start]), stop - start))
        start = stop
    return tuple(levels)


def binomial(number: int, rate: float) -> Floats:
    """Return Pr[k of ``number`` independent events], k = 0 .. number, each to a few units of the last place per step.

    Examples
    --------
    >>> binomial(2, 0.25).round(6).tolist()
    [0.5625, 0.375, 0.0625]
    """
    mode = min(int((number + 1) * rate), number)
    k = np.arange(number, dtype=float)
    up = (number - k) / (k + 1.0) * (rate / (1.0 - rate))  # from k to k + 1
    above = np.cumprod(up[mode:])
    below = np.cumprod(1.0 / up[:mode][::-1])[::-1]
    masses = np.concatenate([below, [1.0], above])
    return np.asarray(masses / masses.sum())


def sum_laws(levels: Levels, rate: float, most: int) -> tuple[SumLaw, SumLaw]:
    """Return the law of the sum of the weights that are counted, each with probability ``rate``.

    The same law twice, unless it has more than ``most`` values: then one with less spread and one with more, on a
    lattice. Of a convex function the mean under the true law lies between theirs.
    """
    law = SumLaw(np.zeros(1), np.ones(1))
    for weight, number in levels:
        masses = binomial(number, rate)
        likely = np.flatnonzero(masses > _NEVER)
        if law.values.size * likely.size > _PRODUCT:
            return _on_lattice(levels, rate, most)
        law = _sum(law, SumLaw(np.asarray(weight * likely, dtype=float), masses[likely]))
        if law.values.size > most:
            return _on_lattice(levels, rate, most)
    return law, law


def _on_lattice(levels: Levels, rate: float, most: int) -> tuple[SumLaw, SumLaw]:
    """Return laws with less and with more spread than that of the sum, on a lattice.

    Less: all sums between two points become their mean. More: each weight that is counted is divided among the points
    next to it, with its mean kept.
    """
    members = sum(number for _, number in levels)
    total = sum(weight * number for weight, number in levels)
    points = min(max(members << 8, 1 << 15), 1 << 17)
    unit = total / points
    tight, wide = _Merged.at_zero(points + members + 1), np.zeros(points + members + 1)
    wide[0], end = 1.0, 1
    for weight, number in levels:
        steps = int(weight / unit)
        above = weight / unit - steps
        for _ in range(number):
            moved = rate * wide[:end]
            wide[:end] -= moved
            wide[steps : steps + end] += (1.0 - above) * moved
            wide[steps + 1 : steps + 1 + end] += above * moved
            end += steps + 1
            tight.count(steps, above, rate)
    likely = np.flatnonzero(wide > _NEVER)
    return _merged(tight.law(unit), most), _divided(SumLaw(np.asarray(unit * likely, dtype=float), wide[likely]), most)


@dataclass(slots=True, eq=False)
class _Merged:
    """Cells between lattice points: the mass in each, and how far above its lower end the mean lies, times the mass."""

    masses: Floats
    offsets: Floats
    end: int = 1

    @classmethod
    def at_zero(cls, size: int) -> _Merged:
        masses = np.zeros(size)
        masses[0] = 1.0
        return cls(masses, np.zeros(size))

    def count(self, steps: int, above: float, rate: float) -> None:
        """Add ``steps + above`` lattice units with probability ``rate``."""
        masses, offsets, end = self.masses, self.offsets, self.end
        moved = rate * masses[:end]
        offset = rate * offsets[:end]
        masses[:end] -= moved
        offsets[:end] -= offset
        offset += above * moved
        beyond = offset >= moved  # the mean leaves the cell for the next one
        for move, carried in ((steps, ~beyond), (steps + 1, beyond)):
            masses[move : move + end] += moved * carried
            offsets[move : move + end] += (offset - (move - steps) * moved) * carried
        self.end = end + steps + 1

    def law(self, unit: float) -> SumLaw:
        likely = np.flatnonzero(self.masses > _NEVER)
        return SumLaw(unit * (likely + self.offsets[likely] / self.masses[likely]), self.masses[likely])


def _sum(one: SumLaw, other: SumLaw) -> SumLaw:
    """Return the law of the sum of two independent numbers >= 0; sums that only rounding tells apart are one."""
    values = (one.values[:, None] + other.values).ravel()
    order = np.argsort(values, kind="stable")
    values, masses = values[order], (one.masses[:, None] * other.masses).ravel()[order]
    start = np.flatnonzero(np.r_[True, np.diff(values) > _SAME * values[-1]])
    masses = np.add.reduceat(masses, start)
    likely = masses > _NEVER
    return SumLaw(values[start][likely], masses[likely])


def _merged(law: SumLaw, most: int) -> SumLaw:
    if law.values.size <= most:
        return law
    edges = np.linspace(law.values[0], law.values[-1], most + 1)[1:-1]
    start = np.unique(np.searchsorted(law.values, np.r_[law.values[0], edges]))
    masses = np.add.reduceat(law.masses, start)
    return SumLaw(np.add.reduceat(law.masses * law.values, start) / masses, masses)


def _divided(law: SumLaw, most: int) -> SumLaw:
    if law.values.size <= most:
        return law
    grid = np.linspace(law.values[0], law.values[-1], most)
    left = np.clip(np.searchsorted(grid, law.values, side="right") - 1, 0, most - 2)
    share = np.clip((law.values - grid[left]) / (grid[left + 1] - grid[left]), 0.0, 1.0)
    masses = np.bincount(left, (1.0 - share) * law.masses, most).astype(float)
    masses += np.bincount(left + 1, share * law.masses, most)
    likely = masses > 0.0
    return SumLaw(grid[likely], masses[likely])


def expected_largest(laws: Sequence[tuple[SumLaw, int]]) -> float:
    """Return the mean of the largest of independent numbers: so many of each law.

    Examples
    --------
    >>> expected_largest([(SumLaw(np.array([0.0, 1.0]), np.array([0.5, 0.5])), 2)])
    0.75
    """
    if sum(law.values.size for law, _ in laws) * len(laws) > _WORK:
        message = f"compares at most {_WORK:,} sums of different cells"
        raise Inapplicable(message)
    values = np.unique(np.concatenate([law.values for law, _ in laws]))
    log_below = np.zeros(values.size - 1)
    for law, number in laws:
        log_below += number * law.log_below(values[:-1])
    return float(values[0] - np.diff(values) @ np.expm1(log_below))
