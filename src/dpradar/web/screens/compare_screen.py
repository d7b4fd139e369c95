"""Compare: up to four releases under one threat, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import ParameterError
from ...mechanisms.ldp.parameters import M
from ...params import shown
from ...spec.kinds import KINDS
from ..copy_as import compare_copies, comparison_spec
from ..forms.fields import Field, choice, param_field, text_field
from ..forms.form import Form, FormSection, question_of, texts_for_kind
from ..forms.release_fields import OFFERED_KINDS, kind_field, release_fields, sensitivity_fields
from ..forms.threat_fields import (
    ATTACKER_LABELS,
    GOAL_LABELS,
    KNOWLEDGE_LABELS,
    distance_field,
    labelled,
    probability_field,
)
from .screen_request import Screen, ScreenRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["COMPARE", "read"]

_DEFAULT_KINDS = ("grr", "oue", "ss", "olh")
_COUNT_CHOICES = (("2", "two"), ("3", "three"), ("4", "four"))
_ATTACKERS = ("record", "baseline", "worst")
_EXCLUDED_OPTIONS = ("values", "matrix", "utility", "query")
# Kinds whose inputs are counted by a field of their own cannot share the values of the threat.
_COMPARED_KINDS = tuple(name for name in OFFERED_KINDS if "matrix" not in KINDS[name].names)


def _release_column(number: int, query: Mapping[str, str]) -> tuple[FormSection, dict[str, str], tuple[str, str]]:
    """Return one column: its fields, the texts in them, and for which kind they are."""
    prefix = f"{number}."
    options = {name.removeprefix(prefix): text for name, text in query.items() if name.startswith(prefix)}
    default = _DEFAULT_KINDS[number - 1]
    kind = options.get("kind", default)
    if kind not in _COMPARED_KINDS:
        raise ParameterError(f"{prefix}kind", f"one of {', '.join(_COMPARED_KINDS)}", shown(kind))
    fields = [field for field in release_fields(kind, size=False) if field.option not in _EXCLUDED_OPTIONS]
    if query.get("who", "record") != "record" and (sensitivity := sensitivity_fields(kind)):
        fields = [*(field for field in fields if field.name != "neighbours"), *sensitivity]
        options = {name: text for name, text in options.items() if text or name != "neighbours"}
    texts = texts_for_kind(options, ["kind", *(field.name for field in fields)])
    all_fields = (kind_field(_COMPARED_KINDS, default), *fields)
    section = FormSection(f"Release {number}", tuple(field.prefixed(prefix) for field in all_fields))
    return section, {f"{prefix}{name}": text for name, text in texts.items()}, (f"{prefix}was", kind)


def _threat_fields(texts: Mapping[str, str]) -> list[Field]:
    attacker_choice = choice("who", "Attacker", labelled(_ATTACKERS, ATTACKER_LABELS), "record", redraws=True)
    attacker = texts.get("who", "record")
    if attacker == "baseline":
        return [attacker_choice, _size_field(), probability_field(attacker)]
    if attacker != "record":
        return [attacker_choice, _size_field()]
    knowledge_choices = labelled(("nothing", "everything"), KNOWLEDGE_LABELS)
    goal_choices = labelled(("exact", "within"), GOAL_LABELS)
    fields = [
        attacker_choice,
        _size_field(),
        text_field("prior", "how likely each value is (prior)", "Equally likely if empty.", placeholder="uniform"),
        choice("knowledge", "Already knows", knowledge_choices, "nothing"),
        choice("goal", "Wants", goal_choices, "exact", redraws=True),
    ]
    if texts.get("goal") == "within":
        fields.append(distance_field("1"))
    return fields


def _size_field() -> Field:
    return param_field(M, "100", label="number of values (m)", ends=("", ""))


def _comparison_data(form: Form, count: int) -> dict[str, Any]:
    """Return the releases and the threat they share."""
    values = {field.name: value for field in form.fields if (value := _field_value(form, field)) is not None}
    shared = {name: value for name, value in values.items() if "." not in name and name != "columns"}
    threat = question_of(shared)
    size = threat.pop("m", None)
    releases: list[dict[str, Any]] = []
    for number in range(1, count + 1):
        options = {name.partition(".")[2]: value for name, value in values.items() if name.startswith(f"{number}.")}
        kind, times = options.pop("kind"), options.pop("times", 1)
        options |= {"nonnegative": True} if "nonnegative" in options else {}
        if KINDS[kind].group == "local":
            options["m"] = size
        name = _release_name(kind, options)
        same_name = sum(release["name"].startswith(name) for release in releases)
        name = f"{name} ({same_name + 1})" if same_name else name
        releases.append({"kind": kind, "options": options, "times": times, "name": name})
    numeric = any(KINDS[release["kind"]].group == "noise" or release["kind"] == "exponential" for release in releases)
    if shared.get("who") == "record":
        threat |= {"values": f"0:{size - 1}"} if (numeric or shared.get("goal") == "within") and size else {"m": size}
    return {"releases": releases, "threat": threat, "title": "Comparison"}


def _field_value(form: Form, field: Field) -> Any:
    options = Form((FormSection("", (field,)),), form.texts).options()
    return options.get(field.option)


def _release_name(kind: str, options: dict[str, Any]) -> str:
    """Return the name of a column: its kind and its noise parameter."""
    noise = KINDS[kind].noise
    value = "" if noise is None or noise.name not in options else f", {noise.name} {options[noise.name]:g}"
    return f"{KINDS[kind].help.rstrip('.')}{value}"


def read(query: Mapping[str, str]) -> ScreenRequest:
    """Return the request of a query."""
    texts = {name: text for name, text in query.items() if "." not in name}
    count = int(query["columns"]) if query.get("columns") in ("2", "3", "4") else 3
    texts["columns"] = str(count)
    sections, hidden_fields = [], []
    for number in range(1, count + 1):
        section, options, kind = _release_column(number, query)
        sections.append(section)
        texts |= options
        hidden_fields.append(kind)
    columns = choice("columns", "How many releases", _COUNT_CHOICES, "3", redraws=True)
    shared = FormSection("Who attacks", (*_threat_fields(texts), columns))
    form = Form((*sections, shared), texts)
    try:
        data = _comparison_data(form, count)
    except ParameterError as error:
        return ScreenRequest(
            form=form, task=None, hidden_fields=tuple(hidden_fields), problem=str(error), option=error.name
        )
    spec = comparison_spec(data)
    return ScreenRequest(
        form=form, task="compare", data=data, hidden_fields=tuple(hidden_fields), copies=lambda _: compare_copies(spec)
    )


COMPARE = Screen(
    name="compare",
    title="Compare",
    lead="Compare several releases of the same data. How much does each reveal about one person?",
    read=read,
    layout="compare_screen.html",
)
