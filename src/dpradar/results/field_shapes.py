"""How the fields of a result are written and read: their types, and annotations that say more than the type."""

from __future__ import annotations

import math
import types
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types as at

from ..errors import Problem
from ..params import shown

if TYPE_CHECKING:
    from .result_codec import Record, Result

__all__ = [
    "FieldShape",
    "Infinite",
    "Later",
    "Loss",
    "NumbersBetween",
    "OnlyFields",
    "OpenShare",
    "RangeOfOwner",
    "Reader",
    "Share",
    "Unsaved",
    "Whole",
    "WrittenAs",
    "notes_of",
    "shape_of",
]

_EXACT_WHOLE = 2**53  # larger whole numbers are read as floats
_MOST_WHOLE = 2**127  # a seed may be long; more is a mistake, and slow to print


# ---------------------------------------------------------------------------------------------- annotations of fields


@dataclass(frozen=True, slots=True)
class Infinite:
    """The number may be infinite, which a file writes as the text ``inf``; ``null`` is read as that, too."""

    null: bool = False


@dataclass(frozen=True, slots=True)
class Later:
    """Files of earlier versions do not have the field; they get its default."""


@dataclass(frozen=True, slots=True)
class Unsaved:
    """The field is not written into files."""


@dataclass(frozen=True, slots=True)
class RangeOfOwner:
    """The range of the number is that which the record around it states by ``NumbersBetween``."""


@dataclass(frozen=True, slots=True)
class NumbersBetween:
    """The numbers of a record inside this one lie in this range."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class OnlyFields:
    """Of a record inside this one only these fields are written."""

    names: tuple[str, ...]


Share = Annotated[float, at.Ge(0), at.Le(1)]
OpenShare = Annotated[float, at.Gt(0), at.Lt(1)]
Loss = Annotated[float, at.Ge(0), Infinite()]  # an epsilon, a mu, an error
Whole = Annotated[int, at.Ge(0)]


# ------------------------------------------------------------------------------------------------------ plain values


@dataclass(slots=True)
class Reader:
    """Where reading stands: what was wrong so far, and the range of numbers that the record around states."""

    problems: list[Problem] = field(default_factory=list)

    def refuse(self, path: str, allowed: str, value: Any) -> Any:
        """Note that a value is not what is allowed there."""
        self.problems.append(Problem(path, f"must be {allowed}; got {shown(value)}"))
        return None


@dataclass(frozen=True, slots=True)
class FieldShape:
    """How one type is written and read."""

    def write(self, value: Any) -> Any:
        """Return a value as plain data."""
        return value

    def read(self, data: Any, path: str, reader: Reader, numbers: NumbersBetween | None) -> Any:
        """Return the value that data stand for; anything where it has noted a problem."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class _Anything(FieldShape):
    def write(self, value: Any) -> Any:
        return deepcopy(value)

    def read(self, data: Any, path: str, reader: Reader, numbers: NumbersBetween | None) -> Any:
        if isinstance(data, float) and not math.isfinite(data):
            return reader.refuse(path, "a finite number", data)
        entries = data.items() if isinstance(data, dict) else enumerate(data, 1) if isinstance(data, list) else ()
        for key, entry in entries:
            self.read(entry, f"{path}.{key}" if isinstance(data, dict) else f"{path}[{key}]", reader, numbers)
        return data


@dataclass(frozen=True, slots=True)
class _Text(FieldShape):
    not_empty: bool = False

    def read(self, data: Any, path: str, reader: Reader, numbers: NumbersBetween | None) -> Any:
        if not isinstance(data, str) or (self.not_empty and not data.strip()):
            return reader.refuse(path, "a text that is not empty" if self.not_empty else "a text", data)
        return data


@dataclass(frozen=True, slots=True)
class _Flag(FieldShape):
    def read(self, data: Any, path: str, reader: Reader, numbers: NumbersBetween | None) -> Any:
        return data if isinstance(data, bool) else reader.refuse(path, "true or false", data)


@dataclass(frozen=True, slots=True)
class _Word(FieldShape):
    words: tuple[str, ...] = ()

    def read(self, data: Any, path: str, reader: Reader, numbers: NumbersBetween | None) -> Any:
        if not isinstance(data, str) or data not in self.words:
            return reader.refuse(path, f"one of {', '.join(self.words)}", data)
        return data


