"""How a value is given: as a Python object, as text or plain data, and as JSON Schema. No shape knows an option's name.

``check`` judges a Python object and returns what the described object keeps; ``read`` turns text and plain data into a
Python object. Both raise ParameterError about the name they are given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..params import shown
from . import reading

if TYPE_CHECKING:
    from ..params import Param
    from .reading import Where

__all__ = ["Choice", "Contributions", "FileName", "Flag", "Number", "Numbers", "Rows", "Shape", "Span"]

Schema = dict[str, Any]
_NUMBERS: Schema = {"type": "array", "items": {"type": "number"}}
_ROWS: Schema = {"type": "array", "items": _NUMBERS}


@dataclass(frozen=True, slots=True)
class Shape:
    """How values of one kind are given. ``noun`` says what is allowed, ``notation`` how it is written as text."""

    noun: str = ""
    metavar: str = "TEXT"
    notation: str = ""

    def check(self, name: str, value: Any, hint: str) -> Any:
        """Return the value as the object keeps it, or raise ParameterError."""
        return value

    def read(self, value: Any, option: str, where: Where) -> Any:
        """Return what text or plain data stands for."""
        return value

    def schema(self) -> Schema:
        """Return the JSON Schema of the value in a file."""
        return {}


@dataclass(frozen=True, slots=True)
class Number(Shape):
    """A number in a range; a whole one where the parameter says so."""

    param: Param = field(kw_only=True)

    def check(self, name: str, value: Any, hint: str) -> Any:
        """Return the number as the parameter allows it."""
        return self.param.check(name.rpartition(".")[0], value)

    def read(self, value: Any, option: str, where: Where) -> Any:
        """Return the number that text or data is."""
        return reading.checked(self.param, value, where(option))


@dataclass(frozen=True, slots=True)
class Choice(Shape):
    """One of some words."""

    words: tuple[str, ...] = ()

    def check(self, name: str, value: Any, hint: str) -> Any:
        """Return the word."""
        if value not in self.words:
            raise ParameterError(name, self.noun, shown(value), hint)
        return value


@dataclass(frozen=True, slots=True)
class Flag(Shape):
    """True or false."""

    noun: str = "True or False"

    def check(self, name: str, value: Any, hint: str) -> Any:
        """Return the truth value."""
        if not isinstance(value, bool):
            raise ParameterError(name, self.noun, shown(value), hint)
        return value

    def read(self, value: Any, option: str, where: Where) -> Any:
        """Return the truth value that text is; the object judges anything else."""
        return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Span(Shape):
    """Two numbers, the first below the second."""

    noun: str = "(low, high) with low below high"
    metavar: str = "LOW:HIGH"
    notation: str = "LOW:HIGH"

    def check(self, name: str, value: Any, hint: str) -> tuple[float, float]:
        """Return the pair."""
        try:
            low, high = (float(x) for x in value)
        except (TypeError, ValueError, OverflowError):
            low = high = float("nan")
        if not low < high:
            raise ParameterError(name, self.noun, shown(value), hint)
        return low, high

    def read(self, value: Any, option: str, where: Where) -> Any:
        """Return LOW:HIGH or a list of two numbers as a pair."""
        return reading.span(value, option, where)

    def schema(self) -> Schema:
        """Return text or a pair."""
        return {"anyOf": [{"type": "string"}, {**_NUMBERS, "minItems": 2, "maxItems": 2}]}


@dataclass(frozen=True, slots=True)
class Numbers(Shape):
    """A list of numbers."""

    noun: str = "a list of numbers"
    metavar: str = "LIST"
    notation: str = "a,b,c or LOW:HIGH"

    def check(self, name: str, value: Any, hint: str) -> tuple[float, ...]:
        """Return the numbers."""
        is_list = hasattr(value, "__len__") and hasattr(value, "__getitem__")
        if isinstance(value, (str, bytes, Mapping)) or not is_list:
            raise ParameterError(name, self.noun, shown(value), hint)
        try:
            return tuple(float(x) for x in value)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(name, self.noun, shown(value), hint) from None

    def read(self, value: Any, option: str, where: Where) -> Any:
        """Return the numbers of a list, a range or a file."""
        return reading.numbers(value, option, where)

    def schema(self) -> Schema:
        """Return text or a list."""
        return {"anyOf": [{"type": "string"}, _NUMBERS]}


@dataclass(frozen=True, slots=True)
class Contributions(Shape):
    """One number or vector per value, or a function of the record."""

    noun: str = "one finite number or vector per value (at least 2 values)"
    metavar: str = "LIST"
    notation: str = "a,b,c or @file.csv, vectors: one row each"

    def check(self, name: str, value: Any, hint: str) -> Any:
        """Return a read-only array, or the function."""
        if callable(value):
            return value
        import numpy as np

        from ..numerics.whole import check_whole

        try:
            array = np.array(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            array = np.empty((0,))
        if array.ndim not in (1, 2) or array.shape[0] < 2 or array.size == 0 or not np.all(np.isfinite(array)):
            raise ParameterError(name, self.noun, shown(value), hint)
        check_whole(name, value, array)
        array.setflags(write=False)
        return array

    def read(self, value: Any, option: str, where: Where) -> Any:
        """Return numbers, or rows of them."""
        return reading.contribution(value, option, where)

    def schema(self) -> Schema:
        """Return text, a list or rows."""
        return {"anyOf": [{"type": "string"}, _NUMBERS, _ROWS]}


@dataclass(frozen=True, slots=True)
class Rows(Shape):
    """A matrix; what its entries must be is judged by the object."""

    noun: str = "a matrix, rows = inputs"
    metavar: str = "FILE"
    notation: str = "a CSV file"

    def read(self, value: Any, option: str, where: Where) -> Any:
        """Return the rows of a list of lists or of a CSV file."""
        return reading.table(value, option, where)

    def schema(self) -> Schema:
        """Return text or rows."""
        return {"anyOf": [{"type": "string"}, _ROWS]}


@dataclass(frozen=True, slots=True)
class FileName(Shape):
    """The name of a file, relative to where the question is asked."""

    noun: str = "the name of a file"
    metavar: str = "FILE"

    def read(self, value: Any, option: str, where: Where) -> Any:
        """Return the path as text."""
        return str(where.path(value, option))
