"""Write results as plain data and read them back: one codec for every kind.

A field's type says what it may hold; its annotations say in which range (``field_shapes``). What concerns several
fields is said by the method ``problems``. A file may come from anywhere, so that everything in it is checked before an
object is made of it, and all problems are reported at once.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, get_type_hints

from ..errors import ParameterError, Problem, SpecError
from ..params import shown
from .field_shapes import FieldShape, Later, NumbersBetween, Reader, Unsaved, notes_of, shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SLACK", "Record", "Result", "kind_of_schema", "not_decreasing", "with_digest"]

VERSION = 2  # of the layout of saved results; files of layout 1 have no digest, and texts instead of descriptions
SLACK = 1e-9  # by which sums and products of the same numbers differ
_MOST_PROBLEMS = 20  # more are not listed
_MOST_DEPTH = 60
_SCHEMA = re.compile(r"dpradar/([a-z]+)/([0-9]{1,4})")


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    shape: FieldShape
    required: bool


@cache
def _cached_fields(record: Any) -> tuple[_Field, ...]:
    hints = get_type_hints(record, include_extras=True)
    saved = []
    for one in fields(record):
        notes = notes_of(hints[one.name])
        if not any(isinstance(note, Unsaved) for note in notes):
            later = any(isinstance(note, Later) for note in notes)
            has_default = one.default is not MISSING or one.default_factory is not MISSING
            saved.append(_Field(one.name, shape_of(hints[one.name]), required=not (later and has_default)))
    return tuple(saved)


def _saved_fields(record: Any) -> tuple[_Field, ...]:
    """Return the fields of a record that files have, in order."""
    return _cached_fields(record)  # (by way of Any: mypy does not take these classes for hashable)


def _plain_value(value: Any) -> Any:
    return value.plain_data() if isinstance(value, Record) else value


class Record:
    """A part of a result: a frozen dataclass that can be written as plain data and read back.

    ``DERIVED`` are properties that are written for other readers, because they follow from the fields.
    """

    __slots__ = ()
    DERIVED: ClassVar[tuple[str, ...]] = ()

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield fields that disagree with others, each with what it must be."""
        return iter(())

    @classmethod
    def accepts(cls, data: dict[str, Any]) -> bool:
        """Whether a table may be such a record, as far as it says what it is."""
        return True

    def plain_data(self) -> dict[str, Any]:
        """Return the record as part of a file: its fields, and what follows from them."""
        own = {one.name: one.shape.write(getattr(self, one.name)) for one in _saved_fields(type(self))}
        return {**own, **{name: _plain_value(getattr(self, name)) for name in self.DERIVED}}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that ``from_dict`` reads."""
        return self.plain_data()

    @classmethod
    def from_dict(cls, data: Any, place: str = "the saved result") -> Self:
        """Return what ``to_dict`` wrote, or raise SpecError with everything that is wrong in it."""
        if _depth(data) > _MOST_DEPTH:
            raise SpecError(place, [Problem("", f"must not be nested more than {_MOST_DEPTH} deep")])
        reader = Reader()
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
        reader: Reader,
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
            elif one.required and (required is None or one.name in required):
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

    @classmethod
    def accepts(cls, data: dict[str, Any]) -> bool:
        """Whether data that state a kind state this one."""
        return "schema" not in data or cls.is_kind_of(data)

    @classmethod
    def is_kind_of(cls, data: Any) -> bool:
        """Whether data state that they are a result of this kind, in a layout that can be read."""
        return kind_of_schema(data) == cls.KIND

    def plain_data(self) -> dict[str, Any]:
        """Return the result as part of another one: with its schema, without a digest."""
        data = super(Result, self).plain_data()
        return {"schema": self.schema(), "version": data.get("version", ""), **data}

    def to_dict(self, **further: Any) -> dict[str, Any]:
        """Return plain data with the keys ``schema`` and ``digest``; ``further`` keys are added.

        Notes
        -----
        The digest shows that a file was damaged or edited. It is no signature: whoever edits can compute it anew. What
        was read without a digest is written without one.
        """
        data = {**self.plain_data(), **further}
        return data if self.unverified else with_digest(data)

    @classmethod
    def from_dict(cls, data: Any, place: str = "the saved result") -> Self:
        """Return what ``to_dict`` wrote, or raise SpecError with everything that is wrong in it."""
        if not cls.is_kind_of(data):
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


def _depth(data: Any) -> int:
    """Return how deep lists and tables are nested."""
    depth, inside = 0, [data]
    while inside and depth <= _MOST_DEPTH:
        depth += 1
        inside = [
            entry
            for one in inside
            if isinstance(one, (dict, list))
            for entry in (one.values() if isinstance(one, dict) else one)
        ]
    return depth


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
        for key in sorted(written.keys() & data.keys() - {"schema", "digest"}):
            yield from _contradictions(data[key], written[key], f"{path}.{key}" if path else str(key))
    elif isinstance(written, list) and isinstance(data, list) and len(written) == len(data):
        for index, (one, other) in enumerate(zip(data, written, strict=True)):
            yield from _contradictions(one, other, f"{path}[{index + 1}]")
    elif not _same(data, written):
        yield Problem(path, f"must be {written!r}, which follows from the rest; got {shown(data)}")


def _same(data: Any, written: Any) -> bool:
    if isinstance(written, bool) or isinstance(data, bool):
        return data is written
    if data == written or (written == "inf" and data in (None, math.inf)):
        return True
    if isinstance(written, dict) and isinstance(data, str):  # a description in a file of layout 1
        return bool(written.get("text") == data)
    numbers = isinstance(data, (int, float, str)) and isinstance(written, (int, float, str))
    try:
        return numbers and math.isclose(float(data), float(written), rel_tol=SLACK)
    except (ValueError, OverflowError):
        return False
