"""Assess: from parameters to what someone could learn about one person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..copy_as import assess_copies
from ..forms.form import Form, question_of, question_sections
from .screen_request import Screen, ScreenRequest, request_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ASSESS", "read"]


def read(query: Mapping[str, str]) -> ScreenRequest:
    """Return the request of a query."""
    form = Form(*question_sections(query))
    return request_of(form, _ask, hidden_fields=(("was", form.texts.get("kind", "grr")),))


def _ask(form: Form) -> dict[str, Any]:
    question = question_of(form.values())
    return {"task": "assess", "data": {"question": question}, "copies": lambda _: assess_copies(question)}


ASSESS = Screen(
    name="assess",
    title="Assess",
    lead="You know what is released. What could someone learn about one person?",
    read=read,
)
