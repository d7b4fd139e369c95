"""Reports that are sets, and a guess that names one cell of a partition: the largest of the masses reported."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Bools, Floats, Ints, np
from ...threats.fibre_arrays import FibreArrays
from ...threats.hit_classes import Cover
from ..question import Inapplicable
from .cell_counts import FlatCells, excess_of_largest, largest_of_fixed_size
from .exact_risk import ExactRisk, with_rounding
from .set_reports import inclusion_risk
from .weighted_sums import Levels, SumLaw, expected_largest, levels_of, sum_laws

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...mechanisms.capabilities import InclusionChannel, SetLaw
    from ...threats import Prior

__all__ = ["partition_risk"]

_EPS = sys.float_info.epsilon
_SAME = 1e-9  # masses of cells this close, relative to the largest, are called equal; what they differ by is counted
_ROUNDED = 1e-12  # of a sum of several weights: sums this close are one
_MOST_VALUES = 3_000  # of several probabilities, in different cells: some seconds
_ATOMS = 1 << 18  # of the laws of the cells of a fibre, together

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Fibre:
    """What an attacker with some knowledge chooses from: cells, each by the weights in it, and how often it occurs."""

    cells: tuple[tuple[Levels, int], ...]
    missed: bool  # some guess is right for nobody
    whole: bool  # nobody outside of it is possible

    @property
    def number(self) -> int:
        return sum(number for _, number in self.cells)

    @property
    def masses(self) -> Floats:
        return np.array([sum(weight * count for weight, count in levels) for levels, _ in self.cells])

    @property
    def members(self) -> int:
        return sum(number * sum(count for _, count in levels) for levels, number in self.cells)


def partition_risk(channel: InclusionChannel, law: SetLaw, prior: Prior, cover: Cover) -> ExactRisk:
    """Return rad and success when the output is a set of values and a guess names one cell of a partition.

    Guarantee
    ---------
    Intervals that hold the exact values; points where only rounding is left. Rad is computed where the cells of a
    fibre have the same prior mass or hold one value each, success always for independent bits.

    Notes
    -----
    A cell of which the mass A is reported scores (L1-L0)(A - its prior mass times all mass reported), so among cells of
    the same mass the best one has the largest A. Independent bits: the distribution function of the largest A is a
    product. Sets of a fixed size: coefficients of a product of polynomials. See docs/derivations/inclusion.md.
    """
    if cover.parts is None:
        message = "needs a goal that names a cell of a partition"
        raise Inapplicable(message)
    parts = _possible(cover.parts, prior.probabilities)
    alone = parts.cells == parts.sizes
    values = Cover(cover.guesses, cover.single, cover.single_hits, (), _select(parts, parts.fibre_of(alone)))
    of_values = inclusion_risk(channel, prior, values)
    engine = _Engine(law, prior)
    risks = [(engine.risk(fibre), number) for fibre, number in _fibres(_select(parts, parts.fibre_of(~alone)), prior)]
    rad: list[Interval | None] = [of_values.rad]
    success: list[Interval | None] = [of_values.success]
    hit = of_values.hit
    for risk, number in risks:
        rad.append(None if risk.rad is None else (number * risk.rad[0], number * risk.rad[1]))
        success.append(None if risk.success is None else (number * risk.success[0], number * risk.success[1]))
        hit = None if hit is None or risk.hit is None else hit + number * risk.hit
    total_rad, total_success = _total(rad), _total(success)
    if total_rad is None and total_success is None:
        message = "needs cells of equally likely values when sets of a fixed size are reported"
        raise Inapplicable(message)
    if total_success is not None:
        total_success = min(total_success[0], 1.0), min(total_success[1], 1.0)
    return ExactRisk(rad=total_rad, success=total_success, hit=hit if hit is None else min(hit, 1.0))


def _total(intervals: Sequence[Interval | None]) -> Interval | None:
    certified = [interval for interval in intervals if interval is not None]
    if len(certified) < len(intervals):
        return None
    low, high = sum(low for low, _ in certified), sum(high for _, high in certified)
    return with_rounding(0.5 * (low + high), 0.5 * (high - low))


def _starts(codes: Ints) -> Ints:
    return np.flatnonzero(np.diff(codes, prepend=-1) != 0)


def _select(parts: FibreArrays, keep: Bools) -> FibreArrays:
    """Return the arrays with some of the members only."""
    classes = parts.class_of(np.arange(parts.classes.size))[keep]
    fibres = parts.fibre_of(np.arange(parts.fibres.size))[keep]
    return FibreArrays(parts.guesses, parts.members[keep], _starts(classes), _starts(fibres))


def _possible(parts: FibreArrays, probabilities: Floats) -> FibreArrays:
    """Return the arrays without values of probability 0: a guess that is right for those only is right for nobody."""
    return _select(parts, probabilities[parts.members] > 0.0)


def _fibres(parts: FibreArrays, prior: Prior) -> Iterable[tuple[_Fibre, int]]:
    """Return the different fibres, and how many there are of each."""
    weights = prior.probabilities[parts.members]
    possible = int((prior.probabilities > 0.0).sum())
    classes = np.split(weights, parts.classes[1:]) if weights.size else []
    levels_by_content: dict[bytes, Levels] = {}
    cells = [levels_by_content.setdefault(np.sort(cell).tobytes(), levels_of(cell)) for cell in classes]
    fibres: Counter[_Fibre] = Counter()
    for first, number, size, misses in zip(parts.first, parts.cells, parts.sizes, parts.misses, strict=True):
        kinds = tuple(sorted(Counter(cells[first : first + number]).items()))
        fibres[_Fibre(kinds, bool(misses > 0), bool(size == possible))] += 1
    return fibres.items()


@dataclass(slots=True)
class _Engine:
    """Computes one fibre; the laws of cells are kept for the next one."""

    law: SetLaw
    prior: Prior
    _laws: dict[Levels, tuple[SumLaw, SumLaw]] = field(default_factory=dict)
    _values: int = 0

    def risk(self, fibre: _Fibre) -> ExactRisk:
        masses = fibre.masses
        low, high = float(masses.min()), float(masses.max())
        gain, missing = self.law.difference, self.law.missing
        if high - low > _SAME * high:
            return ExactRisk(success=self._largest(fibre, gain, missing))
        if fibre.number == 1 and (fibre.whole or not fibre.missed):
            # There is one guess only, or it is right for everyone and all others for nobody.
            return ExactRisk(rad=(0.0, 0.0), success=(low, high), hit=None if fibre.missed else high)
        largest = self._largest(fibre, 1.0, 0.0)
        if largest is None:
            return ExactRisk()
        success = missing * low + gain * largest[0], missing * high + gain * largest[1]
        if fibre.missed and not fibre.whole:
            return ExactRisk(rad=self._free(fibre), success=success)
        by_chance = self.law.rate
        rounding = _EPS * (8.0 + fibre.members) * high * by_chance
        rad = (
            max(0.0, gain * (largest[0] - high * by_chance - rounding)),
            max(0.0, gain * (largest[1] - low * by_chance + rounding)),
        )
        # Cells that tie for rad are right equally often: with equal masses the best guess is best for success too.
        return ExactRisk(rad=rad, success=success, hit=None if fibre.missed else 0.5 * sum(success))

    def _largest(self, fibre: _Fibre, step: float, start: float) -> Interval | None:
        """Return the mean of the largest of start x mass + step x mass reported over the cells of a fibre."""
        if self.law.size is not None:
            if any(len(levels) > 1 for levels, _ in fibre.cells):
                return None
            flat = [
                FlatCells(number, count, start * weight * count, step * weight)
                for levels, number in fibre.cells
                for weight, count in levels
            ]
            mean, error = largest_of_fixed_size(flat, self.law)
            return mean - error, mean + error
        most = min(max(_ATOMS // len(fibre.cells), 1 << 13), 1 << 16)
        laws = [(self._laws_of(levels, most), number) for levels, number in fibre.cells]
        ends = []
        for end in (0, 1):
            scored = [
                (SumLaw(start * mass + step * pair[end].values, pair[end].masses), number)
                for (pair, number), mass in zip(laws, fibre.masses, strict=True)
            ]
            ends.append(expected_largest(scored))
        rounding = 16.0 * _EPS * (fibre.members + 16.0)
        moved = 0.0
        if any(len(levels) > 1 for levels, _ in fibre.cells):
            rounding += _ROUNDED
            moved = _ROUNDED * step * float(fibre.masses.max()) * min(1.0, fibre.members * self.law.rate)
        return ends[0] * (1.0 - rounding) - moved, ends[1] * (1.0 + rounding) + moved

    def _laws_of(self, levels: Levels, most: int) -> tuple[SumLaw, SumLaw]:
        if levels not in self._laws:
            self._values += sum(count for _, count in levels) if len(levels) > 1 else 0
            if self._values > _MOST_VALUES:
                message = f"adds up the probabilities of at most {_MOST_VALUES:,} values that differ"
                raise Inapplicable(message)
            self._laws[levels] = sum_laws(levels, self.law.rate, most)
        return self._laws[levels]

    def _free(self, fibre: _Fibre) -> Interval | None:
        """Return rad where a guess may be right for nobody of the fibre: equally likely values only."""
        everyone = levels_of(self.prior.probabilities)
        if len(everyone) > 1 or len(fibre.cells) > 1:
            return None
        (weight, possible), (levels, number) = everyone[0], fibre.cells[0]
        cells = FlatCells(number, levels[0][1], 0.0, 1.0)
        mean, error = excess_of_largest(cells, possible - fibre.members, self.law)
        unit = self.law.difference * weight
        return max(0.0, unit * (mean - error)), unit * (mean + error)
