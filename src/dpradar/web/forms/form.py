"""The form of a screen: fields with their texts, read from an address and written to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ...errors import ParameterError
from ...options import reading
from ...params import shown
from ...spec.kinds import KINDS, kind_of
from ...spec.question import threat_of
from .pasted_tables import columns_of, rows_of
from .release_fields import OFFERED_KINDS, kind_field, release_fields
from .threat_fields import ATTACKERS, attacker_field, threat_fields, without_stale_choices

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ...options.reading import Where
    from ...params import Param
    from .fields import Field

__all__ = ["MOST_VALUES", "PLACE", "Form", "FormSection", "question_of", "question_sections", "texts_for_kind"]

MOST_VALUES = 100_000
PLACE: Where = reading.Where(lambda option: option, None, MOST_VALUES)
_ROW_OPTIONS = ("matrix", "utility")
_FORM_ONLY_FIELDS = ("who", "known", "within", "sought")


@dataclass(frozen=True, slots=True)
class FormSection:
    """Fields under one heading."""

    title: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """Fields in order, and the text in each."""

    sections: tuple[FormSection, ...]
    texts: Mapping[str, str]

    @property
    def fields(self) -> list[Field]:
        """Every field."""
        return [field for section in self.sections for field in section.fields]

    def text(self, field: Field) -> str:
        """Return the text in a field."""
        return self.texts.get(field.name, field.default)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The whole state as pairs of a query; fields that are empty, and are so by default, are omitted."""
        return [(field.name, text) for field in self.fields if (text := self.text(field)) or field.default]

    @property
    def query(self) -> str:
        """The state as the part of an address after the question mark."""
        return urlencode(self.pairs)

    def options(self) -> dict[str, Any]:
        """Return the values of the fields that are not empty, numbers as numbers."""
        values = {}
        for field in self.fields:
            text = self.text(field).strip()
            if text:
                values[field.option] = _value(field, text)
        return values


def _value(field: Field, text: str) -> Any:
    if field.kind == "number":
        return reading.number(text, field.name)
    if field.kind == "whole":
        return reading.whole(text, field.name)
    if field.kind == "choice":
        allowed = [value for _, group in field.choices for value, _ in group]
        if text not in allowed:
            raise ParameterError(field.name, f"one of {', '.join(filter(None, allowed))}", shown(text))
    return text


def texts_for_kind(query: Mapping[str, str], kept_names: Collection[str]) -> dict[str, str]:
    """Return the texts of a query.

    A form that was rendered for another kind (``was``) submits fields of that kind: only those in ``kept_names`` are
    used, so that a new kind starts from its own example.
    """
    kind_changed = query.get("was") not in (None, query.get("kind"))
    return {name: text for name, text in query.items() if name != "was" and (not kind_changed or name in kept_names)}


def question_sections(
    query: Mapping[str, str],
    *,
    offered: tuple[str, ...] = OFFERED_KINDS,
    default: str = "grr",
    free: bool = False,
    attackers: tuple[str, ...] = ATTACKERS,
) -> tuple[list[FormSection], dict[str, str], Param | None]:
    """Return the fields of a release and a threat, the texts in them, and the parameter to calibrate."""
    kind_choice = kind_field(offered, default)
    kind = query.get("kind", default)
    if kind not in offered:
        got = shown(kind)
        raise ParameterError("kind", f"one of {', '.join(offered)}", got, "`dpradar list` describes them.")
    free_param = KINDS[kind].noise if free else None
    release = release_fields(kind, free=free_param)
    texts = texts_for_kind(query, ["kind", "who", *(field.name for field in release)])
    attacker_choice = attacker_field(kind, attackers)
    choices = [value for value, _ in attacker_choice.choices[0][1]]
    if texts.get("who", attacker_choice.default) not in choices:
        texts["who"] = attacker_choice.default
    attacker = texts.get("who", attacker_choice.default)
    if attacker == "table":  # the number of different records is the number of values
        release = [field for field in release if field.name != "m"]
    texts = without_stale_choices(texts, attacker)
    threat = threat_fields(kind, attacker, texts)
    if any(field.name == "neighbours" for field in threat):  # the relation of a sensitivity, which is required
        release = [field for field in release if field.name != "neighbours"]
        texts = {name: text for name, text in texts.items() if text or name != "neighbours"}
    release_names = {field.name for field in release}
    sections = [
        FormSection("What is released", (kind_choice, *release)),
        FormSection("Who attacks", (attacker_choice, *(field for field in threat if field.name not in release_names))),
    ]
    return sections, texts, free_param


def question_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the question that the values of the fields ask, in the form that commands and files use.

    Examples
    --------
    >>> question_of({"kind": "grr", "m": 3, "epsilon": 1.0, "who": "record", "knowledge": "labels", "known": "a, a, b"})
    {'kind': 'grr', 'm': 3, 'epsilon': 1.0, 'knowledge': 'labels:a, a, b'}
    >>> question_of({"kind": "dp", "epsilon": 1.0, "who": "worst"})
    {'kind': 'dp', 'epsilon': 1.0, 'worst': True}
    """
    question = {name: value for name, value in values.items() if name not in _FORM_ONLY_FIELDS}
    if "nonnegative" in question:
        question["nonnegative"] = True
    for name in _ROW_OPTIONS:
        if name in question:
            question[name] = rows_of(question[name], name)
    if "records" in question:
        question["records"] = columns_of(question["records"])
        if "m" in {param.name for param in kind_of(question, PLACE).params}:
            table: dict[str, Any] = {name: question[name] for name in ("records", "weights") if name in question}
            question["m"] = threat_of(table, PLACE).finite.size
    if values.get("who") == "worst":
        question["worst"] = True
    _append_detail(question, values, "knowledge", {"labels": "known", "columns": "known"})
    _append_detail(question, values, "goal", {"labels": "sought", "columns": "sought", "within": "within"})
    return question


def _append_detail(
    question: dict[str, Any], values: Mapping[str, Any], option: str, details: Mapping[str, str]
) -> None:
    """Append the detail of a choice to it, as in ``labels:a,a,b``; remove a choice that is the default."""
    choice = question.get(option)
    if choice in ("nothing", "exact"):
        del question[option]
    elif isinstance(choice, str) and choice in details:
        detail = values.get(details[choice])
        if detail is None:
            raise ParameterError(details[choice], "given", "nothing", f"{option} needs it.")
        if isinstance(detail, str) and detail.startswith(("@", "[", "{")):
            raise ParameterError(details[choice], "a list of names", shown(detail), "Such as: a, a, b.")
        question[option] = f"{choice}:{detail!r}" if isinstance(detail, float) else f"{choice}:{detail}"
