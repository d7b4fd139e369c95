"""A prior that is counted in files: the rules for its columns, and a cache of the counts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..options import Shape, reading
from ..params import shown
from .constructor_calls import Call

if TYPE_CHECKING:
    from ..options.reading import Where
    from ..threats import Prior

__all__ = ["Bins", "ColumnNames", "cached_prior_of_files", "table_prior_call"]

_MOST_CACHED = 8


@dataclass(frozen=True, slots=True)
class ColumnNames(Shape):
    """Names of columns, as a list or separated by commas."""

    noun: str = "names of columns"
    metavar: str = "COLUMNS"
    notation: str = "a,b,c"

    def read(self, value: Any, option: str, where: Where) -> list[str]:
        """Return the names."""
        return [str(word) for word in reading.words(value, option, where)]

    def schema(self) -> dict[str, Any]:
        """Return text or a list."""
        return {"anyOf": [{"type": "string"}, {"type": "array"}]}


@dataclass(frozen=True, slots=True)
class Bins(Shape):
    """Rules by column: a table, or text such as ``age=10,income=quantiles:5,hours=20:40``.

    Examples
    --------
    >>> from dpradar.options.reading import FLAGS
    >>> Bins().read("age=10,income=quantiles:5,hours=20:40,born=year", "bins", FLAGS)
    {'age': 10, 'income': 'quantiles:5', 'hours': [20.0, 40.0], 'born': 'year'}
    """

    noun: str = "NAME=RULE,NAME=RULE,..."
    metavar: str = "RULES"
    notation: str = "age=10 (equal width), age=18:65 (edges), age=width:5, pay=quantiles:4, born=year, age=values"

    def read(self, value: Any, option: str, where: Where) -> dict[str, Any]:
        """Return the rule of each column."""
        value = reading.data(value, where(option))
        if isinstance(value, Mapping):
            return {str(column): rule for column, rule in value.items()}
        hint = "Such as age=10, age=18:65, income=width:5000 or income=quantiles:10."
        if not isinstance(value, str):
            raise ParameterError(where(option), self.noun, shown(value), hint)
        rules = {}
        for part in value.split(","):
            column, equals, rule = part.strip().rpartition("=")
            if not equals or not column or not rule:
                raise ParameterError(where(option), self.noun, shown(part), hint)
            rules[column] = _rule(rule, where(option))
        return rules

    def schema(self) -> dict[str, Any]:
        """Return text or a table."""
        return {"anyOf": [{"type": "string"}, {"type": "object"}]}


def _rule(text: str, name: str) -> Any:
    first = text.partition(":")[0]
    if first.isalpha():
        return text
    if ":" not in text and text.isdigit():
        return int(text)
    return [reading.number(word, name) for word in text.split(":")]


def table_prior_call(path: str, columns: list[str], settings: dict[str, Any]) -> Call:
    """Return the prior of the records in files, as a call."""
    return Call("data.prior", (path, columns), settings)


def cached_prior_of_files(path: str, columns: list[str], *, domain: int | None = None, **settings: Any) -> Prior:
    """Return ``data.prior`` of files; the same question about unchanged files is answered from memory."""
    from ..data.engine import files
    from ..data.table_prior import extend_domain

    state = tuple((name, info.st_mtime_ns, info.st_size) for name in files(path) for info in [Path(name).stat()])
    prior = _counted_prior(path, state, json.dumps([columns, settings], sort_keys=True, default=str))
    return prior if domain is None else extend_domain(prior, domain)


@lru_cache(maxsize=_MOST_CACHED)
def _counted_prior(path: str, _: tuple[Any, ...], request: str) -> Prior:
    from ..data import prior

    columns, settings = json.loads(request)
    return prior(path, columns, **settings)
