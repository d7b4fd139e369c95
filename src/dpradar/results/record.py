"""Write results as plain data and read them back: one codec for every kind.

A field's type says what it may hold; its annotations say in which range. What concerns several fields is said by the
method ``problems``. A file may come from anywhere, so that everything in it is checked before an object is made of it,
and all problems are reported at once.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import types
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

import annotated_types as at

from ..errors import ParameterError, Problem, SpecError
from ..params import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "SLACK",
    "Difference",
    "Infinite",
    "Later",
    "Loss",
    "NumbersBetween",
    "OnlyFields",
    "OpenShare",
    "RangeOfOwner",
    "Record",
    "Result",
    "Share",
    "Unsaved",
    "Whole",
    "not_decreasing",
    "with_digest",
]

VERSION = 2  # of the layout of saved results; files of layout 1 have no digest, and texts instead of descriptions
SLACK = 1e-9  # by which sums and products of the same numbers differ
_MOST_PROBLEMS = 20  # more are not listed
_MOST_WHOLE = 2**127  # a seed may be long; more is a mistake, and slow to print
_SCHEMA = re.compile(r"dpradar/([a-z]+)/([0-9]{1,4})")


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
Difference = Annotated[float, at.Ge(-1), at.Le(1)]
Loss = Annotated[float, at.Ge(0), Infinite()]  # an epsilon, a mu, an error
Whole = Annotated[int, at.Ge(0)]


# ------------------------------------------------------------------------------------------------------ plain values


@dataclass(slots=True)
class _Reader:
    """Where reading stands: what was wrong so far, and the range of numbers that the record around states."""

    problems: list[Problem] = field(default_factory=list)

    def refuse(self, path: str, allowed: str, value: Any) -> Any:
        self.problems.append(Problem(path, f"must be {allowed}; got {shown(value)}"))
        return None


@dataclass(frozen=True, slots=True)
class _Shape:
    """How one type is written and read. ``read`` returns anything where it has noted a problem."""

    def write(self, value: Any) -> Any:
        return value

    def read(self, data: Any, path: str, reader: _Reader, numbers: NumbersBetween | None) -> Any:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class _Anything(_Shape):
    def read(self, data: Any, path: str, reader: _Reader, numbers: NumbersBetween | None) -> Any:
        return data


@dataclass(frozen=True, slots=True)
class _Text(_Shape):
    not_empty: bool = False

    def read(self, data: Any, path: str, reader: _Reader, numbers: NumbersBetween | None) -> Any:
        if not isinstance(data, str) or (self.not_empty and not data.strip()):
            return reader.refuse(path, "a text that is not empty" if self.not_empty else "a text", data)
        return data


@dataclass(frozen=True, slots=True)
class _Flag(_Shape):
    def read(self, data: Any, path: str, reader: _Reader, numbers: NumbersBetween | None) -> Any:
        return data if isinstance(data, bool) else reader.refuse(path, "true or false", data)


@dataclass(frozen=True, slots=True)
class _Word(_Shape):
    words: tuple[str, ...] = ()

    def read(self, data: Any, path: str, reader: _Reader, numbers: NumbersBetween | None) -> Any:
        if not isinstance(data, str) or data not in self.words:
            return reader.refuse(path, f"one of {', '.join(self.words)}", data)
        return data


@dataclass(frozen=True, slots=True)
class _WholeNumber(_Shape):
    low: int = 0

    def read(self, data: Any, path: str, reader: _Reader, numbers: NumbersBetween | None) -> Any:
        if isinstance(data, bool) or not isinstance(data, int) or not self.low <= data <= _MOST_WHOLE:
            return reader.refuse(path, f"a whole number at least {self.low}", data)
        return data


@dataclass(frozen=True, slots=True)
class _Number(_Shape):
    low: float = -math.inf
    high: float = math.inf
    ends: bool = True  # whether the ends of the range belong to it
    infinite: Infinite | None = None
    range_of_owner: bool = False

    def write(self, value: Any) -> Any:
        # JSON has no infinity; other readers than Python's refuse a file with one.
        return repr(float(value)) if math.isinf(value) else value

    def read(self, data: Any, path: str, reader: _Reader, numbers: NumbersBetween | None) -> Any:
        low, high = self.low, self.high
        if self.range_of_owner and numbers is not None:
            low, high = numbers.low, numbers.high
        if self.infinite is not None and (data in ("inf", math.inf) or (self.infinite.null and data is None)):
            return math.inf
        if isinstance(data, bool) or not isinstance(data, (int, float)) or not self._within(data, low, high):
            return reader.refuse(path, f"a number{self._range_text(low, high)}", data)
        return data

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
class _Maybe(_Shape):
    inner: _Shape

    def write(self, value: Any) -> Any:
        return None if value is None else self.inner.write(value)

    def read(self, data: Any, path: str, reader: _Reader, numbers: NumbersBetween | None) -> Any:
        return None if data is None else self.inner.read(data, path, reader, numbers)


@dataclass(frozen=True, slots=True)
class _List(_Shape):
    inner: _Shape
    least: int = 0

    def write(self, value: Any) -> Any:
        return [self.inner.write(entry) for entry in value]

    def read(self, data: Any, path: str, reader: _Reader, numbers: NumbersBetween | None) -> Any:
        if not isinstance(data, (list, tuple)) or len(data) < self.least:
            return reader.refuse(path, f"a list of {self.least} or more" if self.least else "a list", data)
        return tuple(self.inner.read(entry, f"{path}[{i}]", reader, numbers) for i, entry in enumerate(data, 1))


@dataclass(frozen=True, slots=True)
class _Mapping(_Shape):
    inner: _Shape

    def write(self, value: Any) -> Any:
        return {key: self.inner.write(entry) for key, entry in value.items()}

    def read(self, data: Any, path: str, reader: _Reader, numbers: NumbersBetween | None) -> Any:
        if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
            return reader.refuse(path, "a table", data)
        return {key: self.inner.read(entry, f"{path}.{key}", reader, numbers) for key, entry in data.items()}


@dataclass(frozen=True, slots=True)
class _Nested(_Shape):
    """A record inside another one."""

    record: type[Record]
    numbers: NumbersBetween | None = None
    only: tuple[str, ...] = ()

    def write(self, value: Any) -> Any:
        data = _plain_data(value)
        return {name: data[name] for name in self.only} if self.only else data

    def read(self, data: Any, path: str, reader: _Reader, numbers: NumbersBetween | None) -> Any:
        required = self.only or None
        return self.record.read_data(data, path, reader, self.numbers or numbers, required)


@dataclass(frozen=True, slots=True)
class _OneOfResults(_Shape):
    """A result inside another one, of one of several kinds; its ``schema`` says of which."""

    results: tuple[type[Result], ...]

    def write(self, value: Any) -> Any:
        return _plain_data(value)

    def read(self, data: Any, path: str, reader: _Reader, numbers: NumbersBetween | None) -> Any:
        kind = kind_of_schema(data)
        result = next((result for result in self.results if kind == result.KIND), None)
        if result is None:
            reader.problems.append(
                Problem(path, f"must be a saved result: {' or '.join(result.schema() for result in self.results)}")
            )
            return None
        return result.read_data(data, path, reader, numbers, None)


@dataclass(frozen=True, slots=True)
class WrittenAs(_Shape):
    """An object that is written as a record of this type, which its method ``saved`` returns."""

    record: type[Record]

    def write(self, value: Any) -> Any:
        saved = None if value is None else value.saved()
        return None if saved is None else _plain_data(saved)

    def read(self, data: Any, path: str, reader: _Reader, numbers: NumbersBetween | None) -> Any:
        return None if data is None else self.record.read_data(data, path, reader, numbers, None)


# ------------------------------------------------------------------------------------------------- types of fields


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    shape: _Shape
    required: bool


def _saved_fields(record: Any) -> tuple[_Field, ...]:
    """Return the fields of a record that files have, in order."""
    return _cached_fields(record)


@cache
def _cached_fields(record: Any) -> tuple[_Field, ...]:
    hints = get_type_hints(record, include_extras=True)
    saved = []
    for one in fields(record):
        notes = _notes(hints[one.name])
        if not any(isinstance(note, Unsaved) for note in notes):
            later = any(isinstance(note, Later) for note in notes)
            has_default = one.default is not MISSING or one.default_factory is not MISSING
            saved.append(_Field(one.name, _shape_of(hints[one.name]), required=not (later and has_default)))
    return tuple(saved)


def _notes(hint: Any) -> list[Any]:
    return list(get_args(hint)[1:]) if get_origin(hint) is Annotated else []


def _shape_of(hint: Any, notes: tuple[Any, ...] = ()) -> _Shape:  # noqa: PLR0911 - one case a form of type
    """Return how a type with its annotations is written and read."""
    if get_origin(hint) is Annotated:
        hint, *inner = get_args(hint)
        return _shape_of(hint, (*inner, *notes))
    own = next((note for note in notes if isinstance(note, _Shape)), None)
    if own is not None:
        return own
    if get_origin(hint) in (Union, types.UnionType):
        return _shape_of_union(hint, notes)
    if get_origin(hint) is tuple:
        least = next((note.min_length for note in notes if isinstance(note, at.MinLen)), 0)
        rest = tuple(note for note in notes if not isinstance(note, at.MinLen))
        return _List(_shape_of(get_args(hint)[0], rest), least)
    if get_origin(hint) is dict:
        return _Mapping(_shape_of(get_args(hint)[1], notes))
    if get_origin(hint) is Literal:
        return _Word(get_args(hint))
    if isinstance(hint, type) and issubclass(hint, Record):
        numbers = next((note for note in notes if isinstance(note, NumbersBetween)), None)
        only = next((note.names for note in notes if isinstance(note, OnlyFields)), ())
        return _Nested(hint, numbers, only)
    return _plain_shape(hint, notes)


def _shape_of_union(hint: Any, notes: tuple[Any, ...]) -> _Shape:
    inner = [one for one in get_args(hint) if one is not type(None)]
    if len(inner) > 1:
        return _OneOfResults(tuple(inner))
    return _Maybe(_shape_of(inner[0], notes))


def _plain_shape(hint: Any, notes: tuple[Any, ...]) -> _Shape:
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


def _number_shape(notes: tuple[Any, ...]) -> _Shape:
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


# ------------------------------------------------------------------------------------------------------------ records


def _plain_data(record: Record) -> dict[str, Any]:
    """Return a record as plain data, with what follows from its fields; a result inside another one has no digest."""
    schema = {"schema": record.schema()} if isinstance(record, Result) else {}
    own = {one.name: one.shape.write(getattr(record, one.name)) for one in _saved_fields(type(record))}
    return {**schema, **own, **{name: _plain_value(getattr(record, name)) for name in record.DERIVED}}


def _plain_value(value: Any) -> Any:
    return _plain_data(value) if isinstance(value, Record) else value


class Record:
    """A part of a result: a frozen dataclass that can be written as plain data and read back.

    ``DERIVED`` are properties that are written for other readers, because they follow from the fields.
    """

    __slots__ = ()
    DERIVED: ClassVar[tuple[str, ...]] = ()

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield fields that disagree with others, each with what it must be."""
        return iter(())

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that ``from_dict`` reads."""
        return _plain_data(self)

    @classmethod
    def from_dict(cls, data: Any, place: str = "the saved result") -> Self:
        """Return what ``to_dict`` wrote, or raise SpecError with everything that is wrong in it."""
        reader = _Reader()
        record = cls.read_data(data, "", reader, None, None)
        if reader.problems or record is None:
            raise SpecError(place, reader.problems[:_MOST_PROBLEMS])
        problems = list(islice(_contradictions(data, record.to_dict()), _MOST_PROBLEMS))
        if problems:
            raise SpecError(place, problems)
        return record

    @classmethod
    def read_data(
        cls,
        data: Any,
        path: str,
        reader: _Reader,
        numbers: NumbersBetween | None,
        required: tuple[str, ...] | None,
    ) -> Self | None:
        """Return the record that plain data stand for, or None after noting what is wrong in them."""
        if not isinstance(data, dict):
            return reader.refuse(path, "a table", data)  # type: ignore[no-any-return]
        before, inside = len(reader.problems), f"{path}." if path else ""
        values: dict[str, Any] = {}
        for one in _saved_fields(cls):
            if one.name in data:
                values[one.name] = one.shape.read(data[one.name], f"{inside}{one.name}", reader, numbers)
            elif one.required if required is None else one.name in required:
                reader.problems.append(Problem(f"{inside}{one.name}", "is missing"))
        if len(reader.problems) > before:
            return None
        record = cls(**values)
        reader.problems += [Problem(f"{inside}{name}", message) for name, message in record.problems()]
        return record


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Record):
    """What a computation returns. It can be saved, shown in words and written as a report.

    ``unverified`` says that it was read from data without a digest, in which changes cannot be detected.
    """

    KIND: ClassVar[str]
    _by_kind: ClassVar[dict[str, type[Result]]] = {}

    unverified: Annotated[bool, Unsaved()] = field(default=False, compare=False, repr=False)

    def __init_subclass__(cls, **settings: Any) -> None:
        """Make the kind known to whoever reads files."""
        super(Result, cls).__init_subclass__(**settings)
        Result._by_kind[cls.KIND] = cls

    @classmethod
    def by_kind(cls) -> dict[str, type[Result]]:
        """Return the classes of results whose modules were imported, by their kind."""
        return dict(sorted(Result._by_kind.items()))

    @classmethod
    def schema(cls) -> str:
        """Return the name of the layout of such a file."""
        return f"dpradar/{cls.KIND}/{VERSION}"

    def to_dict(self, **further: Any) -> dict[str, Any]:
        """Return plain data with the keys ``schema`` and ``digest``; ``further`` keys are added.

        Notes
        -----
        The digest shows that a file was damaged or edited. It is no signature: whoever edits can compute it anew.
        """
        return with_digest({**_plain_data(self), **further})

    @classmethod
    def from_dict(cls, data: Any, place: str = "the saved result") -> Self:
        """Return what ``to_dict`` wrote, or raise SpecError with everything that is wrong in it."""
        if kind_of_schema(data) != cls.KIND:
            schema = data.get("schema") if isinstance(data, dict) else None
            raise ParameterError(place, f"data with schema {cls.schema()!r}", shown(schema))
        result = super(Result, cls).from_dict(data, place)
        if "digest" not in data:
            return replace(result, unverified=True)
        if data["digest"] != _digest(data):
            message = "does not fit the contents: the file was damaged, or edited after it was written"
            raise SpecError(place, [Problem("digest", message)])
        return result

    def save(self, path: str | Path) -> None:
        """Write the result as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")

    def explain(self) -> str:
        """Return the answer in sentences."""
        from ..present.text import explain

        return explain(self)

    def report(self, path: str | Path) -> Path:
        """Write the result for people, as .html or .md, and return where it is."""
        from ..present.files import save_report

        return save_report(self, path)

    def _repr_html_(self) -> str | None:
        from ..present.notebook import notebook_html

        return notebook_html(self)


