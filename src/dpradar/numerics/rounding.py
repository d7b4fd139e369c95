"""Rounding on a chosen side: a shown upper bound is never below the number, a lower bound never above."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Literal

from ..errors import NumericsError

__all__ = ["clip_probability", "rounded", "significant", "two_digits"]

Direction = Literal["up", "down", "nearest"]
_MODES = {"up": ROUND_CEILING, "down": ROUND_FLOOR, "nearest": ROUND_HALF_EVEN}
_ALL = Context(prec=1_000)  # digits enough for every float
_SMALL = Decimal("1e-6")
_FEW = 3
# Floating-point sums of probabilities stray this far at most; anything further off is a bug.
SLACK = 1e-9


def rounded(value: float, digits: int, direction: Direction) -> str:
    """Return ``value`` with ``digits`` decimals, rounded in ``direction``; below 1e-6 in scientific notation.

    Guarantee
    ---------
    Rounded up, the text is never below the number; rounded down, never above. The number is the decimal that Python
    prints. Only 0 is shown as 0 when rounded up.

    Examples
    --------
    >>> rounded(0.38914, 3, "up"), rounded(0.38914, 3, "down"), rounded(0.3, 2, "up"), rounded(0.1 + 0.2, 2, "up")
    ('0.390', '0.389', '0.30', '0.31')
    >>> rounded(5.9e-8, 6, "up"), rounded(0.0, 6, "up")
    ('5.90e-08', '0.000000')
    """
    exact = Decimal(repr(float(value)))
    if not exact.is_finite():
        return f"{value:g}"
    if exact and abs(exact) < _SMALL:
        return significant(value, _FEW, direction)
    return format(exact.quantize(Decimal(1).scaleb(-digits), rounding=_MODES[direction], context=_ALL), "f")


def significant(value: float, digits: int, direction: Direction) -> str:
    """Return ``value`` in scientific notation with ``digits`` significant digits, rounded in ``direction``.

    Examples
    --------
    >>> significant(5.91e-8, 2, "up"), significant(5.91e-8, 2, "down"), significant(9.99e-8, 2, "up")
    ('6.0e-08', '5.9e-08', '1.0e-07')
    """
    exact = Decimal(repr(float(value)))
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    mantissa, exponent = f"{exact.quantize(step, rounding=_MODES[direction], context=_ALL):.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent):+03d}"


def two_digits(value: float, direction: Literal["up", "down"]) -> float:
    """Return ``value`` with two significant digits, never on the other side of it.

    Examples
    --------
    >>> two_digits(0.55501, "up"), two_digits(0.25, "up"), two_digits(0.0, "up"), two_digits(0.999, "down")
    (0.56, 0.25, 0.0, 0.99)
    """
    return float(Context(prec=2, rounding=_MODES[direction]).create_decimal(repr(float(value))))


def clip_probability(value: float, where: str) -> float:
    """Return ``value`` in [0, 1]; raise NumericsError when it strays by more than 1e-9.

    Examples
    --------
    >>> clip_probability(1.0000000001, "example")
    1.0
    """
    if not -SLACK <= value <= 1.0 + SLACK:
        message = f"{where} gave {value!r}, which is not a probability (tolerance {SLACK:g}). Please report this."
        raise NumericsError(message)
    return min(max(float(value), 0.0), 1.0)
