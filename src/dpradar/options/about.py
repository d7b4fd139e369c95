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
    form_help
        What a form says below it, where ``what`` does not do.
    file_help
        What a starter file says beside it; without it, none shows it.
    unset
        What holds where nothing is given, for a form that leaves it empty at first.
    slider
        The range of a form's slider, where ``typical`` does not do.
    slider_ends
        What its two ends mean, where ``more_private`` does not say it.
    folded
        Whether a form hides it under "more options".
    attackers
        The attackers of ``threats.attackers`` for whom it means something; without any, every one.
    needless_with
        Other options that say as much: a form whose first question gives one of them does without it.
    beside
        Another option without which it means nothing.
    excludes
        Options that cannot be given beside it.
    counts_values
        Whether it settles how many values a record can have.
    of_question
        Whether the whole question has an option of the same name: it takes what is given without ``beside``, and a
        file may give it once for all releases.
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
    form_help: str = ""
    file_help: str = ""
    unset: str = ""
    slider: tuple[float, float] | None = None
    slider_ends: tuple[str, str] = ("", "")
    folded: bool = False
    attackers: tuple[str, ...] = ()
    needless_with: tuple[str, ...] = ()
    beside: str = ""
    excludes: tuple[str, ...] = ()
    counts_values: bool = False
    of_question: bool = False
    private: bool = False
    places: tuple[Place, ...] = ("command", "file", "form")

    @property
    def sentence(self) -> str:
        """What it is, as help texts and comments write it."""
        return f"{self.what[:1].upper()}{self.what[1:]}."
