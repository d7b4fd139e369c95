"""From errors to problems: where each one is in the file, and what to do."""

from __future__ import annotations

from typing import Any

from ..errors import ParameterError, Problem

__all__ = ["problem_of"]

# Where the objects of the library and a file have different names for the same thing.
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