@dataclass(frozen=True, slots=True)
class _WholeNumber(FieldShape):
    low: int = 0

    def read(self, data: Any, path: str, reader: Reader, numbers: NumbersBetween | None) -> Any:
        if isinstance(data, bool) or not isinstance(data, int) or not self.low <= data <= _MOST_WHOLE:
            return reader.refuse(path, f"a whole number at least {self.low}", data)
        return data


@dataclass(frozen=True, slots=True)
class _Number(FieldShape):
    low: float = -math.inf
    high: float = math.inf
    ends: bool = True  # whether the ends of the range belong to it
    infinite: Infinite | None = None
    range_of_owner: bool = False

    def write(self, value: Any) -> Any:
        # JSON has no infinity; other readers than Python's refuse a file with one.
        return repr(float(value)) if math.isinf(value) else value

    def read(self, data: Any, path: str, reader: Reader, numbers: NumbersBetween | None) -> Any:
        low, high = self.low, self.high
        if self.range_of_owner and numbers is not None:
            low, high = numbers.low, numbers.high
        if self.infinite is not None and (data in ("inf", math.inf) or (self.infinite.null and data is None)):
            return math.inf
        if isinstance(data, bool) or not isinstance(data, (int, float)) or not self._within(data, low, high):
            return reader.refuse(path, f"a number{self._range_text(low, high)}", data)
        return float(data) if abs(data) > _EXACT_WHOLE else data

    def _within(self, data: float, low: float, high: float) -> bool:
        try:
            number = float(data)
        except OverflowError:
            return False
        return math.isfinite(number) and (low <= number <= high if self.ends else low < number < high)

    def _range_text(self, low: float, high: float) -> str:
        if math.isfinite(high):
            return f" from {low:g} to {high:g}" if self.ends else f" between {low:g} and {high:g}"
        return f" at least {low:g}" if math.isfinite(low) else ""


# -------------------------------------------------------------------------------------- values made of other values


@dataclass(frozen=True, slots=True)
class _Maybe(FieldShape):
    inner: FieldShape

    def write(self, value: Any) -> Any:
        return None if value is None else self.inner.write(value)

    def read(self, data: Any, path: str, reader: Reader, numbers: NumbersBetween | None) -> Any:
        return None if data is None else self.inner.read(data, path, reader, numbers)


@dataclass(frozen=True, slots=True)
class _List(FieldShape):
    inner: FieldShape
    least: int = 0

    def write(self, value: Any) -> Any:
        return [self.inner.write(entry) for entry in value]

    def read(self, data: Any, path: str, reader: Reader, numbers: NumbersBetween | None) -> Any:
        if not isinstance(data, (list, tuple)) or len(data) < self.least:
            return reader.refuse(path, f"a list of {self.least} or more" if self.least else "a list", data)
        return tuple(self.inner.read(entry, f"{path}[{i}]", reader, numbers) for i, entry in enumerate(data, 1))


@dataclass(frozen=True, slots=True)
class _Mapping(FieldShape):
    inner: FieldShape

    def write(self, value: Any) -> Any:
        return {key: self.inner.write(entry) for key, entry in value.items()}

    def read(self, data: Any, path: str, reader: Reader, numbers: NumbersBetween | None) -> Any:
        if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
            return reader.refuse(path, "a table", data)
        return {key: self.inner.read(entry, f"{path}.{key}", reader, numbers) for key, entry in data.items()}


@dataclass(frozen=True, slots=True)
class _Nested(FieldShape):
    """A record inside another one."""

    record: type[Record]
    numbers: NumbersBetween | None = None
    only: tuple[str, ...] = ()

    def write(self, value: Any) -> Any:
        data = value.plain_data()
        return {name: data[name] for name in self.only} if self.only else data

    def read(self, data: Any, path: str, reader: Reader, numbers: NumbersBetween | None) -> Any:
        required = self.only or None
        if isinstance(data, dict) and not self.record.accepts(data):
            return reader.refuse(f"{path}.schema", f"that of {self.record.__name__}", data.get("schema"))
        return self.record.read_data(data, path, reader, self.numbers or numbers, required)


