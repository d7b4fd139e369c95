"""Neighbour relations: which two data sets a guarantee compares. There is no default."""

from __future__ import annotations

from typing import Literal

from ..errors import ParameterError

__all__ = ["Neighbours", "check_neighbours"]

Neighbours = Literal["replace-one", "add-remove"]


def check_neighbours(owner: str, value: object) -> Neighbours:
    """Return a valid neighbour relation or raise ParameterError."""
    if value not in ("replace-one", "add-remove"):
        raise ParameterError(
            f"{owner}.neighbours",
            "'replace-one' or 'add-remove'",
            repr(value),
            "It says which data sets the guarantee compares and is never guessed; the paper or library that states the "
            "guarantee says which one it means.",
        )
    return value
