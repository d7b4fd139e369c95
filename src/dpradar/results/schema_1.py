"""Read the texts by which files of schema 1 describe threats and repeated releases."""

from __future__ import annotations

import ast
import re
from typing import Any

__all__ = ["parsed_text"]

_RECORD = re.compile(r"Threat\(Prior\(([^)]*)\), Knowledge\.(\w+)\((.*)\), Goal\.(\w+)\((.*)\)\)", re.S)
_OTHER = re.compile(r"Threat\.(membership|baseline|worst)\(([^)]*)\)")
_LOCAL = re.compile(
    r"Repeated\((?:GRR|SUE|OUE|SubsetSelection|BLH|OLH|SHE|THE|HadamardResponse)\(.*\), (\d{1,18})\)", re.S
)
_CONTINUOUS = re.compile(r"continuous on \[(.*), (.*)\]")


def parsed_text(text: str) -> tuple[str, dict[str, Any]]:
    """Return the kind and the options that a text of schema 1 stands for; neither where it is not understood.

    Examples
    --------
    >>> parsed_text("Threat.baseline(0.1)")
    ('baseline', {'level': 0.1})
    >>> parsed_text("the sum of all records")
    ('', {})
    """
    try:
        return _parsed(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return "", {}


def _parsed(text: str) -> tuple[str, dict[str, Any]]:
    other = _OTHER.fullmatch(text)
    if other is not None:
        return other[1], {} if other[1] == "worst" else {"level": float(other[2])}
    repeated = _LOCAL.fullmatch(text)
    if repeated is not None:
        return "repeated", {"mechanism": {"group": "local"}, "times": int(repeated[1])}
    record = _RECORD.fullmatch(text)
    if record is None:
        return "", {}
    prior, knowledge, knowledge_arguments, goal, goal_arguments = record.groups()
    return "record", {
        "prior": _prior(prior),
        "knowledge": _part(knowledge, knowledge_arguments, "groups"),
        "goal": _part(goal, goal_arguments, "classes"),
    }


def _prior(text: str) -> dict[str, Any]:
    interval = _CONTINUOUS.fullmatch(text)
    if interval is not None:
        return {"kind": "continuous", "low": float(interval[1]), "high": float(interval[2])}
    kind = "counted" if text.endswith("counted in a table") else "probabilities"
    return {"kind": kind, "size": int(text.partition(" values")[0])}


def _part(kind: str, arguments: str, groups: str) -> dict[str, Any]:
    if kind == "labels":
        return {"kind": kind, groups: int(arguments.partition(" ")[0])}
    if kind == "columns":
        return {"kind": kind, "columns": [str(name) for name in ast.literal_eval(f"[{arguments}]")]}
    if kind == "within":
        eta, _, loss = arguments.partition(", ")
        return {"kind": kind, "eta": float(eta), "loss": "absolute" if loss == "'absolute'" else "own"}
    return {"kind": kind}
