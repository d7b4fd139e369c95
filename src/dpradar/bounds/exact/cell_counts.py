"""How many values of each cell a report holds, and how many in all: coefficients of products of polynomials.

The coefficient of x^k of the product over the cells of sum_i Pr[i held] x^i is the probability of k values in all. A
condition on a cell (at most t held) cuts its polynomial off. Products are taken at the roots of unity.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Array, Floats, np
from ..question import Inapplicable
from .weighted_sums import binomial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...mechanisms.capabilities import SetLaw

__all__ = ["FlatCells", "excess_of_largest", "largest_of_fixed_size"]

_EPS = sys.float_info.epsilon
_WORK = 60_000_000  # thresholds x kinds of cells x frequencies: about a second
_UNLIKELY = 1e-25
_FEW = 3.0  # values held on average under the law that is used for products


@dataclass(frozen=True, slots=True)
class FlatCells:
    """Cells of equally many values; a cell of which i are held scores ``start + step * i``."""

    number: int
    size: int
    start: float
    step: float


@dataclass(frozen=True, eq=False)
class _Frequencies:
    """Polynomials of degree ``degree`` at most, by their values at roots of unity; they err by ``error`` at most."""

    degree: int
    rate: float

    @cached_property
    def length(self) -> int:
        return 1 << int(self.degree + 1).bit_length()

    @property
    def error(self) -> float:
        """Rounding of a coefficient of a product whose factors are laws, degree in all."""
        return 16.0 * _EPS * (self.degree + 8.0)

    def root(self, power: int) -> Array:
        """Return x^power at all frequencies."""
        place = np.arange(self.length // 2 + 1) * power % self.length
        return np.asarray(np.exp(place * (-2j * np.pi / self.length)))

    def counts(self, number: int) -> Array:
        """Return the polynomial of the values held among so many that nothing is asked about."""
        return _power(1.0 - self.rate + self.rate * self.root(1), number)

    def coefficients(self, product: Array) -> Floats:
        return np.fft.irfft(product, self.length)[: self.degree + 1]

    def reader(self, place: int) -> Array:
        """Return the row that reads one coefficient from a product (of its real part)."""
        weights = np.full(self.length // 2 + 1, 2.0 / self.length)
        weights[0] = weights[-1] = 1.0 / self.length
        return np.asarray(weights * self.root(place).conj())


def _power(base: Array, exponent: int) -> Array:
    """Return the power by squaring: numpy's goes by logarithms and loses digits."""
    result = np.ones_like(base)
    while exponent:
        if exponent & 1:
            result = result * base
        base, exponent = base * base, exponent >> 1
    return np.asarray(result)


