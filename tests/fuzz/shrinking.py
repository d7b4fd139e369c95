"""Making a finding shorter: simpler questions that still show it."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .verdicts import Family, Question, Verdict

MOST_TRIES = 60


def shortest(
    family: Family, question: Question, verdict: Verdict, in_time: Callable[[], bool]
) -> tuple[Question, Verdict]:
    """Take a simpler question as long as it gives a finding of the same kind."""
    for _ in range(MOST_TRIES):
        for candidate in family.smaller(question):
            if not in_time():
                return question, verdict
            other = family.judge(candidate)
            if other.kind == verdict.kind:
                question, verdict = candidate, other
                break
        else:
            break
    return question, verdict


def rounded(x: Any) -> Iterator[Any]:
    """Rounder numbers near x."""
    if isinstance(x, float) and not math.isnan(x) and abs(x) not in (0.0, float("inf")):
        for digits in (1, 2, 4):
            other = float(f"{x:.{digits}g}")
            if other != x:
                yield other


def without(question: Question, index: int) -> Question | None:
    """The question without one of its values; None where the release fixes how many there are."""
    smaller = copy.deepcopy(question)
    prior, release = smaller["prior"], smaller["release"]
    if len(prior["weights"]) <= 2 or "parts" in release or "part" in release:
        return None
    for rows in (prior["weights"], prior["values"], smaller["knowledge"], release.get("matrix"), release.get("query")):
        if isinstance(rows, list):
            del rows[index]
    if isinstance(smaller["goal"], dict) and "labels" in smaller["goal"]:
        del smaller["goal"]["labels"][index]
    if "m" in release:
        release["m"] -= 1
    total = sum(prior["weights"])
    if total == 0.0:
        return None
    if prior["how"] in ("of", "raw"):
        prior["weights"] = [w / total for w in prior["weights"]]
    return smaller


def _replaced(question: Question, path: tuple[Any, ...], value: Any) -> Question:
    smaller = copy.deepcopy(question)
    place = smaller
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return smaller


def smaller_threats(question: Question) -> Iterator[Question]:
    """Fewer values, an even prior, nothing known, the exact goal, rounder numbers."""
    m = len(question["prior"]["weights"])
    for index in range(m):
        fewer = without(question, index)
        if fewer is not None:
            yield fewer
    if question["knowledge"] != "nothing":
        yield _replaced(question, ("knowledge",), "nothing")
    if question["goal"] != "exact":
        yield _replaced(question, ("goal",), "exact")
    if len(set(question["prior"]["weights"])) > 1 and question["prior"]["how"] != "raw":
        yield _replaced(
            question, ("prior",), {"how": "uniform", "weights": [1.0] * m, "values": question["prior"]["values"]}
        )
    if question["release"].get("truncate"):
        yield _replaced(question, ("release", "truncate"), None)
    yield from _rounder(question)


def _rounder(question: Question) -> Iterator[Question]:
    for key in ("epsilon", "scale", "sigma"):
        if key in question["release"]:
            for number in rounded(question["release"][key]):
                yield _replaced(question, ("release", key), number)
    if isinstance(question["goal"], dict) and "within" in question["goal"]:
        for number in rounded(question["goal"]["within"]):
            yield _replaced(question, ("goal", "within"), number)
