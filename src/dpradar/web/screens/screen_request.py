"""The parsed request to a screen, and the description of a screen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..copy_as import Copy
    from ..forms.form import Form

__all__ = ["Screen", "ScreenRequest", "request_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenRequest:
    """The form and the task it requests; ``task`` is None if there is nothing to compute yet.

    ``hidden_fields`` say for which kind the form was rendered. ``copies`` takes the result, or None.
    """

    form: Form
    task: str | None
    data: dict[str, Any] = field(default_factory=dict)
    long: bool = False
    hidden_fields: tuple[tuple[str, str], ...] = ()
    extra_query: tuple[tuple[str, str], ...] = ()  # part of the address, besides the fields
    copies: Callable[[Any], list[Copy]] = lambda _: []
    problem: str = ""
    option: str = ""
    post_only: bool = False  # the form may be longer than an address, so the browser submits it as a body


def request_of(form: Form, ask: Callable[[Form], dict[str, Any]], **settings: Any) -> ScreenRequest:
    """Return the request that ``ask`` makes of a form, or the problem of the form."""
    try:
        return ScreenRequest(form=form, **settings, **ask(form))
    except ParameterError as error:
        return ScreenRequest(form=form, task=None, problem=str(error), option=error.name, **settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """One screen: its name in addresses, its title, what it is for, and how a query is read."""

    name: str
    title: str
    lead: str
    read: Callable[[Mapping[str, str]], ScreenRequest]
    shorten: Callable[[Mapping[str, str]], dict[str, str]] = dict
    live: bool = True  # answers follow every change; otherwise there is a button
    button: str = "Show"
    layout: str = "question_screen.html"
