"""Questions about a release and a threat: as Python source, which is what is run and what a written test contains."""

from __future__ import annotations

import math
from typing import Any

HEADER = "import dpradar as dr\n"


def literal(value: Any) -> str:
    """Return a value as Python source, also where it is nan or infinite."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {literal(v)}" for k, v in value.items()) + "}"
    return repr(value)


def release(given: dict[str, Any]) -> str:
    """The source of a mechanism or guarantee: {"name": ..., keyword: value ...}, parts of a composition inside."""
    rest = {key: value for key, value in given.items() if key not in ("name", "parts", "part")}
    arguments = [f"{key}={literal(value)}" for key, value in rest.items() if value is not None]
    if "parts" in given:
        arguments.insert(0, "[" + ", ".join(map(release, given["parts"])) + "]")
    if "part" in given:
        arguments.insert(0, release(given["part"]))
    return f"dr.{given['name']}({', '.join(arguments)})"


def prior(given: dict[str, Any]) -> str:
    """The source of a prior."""
    how, weights, values = given["how"], given["weights"], given["values"]
    if how == "raw":
        return f"dr.Prior({literal(weights)})"
    if how == "uniform":
        return f"dr.Prior.uniform({len(weights)}" + (")" if values is None else f", {literal(values)})")
    if how == "records":
        return f"dr.Prior.records({{'x': {literal(values)}}}, weights={literal(weights)})"
    return f"dr.Prior.of({literal(weights)}" + (")" if values is None else f", {literal(values)})")


def knowledge(given: Any) -> str:
    """The source of what is known."""
    return f"dr.Knowledge.{given}()" if isinstance(given, str) else f"dr.Knowledge.labels({literal(given)})"


def goal(given: Any) -> str:
    """The source of a goal."""
    if isinstance(given, str):
        return f"dr.Goal.{given}()"
    return (
        f"dr.Goal.labels({literal(given['labels'])})" if "labels" in given else f"dr.Goal.within({given['within']!r})"
    )


def threat(question: dict[str, Any]) -> str:
    """The source of a threat."""
    parts = prior(question["prior"]), knowledge(question["knowledge"]), goal(question["goal"])
    return f"dr.Threat({', '.join(parts)})"


def assessment(question: dict[str, Any]) -> str:
    """The lines that ask the question; the answer is ``a``."""
    more = f", neighbours={question['neighbours']!r}" if question.get("neighbours") else ""
    return f"threat = {threat(question)}\na = dr.assess({release(question['release'])}, threat{more})\n"


def run(code: str) -> dict[str, Any]:
    """Run the lines and return their names."""
    names: dict[str, Any] = {}
    exec(HEADER + code, names)
    return names
