"""Assess: from parameters to what someone could learn about one person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ParameterError
from ..copies import assess_copies
from ..forms.form import Form, question_of, question_sections
from .asked import Asked, Screen

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ASSESS", "read"]


def read(query: Mapping[str, str]) -> Asked:
    """Return what the query asks."""
    sections, texts, _ = question_sections(query)
    form = Form(tuple(sections), texts)
    was = (("was", form.texts.get("kind", "grr")),)
    try:
        question = question_of(form.options())
    except ParameterError as error:
        return Asked(form=form, task=None, was=was, problem=str(error), option=error.name)
    data = {"question": question}
    return Asked(form=form, task="assess", data=data, was=was, copies=lambda _: assess_copies(question))


ASSESS = Screen(
    name="assess",
    title="Assess",
    lead="You know what is released. What could someone learn about one person?",
    read=read,
)
