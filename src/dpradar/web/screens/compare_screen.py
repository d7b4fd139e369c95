"""Compare: up to four releases under one threat, side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from ...errors import ParameterError
from ...options import Group
from ...params import shown
from ...spec.question import TIMES
from ...spec.release_kinds import KINDS
from ...spec.threat_options import OPTIONS, SIZE, VALUES, values_from_zero
from ...threats.attackers import ATTACKERS, RECORD
from ..copy_as import compare_copies, comparison_spec
from ..forms.fields import Field, choice, option_field
from ..forms.form import Form, FormSection, question_of, texts_for_kind
from ..forms.question_fields import (
    ALTERNATIVES,
    OFFERED_KINDS,
    kind_field,
    own_fields,
    release_fields,
    threat_fields,
)
from .screen_request import Screen, ScreenRequest, request_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...threats.attackers import AttackerKind

__all__ = ["COMPARE", "read"]

_DEFAULT_KINDS = ("grr", "oue", "ss", "olh")
_COUNT_CHOICES = (("2", "two"), ("3", "three"), ("4", "four"))
_ATTACKERS = {name: one for name, one in ATTACKERS.items() if set(one.groups) == set(get_args(Group))}
# What says something of each value has no place beside values that several releases share.
_OF_VALUES = {
    option.name
    for kind in OFFERED_KINDS
    for option in KINDS[kind].options
    if option.about.counts_values or option.about.private
}
_COMPARED_KINDS = tuple(
    name
    for name in OFFERED_KINDS
    if not any(option.required and option.about.private for option in KINDS[name].options)
)


def _release_column(
    number: int, attacker: AttackerKind, query: Mapping[str, str]
) -> tuple[FormSection, dict[str, str], tuple[str, str]]:
    """Return one column: its fields, the texts in them, and for which kind they are."""
    prefix = f"{number}."
    texts = {name.removeprefix(prefix): text for name, text in query.items() if name.startswith(prefix)}
    default = _DEFAULT_KINDS[number - 1]
    name = texts.get("kind", default)
    if name not in _COMPARED_KINDS:
        raise ParameterError(f"{prefix}kind", f"one of {', '.join(_COMPARED_KINDS)}", shown(name))
    kind = KINDS[name]
    fields = [field for field in release_fields(kind, attacker) if field.name not in _OF_VALUES]
    fields = [kind_field(_COMPARED_KINDS, default), *fields, *own_fields(kind, attacker)]
    texts = texts_for_kind(texts, [field.name for field in fields])
    section = FormSection(f"Release {number}", tuple(replace(field, name=f"{prefix}{field.name}") for field in fields))
    return section, {f"{prefix}{name}": text for name, text in texts.items()}, (f"{prefix}was", name)


def _shared_fields(attacker: AttackerKind, texts: Mapping[str, str]) -> list[Field]:
    choices = tuple((name, one.label) for name, one in _ATTACKERS.items())
    options = [option for option in OPTIONS.values() if option not in (SIZE, VALUES)]
    return [
        choice("who", "Attacker", choices, RECORD.name, redraws=True),
        option_field(SIZE, "100"),
        *threat_fields(options, attacker, attacker.first, texts),
        choice("columns", "How many releases", _COUNT_CHOICES, "3", redraws=True),
    ]


def _comparison_data(form: Form, count: int) -> dict[str, Any]:
    """Return the releases and the threat they share."""
    values = form.values()
    shared = {name: value for name, value in values.items() if "." not in name and name != "columns"}
    threat = question_of(shared)
    size = threat.pop(SIZE.name, None)
    releases: list[dict[str, Any]] = []
    for number in range(1, count + 1):
        options = {name.partition(".")[2]: value for name, value in values.items() if name.startswith(f"{number}.")}
        kind, times = options.pop("kind"), options.pop(TIMES.name, TIMES.default)
        if KINDS[kind].counts_values:
            options[SIZE.name] = size
        name = _release_name(kind, options)
        same_name = sum(release["name"].startswith(name) for release in releases)
        name = f"{name} ({same_name + 1})" if same_name else name
        releases.append({"kind": kind, "options": options, TIMES.name: times, "name": name})
    if shared["who"] == RECORD.name and size:
        near = any(shape.takes_number(shared[name]) for name, shape in ALTERNATIVES.items())
        numeric = near or any(KINDS[release["kind"]].is_about_numbers for release in releases)
        threat |= values_from_zero(size) if numeric else {SIZE.name: size}
    return {"releases": releases, "threat": threat, "title": "Comparison"}


def _release_name(kind: str, options: dict[str, Any]) -> str:
    """Return the name of a column: its kind and its noise parameter."""
    noise = KINDS[kind].noise
    value = "" if noise is None or noise.name not in options else f", {noise.name} {options[noise.name]:g}"
    return f"{KINDS[kind].help.rstrip('.')}{value}"


def read(query: Mapping[str, str]) -> ScreenRequest:
    """Return the request of a query."""
    texts = {name: text for name, text in query.items() if "." not in name}
    count = int(query["columns"]) if query.get("columns") in dict(_COUNT_CHOICES) else 3
    texts["columns"] = str(count)
    attacker = _ATTACKERS.get(texts.get("who", ""), RECORD)
    columns = [_release_column(number, attacker, query) for number in range(1, count + 1)]
    for _, column_texts, _ in columns:
        texts |= column_texts
    shared = FormSection("Who attacks", tuple(_shared_fields(attacker, texts)))
    form = Form((*(section for section, _, _ in columns), shared), texts)

    def ask(form: Form) -> dict[str, Any]:
        data = _comparison_data(form, count)
        return {"task": "compare", "data": data, "copies": lambda _: compare_copies(comparison_spec(data))}

    return request_of(form, ask, hidden_fields=tuple(was for _, _, was in columns))


COMPARE = Screen(
    name="compare",
    title="Compare",
    lead="Compare several releases of the same data. How much does each reveal about one person?",
    read=read,
    layout="compare_screen.html",
)