@dataclass(frozen=True, slots=True)
class _OneOfResults(FieldShape):
    """A result inside another one, of one of several kinds; its ``schema`` says of which."""

    results: tuple[type[Result], ...]

    def write(self, value: Any) -> Any:
        return value.plain_data()

    def read(self, data: Any, path: str, reader: Reader, numbers: NumbersBetween | None) -> Any:
        result = next((result for result in self.results if result.is_kind_of(data)), None)
        if result is None:
            reader.problems.append(
                Problem(path, f"must be a saved result: {' or '.join(result.schema() for result in self.results)}")
            )
            return None
        return result.read_data(data, path, reader, numbers, None)


@dataclass(frozen=True, slots=True)
class WrittenAs(FieldShape):
    """An object that is written as a record of this type, which its method ``saved`` returns."""

    record: type[Record]

    def write(self, value: Any) -> Any:
        """Return the record as plain data."""
        saved = None if value is None else value.saved()
        return None if saved is None else saved.plain_data()

    def read(self, data: Any, path: str, reader: Reader, numbers: NumbersBetween | None) -> Any:
        """Return the record."""
        return None if data is None else self.record.read_data(data, path, reader, numbers, None)


def notes_of(hint: Any) -> list[Any]:
    """Return the annotations of a type."""
    return list(get_args(hint)[1:]) if get_origin(hint) is Annotated else []


def shape_of(hint: Any, notes: tuple[Any, ...] = ()) -> FieldShape:  # noqa: PLR0911 - one case a form of type
    """Return how a type with its annotations is written and read."""
    if get_origin(hint) is Annotated:
        hint, *inner = get_args(hint)
        return shape_of(hint, (*inner, *notes))
    own = next((note for note in notes if isinstance(note, FieldShape)), None)
    if own is not None:
        return own
    if get_origin(hint) in (Union, types.UnionType):
        return _shape_of_union(hint, notes)
    if get_origin(hint) is tuple:
        least = next((note.min_length for note in notes if isinstance(note, at.MinLen)), 0)
        rest = tuple(note for note in notes if not isinstance(note, at.MinLen))
        return _List(shape_of(get_args(hint)[0], rest), least)
    if get_origin(hint) is dict:
        return _Mapping(shape_of(get_args(hint)[1], notes))
    if get_origin(hint) is Literal:
        return _Word(get_args(hint))
    if hasattr(hint, "read_data"):
        numbers = next((note for note in notes if isinstance(note, NumbersBetween)), None)
        only = next((note.names for note in notes if isinstance(note, OnlyFields)), ())
        return _Nested(hint, numbers, only)
    return _plain_shape(hint, notes)


def _shape_of_union(hint: Any, notes: tuple[Any, ...]) -> FieldShape:
    inner = [one for one in get_args(hint) if one is not type(None)]
    if len(inner) > 1:
        return _OneOfResults(tuple(inner))
    return _Maybe(shape_of(inner[0], notes))


def _plain_shape(hint: Any, notes: tuple[Any, ...]) -> FieldShape:
    if hint is Any:
        return _Anything()
    if hint is str:
        return _Text(not_empty=any(isinstance(note, at.MinLen) for note in notes))
    if hint is bool:
        return _Flag()
    if hint is int:
        return _WholeNumber(int(next((note.ge for note in notes if isinstance(note, at.Ge)), 0)))  # type: ignore[call-overload]
    if hint is float:
        return _number_shape(notes)
    message = f"a result cannot hold {hint}"
    raise TypeError(message)


def _number_shape(notes: tuple[Any, ...]) -> FieldShape:
    settings: dict[str, Any] = {}
    for note in notes:
        if isinstance(note, (at.Ge, at.Gt)):
            settings["low"] = float(note.ge if isinstance(note, at.Ge) else note.gt)  # type: ignore[arg-type]
        if isinstance(note, (at.Le, at.Lt)):
            settings["high"] = float(note.le if isinstance(note, at.Le) else note.lt)  # type: ignore[arg-type]
        if isinstance(note, (at.Gt, at.Lt)):
            settings["ends"] = False
        if isinstance(note, Infinite):
            settings["infinite"] = note
        if isinstance(note, RangeOfOwner):
            settings["range_of_owner"] = True
    return _Number(**settings)
