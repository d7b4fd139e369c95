"""Decide which of two releases is provably no riskier, by comparing their parameters."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from ..numerics.lazy_numpy import np
from ..options import parameters

__all__ = ["no_riskier"]


def no_riskier(one: Any, other: Any) -> bool:
    """Whether ``other`` is ``one`` with more noise, so that every risk of it is at most that of ``one``.

    Notes
    -----
    A class lists in ``ORDERED`` the parameters in which more private means a randomised function of the less private
    release (docs/derivations/order.md); everything else must be equal. False means only that nothing is known.

    Examples
    --------
    >>> from dpradar.mechanisms import Gaussian, Repeated
    >>> no_riskier(Repeated(Gaussian(1.0), 5), Repeated(Gaussian(2.0), 4))
    True
    >>> no_riskier(Gaussian(2.0), Gaussian(1.0))
    False
    """
    if _equal(one, other):
        return True
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(no_riskier, one, other))
    if type(one) is not type(other) or not is_dataclass(one):
        return False
    if getattr(one, "truncate", None) is not None:
        return False  # what is clamped away cannot be used to add noise
    return all(_field(one, other, field.name) for field in fields(one))


def _field(one: Any, other: Any, name: str) -> bool:
    a, b = getattr(one, name), getattr(other, name)
    if name not in getattr(type(one), "ORDERED", ()):
        return no_riskier(a, b)
    up = next(param.more_private == "up" for param in parameters(type(one)) if param.name == name)
    return bool(b >= a) if up else bool(b <= a)


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
    return type(a) is type(b) and not is_dataclass(a) and not isinstance(a, tuple) and bool(a == b)
