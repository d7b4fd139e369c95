"""Rules that every result keeps, checked on its plain data: what a reader must not accept, and a command not print.

Written from the meaning of the numbers, not from the reader: probabilities lie in [0, 1], the ends of an interval are
in order and hold the value, a hit is at least a false hit, a refuted claim has evidence above it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SLACK = 1e-6
LARGEST = 10**300  # whole numbers beyond are no floats
PROBABILITIES = ("rad", "success", "gain", "worst_gain", "false_hit")
SIDES = ("exact", "upper", "lower")


def is_number(value: Any) -> bool:
    """Whether it is a finite number and not a truth value."""
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < LARGEST
    return isinstance(value, float) and math.isfinite(value)


def problems(data: Any, where: str = "") -> Iterator[str]:
    """What is wrong with a result, as sentences."""
    if isinstance(data, list):
        for index, part in enumerate(data):
            yield from problems(part, f"{where}[{index}]")
    if not isinstance(data, dict):
        return
    for key, part in data.items():
        yield from problems(part, f"{where}.{key}")
    rules = [_assessment, _audit, _calibration]
    if where.rpartition(".")[2] in PROBABILITIES:
        rules += [_bound, _estimate]
    for rule in rules:
        for message in rule(data):
            yield f"{where or 'the result'}: {message}"


def _bound(data: dict[str, Any]) -> Iterator[str]:
    if not {"value", "side", "rule"} <= data.keys() or "limit" in data:
        return
    value = data["value"]
    if not is_number(value) or not -SLACK <= value <= 1 + SLACK:
        yield f"a probability of {value!r}"
        return
    if data["side"] not in SIDES:
        yield f"a side {data['side']!r}"
    low, high = data.get("low"), data.get("high")
    for end in (low, high):
        if end is not None and (not is_number(end) or not -SLACK <= end <= 1 + SLACK):
            yield f"an end of {end!r}"
            return
    if low is not None and high is not None and low > high + SLACK:
        yield f"low {low!r} above high {high!r}"
    if low is not None and value < low - SLACK:
        yield f"value {value!r} below low {low!r}"
    if high is not None and value > high + SLACK:
        yield f"value {value!r} above high {high!r}"


def _estimate(data: dict[str, Any]) -> Iterator[str]:
    if not {"estimate", "low", "high"} <= data.keys():
        return
    ends = [data[key] for key in ("low", "estimate", "high")]
    if not all(map(is_number, ends)):
        yield f"an interval of {ends!r}"
    elif not -1 - SLACK <= ends[0] <= ends[1] + SLACK <= ends[2] + 2 * SLACK <= 1 + 3 * SLACK:
        yield f"low, estimate and high are {ends!r}"


def _value(data: Any) -> float | None:
    return data["value"] if isinstance(data, dict) and is_number(data.get("value")) else None


def _assessment(data: dict[str, Any]) -> Iterator[str]:
    if not str(data.get("schema", "")).startswith("dpradar/assessment"):
        return
    for key in ("baseline", "hit", "false_hit"):
        value = data.get(key)
        if value is not None and (not is_number(value) or not -SLACK <= value <= 1 + SLACK):
            yield f"{key} is {value!r}"
            return
    hit, miss = data.get("hit"), data.get("false_hit")
    if hit is not None and miss is not None and miss > hit + SLACK:
        yield f"false_hit {miss!r} above hit {hit!r}"
    success, baseline = _value(data.get("success")), data.get("baseline")
    if success is not None and baseline is not None and success < baseline - SLACK:
        yield f"success {success!r} below the baseline {baseline!r}"


def _audit(data: dict[str, Any]) -> Iterator[str]:
    if not str(data.get("schema", "")).startswith("dpradar/audit"):
        return
    lower, claim, refuted = data.get("epsilon_lower"), data.get("claim_epsilon"), data.get("refuted")
    if lower is not None and (isinstance(lower, bool) or not isinstance(lower, (int, float)) or not lower >= 0.0):
        yield f"epsilon_lower is {lower!r}"
        return
    if not isinstance(refuted, bool) and refuted is not None:
        yield f"refuted is {refuted!r}"
    if refuted is False and is_number(lower) and is_number(claim) and lower > claim + SLACK and data.get("rad") is None:
        yield f"not refuted, but epsilon is at least {lower!r} and {claim!r} is claimed"
    for key in ("significance", "delta"):
        if key in data and data[key] is not None and (not is_number(data[key]) or not 0 <= data[key] <= 1):
            yield f"{key} is {data[key]!r}"


def _calibration(data: dict[str, Any]) -> Iterator[str]:
    if not str(data.get("schema", "")).startswith("dpradar/calibration") or data.get("status") != "met":
        return
    achieved = data.get("achieved")
    for one in achieved if isinstance(achieved, list) else []:
        value, limit = (one.get("value"), one.get("limit")) if isinstance(one, dict) else (None, None)
        if (
            is_number(value)
            and is_number(limit)
            and one.get("quantity") in ("rad", "success", "gain")
            and value > limit + SLACK
        ):
            yield f"met, but {value!r} is above the limit {limit!r}"
