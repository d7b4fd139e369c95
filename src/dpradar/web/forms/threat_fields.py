"""Fields that describe the attacker."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...mechanisms.ldp.parameters import M
from ...spec.kinds import KINDS
from .fields import Field, Slider, choice, number_field, param_field, text_field
from .release_fields import sensitivity_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "ATTACKERS",
    "ATTACKER_LABELS",
    "GOAL_LABELS",
    "KNOWLEDGE_LABELS",
    "attacker_field",
    "distance_field",
    "labelled",
    "probability_field",
    "threat_fields",
    "without_stale_choices",
]

ATTACKER_LABELS = {
    "record": "wants one person's value",
    "table": "knows part of a record",
    "membership": "asks whether someone took part",
    "baseline": "any attacker with this baseline",
    "worst": "any attacker",
}
ATTACKERS = tuple(ATTACKER_LABELS)
KNOWLEDGE_LABELS = {
    "nothing": "nothing about the person",
    "everything": "the value; asks if it was used",
    "labels": "which group the person is in",
    "columns": "some columns of the record",
}
GOAL_LABELS = {
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


def labelled(names: Iterable[str], labels: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return choices: each name with its label."""
    return tuple((name, labels[name]) for name in names)


def _attackers_for(kind: str) -> tuple[str, ...]:
    """Return the attackers that a question about this kind can have."""
    group = KINDS[kind].group
    excluded = {"local": ("membership",), "noise": ("table",), "other": ("table", "membership"), "guarantee": ()}[group]
    if kind == "dpsgd":
        excluded = ("table",)
    return tuple(attacker for attacker in ATTACKER_LABELS if attacker not in excluded)


def attacker_field(kind: str, attackers: tuple[str, ...]) -> Field:
    """Return the list of those attackers that a question about this kind can have."""
    options = labelled([name for name in _attackers_for(kind) if name in attackers], ATTACKER_LABELS)
    default = KINDS[kind].first.get("who", "record")
    return choice("who", "Attacker", options, default, redraws=True)


def without_stale_choices(texts: Mapping[str, str], attacker: str) -> dict[str, str]:
    """Return the texts without choices of another attacker; unknown choices stay, and are refused later."""
    knowledge_kinds, goal_kinds = _CHOICES["table" if attacker == "table" else "record"]
    stale = {
        name
        for name, offered, every in (
            ("knowledge", knowledge_kinds, KNOWLEDGE_LABELS),
            ("goal", goal_kinds, GOAL_LABELS),
        )
        if texts.get(name) in every and texts[name] not in offered
    }
    return {name: text for name, text in texts.items() if name not in stale}


def threat_fields(kind: str, attacker: str, texts: Mapping[str, str]) -> list[Field]:
    """Return the fields of an attacker, which depend on the choices in some of them."""
    if attacker == "record":
        return [*_prior_fields(kind), *_knowledge_and_goal_fields(kind, texts, *_CHOICES[attacker])]
    if attacker == "table":
        return [*_table_fields(), *_knowledge_and_goal_fields(kind, texts, *_CHOICES[attacker])]
    sensitivity = sensitivity_fields(kind)
    return [probability_field(attacker), *sensitivity] if attacker in ("baseline", "membership") else sensitivity


def distance_field(default: str) -> Field:
    """Return how far a guess may be off."""
    return number_field("within", "how near", "A guess is right if it is off by at most this much.", default)


def probability_field(attacker: str) -> Field:
    """Return the probability that describes an attacker without a prior."""
    slider = Slider(low=0.01, high=0.99, log=False, at_low="rarely", at_high="often")
    if attacker == "baseline":
        help_text = "How often the best guess is right without the release."
        return number_field("baseline", "right without the release (baseline)", help_text, "0.1", slider)
    help_text = "Probability, before the release, that the person took part."
    return number_field("membership", "took part, beforehand (prior)", help_text, "0.5", slider)


def _prior_fields(kind: str) -> list[Field]:
    fields = []
    kind_description = KINDS[kind]
    example = kind_description.first
    numeric = "values" in example
    if not kind_description.counts_values and not numeric:
        fields.append(param_field(M, example.get("m", "10"), label="number of values (m)", ends=("", "")))
    help_text = "LOW:HIGH, LOW:HIGH:STEP or a list." if numeric else "The values, if they are numbers."
    values_field = text_field("values", "possible values", help_text, example.get("values", ""), placeholder="0:100")
    fields.append(replace(values_field, folded=not numeric))
    help_text = "Equally likely if empty, or a list: 0.5, 0.3, 0.2" + ("; continuous:beta:2,5." if numeric else ".")
    fields.append(text_field("prior", "how likely each value is (prior)", help_text, placeholder="uniform"))
    return fields


def _table_fields() -> list[Field]:
    return [
        text_field(
            "records", "records", "A table with a header; every row is one possible record.", _EXAMPLE_TABLE, long=True
        ),
        text_field(
            "weights",
            "column with weights",
            "The column with the weight of each row; equal weights if empty.",
            folded=True,
        ),
    ]


def _knowledge_and_goal_fields(
    kind: str, texts: Mapping[str, str], knowledge_kinds: tuple[str, ...], goal_kinds: tuple[str, ...]
) -> list[Field]:
    default_goal, _, default_distance = KINDS[kind].first.get("goal", "exact").partition(":")
    default_knowledge = "columns" if "columns" in knowledge_kinds else "nothing"
    first_goal = "columns" if "columns" in goal_kinds else default_goal
    knowledge_choices, goal_choices = labelled(knowledge_kinds, KNOWLEDGE_LABELS), labelled(goal_kinds, GOAL_LABELS)
    knowledge = choice("knowledge", "Already knows", knowledge_choices, default_knowledge, redraws=True)
    goal = choice("goal", "Wants", goal_choices, first_goal, redraws=True)
    fields = [knowledge]
    if texts.get("knowledge", default_knowledge) in ("labels", "columns"):
        fields.append(_detail_field("known", texts.get("knowledge", default_knowledge), "age"))
    fields.append(goal)
    chosen_goal = texts.get("goal", first_goal)
    if chosen_goal == "within":
        fields.append(distance_field(default_distance or "1"))
    if chosen_goal in ("labels", "columns"):
        fields.append(_detail_field("sought", chosen_goal, "diagnosis"))
    return fields


def _detail_field(name: str, choice_name: str, example: str) -> Field:
    if choice_name == "columns":
        return text_field(name, "which columns", "Names from the header.", example)
    return text_field(name, "group of each value", "One name for each value: a, a, b.", placeholder="a, a, b")
