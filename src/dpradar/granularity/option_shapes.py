"""How the options of a pipeline are given in a file: names of granularities, losses, cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..options import Number, Shape, Text
from ..options.reading import number_problem
from ..params import Param, has_decimal_comma, shown
from .neighbour_relation import PATTERN

if TYPE_CHECKING:
    from ..options.reading import Where

__all__ = ["Cell", "Cells", "Changes", "Loss", "MechanismTable", "RelationName"]

MOST_CELLS = 100_000
_COUNT = Param(name="count", integer=True, low=1, what="how many cells change")
_NUMBER = {"type": "number", "minimum": 0}


@dataclass(frozen=True, slots=True)
class RelationName(Text):
    """The name of a granularity."""

    noun: str = "the name of a granularity"
    pattern: str = PATTERN


@dataclass(frozen=True, slots=True)
class Loss(Shape):
    """A loss under one granularity, or a table of losses; it may be infinite."""

    noun: str = "a number at least 0, or a table from granularities to numbers"

    def from_file(self, value: Any, option: str, where: Where, hint: str) -> Any:
        """Return the number, or the table."""
        losses = list(value.values()) if isinstance(value, dict) else [value]
        if not all(_is_loss(loss) for loss in losses):
            example = f"Such as {option} = {{ bounded = 0.5 }}."
            comma = number_problem(value, "number") if has_decimal_comma(value) else ""
            raise ParameterError(where(option), self.noun, shown(value), comma or example)
        return value

    def schema(self) -> dict[str, Any]:
        """Return a number or a table of numbers."""
        return {"anyOf": [_NUMBER, {"type": "object", "additionalProperties": _NUMBER}]}


def _is_loss(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return float(value) >= 0.0  # False of what is not a number, too
    except OverflowError:  # a whole number beyond the largest float
        return False


@dataclass(frozen=True, slots=True)
class Cell(Shape):
    """The name of a cell, or its number."""

    noun: str = "the name of a cell"

    def from_file(self, value: Any, option: str, where: Where, hint: str) -> str | int:
        """Return the name."""
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise ParameterError(where(option), self.noun, shown(value), hint)
        return value

    def schema(self) -> dict[str, Any]:
        """Return text or a whole number."""
        return {"anyOf": [{"type": "string"}, {"type": "integer"}]}


@dataclass(frozen=True, slots=True)
class Cells(Cell):
    """Names of cells, how many there are, or all."""

    noun: str = f"a list of names, a number of cells, or 'all'; at most {MOST_CELLS:,} cells"

    def from_file(self, value: Any, option: str, where: Where, hint: str) -> Any:
        """Return the names, the number or the word."""
        is_number = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_CELLS
        if isinstance(value, list):
            if len(value) > MOST_CELLS:
                raise ParameterError(where(option), self.noun, f"{len(value):,} cells", hint)
            each = Cell()
            return [each.from_file(one, f"{option}[{i}]", where, hint) for i, one in enumerate(value, 1)]
        if not (is_number or isinstance(value, str)):
            raise ParameterError(where(option), self.noun, shown(value), hint)
        return value

    def schema(self) -> dict[str, Any]:
        """Return a list, a number or text."""
        names = {"type": "array", "items": Cell().schema(), "maxItems": MOST_CELLS}
        return {"anyOf": [names, {"type": "integer", "minimum": 1, "maximum": MOST_CELLS}, {"type": "string"}]}


@dataclass(frozen=True, slots=True)
class Changes(Shape):
    """How many cells change, by granularity."""

    noun: str = "a table from granularities to whole numbers"

    def from_file(self, value: Any, option: str, where: Where, hint: str) -> dict[str, int]:
        """Return the table."""
        if not isinstance(value, dict):
            raise ParameterError(where(option), self.noun, shown(value), hint)
        number = Number(_COUNT.allowed, param=_COUNT)
        return {key: number.from_file(count, f"{option}.{key}", where, hint) for key, count in value.items()}

    def schema(self) -> dict[str, Any]:
        """Return a table of whole numbers."""
        return {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}}


@dataclass(frozen=True, slots=True)
class MechanismTable(Shape):
    """A mechanism or guarantee, as in a spec."""

    noun: str = "a table as in a release: kind and its parameters"

    def from_file(self, value: Any, option: str, where: Where, hint: str) -> dict[str, Any]:
        """Return the table; it is read where the step is built."""
        if not isinstance(value, dict):
            raise ParameterError(where(option), self.noun, shown(value), hint)
        return value

    def schema(self) -> dict[str, Any]:
        """Return a table."""
        return {"type": "object"}
