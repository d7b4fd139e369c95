"""Who attacks, in words. Results keep a threat as text; what is not understood is shown as it stands."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

__all__ = ["Attacker", "attacker"]

_RECORD = re.compile(r"Threat\(Prior\((?P<prior>[^)]*)\), Knowledge\.(?P<knowledge>.*), Goal\.(?P<goal>.*)\)", re.S)
_OTHER = re.compile(r"Threat\.(?P<kind>membership|baseline|worst)\((?P<level>[^)]*)\)")
_CALL = re.compile(r"(?P<name>\w+)\((?P<inside>.*)\)", re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacker:
    """An attacker in words: a short title, what it believes and knows beforehand, and what counts as success."""

    title: str
    believes: str
    knows: str
    wants: str
    kind: str = "record"


def _names(inside: str) -> str:
    """Return the names in a repr such as ``'age', 'sex'``, joined as in a sentence."""
    try:
        names = [str(name) for name in ast.literal_eval(f"[{inside}]")]
    except (ValueError, SyntaxError):
        return inside
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _believes(prior: str) -> str:
    if prior.startswith("continuous on "):
        return f"a number in {prior.removeprefix('continuous on ')}"
    values = prior.partition(" values")[0]
    return f"one of {values} possible values" if values.isdigit() else prior


def _knows(knowledge: str) -> str:
    found = _CALL.fullmatch(knowledge)
    if found is None:
        return knowledge
    name, inside = found["name"], found["inside"]
    if name == "labels":
        return f"knows in which of {inside.partition(' ')[0]} groups the target is"
    told = {
        "nothing": "knows nothing about the target",
        "everything": "knows the target's record",
        "columns": f"knows the target's {_names(inside)}",
    }
    return told.get(name, knowledge)


def _wants(goal: str, *, known: bool) -> str:
    found = _CALL.fullmatch(goal)
    if found is None:
        return goal
    name, inside = found["name"], found["inside"]
    if known and name == "exact":
        return "wants to find out whether it was used"
    if name == "within":
        eta, _, loss = inside.partition(", ")
        measure = "" if loss == "'absolute'" else " by a measure of distance of its own"
        return f"is right when its guess is within {eta}{measure}"
    if name == "labels":
        return f"wants to know in which of {inside.partition(' ')[0]} classes the target is"
    told = {"exact": "wants the exact value", "columns": f"wants the target's {_names(inside)}"}
    return told.get(name, goal)


_LEVELS = {
    "membership": Attacker(
        kind="membership",
        title="Is the target in the data at all?",
        believes="that the target took part, with probability {level}",
        knows="knows the target's record",
        wants="wants to find out whether it is among the data",
    ),
    "baseline": Attacker(
        kind="baseline",
        title="Any attacker whose blind guess is right with probability {level}",
        believes="anything that makes the best blind guess right with probability {level}",
        knows="may know anything else",
        wants="may want anything",
    ),
    "worst": Attacker(
        kind="worst",
        title="Any attacker",
        believes="anything",
        knows="may know anything",
        wants="may want anything",
    ),
}


def attacker(threat: str) -> Attacker:
    """Return the attacker that the text of a threat describes.

    Examples
    --------
    >>> import dpradar as dr
    >>> attacker(repr(dr.Threat(dr.Prior.uniform(10)))).title
    'An attacker who knows nothing about the target and wants the exact value'
    >>> attacker("Threat.worst()").title
    'Any attacker'
    """
    other = _OTHER.fullmatch(threat)
    if other is not None:
        one, level = _LEVELS[other["kind"]], other["level"]
        words = (one.title, one.believes, one.knows, one.wants)
        title, believes, knows, wants = (text.replace("{level}", level) for text in words)
        return Attacker(kind=one.kind, title=title, believes=believes, knows=knows, wants=wants)
    found = _RECORD.fullmatch(threat)
    if found is None:
        return Attacker(kind="other", title=threat, believes="", knows="", wants="")
    knows = _knows(found["knowledge"])
    wants = _wants(found["goal"], known=found["knowledge"] == "everything()")
    title = f"An attacker who {knows} and {wants}"
    return Attacker(title=title, believes=_believes(found["prior"]), knows=knows, wants=wants)
