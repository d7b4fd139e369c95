"""Fields that describe who attacks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...mechanisms.ldp.parameters import M
from ...spec.kinds import KINDS
from .fields import Field, Slider, choice, number_field, param_field, text_field
from .releases import sensitivity_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ATTACKERS", "fitting", "threat_fields", "who_field"]

_WHO = {
    "record": "wants one person's value",
    "table": "knows part of a record",
    "membership": "asks whether someone took part",
    "baseline": "any, who would guess right this often",
    "worst": "any attacker whatsoever",
}
ATTACKERS = tuple(_WHO)
_KNOWS = {
    "nothing": "nothing about the person",
    "everything": "the value; asks if it was used",
    "labels": "which group the person is in",
    "columns": "some columns of the record",
}
_WANTS = {
    "exact": "the exact value",
    "within": "a guess near the value",
    "labels": "which group the person is in",
    "columns": "some columns of the record",
}
_CHOICES = {
    "record": (("nothing", "everything", "labels"), ("exact", "within", "labels")),
    "table": (("nothing", "columns"), ("exact", "columns")),
}
_TABLE = "age,diagnosis\nyoung,flu\nyoung,none\nold,flu\nold,none"


def _offered(kind: str) -> tuple[str, ...]:
    """Return the attackers that a question about this kind can have."""
    sort = KINDS[kind].group
    left_out = {"local": ("membership",), "noise": ("table",), "other": ("table", "membership"), "guarantee": ()}[sort]
    if kind == "dpsgd":
        left_out = ("table",)
    return tuple(who for who in _WHO if who not in left_out)


def who_field(kind: str, attackers: tuple[str, ...]) -> Field:
    """Return the list of attackers, as far as they are wanted."""
    options = tuple((who, _WHO[who]) for who in _offered(kind) if who in attackers)
    first = KINDS[kind].first.get("who", "record")
    return choice("who", "Attacker", options, first, redraws=True)


def fitting(texts: Mapping[str, str], who: str) -> dict[str, str]:
    """Return the texts without what was chosen for another attacker; what nobody offers stays, and is refused."""
    knows, wants = _CHOICES["table" if who == "table" else "record"]
    stale = {
        name
        for name, offered, every in (("knowledge", knows, _KNOWS), ("goal", wants, _WANTS))
        if texts.get(name) in every and texts[name] not in offered
    }
    return {name: text for name, text in texts.items() if name not in stale}


def threat_fields(kind: str, who: str, given: Mapping[str, str]) -> list[Field]:
    """Return the fields of an attacker; which there are depends on what is chosen in some of them."""
    if who == "record":
        return [*_believed(kind), *_sought(kind, given, *_CHOICES[who])]
    if who == "table":
        return [*_records(), *_sought(kind, given, *_CHOICES[who])]
    sensitivity = sensitivity_fields(kind)
    return [_level(who), *sensitivity] if who in ("baseline", "membership") else sensitivity


def _level(who: str) -> Field:
    slider = Slider(low=0.01, high=0.99, log=False, at_low="rarely", at_high="often")
    if who == "baseline":
        told = "How often the best guess is right without the release."
        return number_field("baseline", "right without the release (baseline)", told, "0.1", slider)
    told = "How likely it was beforehand that the person took part."
    return number_field("membership", "took part, beforehand (prior)", told, "0.5", slider)


def _believed(kind: str) -> list[Field]:
    fields = []
    known = KINDS[kind]
    example = known.first
    numeric = "values" in example
    if not known.counts_values and not numeric:
        fields.append(param_field(M, example.get("m", "10"), label="number of values (m)", ends=("", "")))
    told = "LOW:HIGH, LOW:HIGH:STEP or a list." if numeric else "What the values are, where they are numbers."
    box = text_field("values", "possible values", told, example.get("values", ""), placeholder="0:100")
    fields.append(replace(box, more=not numeric))
    told = "Equally likely unless you say: 0.5, 0.3, 0.2" + ("; continuous:beta:2,5." if numeric else ".")
    fields.append(text_field("prior", "how likely each value is (prior)", told, placeholder="uniform"))
    return fields


def _records() -> list[Field]:
    return [
        text_field("records", "records", "A table with a header; every row is one possible record.", _TABLE, long=True),
        text_field("weights", "column with weights", "Rows count alike unless a column says how often.", more=True),
    ]


def _sought(kind: str, given: Mapping[str, str], knows: tuple[str, ...], wants: tuple[str, ...]) -> list[Field]:
    usual, _, near = KINDS[kind].first.get("goal", "exact").partition(":")
    first = "columns" if "columns" in knows else "nothing"
    aim = "columns" if "columns" in wants else usual
    knowledge = choice("knowledge", "Already knows", tuple((n, _KNOWS[n]) for n in knows), first, redraws=True)
    goal = choice("goal", "Wants", tuple((n, _WANTS[n]) for n in wants), aim, redraws=True)
    fields = [knowledge]
    if given.get("knowledge", first) in ("labels", "columns"):
        fields.append(_names("known", given.get("knowledge", first), "age"))
    fields.append(goal)
    chosen = given.get("goal", aim)
    if chosen == "within":
        fields.append(number_field("within", "how near", "Right when off by no more.", near or "1"))
    if chosen in ("labels", "columns"):
        fields.append(_names("sought", chosen, "diagnosis"))
    return fields


def _names(name: str, what: str, example: str) -> Field:
    if what == "columns":
        return text_field(name, "which columns", "Names from the header.", example)
    return text_field(name, "group of each value", "One name for each value: a, a, b.", placeholder="a, a, b")
