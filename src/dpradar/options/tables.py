"""Tables of files: one reader that reports every problem at once, and their JSON Schema.

A table has options like any described object. What a file says is judged key by key, by the shape of the option, and
kept as it was written.
"""

from __future__ import annotations

import difflib
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

from ..errors import ParameterError, Problem, SpecError
from ..params import Param, shown
from .about import About
from .described import Option, option_of
from .reading import inside
from .shapes import Shape

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .reading import Where

__all__ = ["Nested", "Table", "document_schema", "either", "options_in", "options_of"]


@dataclass(frozen=True, slots=True)
class Table:
    """The keys that a table of a file may have.

    Parameters
    ----------
    name
        Its name in the JSON Schema.
    what
        What it says, as a sentence.
    options
        Its keys; one without a default must be given.
    elsewhere
        Keys of other tables, for the hint about a key that stands in the wrong one: the name of the table by key.

    Examples
    --------
    >>> from typing import Annotated
    >>> @dataclass(frozen=True)
    ... class Survey:
    ...     people: Annotated[int, Param(name="people", low=1, integer=True, what="the number of people")]
    ...     title: Annotated[str, About("its title")] = ""
    >>> survey = Table("Survey", "A survey.", options_in(Survey))
    >>> for problem in survey.read({"peple": 3, "title": 4}, "survey")[1]:
    ...     print(problem)
    survey.peple: is not a key of this table. Did you mean 'people'?
    survey.title: must be text; got 4. It is its title.
    survey.people: is missing: it must be a whole number at least 1. It is the number of people.
    """

    name: str
    what: str
    options: tuple[Option, ...]
    elsewhere: tuple[tuple[str, str], ...] = ()

    def read(self, data: Any, place: str, folder: Path | None = None) -> tuple[dict[str, Any], list[Problem]]:
        """Return the keys of a table that can be read, and the problems of the others."""
        if not isinstance(data, dict):
            return {}, [Problem(place, f"must be a table; got {shown(data)}")]
        values: dict[str, Any] = {}
        problems: list[Problem] = []
        options_by_name = {option.name: option for option in self.options}
        where = inside(place, folder)
        for key, value in data.items():
            if key not in options_by_name:
                problems.append(self._unknown(where, key))
                continue
            try:
                values[key] = options_by_name[key].from_file(value, where)
            except SpecError as error:  # a table inside the table
                problems += error.problems
            except ParameterError as error:
                problems.append(Problem(error.name, f"must be {error.allowed}; got {error.got}", error.hint))
        problems += [
            _missing_key(option, where) for option in self.options if option.required and option.name not in data
        ]
        # In the order of the options: what a file says does not depend on the order in which it says it.
        return {name: values[name] for name in options_by_name if name in values}, problems

    def _unknown(self, where: Where, key: str) -> Problem:
        names = [option.name for option in self.options]
        near = difflib.get_close_matches(key, names, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(names)}."
        if not near and key in dict(self.elsewhere):
            hint = f"It belongs to [{dict(self.elsewhere)[key]}]."
        return Problem(where(key), "is not a key of this table", hint)

    def schema(self) -> dict[str, Any]:
        """Return its JSON Schema."""
        needed = [option.name for option in self.options if option.required]
        return {
            "title": self.name,
            "description": self.what,
            "type": "object",
            "properties": {option.name: option.schema() for option in self.options},
            **({"required": needed} if needed else {}),
            "additionalProperties": False,
        }

    def without(self, names: Iterable[str]) -> Table:
        """Return the table without some of its keys."""
        left_out = set(names)
        return replace(self, options=tuple(option for option in self.options if option.name not in left_out))

    def not_needing(self, names: Iterable[str]) -> Table:
        """Return the table where these keys may be left out."""
        free = set(names)
        options = (replace(option, default=None) if option.name in free else option for option in self.options)
        return replace(self, options=tuple(options))


def _missing_key(option: Option, where: Where) -> Problem:
    hint = option.hint
    if isinstance(option.shape, Nested) and option.shape.several:
        hint = f"Write [{option.name}], or [[{option.name}]] for each of several."
    return Problem(where(option.name), f"is missing: it must be {option.allowed}", hint)


@dataclass(frozen=True, slots=True)
class Nested(Shape):
    """A table inside a table, of one of some kinds; with ``several`` also a list of them.

    With ``separately`` the table around it keeps it as it is, because it is read by itself.
    """

    noun: str = "a table"
    tables: tuple[Table, ...] = ()
    several: bool = False
    separately: bool = False

    def from_file(self, value: Any, option: str, where: Where, hint: str) -> Any:
        """Return the table, or raise SpecError with all its problems."""
        if self.separately:
            return value
        if not isinstance(value, dict):
            raise ParameterError(where(option), self.noun, shown(value), hint)
        values, problems = self.tables[0].read(value, where(option), where.folder)
        if problems:
            raise SpecError(where(option), problems)
        return values

    def schema(self) -> dict[str, Any]:
        """Return the table, one of its kinds, or a list of them."""
        inner = [table.schema() for table in self.tables]
        single = inner[0] if len(inner) == 1 else {"oneOf": inner}
        return {"anyOf": [single, {"type": "array", "items": single}]} if self.several else single


@dataclass(frozen=True, slots=True)
class _Either(Shape):
    shapes: tuple[Shape, ...] = ()

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [shape.schema() for shape in self.shapes]}


def either(first: Shape, second: Shape) -> Shape:
    """Return the shape of a key that may be of two shapes, for the schema of tables that may be of several kinds."""
    shapes = first.shapes if isinstance(first, _Either) else (first,)
    return first if second in shapes else _Either(shapes=(*shapes, second))


@cache
def options_in(cls: type, *names: str) -> tuple[Option, ...]:
    """Return the described fields of a class: those that are annotated with what they mean; ``names``: only these."""
    hints = get_type_hints(cls, include_extras=True)
    options = {
        field_info.name: option_of(
            field_info.name,
            hints[field_info.name],
            field_info.default if field_info.default_factory is MISSING else None,
        )
        for field_info in fields(cls)
        if _is_described(hints[field_info.name])
    }
    return tuple(options[name] for name in names) if names else tuple(options.values())


def options_of(thing: Any, options: Iterable[Option] | None = None) -> dict[str, Any]:
    """Return what an object says of its options, or of some of them, without those that are as usual."""
    cls: type = type(thing)
    options = options_in(cls) if options is None else options
    values = {option.name: (getattr(thing, option.name), option.default) for option in options}
    return {name: value for name, (value, default) in values.items() if value != default}


def _is_described(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        return any(isinstance(note, (About, Param, Shape)) for note in get_args(hint)[1:])
    return any(map(_is_described, get_args(hint)))


def document_schema(table: Table) -> dict[str, Any]:
    """Return the JSON Schema of a whole file; each table in it is defined once."""
    definitions: dict[str, Any] = {}
    properties = _with_references(table.schema()["properties"], definitions)
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {**draft, **table.schema(), "properties": properties, "$defs": definitions}


def _with_references(part: Any, definitions: dict[str, Any]) -> Any:
    """Return a schema in which each table is a reference to its definition."""
    if isinstance(part, list):
        return [_with_references(element, definitions) for element in part]
    if not isinstance(part, dict):
        return part
    inner = {key: _with_references(value, definitions) for key, value in part.items()}
    if not isinstance(part.get("title"), str) or "properties" not in part:
        return inner
    definitions[part["title"]] = inner
    return {"$ref": f"#/$defs/{part['title']}"}