def with_digest(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a result with the digest of everything else in them."""
    return {**data, "digest": _digest(data)}


def _digest(data: dict[str, Any]) -> str:
    """Return the digest of what a file says, whatever the order and the white space."""
    contents = {key: value for key, value in data.items() if key != "digest"}
    text = json.dumps(contents, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def kind_of_schema(data: Any) -> str | None:
    """Return the kind of result that data state, if they are of a layout that can be read."""
    schema = data.get("schema") if isinstance(data, dict) else None
    match = _SCHEMA.fullmatch(schema) if isinstance(schema, str) else None
    return match[1] if match is not None and 1 <= int(match[2]) <= VERSION else None


def not_decreasing(record: Record, *names: str) -> Iterator[tuple[str, str]]:
    """Yield fields that are below the one before them, as far as they are stated."""
    stated = [(name, getattr(record, name)) for name in names if getattr(record, name) is not None]
    for (first, low), (second, high) in pairwise(stated):
        if low > high + SLACK * abs(high):
            yield second, f"must be at least {first}; got {high:g}, and {low:g} for {first}"


def _contradictions(data: Any, written: Any, path: str = "") -> Iterator[Problem]:
    """Yield where a file says something else than the record that was made of it.

    What follows from other fields, such as whether all limits are met, is written into files for other readers; it has
    to follow in the file, too.
    """
    if isinstance(written, dict) and isinstance(data, dict):
        for key in written.keys() & data.keys() - {"schema", "digest"}:
            yield from _contradictions(data[key], written[key], f"{path}.{key}" if path else str(key))
    elif isinstance(written, list) and isinstance(data, list) and len(written) == len(data):
        for index, (one, other) in enumerate(zip(data, written, strict=True)):
            yield from _contradictions(one, other, f"{path}[{index + 1}]")
    elif not _same(data, written):
        yield Problem(path, f"must be {written!r}, which follows from the rest; got {data!r}")


def _same(data: Any, written: Any) -> bool:
    if data == written or (written == "inf" and data in (None, math.inf)):
        return True
    if isinstance(written, dict) and isinstance(data, str):  # a description in a file of layout 1
        return bool(written.get("text") == data)
    numbers = isinstance(data, (int, float, str)) and isinstance(written, (int, float, str))
    try:
        return numbers and math.isclose(float(data), float(written), rel_tol=SLACK)
    except (ValueError, OverflowError):
        return False
