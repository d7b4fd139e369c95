"""Compare: up to four releases under one threat, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import ParameterError
from ...mechanisms.ldp.parameters import M
from ...params import shown
from ...spec.kinds import KINDS
from ..copies import compare_copies, compared_spec
from ..forms.fields import Field, Slider, choice, number_field, param_field, text_field
from ..forms.form import Form, Section, given_texts, question_of
from ..forms.releases import OFFERED, kind_field, release_fields, sensitivity_fields
from .asked import Asked, Screen

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["COMPARE", "read"]

_FIRST = ("grr", "oue", "ss", "olh")
_COUNTS = (("2", "two"), ("3", "three"), ("4", "four"))
_WHO = (
    ("record", "wants one person's value"),
    ("baseline", "any, who would guess right this often"),
    ("worst", "any attacker whatsoever"),
)
_LEFT_OUT = ("values", "matrix", "utility", "query")
# Kinds whose inputs are counted by a field of their own cannot share the values of the threat.
_KINDS = tuple(name for name in OFFERED if "matrix" not in KINDS[name].names)


def _column(number: int, query: Mapping[str, str]) -> tuple[Section, dict[str, str], tuple[str, str]]:
    """Return one column: its fields, the texts in them, and for which kind they are."""
    prefix = f"{number}."
    own = {name.removeprefix(prefix): text for name, text in query.items() if name.startswith(prefix)}
    default = _FIRST[number - 1]
    kind = own.get("kind", default)
    if kind not in _KINDS:
        raise ParameterError(f"{prefix}kind", f"one of {', '.join(_KINDS)}", shown(kind))
    fields = [field for field in release_fields(kind, size=False) if field.option not in _LEFT_OUT]
    if query.get("who", "record") != "record" and (stated := sensitivity_fields(kind)):
        fields = [*(field for field in fields if field.name != "neighbours"), *stated]
        own = {name: text for name, text in own.items() if text or name != "neighbours"}
    texts = given_texts(own, {"kind": 1, **{field.name: 1 for field in fields}})
    picked = (kind_field(_KINDS, default), *fields)
    section = Section(f"Release {number}", tuple(field.prefixed(prefix) for field in picked))
    return section, {f"{prefix}{name}": text for name, text in texts.items()}, (f"{prefix}was", kind)


def _threat_fields(texts: Mapping[str, str]) -> list[Field]:
    who = choice("who", "Attacker", _WHO, "record", redraws=True)
    chosen = texts.get("who", "record")
    if chosen == "baseline":
        slider = Slider(low=0.01, high=0.99, log=False, at_low="rarely", at_high="often")
        told = "How often the best guess is right without the release."
        return [who, _size(), number_field("baseline", "right without the release (baseline)", told, "0.1", slider)]
    if chosen != "record":
        return [who, _size()]
    knows = (("nothing", "nothing about the person"), ("everything", "the value; asks if it was used"))
    wants = (("exact", "the exact value"), ("within", "a guess near the value"))
    fields = [
        who,
        _size(),
        text_field(
            "prior", "how likely each value is (prior)", "Equally likely unless you say.", placeholder="uniform"
        ),
        choice("knowledge", "Already knows", knows, "nothing"),
        choice("goal", "Wants", wants, "exact", redraws=True),
    ]
    if texts.get("goal") == "within":
        fields.append(number_field("within", "how near", "Right when off by no more.", "1"))
    return fields


def _size() -> Field:
    return param_field(M, "100", label="number of values (m)", ends=("", ""))


def _data(form: Form, count: int) -> dict[str, Any]:
    """Return the releases and the threat they share."""
    said = {field.name: value for field in form.fields if (value := _said(form, field)) is not None}
    shared = {name: value for name, value in said.items() if "." not in name and name != "columns"}
    threat = question_of(shared)
    size = threat.pop("m", None)
    releases: list[dict[str, Any]] = []
    for number in range(1, count + 1):
        own = {name.partition(".")[2]: value for name, value in said.items() if name.startswith(f"{number}.")}
        kind, times = own.pop("kind"), own.pop("times", 1)
        own |= {"nonnegative": True} if "nonnegative" in own else {}
        if KINDS[kind].group == "local":
            own["m"] = size
        name = _name(kind, own)
        taken = sum(one["name"].startswith(name) for one in releases)
        name = f"{name} ({taken + 1})" if taken else name
        releases.append({"kind": kind, "options": own, "times": times, "name": name})
    numeric = any(KINDS[one["kind"]].group == "noise" or one["kind"] == "exponential" for one in releases)
    if shared.get("who") == "record":
        threat |= {"values": f"0:{size - 1}"} if (numeric or shared.get("goal") == "within") and size else {"m": size}
    return {"releases": releases, "threat": threat, "title": "Comparison"}


def _said(form: Form, field: Field) -> Any:
    found = Form((Section("", (field,)),), form.texts).options()
    return found.get(field.option)


def _name(kind: str, options: dict[str, Any]) -> str:
    """Return what a column is called: its kind and how much noise it makes."""
    noise = KINDS[kind].noise
    value = "" if noise is None or noise.name not in options else f", {noise.name} {options[noise.name]:g}"
    return f"{KINDS[kind].help.rstrip('.')}{value}"


def read(query: Mapping[str, str]) -> Asked:
    """Return what the query asks."""
    texts = {name: text for name, text in query.items() if "." not in name}
    count = int(query["columns"]) if query.get("columns") in ("2", "3", "4") else 3
    texts["columns"] = str(count)
    sections, was = [], []
    for number in range(1, count + 1):
        section, own, kind = _column(number, query)
        sections.append(section)
        texts |= own
        was.append(kind)
    columns = choice("columns", "How many releases", _COUNTS, "3", redraws=True)
    shared = Section("Who attacks", (*_threat_fields(texts), columns))
    form = Form((*sections, shared), texts)
    try:
        data = _data(form, count)
    except ParameterError as error:
        return Asked(form=form, task=None, was=tuple(was), problem=str(error), option=error.name)
    spec = compared_spec(data)
    return Asked(form=form, task="compare", data=data, was=tuple(was), copies=lambda _: compare_copies(spec))


COMPARE = Screen(
    name="compare",
    title="Compare",
    lead="Several ways to release the same. Which gives away how much about one person?",
    read=read,
    layout="comparing.html",
)
