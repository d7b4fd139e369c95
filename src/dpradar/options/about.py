"""What type and constraints do not say about an option."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["About", "Place"]

Place = Literal["command", "file", "form"]


@dataclass(frozen=True, slots=True)
class About:
    """What an option is, for people: help, hints, comments, form labels and tables are made of it.

    Parameters
    ----------
    what
        A noun phrase: "It is {what}." and "{what} (a number above 0)" are sentences.
    example
        A value of a first question, as text that the option reads.
    typical
        The range that sliders, searches and random tests start from; a number that has one is a parameter.
    more_private
        Which way less can be learned, where that is known.
    label
        Name in a form, where the option's own with spaces does not do.
    folded
        Whether a form hides it under "more options".
    beside
        Another option without which it means nothing.
    excludes
        Options that cannot be given beside it.
    counts_values
        Whether it settles how many values a record can have.
    of_question
        Whether the whole question has an option of the same name: it takes what is given without ``beside``, and a
        file may give it once for all releases.
    simulated
        Whether an attack that is run has a use for it.
    private
        Whether it may hold labels, frequencies or records, which copies for others leave out.
    places
        Where it can be given.
    """

    what: str
    example: str = ""
    typical: tuple[float, float] | None = None
    more_private: Literal["up", "down"] | None = None
    label: str = ""
    folded: bool = False
    beside: str = ""
    excludes: tuple[str, ...] = ()
    counts_values: bool = False
    of_question: bool = False
    simulated: bool = True
    private: bool = False
    places: tuple[Place, ...] = ("command", "file", "form")
