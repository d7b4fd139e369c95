"""Neighbour relations: which two data sets a guarantee compares. There is no default."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ..options import About, Choice, option_of

__all__ = ["FIRST_QUESTION", "RELATIONS", "Neighbours", "Stated", "check_neighbours"]

Neighbours = Literal["replace-one", "add-remove"]
RELATIONS = Choice.of(
    "replace-one", "add-remove", labels=("one record replaced by another", "one record added or removed")
)
FIRST_QUESTION = {"m": "10", "neighbours": "replace-one"}  # of the explorer, about a guarantee

Stated = Annotated[
    Neighbours,
    RELATIONS,
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
