"""What a request to a screen asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..copies import Copy
    from ..forms.form import Form

__all__ = ["Asked", "Screen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The form as it stands and the work that it asks for; ``task`` is None where nothing is to be done yet.

    ``was`` are hidden fields: for which kind the form was drawn. ``copies`` takes what came out, if anything did.
    """

    form: Form
    task: str | None
    data: dict[str, Any] = field(default_factory=dict)
    long: bool = False
    was: tuple[tuple[str, str], ...] = ()
    further: tuple[tuple[str, str], ...] = ()  # of the address, beside the fields
    copies: Callable[[Any], list[Copy]] = lambda _: []
    problem: str = ""
    option: str = ""
    sent: bool = False  # the form may be longer than an address, so it is sent as a body


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """One screen: its name in addresses, its title, what it is for, and how a query is read."""

    name: str
    title: str
    lead: str
    read: Callable[[Mapping[str, str]], Asked]
    shorter: Callable[[Mapping[str, str]], dict[str, str]] = dict
    live: bool = True  # answers follow every change; otherwise there is a button
    button: str = "Show"
    layout: str = "asking.html"
