"""Who attacks, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..results.description import Description

__all__ = ["Attacker", "attacker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacker:
    """An attacker in words: a short title, what it believes and knows beforehand, and what counts as success."""

    title: str
    believes: str
    knows: str
    wants: str
    kind: str = "record"
    knows_value: bool = False  # the question is then whether it was used


def _joined(names: Sequence[Any]) -> str:
    """Return names as in a sentence."""
    texts = [str(name) for name in names]
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _believes(prior: dict[str, Any]) -> str:
    if prior["kind"] == "continuous":
        return f"Known beforehand: how likely each number in [{prior['low']:g}, {prior['high']:g}] is"
    return f"Known beforehand: how likely each of {prior['size']} possible values is"


def _knows(knowledge: dict[str, Any]) -> str:
    if knowledge["kind"] == "labels":
        return f"knows in which of {knowledge['groups']} groups the target is"
    if knowledge["kind"] == "columns":
        return f"knows the target's {_joined(knowledge['columns'])}"
    return (
        "knows the target's record"
        if knowledge["kind"] == "everything"
        else "knows nothing particular about the target"
    )


def _wants(goal: dict[str, Any], *, knows_value: bool) -> str:
    if goal["kind"] == "within":
        short = f"{goal['eta']:g}"
        eta = short if float(short) == goal["eta"] else repr(goal["eta"])
        measure = "" if goal["loss"] == "absolute" else " by a measure of distance of its own"
        return f"is right when its guess is within {eta}{measure}"
    if goal["kind"] == "labels":
        return f"wants to know in which of {goal['classes']} classes the target is"
    if goal["kind"] == "columns":
        return f"wants the target's {_joined(goal['columns'])}"
    return "wants to find out whether it was used" if knows_value else "wants the exact value"


_LEVELS = {
    "membership": Attacker(
        kind="membership",
        title="Is the target in the data at all?",
        believes="Believed beforehand: that the target took part, with probability {level}",
        knows="knows the target's record",
        wants="wants to find out whether it is among the data",
    ),
    "baseline": Attacker(
        kind="baseline",
        title="Any attacker whose blind guess is right with probability {level}",
        believes="Believed beforehand: anything that makes the best blind guess right with probability {level}",
        knows="may know anything else",
        wants="may want anything",
    ),
    "worst": Attacker(
        kind="worst",
        title="Any attacker",
        believes="Believed beforehand: anything",
        knows="may know anything",
        wants="may want anything",
    ),
}


def attacker(threat: Description) -> Attacker:
    """Return the attacker that a description stands for; one of schema 1 is shown as its text.

    Examples
    --------
    >>> import dpradar as dr
    >>> attacker(dr.Threat(dr.Prior.uniform(10)).description).title
    'An attacker who knows nothing particular about the target and wants the exact value'
    >>> attacker(dr.Threat.worst().description).title
    'Any attacker'
    """
    if threat.kind in _LEVELS:
        template = _LEVELS[threat.kind]
        level = "" if threat.kind == "worst" else f"{threat.options['level']:g}"
        texts = (template.title, template.believes, template.knows, template.wants)
        title, believes, knows, wants = (text.replace("{level}", level) for text in texts)
        return Attacker(kind=template.kind, title=title, believes=believes, knows=knows, wants=wants)
    if threat.kind != "record":
        return Attacker(kind="other", title=threat.text, believes="", knows="", wants="")
    options = threat.options
    knows_value = options["knowledge"]["kind"] == "everything"
    knows = _knows(options["knowledge"])
    wants = _wants(options["goal"], knows_value=knows_value)
    title = f"An attacker who {knows} and {wants}"
    believes = _believes(options["prior"])
    return Attacker(title=title, believes=believes, knows=knows, wants=wants, knows_value=knows_value)
