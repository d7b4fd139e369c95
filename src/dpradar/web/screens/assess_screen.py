"""Assess: from parameters to what someone could learn about one person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ParameterError
from ..copy_as import assess_copies
from ..forms.form import Form, question_of, question_sections
from .screen_request import Screen, ScreenRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ASSESS", "read"]


def read(query: Mapping[str, str]) -> ScreenRequest:
    """Return the request of a query."""
    sections, texts, _ = question_sections(query)
    form = Form(tuple(sections), texts)
    hidden_fields = (("was", form.texts.get("kind", "grr")),)
    try:
        question = question_of(form.options())
    except ParameterError as error:
        return ScreenRequest(form=form, task=None, hidden_fields=hidden_fields, problem=str(error), option=error.name)
    data = {"question": question}
    return ScreenRequest(
        form=form, task="assess", data=data, hidden_fields=hidden_fields, copies=lambda _: assess_copies(question)
    )


ASSESS = Screen(
    name="assess",
    title="Assess",
    lead="You know what is released. What could someone learn about one person?",
    read=read,
)
