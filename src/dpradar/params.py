"""Parameters as objects: one source for validation, command-line options and test strategies."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal

from .errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Param", "as_floats", "bad_cell", "has_decimal_comma", "shown", "visible"]

# Arrays this long are described, not printed: an error must not spill a whole data set.
_LONGEST_SHOWN = 40
# Control characters (a terminal obeys them), marks of direction, separators of lines, tags, and lone surrogates.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+(?:[eE][+-]?\d+)?\s*")


def shown(value: object) -> str:
    """Return the representation of ``value`` for an error message, shortened."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


def visible(text: str) -> str:
    r"""Return text with an escape for each invisible character that changes how it is displayed: control, direction.

    New lines and tabs stay. What is not text in UTF-8, such as the name of some files, becomes an escape too.

    Examples
    --------
    >>> visible("a\x1b[2Jb \u202egnp.exe")
    'a\\x1b[2Jb \\u202egnp.exe'
    """
    return _UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def has_decimal_comma(text: object) -> bool:
    """Return whether a text is a number but for its comma; ``1,delta=2`` and ``1,2,3`` are not.

    Examples
    --------
    >>> has_decimal_comma("0,5"), has_decimal_comma("1,delta=1e-5"), has_decimal_comma("1,2,3")
    (True, False, False)
    """
    return isinstance(text, str) and _DECIMAL_COMMA.fullmatch(text) is not None


def bad_cell(cell: object, row: int) -> tuple[str, str]:
    """Return what was got and a hint about a cell that is no number: its place only, as its content may be private.

    Examples
    --------
    >>> bad_cell("2,5", 0)
    ('something else in row 1 (line 2 of a file with a header)', 'It has a decimal comma. Write numbers with a point.')
    """
    hint = "It has a decimal comma. Write numbers with a point." if has_decimal_comma(cell) else ""
    return f"something else in row {row + 1} (line {row + 2} of a file with a header)", hint


def as_floats(name: str, allowed: str, value: object, hint: str) -> NDArray[np.float64]:
    """Return ``value`` as a new array of floats or raise ParameterError; entries may be nan or infinite.

    Examples
    --------
    >>> as_floats("Channel.matrix", "a matrix", [[1, 2], [3]], "Give rows of equal length.")
    Traceback (most recent call last):
        ...
    dpradar.errors.ParameterError: Channel.matrix must be a matrix; got [[1, 2], [3]]. Give rows of equal length.
    """
    import numpy as np

    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(name, allowed, shown(value), hint) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """One scalar parameter: its domain, its meaning and which way is more private.

    Examples
    --------
    >>> sigma = Param(
    ...     name="sigma",
    ...     low=0.0,
    ...     low_open=True,
    ...     what="the standard deviation of the noise",
    ...     typical=(0.1, 100.0),
    ...     more_private="up",
    ... )
    >>> sigma.check("Gaussian", 2)
    2.0
    >>> sigma.check("Gaussian", -1)
    Traceback (most recent call last):
        ...
    dpradar.errors.ParameterError: Gaussian.sigma must be a number above 0; got -1. It is the standard deviation...
    """

    name: str
    what: str
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    integer: bool = False
    typical: tuple[float, float] = (0.0, 1.0)
    more_private: Literal["up", "down"] | None = None

    @property
    def allowed(self) -> str:
        """The domain in words."""
        noun = "a whole number" if self.integer else "a number"
        low = "above" if self.low_open else "at least"
        high = "below" if self.high_open else "at most"
        parts = []
        if math.isfinite(self.low):
            parts.append(f"{low} {self.low:g}")
        if math.isfinite(self.high):
            parts.append(f"{high} {self.high:g}")
        return " ".join([noun, " and ".join(parts)]) if parts else f"a finite {noun[2:]}"

    def check(self, owner: str, value: object) -> float:
        """Return ``value`` as a float (an int for integer parameters) or raise ParameterError."""
        name = f"{owner}.{self.name}"
        hint = f"It is {self.what}."
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ParameterError(name, self.allowed, shown(value), hint)
        try:
            number = float(value)
        except OverflowError:  # a whole number of more than 308 digits
            number = math.inf
        inside = (number > self.low if self.low_open else number >= self.low) and (
            number < self.high if self.high_open else number <= self.high
        )
        if not (math.isfinite(number) and inside):
            raise ParameterError(name, self.allowed, shown(value), hint)
        if self.integer:
            if not isinstance(value, Integral) and not number.is_integer():
                raise ParameterError(name, self.allowed, shown(value), hint)
            return int(number)
        return number
