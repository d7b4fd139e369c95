"""From errors to problems: where each one is in the file, and what to do."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, Problem
from ..options.reading import number_problem
from ..params import has_decimal_comma, shown
from .question import THREAT

if TYPE_CHECKING:
    from pydantic import ValidationError

    from .shapes import Table

__all__ = ["problem_of", "shape_problems"]

# The objects of the library call some things otherwise than a file does.
_KEYS = {
    "Prior.probabilities": "prior",
    "Prior.uniform": "m",
    "Prior.records": "records",
    "Prior.continuous": "values",
    "Knowledge.labels": "knowledge",
    "Knowledge.columns": "knowledge",
    "Goal.within": "goal",
    "Goal.labels": "goal",
    "Goal.columns": "goal",
    "Repeated.times": "times",
    "data.table": "data",
    "data.weight": "weights",
    "data.domain": "m",
    "data.confidence": "prior_confidence",
}


def problem_of(error: ParameterError, table: str, keys: Any = ()) -> Problem:
    """Return an error of the library as a problem of a table; ``keys`` are those the table has.

    Examples
    --------
    >>> error = ParameterError("Gaussian.sigma", "a number above 0", -1, "It is the standard deviation of the noise.")
    >>> problem_of(error, "release[2]", ["kind", "sigma"]).path
    'release[2].sigma'
    """
    message = f"must be {error.allowed}; got {error.got}"
    if error.name.startswith(table):
        return Problem(error.name, message, error.hint)
    key = _KEYS.get(error.name, error.name.rpartition(".")[2])
    if key in keys:
        return Problem(f"{table}.{key}", message, error.hint)
    return Problem(table, f"{error.name} {message}", error.hint)


def shape_problems(error: ValidationError, model: type[Table], table: str) -> list[Problem]:
    """Return what pydantic found in a table, each key once."""
    found: dict[str, Problem] = {}
    for one in error.errors(include_url=False):
        problem = _shape_problem(dict(one), model, table)
        found.setdefault(problem.path, problem)
    return list(found.values())


def _shape_problem(one: dict[str, Any], model: type[Table], table: str) -> Problem:
    path, allowed = table, None
    last: Any = model
    for part in one["loc"]:
        if isinstance(part, int):
            path += f"[{part + 1}]"
            continue
        field = None if last is None else last.model_fields.get(part)
        if last is None or (field is None and one["type"] != "extra_forbidden"):
            break  # which branch of a union was tried
        path = f"{path}.{part}" if path else str(part)
        if field is None:
            return _unknown(path, str(part), last)
        allowed = next((note for note in field.metadata if hasattr(note, "hint")), None)
        last = field.annotation if hasattr(field.annotation, "model_fields") else None
    return _wrong(path, one, allowed)


def _unknown(path: str, key: str, model: type[Table]) -> Problem:
    known = [name for name in model.model_fields if name != key]
    near = difflib.get_close_matches(key, known, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known)}."
    if not near and "kind" in known and key in THREAT:
        hint = "It belongs to [threat]."
    return Problem(path, "is not known here", hint)


def _wrong(path: str, one: dict[str, Any], allowed: Any) -> Problem:
    if one["type"] == "worded":
        return Problem(path, one["ctx"]["told"], one["ctx"]["hint"])
    text = "a table" if allowed is None else allowed.text
    hint = "" if allowed is None else allowed.hint
    if one["type"] == "missing":
        if allowed is None and "." not in path:
            hint = f"Write [{path}], or [[{path}]] for each of several."
        return Problem(path, f"is missing: it must be {text}", hint)
    given = one["input"]
    if isinstance(given, str) and "number" in text:
        hint = number_problem(given, "number") if has_decimal_comma(given) else "Numbers stand without quotes."
    return Problem(path, f"must be {text}; got {shown(given)}", hint)
