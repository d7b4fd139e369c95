"""Numbers that can be computed with: whole ones that floats hold exactly, and none whose square is no number."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

from ..errors import ParameterError
from .lazy_numpy import Floats, np

__all__ = ["check_magnitude", "check_whole"]

_WHOLE = 2.0**53  # whole numbers beyond are not all floats
_LARGEST = 1e150  # differences, squares and sums of larger numbers leave the range of floats


def check_magnitude(owner: str, array: Floats) -> None:
    """Raise where a number is so large that differences or squares overflow: they would count as infinite or as 0."""
    if array.size and float(np.max(np.abs(array))) > _LARGEST:
        hint = "Give them in another unit: only their size relative to the noise matters."
        raise ParameterError(owner, f"numbers from {-_LARGEST:g} to {_LARGEST:g}", "larger ones", hint)


def check_whole(owner: str, values: Any, array: Floats) -> None:
    """Raise where whole numbers, made floats, are others: two records that differ would become one."""
    if array.size == 0 or not float(np.nanmax(np.abs(array), initial=0.0)) >= _WHOLE:
        return
    for value in np.asarray(values, dtype=object).ravel().tolist():
        if _is_another_float(value):
            hint = "Subtract the smallest first: only differences matter."
            raise ParameterError(owner, "whole numbers up to 2^53, or others that floats can hold", "larger ones", hint)


def _is_another_float(value: Any) -> bool:
    """Whether a large number is not the float that it becomes; texts are those of files."""
    if isinstance(value, (int, np.integer)):
        return int(float(value)) != int(value)
    if isinstance(value, (str, Decimal)):
        return abs(float(value)) >= _WHOLE and Decimal(value) != Decimal(repr(float(value)))
    return isinstance(value, Rational) and abs(float(value)) >= _WHOLE and Fraction(float(value)) != value
