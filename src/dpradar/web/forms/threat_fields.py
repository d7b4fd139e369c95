"""Fields that describe who attacks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...mechanisms.ldp.parameters import M
from ...spec.kinds import KINDS
from .fields import Field, Slider, choice, number_field, param_field, text_field
from .release_fields import sensitivity_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ATTACKERS", "attacker_field", "threat_fields", "without_stale_choices"]

_ATTACKER_LABELS = {
    "record": "wants one person's value",
    "table": "knows part of a record",
    "membership": "asks whether someone took part",
    "baseline": "any, who would guess right this often",
    "worst": "any attacker whatsoever",
}
ATTACKERS = tuple(_ATTACKER_LABELS)
_KNOWLEDGE_LABELS = {
    "nothing": "nothing about the person",
    "everything": "the value; asks if it was used",
    "labels": "which group the person is in",
    "columns": "some columns of the record",
}
_GOAL_LABELS = {
    "exact": "the exact value",
    "within": "a guess near the value",
    "labels": "which group the person is in",
    "columns": "some columns of the record",
}
_CHOICES = {
    "record": (("nothing", "everything", "labels"), ("exact", "within", "labels")),
    "table": (("nothing", "columns"), ("exact", "columns")),
}
_EXAMPLE_TABLE = "age,diagnosis\nyoung,flu\nyoung,none\nold,flu\nold,none"


def _attackers_for(kind: str) -> tuple[str, ...]:
    """Return the attackers that a question about this kind can have."""
    group = KINDS[kind].group
    excluded = {"local": ("membership",), "noise": ("table",), "other": ("table", "membership"), "guarantee": ()}[group]
    if kind == "dpsgd":
        excluded = ("table",)
    return tuple(attacker for attacker in _ATTACKER_LABELS if attacker not in excluded)


def attacker_field(kind: str, attackers: tuple[str, ...]) -> Field:
    """Return the list of attackers, as far as they are wanted."""
    options = tuple(
        (attacker, _ATTACKER_LABELS[attacker]) for attacker in _attackers_for(kind) if attacker in attackers
    )
    default = KINDS[kind].first.get("who", "record")
    return choice("who", "Attacker", options, default, redraws=True)


def without_stale_choices(texts: Mapping[str, str], attacker: str) -> dict[str, str]:
    """Return the texts without what was chosen for another attacker; what nobody offers stays, and is refused."""
    knowledge_kinds, goal_kinds = _CHOICES["table" if attacker == "table" else "record"]
    stale = {
        name
        for name, offered, every in (
            ("knowledge", knowledge_kinds, _KNOWLEDGE_LABELS),
            ("goal", goal_kinds, _GOAL_LABELS),
        )
        if texts.get(name) in every and texts[name] not in offered
    }
    return {name: text for name, text in texts.items() if name not in stale}


def threat_fields(kind: str, attacker: str, texts: Mapping[str, str]) -> list[Field]:
    """Return the fields of an attacker; which there are depends on what is chosen in some of them."""
    if attacker == "record":
        return [*_prior_fields(kind), *_knowledge_and_goal_fields(kind, texts, *_CHOICES[attacker])]
    if attacker == "table":
        return [*_table_fields(), *_knowledge_and_goal_fields(kind, texts, *_CHOICES[attacker])]
    sensitivity = sensitivity_fields(kind)
    return [_probability_field(attacker), *sensitivity] if attacker in ("baseline", "membership") else sensitivity


def _probability_field(attacker: str) -> Field:
    slider = Slider(low=0.01, high=0.99, log=False, at_low="rarely", at_high="often")
    if attacker == "baseline":
        help_text = "How often the best guess is right without the release."
        return number_field("baseline", "right without the release (baseline)", help_text, "0.1", slider)
    help_text = "How likely it was beforehand that the person took part."
    return number_field("membership", "took part, beforehand (prior)", help_text, "0.5", slider)


def _prior_fields(kind: str) -> list[Field]:
    fields = []
    kind_description = KINDS[kind]
    example = kind_description.first
    numeric = "values" in example
    if not kind_description.counts_values and not numeric:
        fields.append(param_field(M, example.get("m", "10"), label="number of values (m)", ends=("", "")))
    help_text = "LOW:HIGH, LOW:HIGH:STEP or a list." if numeric else "What the values are, where they are numbers."
    values_field = text_field("values", "possible values", help_text, example.get("values", ""), placeholder="0:100")
    fields.append(replace(values_field, more=not numeric))
    help_text = "Equally likely unless you say: 0.5, 0.3, 0.2" + ("; continuous:beta:2,5." if numeric else ".")
    fields.append(text_field("prior", "how likely each value is (prior)", help_text, placeholder="uniform"))
    return fields


def _table_fields() -> list[Field]:
    return [
        text_field(
            "records", "records", "A table with a header; every row is one possible record.", _EXAMPLE_TABLE, long=True
        ),
        text_field("weights", "column with weights", "Rows count alike unless a column says how often.", more=True),
    ]


def _knowledge_and_goal_fields(
    kind: str, texts: Mapping[str, str], knowledge_kinds: tuple[str, ...], goal_kinds: tuple[str, ...]
) -> list[Field]:
    default_goal, _, default_distance = KINDS[kind].first.get("goal", "exact").partition(":")
    default_knowledge = "columns" if "columns" in knowledge_kinds else "nothing"
    first_goal = "columns" if "columns" in goal_kinds else default_goal
    knowledge = choice(
        "knowledge",
        "Already knows",
        tuple((name, _KNOWLEDGE_LABELS[name]) for name in knowledge_kinds),
        default_knowledge,
        redraws=True,
    )
    goal = choice("goal", "Wants", tuple((name, _GOAL_LABELS[name]) for name in goal_kinds), first_goal, redraws=True)
    fields = [knowledge]
    if texts.get("knowledge", default_knowledge) in ("labels", "columns"):
        fields.append(_detail_field("known", texts.get("knowledge", default_knowledge), "age"))
    fields.append(goal)
    chosen_goal = texts.get("goal", first_goal)
    if chosen_goal == "within":
        fields.append(number_field("within", "how near", "Right when off by no more.", default_distance or "1"))
    if chosen_goal in ("labels", "columns"):
        fields.append(_detail_field("sought", chosen_goal, "diagnosis"))
    return fields


def _detail_field(name: str, what: str, example: str) -> Field:
    if what == "columns":
        return text_field(name, "which columns", "Names from the header.", example)
    return text_field(name, "group of each value", "One name for each value: a, a, b.", placeholder="a, a, b")
