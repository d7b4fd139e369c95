"""The smallest change of a release that would meet its limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from .field_shapes import Later
from .result_codec import Record

__all__ = ["Change"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Record):
    """The smallest change of one parameter that meets every limit; ``value`` is None where none does.

    ``more_private`` says which way to round the value: "up" where more of the parameter is more noise. Where what
    decides is a bound that is not ``exact``, a smaller change may do as well.

    Examples
    --------
    >>> str(Change(parameter="epsilon", value=1.25, instead_of=2.0, more_private="down"))
    'epsilon 1.25 instead of 2.0'
    """

    parameter: str
    instead_of: float
    value: float | None = None
    more_private: Literal["up", "down"] | None = None
    reason: str = ""
    exact: Annotated[bool, Later()] = True

    def __str__(self) -> str:
        if self.value is None:
            return self.reason or f"no {self.parameter} meets the limits"
        return f"{self.parameter} {self.value!r} instead of {self.instead_of!r}"
