"""Numbers read as the decimals that Python prints, so that 'at most eta apart' is decided exactly."""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any, Self

from .lazy_numpy import Array, Bools, np

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Printed", "as_fraction", "near", "whole_numbers"]

_FITS = 2**61  # a number and twice another one stay below 2**63
_LONGEST_UNIT = 8_192  # bits; decimals of floats need some 2,200
_EPS = sys.float_info.epsilon


class Printed(float):
    """A number of another precision than Python's: its value as a float, printed with the digits that it had.

    Examples
    --------
    >>> tenth = Printed(np.float32(0.1))
    >>> tenth, float(tenth)
    (0.1, 0.10000000149011612)
    """

    __slots__ = ("digits",)

    digits: str

    def __new__(cls, value: Any) -> Self:
        """Return the number with the digits that it prints now."""
        number = super().__new__(cls, value)
        number.digits = str(value)
        return number

    def __repr__(self) -> str:
        return self.digits


def _ratio(value: Any) -> tuple[int, int]:
    if isinstance(value, (int, np.integer)):
        return int(value), 1
    if isinstance(value, Rational):
        return int(value.numerator), int(value.denominator)
    if isinstance(value, Decimal):
        return value.as_integer_ratio()
    return Decimal(str(value if isinstance(value, (float, np.floating)) else float(value))).as_integer_ratio()


def as_fraction(value: Any) -> Fraction:
    """Return a finite number exactly: a float as the decimal that Python prints, any other kind as it is.

    Examples
    --------
    >>> as_fraction(0.1), as_fraction(np.float32(0.1)), as_fraction(Decimal("0.25")), as_fraction(2**60 + 1)
    (Fraction(1, 10), Fraction(1, 10), Fraction(1, 4), Fraction(1152921504606846977, 1))
    """
    return Fraction(*_ratio(value))


def whole_numbers(values: Iterable[Any], *further: Any) -> tuple[Array, list[Any]]:
    """Return finite numbers as whole multiples of one common unit, and further numbers as multiples of it too.

    Guarantee
    ---------
    Exact: sums, differences and comparisons of the results are those of the numbers as they are printed. 64-bit
    integers where they fit (with room for a number and twice another one), else Python's; fractions where no short unit
    divides all of them.

    Examples
    --------
    >>> whole_numbers([0.7, 0.9, 1], 0.2)
    (array([ 7,  9, 10]), [2])
    """
    extra = [_ratio(value) for value in further]
    if isinstance(values, range):
        unit = math.lcm(1, *(d for _, d in extra))
        others = [n * (unit // d) for n, d in extra]
        if max(map(abs, (values.start * unit, values.stop * unit, *others))) < _FITS:
            return np.arange(values.start, values.stop, values.step) * unit, others
    ratios = [_ratio(value) for value in values]
    unit = 1
    for denominator in {d for _, d in ratios} | {d for _, d in extra}:
        unit = math.lcm(unit, denominator)
        if unit.bit_length() > _LONGEST_UNIT:
            fractions = [Fraction(*ratio) for ratio in ratios]
            return np.array(fractions, dtype=object), [Fraction(*ratio) for ratio in extra]
    numbers = [n * (unit // d) for n, d in ratios]
    others = [n * (unit // d) for n, d in extra]
    fits = max(map(abs, (*numbers, *others)), default=0) < _FITS
    return np.array(numbers, dtype=np.int64 if fits else object), others


def near(x: Array, y: Array, eta: float) -> Bools:
    """Return, entry by entry, whether two numbers are at most ``eta`` apart; a missing or infinite one never is.

    Examples
    --------
    >>> near(np.array([0.9, 1e15, np.nan]), np.array([0.7, 1e15 + 0.5, 1.0]), 0.2).tolist()
    [True, False, False]
    """
    first, second = x.astype(float), y.astype(float)
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(first - second)
        result = np.asarray(difference <= eta)
        # Printed digits and the difference are off by a few units in the last place; only near eta that can matter.
        doubtful = np.abs(difference - eta) <= 4.0 * _EPS * np.maximum(np.maximum(np.abs(first), np.abs(second)), eta)
    for i in np.flatnonzero(doubtful & np.isfinite(first) & np.isfinite(second)).tolist():
        result[i] = abs(as_fraction(x[i]) - as_fraction(y[i])) <= as_fraction(eta)
    return result
