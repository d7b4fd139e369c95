"""Whether the fields of a saved result agree with each other."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..errors import Problem
from .bound import QUANTITIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .shapes import Check

__all__ = [
    "advantage",
    "calibrated",
    "claimed_total",
    "contradictions",
    "curves",
    "limit_met",
    "limits_on_bounds",
    "noise_per_threat",
    "ordered",
    "parallel",
    "per_threat",
    "reasons",
    "refutation",
    "usable",
]

_SLACK = 1e-9  # by which sums and products of the same numbers differ


def ordered(*names: str) -> Check:
    """Return the check that these fields do not decrease, as far as they are given."""

    def check(data: Any, path: str) -> Iterator[Problem]:
        given = [(name, float(data[name])) for name in names if data.get(name) is not None]
        for (first, low), (second, high) in pairwise(given):
            if low > high + _SLACK * abs(high):
                yield Problem(f"{path}{second}", f"must be at least {first}; got {high:g}, and {low:g} for {first}")

    return check


def refutation(data: Any, path: str) -> Iterator[Problem]:
    """Check that an audit whose bound lies above the claim refutes it, and one without trials does not."""
    claimed, lower = data["claim_epsilon"], float(data["epsilon_lower"])
    if claimed is not None and lower > float(claimed) * (1.0 + _SLACK) and not data["refuted"]:
        message = f"must be true where epsilon is at least {lower:g} and {float(claimed):g} was claimed; got false"
        yield Problem(f"{path}refuted", message)
    if data["refuted"] and data["trials"] == 0:
        yield Problem(f"{path}refuted", "must be false where nothing was tried; got true")


def advantage(data: Any, path: str) -> Iterator[Problem]:
    """Rad is the difference of two terms."""
    rad, success, others = (data[name]["estimate"] for name in ("rad", "success", "false_hit"))
    if abs(rad - (success - others)) > _SLACK:
        message = f"must be success minus false_hit, {success - others:g}; got {rad:g}"
        yield Problem(f"{path}rad.estimate", message)


def limit_met(data: Any, path: str) -> Iterator[Problem]:
    """Check that a limit is called met only where the value is known and at most the limit."""
    value = data["value"]
    expected = value is not None and float(value) <= data["limit"]
    if data["met"] and not expected:
        message = f"must be false where the value is {'not known' if value is None else f'{float(value):g}'}"
        yield Problem(f"{path}met", f"{message} and the limit {data['limit']:g}; got true")


def limits_on_bounds(data: Any, path: str) -> Iterator[Problem]:
    """Check that limits are compared with the bounds of the assessment beside them."""
    for index, limit in enumerate(data["limits"]):
        bound = data["assessment"].get(limit["quantity"]) if limit["quantity"] in QUANTITIES else None
        if bound is not None and limit["value"] != bound["value"]:
            place = f"{path}limits[{index + 1}].value"
            yield Problem(place, f"must be that of the assessment, {bound['value']!r}; got {limit['value']!r}")


def calibrated(data: Any, path: str) -> Iterator[Problem]:
    """Check that a calibration with a value keeps its limits, and one without says so."""
    if (data["value"] is None) != (data["status"] == "unmet"):
        yield Problem(f"{path}status", f"must be 'unmet' where there is no value, and only there; got {data['status']}")
    for index, one in enumerate(data["achieved"] if data["value"] is not None else ()):
        limit = one["limit"]
        if limit is not None and one["value"] > limit + _SLACK * abs(limit):
            place = f"{path}achieved[{index + 1}].value"
            yield Problem(place, f"must be at most its limit {limit:g} in a calibration that succeeded")


def reasons(data: Any, path: str) -> Iterator[Problem]:
    """Check that there is a reason where there is no bound."""
    for name in QUANTITIES:
        if data[name] is None and not data["reason"].get(name):
            yield Problem(f"{path}reason.{name}", f"is missing: why there is no {name}")


def curves(data: Any, path: str) -> Iterator[Problem]:
    """Check that curves have as many points as there are rates, and fall."""
    rates, curves = data["fpr"], data["fnr"]
    if len(rates) < 2 or not curves:
        yield Problem(f"{path}fpr", "must have two rates or more, and fnr a curve for them")
    if any(a > b for a, b in pairwise(rates)):
        yield Problem(f"{path}fpr", "must not decrease")
    for index, curve in enumerate(curves):
        if len(curve) != len(rates):
            yield Problem(f"{path}fnr[{index + 1}]", f"must have {len(rates)} rates as fpr has; got {len(curve)}")
        elif any(a < b - _SLACK for a, b in pairwise(curve)):
            yield Problem(f"{path}fnr[{index + 1}]", "must not increase")


def parallel(first: str, second: str) -> Check:
    """Return the check that two lists have the same length."""

    def check(data: Any, path: str) -> Iterator[Problem]:
        if len(data[first]) != len(data[second]):
            message = f"must have {len(data[first])} entries as {first} has; got {len(data[second])}"
            yield Problem(f"{path}{second}", message)

    return check


def per_threat(data: Any, path: str) -> Iterator[Problem]:
    """Check that every point of a sweep has a bound for every threat."""
    for index, point in enumerate(data["points"]):
        if len(point["bounds"]) != len(data["threats"]):
            message = f"must have one entry for each of {len(data['threats'])} threats; got {len(point['bounds'])}"
            yield Problem(f"{path}points[{index + 1}].bounds", message)


def noise_per_threat(data: Any, path: str) -> Iterator[Problem]:
    """Check that every other amount of noise is assessed under every threat."""
    for index, one in enumerate(data["neighbours_cost"]):
        if len(one["assessments"]) != len(data["assessments"]):
            message = f"must have one entry for each of {len(data['assessments'])} threats"
            yield Problem(f"{path}neighbours_cost[{index + 1}].assessments", message)


def claimed_total(data: Any, path: str) -> Iterator[Problem]:
    """Check that there is a total under the granularity of the claim."""
    known = [total["granularity"] for total in data["totals"]]
    if data["claimed"] is not None and data["claimed"] not in known:
        yield Problem(f"{path}claimed", f"must be the granularity of a total: {', '.join(known) or 'there is none'}")


def usable(data: Any, path: str) -> Iterator[Problem]:
    """Check that a theorem that may be used gives a bound."""
    if data["usable"] and data["bound"] is None:
        yield Problem(f"{path}bound", "is missing in a theorem that may be used")


def contradictions(data: Any, written: Any, path: str = "") -> Iterator[Problem]:
    """Yield where a file says something else than the result that was made of it does.

    What follows from other fields, such as whether all limits are met, is written into files for other readers; it
    has to follow in the file, too.
    """
    if isinstance(written, dict) and isinstance(data, dict):
        for key in written.keys() & data.keys():
            yield from contradictions(data[key], written[key], f"{path}.{key}" if path else str(key))
    elif isinstance(written, list) and isinstance(data, list) and len(written) == len(data):
        for index, (one, other) in enumerate(zip(data, written, strict=True)):
            yield from contradictions(one, other, f"{path}[{index + 1}]")
    elif data != written and not _same_number(data, written):
        yield Problem(path, f"must be {written!r}, which follows from the rest; got {data!r}")


def _same_number(one: Any, other: Any) -> bool:
    numbers = isinstance(one, (int, float, str)) and isinstance(other, (int, float, str))
    try:
        return numbers and math.isclose(float(one), float(other), rel_tol=_SLACK)
    except (ValueError, OverflowError):
        return False
