"""Whole numbers that floats hold exactly."""

from __future__ import annotations

from typing import Any

from ..errors import ParameterError
from .lazy_numpy import Floats, np

__all__ = ["check_whole"]

_WHOLE = 2.0**53  # whole numbers beyond are not all floats


def check_whole(owner: str, values: Any, array: Floats) -> None:
    """Raise where whole numbers, made floats, are others: two records that differ would become one."""
    if array.size == 0 or not float(np.nanmax(np.abs(array), initial=0.0)) >= _WHOLE:
        return
    for value in np.asarray(values, dtype=object).ravel().tolist():
        if isinstance(value, (int, np.integer)) and int(float(value)) != int(value):
            hint = "Subtract the smallest first: only differences matter."
            raise ParameterError(owner, "whole numbers up to 2^53, or others that floats can hold", "larger ones", hint)
