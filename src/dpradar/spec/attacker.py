"""What an attacker knows and wants, as an option says it: ``labels:a,a,b``, ``within:40``, ``{columns = ["age"]}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..options.reading import data, number, words
from ..params import shown
from .calls import Call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..options.reading import Where

__all__ = ["goal", "knowledge"]


def _prefixed(value: Any, name: str, plain: Sequence[str], prefixes: Sequence[str]) -> tuple[str, Any]:
    """Return the word before the colon (or the one key of a table) and what follows."""
    value = data(value, name)
    if isinstance(value, Mapping) and len(value) == 1 and next(iter(value)) in prefixes:
        return next(iter(value.items()))
    if isinstance(value, str):
        kind, _, rest = value.partition(":")
        if value in plain:
            return value, ""
        if kind in prefixes and rest:
            return kind, rest
    allowed = [*plain, *(f"{prefix}:..." for prefix in prefixes)]
    raise ParameterError(name, " or ".join(allowed), shown(value))


def knowledge(value: Any, where: Where) -> Call:
    """Return the knowledge that an option describes."""
    kind, rest = _prefixed(value, where("knowledge"), ("nothing", "everything"), ("labels", "columns"))
    if kind == "labels":
        return Call("Knowledge.labels", (words(rest, "knowledge", where),))
    if kind == "columns":
        return Call("Knowledge.columns", tuple(words(rest, "knowledge", where)))
    return Call(f"Knowledge.{kind}")


def goal(value: Any, where: Where) -> Call:
    """Return the goal that an option describes."""
    kind, rest = _prefixed(value, where("goal"), ("exact",), ("within", "labels", "columns"))
    if kind == "within":
        return Call("Goal.within", (number(rest, f"{where('goal')} within"),))
    if kind == "labels":
        return Call("Goal.labels", (words(rest, "goal", where),))
    if kind == "columns":
        return Call("Goal.columns", tuple(words(rest, "goal", where)))
    return Call("Goal.exact")
