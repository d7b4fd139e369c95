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


def release(options: dict[str, Any]) -> str:
    """The source of a mechanism or guarantee: {"name": ..., keyword: value ...}, parts of a composition inside."""
    rest = {key: value for key, value in options.items() if key not in ("name", "parts", "part")}
    arguments = [f"{key}={literal(value)}" for key, value in rest.items() if value is not None]
    if "parts" in options:
        arguments.insert(0, "[" + ", ".join(map(release, options["parts"])) + "]")
    if "part" in options:
        arguments.insert(0, release(options["part"]))
    return f"dr.{options['name']}({', '.join(arguments)})"


def prior(options: dict[str, Any]) -> str:
    """The source of a prior."""
    how, weights, values = options["how"], options["weights"], options["values"]
    if how == "raw":
        return f"dr.Prior({literal(weights)})"
    if how == "uniform":
        return f"dr.Prior.uniform({len(weights)}" + (")" if values is None else f", {literal(values)})")
    if how == "records":
        return f"dr.Prior.records({{'x': {literal(values)}}}, weights={literal(weights)})"
    return f"dr.Prior.of({literal(weights)}" + (")" if values is None else f", {literal(values)})")


def knowledge(what: Any) -> str:
    """The source of what is known."""
    return f"dr.Knowledge.{what}()" if isinstance(what, str) else f"dr.Knowledge.labels({literal(what)})"


def goal(what: Any) -> str:
    """The source of a goal."""
    if isinstance(what, str):
        return f"dr.Goal.{what}()"
    return f"dr.Goal.labels({literal(what['labels'])})" if "labels" in what else f"dr.Goal.within({what['within']!r})"


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