class _Cut:
    """The polynomial of cells of one kind of which each holds at most so many values; the bound only rises."""

    def __init__(self, frequencies: _Frequencies, cells: FlatCells) -> None:
        self.cells = cells
        self.masses = binomial(cells.size, frequencies.rate)
        self.below = np.cumsum(self.masses)
        self._frequencies = frequencies
        self._sum = np.zeros(frequencies.length // 2 + 1, dtype=complex)
        self._most = -1
        self.values: Array = self._sum

    def raise_to(self, most: int) -> None:
        for count in range(self._most + 1, most + 1):
            self._sum = self._sum + self.masses[count] * self._frequencies.root(count)
        self._most = max(most, self._most)
        self.values = _power(self._sum, self.cells.number)

    def is_unlikely(self) -> bool:
        """Whether next to nothing remains."""
        return self._most < 0 or bool(self.below[self._most] < _UNLIKELY)

    def most_likely(self) -> int:
        """Return a bound that next to nothing exceeds."""
        above = np.cumsum(self.masses[::-1])[::-1]
        return int(np.searchsorted(-above, -_UNLIKELY))


def largest_of_fixed_size(cells: Sequence[FlatCells], law: SetLaw) -> tuple[float, float]:
    """Return the mean of the largest score of a cell, when all sets of ``law.size`` values are equally likely.

    Beside it what rounding may have changed. Raises Inapplicable where there are too many kinds of cells.
    """
    size = law.size or 0
    frequencies = _Frequencies(law.inputs, law.rate)
    scores = sorted(
        (kind.start + kind.step * count, number, count)
        for number, kind in enumerate(cells)
        for count in range(min(kind.size, size) + 1)
    )
    if len(scores) * len(cells) * frequencies.length > 2 * _WORK:
        message = f"multiplies at most {_WORK:.0g} numbers for cells of different sizes"
        raise Inapplicable(message)
    rest = frequencies.counts(law.inputs - sum(kind.number * kind.size for kind in cells))
    reader = frequencies.reader(size) * rest / binomial(law.inputs, law.rate)[size]
    cuts = [_Cut(frequencies, kind) for kind in cells]
    ends = [cut.most_likely() for cut in cuts]
    values = np.array([score for score, _, _ in scores])
    chance = np.zeros(len(scores))  # that no cell scores more
    for place, (_, number, count) in enumerate(scores):
        if count > ends[number]:
            chance[place] = chance[place - 1]
            continue
        cuts[number].raise_to(count)
        if any(cut.is_unlikely() for cut in cuts):
            continue
        product = reader
        for cut in cuts:
            product = product * cut.values
        chance[place] = min(max(float(product.real.sum()), 0.0), 1.0)
    gaps = np.diff(values)
    uncertain = (chance[:-1] > 0.0) & (chance[:-1] < 1.0)
    mean = float(values[0] + gaps @ (1.0 - chance[:-1]))
    error = frequencies.error / float(binomial(law.inputs, law.rate)[size]) * float(gaps @ uncertain)
    return mean, error + 8.0 * _EPS * (len(scores) + law.inputs) * abs(mean)


def excess_of_largest(cells: FlatCells, others: int, law: SetLaw) -> tuple[float, float]:
    """Return the mean of max(0, largest count of a cell - the share of a cell in all that is held).

    Beside it what rounding may have changed. ``others`` are the values of the same weight in no cell; what is left of
    ``law.inputs`` has no weight.
    """
    number, size = cells.number, cells.size
    weighted = number * size + others
    share = size / weighted
    rate = law.rate if law.size is not None else max(law.rate, min(0.5, _FEW / weighted))
    frequencies = _Frequencies(weighted, rate)
    total = np.arange(weighted + 1.0)
    likely, odds = _odds(total, weighted, rate, law)
    cut, rest = _Cut(frequencies, cells), frequencies.counts(others)
    everyone = binomial(weighted, rate)
    end = cut.most_likely()
    if (end + 1) * frequencies.length > _WORK:
        message = f"multiplies at most {_WORK:.0g} numbers for cells of many values"
        raise Inapplicable(message)
    mean, error = 0.0, 0.0
    for most in range(end):
        cut.raise_to(most)
        below = np.zeros(weighted + 1)
        if not cut.is_unlikely():
            below = np.clip(frequencies.coefficients(cut.values * rest), 0.0, everyone)
            error += frequencies.error * float(odds[likely].sum())
        # What a larger bound adds, were the largest count above this one.
        gain = np.maximum(most + 1 - share * total, 0.0) - np.maximum(most - share * total, 0.0)
        mean += float((odds * gain * (everyone - below))[likely].sum())
    return mean, error + 8.0 * _EPS * (weighted + end) * mean


def _odds(total: Floats, weighted: int, rate: float, law: SetLaw) -> tuple[Array, Floats]:
    """Return which totals matter, and how much likelier each is under the law than with independent values at a rate.

    With nothing held every score is 0, so that total is left out.
    """
    everyone = binomial(weighted, rate)
    odds = np.zeros(weighted + 1)
    if law.size is None:
        odds = np.exp(total * np.log(law.rate / rate) + (weighted - total) * np.log((1.0 - law.rate) / (1.0 - rate)))
    else:
        without = binomial(law.inputs - weighted, rate)
        left = law.size - total.astype(np.intp)
        possible = (left >= 0) & (left < without.size)
        odds[possible] = without[left[possible]] / binomial(law.inputs, rate)[law.size]
    likely = (total > 0) & (odds * everyone > _UNLIKELY * law.rate)
    return likely, odds
