"""How a value is given: as a Python object, as text, in a file, and as JSON Schema. No shape contains an option's name.

``check`` judges a Python object and returns what the described object keeps; ``read`` turns text and plain data into a
Python object; ``from_file`` judges what a file says, where numbers stand without quotes, and returns it as it was
written. All raise ParameterError about the name they are given.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..errors import ParameterError
from ..params import has_decimal_comma, shown
from . import reading

if TYPE_CHECKING:
    from ..params import Param
    from .reading import Where

__all__ = [
    "Anything",
    "Choice",
    "Contributions",
    "Day",
    "FileName",
    "Flag",
    "ListOf",
    "Number",
    "Numbers",
    "Rows",
    "Shape",
    "Span",
    "Text",
]

Schema = dict[str, Any]
_NUMBERS: Schema = {"type": "array", "items": {"type": "number"}}
_ROWS: Schema = {"type": "array", "items": _NUMBERS}


@dataclass(frozen=True, slots=True)
class Shape:
    """How values of one kind are given. ``noun`` says what is allowed, ``notation`` how it is written as text.

    ``pasted`` says what people paste into a form: rows of numbers, columns under a header, or nothing but the text;
    ``names_file`` whether a text is the name of a file.
    """

    noun: str = ""
    metavar: str = "TEXT"
    notation: str = ""
    pasted: Literal["", "rows", "columns"] = ""
    names_file: bool = False

    def check(self, name: str, value: Any, hint: str) -> Any:
        """Return the value as the object keeps it, or raise ParameterError."""
        return value

    def read(self, value: Any, option: str, where: Where) -> Any:
        """Return what text or plain data stands for."""
        return value

    def from_file(self, value: Any, option: str, where: Where, hint: str) -> Any:
        """Return what a file says if it can be read; it is read where it is used."""
        self.read(value, option, where)
        return value

    def schema(self) -> Schema:
        """Return the JSON Schema of the value in a file."""
        return {}


@dataclass(frozen=True, slots=True)
class Anything(Shape):
    """Any value of a file; another reader interprets it."""


@dataclass(frozen=True, slots=True)
class Text(Shape):
    """A text."""

    noun: str = "text"
    pattern: str = ""  # for editors, as a regular expression; the object judges

    def from_file(self, value: Any, option: str, where: Where, hint: str) -> str:
        """Return the text."""
        if not isinstance(value, str):
            raise ParameterError(where(option), self.noun, shown(value), hint or "Put it in quotes.")
        return value

    def schema(self) -> Schema:
        """Return a string, with its pattern where there is one."""
        return {"type": "string", **({"pattern": self.pattern} if self.pattern else {})}


@dataclass(frozen=True, slots=True)
class Day(Shape):
    """A date of TOML, or text."""

    noun: str = "a date such as 2026-03-01, or text"

    def from_file(self, value: Any, option: str, where: Where, hint: str) -> dt.date | str:
        """Return the date, or the text."""
        if not isinstance(value, (dt.date, str)) or isinstance(value, dt.datetime):
            raise ParameterError(where(option), self.noun, shown(value), hint)
        return value

    def schema(self) -> Schema:
        """Return a date or a string."""
        return {"anyOf": [{"type": "string", "format": "date"}, {"type": "string"}]}


@dataclass(frozen=True, slots=True)
class ListOf(Shape):
    """A list whose entries have one shape."""

    each: Shape = field(default_factory=Text)

    def from_file(self, value: Any, option: str, where: Where, hint: str) -> list[Any]:
        """Return the list."""
        if not isinstance(value, list):
            raise ParameterError(where(option), self.noun, shown(value), hint)
        return [self.each.from_file(entry, f"{option}[{i}]", where, hint) for i, entry in enumerate(value, 1)]

    def schema(self) -> Schema:
        """Return an array."""
        return {"type": "array", "items": self.each.schema()}


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

    def from_file(self, value: Any, option: str, where: Where, hint: str) -> Any:
        """Return the number; a text is none, even one that could be read."""
        if isinstance(value, str):
            comma = reading.number_problem(value, "number") if has_decimal_comma(value) else ""
            raise ParameterError(where(option), self.noun, shown(value), comma or "Numbers stand without quotes.")
        number = reading.checked(self.param, value, where(option))
        return value if isinstance(value, int) and self.param.integer else number  # whole numbers above 2^53 stay

    def schema(self) -> Schema:
        """Return the range."""
        param, limits = self.param, {}
        number = int if param.integer else float
        if math.isfinite(param.low):
            limits["exclusiveMinimum" if param.low_open else "minimum"] = number(param.low)
        if math.isfinite(param.high):
            limits["exclusiveMaximum" if param.high_open else "maximum"] = number(param.high)
        return {"type": "integer" if param.integer else "number", **limits}


@dataclass(frozen=True, slots=True)
class Choice(Shape):
    """One of some words."""

    words: tuple[str, ...] = ()
    labels: tuple[str, ...] = field(default=(), compare=False)  # what a form calls them

    @classmethod
    def of(cls, *words: str, labels: tuple[str, ...] = ()) -> Choice:
        """Return the choice among these words."""
        *most, last = map(repr, words)
        noun = f"{', '.join(most)} or {last}" if most else last
        return cls(noun, f"[{'|'.join(words)}]", words=words, labels=labels or words)

    def check(self, name: str, value: Any, hint: str) -> Any:
        """Return the word."""
        if not isinstance(value, str) or value not in self.words:
            raise ParameterError(name, self.noun, shown(value), hint)
        return value

    def from_file(self, value: Any, option: str, where: Where, hint: str) -> Any:
        """Return the word."""
        return self.check(where(option), value, hint)

    def schema(self) -> Schema:
        """Return the words."""
        return {"const": self.words[0]} if len(self.words) == 1 else {"enum": list(self.words)}


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

    def from_file(self, value: Any, option: str, where: Where, hint: str) -> Any:
        """Return the truth value."""
        if not isinstance(value, bool):
            raise ParameterError(where(option), "true or false", shown(value), hint)
        return value

    def schema(self) -> Schema:
        """Return a truth value."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Span(Shape):
    """Two numbers, the first below the second."""

    noun: str = "(low, high) with low below high"
    metavar: str = "LOW:HIGH"
    notation: str = "LOW:HIGH"

    def check(self, name: str, value: Any, hint: str) -> tuple[float, float]:
        """Return the pair."""
        if isinstance(value, (str, bytes, Mapping, Set)):  # which have an order of their own, or none
            raise ParameterError(name, self.noun, shown(value), hint)
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

        from ..numerics.number_checks import check_magnitude, check_whole

        try:
            array = np.array(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            array = np.empty((0,))
        if array.ndim not in (1, 2) or array.shape[0] < 2 or array.size == 0 or not np.all(np.isfinite(array)):
            raise ParameterError(name, self.noun, shown(value), hint)
        check_whole(name, value, array)
        check_magnitude(name, array)
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
    pasted: Literal["", "rows", "columns"] = "rows"
    names_file: bool = True

    def read(self, value: Any, option: str, where: Where) -> Any:
        """Return the rows of a list of lists or of a CSV file."""
        return reading.table(value, option, where)

    def schema(self) -> Schema:
        """Return text or rows."""
        return {"anyOf": [{"type": "string"}, _ROWS]}


@dataclass(frozen=True, slots=True)
class FileName(Shape):
    """The name of a file, relative to the folder of the question."""

    noun: str = "the name of a file"
    metavar: str = "FILE"
    names_file: bool = True

    def read(self, value: Any, option: str, where: Where) -> Any:
        """Return the path as text."""
        return str(where.path(value, option))
