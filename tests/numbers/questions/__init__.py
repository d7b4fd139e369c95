"""All questions: a name, and a function without arguments whose result is the answer.

A name never changes and is never used again for another question. To add a question, add a line to one of these files
and run ``make numbers ARGS=--accept``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.numbers.questions import commands, engines, guarantees, mechanisms, repros, results, rules, threats

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["QUESTIONS"]

_FAMILIES = (mechanisms, guarantees, threats, rules, engines, repros, results, commands)
QUESTIONS: dict[str, Callable[[], Any]] = {name: one for family in _FAMILIES for name, one in family.QUESTIONS.items()}
if len(QUESTIONS) != sum(len(family.QUESTIONS) for family in _FAMILIES):
    message = "two questions have the same name"
    raise ValueError(message)
