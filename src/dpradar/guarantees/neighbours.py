"""Neighbour relations: which two data sets a guarantee compares. There is no default."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ..options import About, option_of

__all__ = ["Neighbours", "Stated", "check_neighbours"]

Neighbours = Literal["replace-one", "add-remove"]

Stated = Annotated[
    Neighbours,
    About(
        "the relation of the data sets that the guarantee compares, which its source states and which is never guessed",
        example="add-remove",
        label="Data sets that are compared",
        of_question=True,
    ),
]
_STATED = option_of("neighbours", Stated)


def check_neighbours(owner: str, value: Any) -> Neighbours:
    """Return a valid neighbour relation or raise ParameterError."""
    relation: Neighbours = _STATED.check(owner, value)
    return relation
