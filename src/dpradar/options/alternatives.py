"""One of several kinds, each with at most one argument: ``exact``, ``within:40``, ``{columns = ["age", "sex"]}``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..errors import ParameterError
from ..params import shown
from . import reading
from .about import About
from .shapes import Shape

if TYPE_CHECKING:
    from .reading import Where

__all__ = ["Alternative", "Alternatives"]


_NO_ARGUMENT = About("")


@dataclass(frozen=True, slots=True)
class Alternative:
    """One kind: its name, what it is for people, and what its argument is.

    ``field`` is the name of the argument in the addresses of forms, ``about`` what it is; ``attackers`` as in
    ``About``.
    """

    name: str
    what: str
    argument: Literal["none", "number", "list"] = "none"
    metavar: str = "..."
    field: str = ""
    about: About = _NO_ARGUMENT
    attackers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Alternatives(Shape):
    """One of several kinds. ``read`` returns its name and its argument: a number, a list, or None."""

    kinds: tuple[Alternative, ...] = ()

    @classmethod
    def of(cls, *kinds: Alternative) -> Alternatives:
        """Return the choice among these kinds."""
        texts = [kind.name if kind.argument == "none" else f"{kind.name}:{kind.metavar}" for kind in kinds]
        return cls(noun=f"{', '.join(texts[:-1])} or {texts[-1]}", notation=", ".join(texts), kinds=kinds)

    def kind(self, name: str) -> Alternative:
        """Return a kind by its name."""
        return next(kind for kind in self.kinds if kind.name == name)

    def takes_number(self, text: str) -> bool:
        """Whether the kind that a text names has a number as its argument."""
        return self.kind(text.partition(":")[0]).argument == "number"

    def read(self, value: Any, option: str, where: Where) -> tuple[str, Any]:
        """Return the kind and its argument."""
        name, argument = self._parts(reading.data(value, where(option)))
        kind = next((kind for kind in self.kinds if kind.name == name), None)
        if kind is None or argument == "" or (kind.argument == "none") != (argument is None):
            raise ParameterError(where(option), self.noun, shown(value))
        if kind.argument == "number":
            return kind.name, reading.number(argument, f"{where(option)} {kind.name}")
        return kind.name, None if kind.argument == "none" else reading.words(argument, option, where)

    def _parts(self, value: Any) -> tuple[Any, Any]:
        """Return what stands before the colon, or the one key of a table, and what follows."""
        if isinstance(value, Mapping) and len(value) == 1:
            return next(iter(value.items()))
        if not isinstance(value, str):
            return None, None
        name, _, argument = value.partition(":")
        return name, argument or (None if name == value else "")

    def schema(self) -> dict[str, Any]:
        """Return text, or a table with one key."""
        arguments = {
            "number": {"type": "number"},
            "list": {"anyOf": [{"type": "string"}, {"type": "array"}]},
        }
        properties = {kind.name: arguments[kind.argument] for kind in self.kinds if kind.argument != "none"}
        table = {"type": "object", "properties": properties, "additionalProperties": False}
        return {"anyOf": [{"type": "string"}, {**table, "minProperties": 1, "maxProperties": 1}]}
