"""From errors to problems: where each one is in the file, and what to do."""

from __future__ import annotations

from typing import Any

from ..errors import ParameterError, Problem
from .threat_options import KEYS_IN_ERRORS

__all__ = ["problem_of"]


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
    key = KEYS_IN_ERRORS.get(error.name, error.name.rpartition(".")[2])
    if key in keys:
        return Problem(f"{table}.{key}", message, error.hint)
    return Problem(table, f"{error.name} {message}", error.hint)
