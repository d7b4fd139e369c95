"""Rounding on a chosen side: a shown upper bound is never below the number, a lower bound never above."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Literal

from ..errors import NumericsError

__all__ = ["clip_probability", "rounded", "two_digits"]

_MODES = {"up": ROUND_CEILING, "down": ROUND_FLOOR, "nearest": ROUND_HALF_EVEN}
# Floating-point sums of probabilities stray this far at most; anything further off is a bug.
SLACK = 1e-9


def rounded(value: float, digits: int, direction: Literal["up", "down", "nearest"]) -> str:
    """Return ``value`` with ``digits`` decimals, rounded in ``direction``.

    A value within 1e-12 of the grid counts as on the grid, so that 0.1 + 0.2 is not shown as 0.31.

    Examples
    --------
    >>> rounded(0.38914, 3, "up"), rounded(0.38914, 3, "down"), rounded(0.1 + 0.2, 2, "up")
    ('0.390', '0.389', '0.30')
    """
    step = Decimal(1).scaleb(-digits)
    snapped = Decimal(repr(round(value, 12)))
    return format(snapped.quantize(step, rounding=_MODES[direction]), "f")


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
