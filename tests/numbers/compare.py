"""Compare two answers to a question, and say what kind of change a difference is.

An answer is a dictionary from quantities to records. A record has a ``value``, a ``side`` and, where it has them,
``low``, ``high``, ``rule`` and ``assumes``. Sides: ``exact``, ``upper``, ``lower``, ``simulated`` (drawn with a fixed
seed) and ``fact`` (anything else: an exit code, a verdict, a count).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["ALSO", "CLASSES", "ERROR", "Difference", "Kind", "classify", "differences", "same"]

Record = dict[str, Any]
Answer = dict[str, Record]
Kind = Literal["corrected", "tighter", "looser", "relabelled", "redrawn", "added", "removed"]
CLASSES: tuple[Kind, ...] = ("corrected", "tighter", "looser", "relabelled", "redrawn", "added", "removed")

# Numbers cannot tell whether a bound that grew was false before, or a refusal overdue: whoever knows says "corrected".
ALSO: dict[str, frozenset[str]] = {"looser": frozenset({"corrected"}), "tighter": frozenset({"corrected"})}

ERROR = "error"  # the quantity of a question that ends in an error
ABOUT = "about"  # what a question is about: no quantity
# What processors make of the same sums, exponentials and transforms: two machines differed by up to 9e-12 of a value.
_RELATIVE, _ABSOLUTE = 1e-10, 1e-14
_HITS = ("hit", "false_hit")  # of one of several best attacks, which rounding chooses
_OF_HITS = 1e-6
_NUMBERS = ("value", "low", "high")
_RANK = {"exact": 1, "upper": 0, "lower": 0}


@dataclass(frozen=True, slots=True)
class Difference:
    """One quantity of one question that is no longer what the corpus says."""

    question: str
    quantity: str
    kind: Kind
    old: Record | None
    new: Record | None

    @property
    def name(self) -> str:
        """The question and the quantity, as a pattern in CHANGELOG may name them."""
        return f"{self.question}:{self.quantity}"


def _close(first: float, other: float) -> bool:
    return math.isclose(first, other, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)


def same(first: Any, other: Any) -> bool:
    """Whether two entries of a record are the same, numbers to 10 significant digits."""
    plain = isinstance(first, bool) or isinstance(other, bool)
    if not plain and isinstance(first, int | float) and isinstance(other, int | float):
        return _close(first, other)
    return bool(first == other) and type(first) is type(other)


def _same_numbers(old: Record, new: Record) -> bool:
    return all(same(old.get(name), new.get(name)) for name in _NUMBERS)


def _interval(record: Record) -> tuple[float, float]:
    """Return what a bound says of the true number: that it lies between these two."""
    value = float(record["value"])
    low, high = record.get("low"), record.get("high")
    if record["side"] == "lower":
        return value, math.inf if high is None else float(high)
    outside = value if record["side"] == "exact" else -math.inf
    return outside if low is None else float(low), value


def classify(old: Record, new: Record) -> Kind | None:
    """Return the kind of a change of one quantity, or None where nothing changed."""
    if _same_numbers(old, new) and old["side"] == new["side"]:
        return None if all(old.get(name) == new.get(name) for name in ("rule", "assumes")) else "relabelled"
    sides = {old["side"], new["side"]}
    if "fact" in sides:
        return "corrected"
    if "simulated" in sides:
        return "redrawn"
    return _of_bounds(old, new)


def _of_bounds(old: Record, new: Record) -> Kind:
    (low, high), (new_low, new_high) = _interval(old), _interval(new)
    lows, highs = _close(low, new_low), _close(high, new_high)
    if (new_low > high and not _close(new_low, high)) or (new_high < low and not _close(new_high, low)):
        return "corrected"
    if not highs:  # the end that is compared with a limit decides; for a lower bound it is the other one
        return "tighter" if new_high < high else "looser"
    if not lows:
        return "tighter" if new_low > low else "looser"
    if _RANK[old["side"]] != _RANK[new["side"]]:
        return "tighter" if _RANK[new["side"]] > _RANK[old["side"]] else "looser"
    return "relabelled"


def _same_hit(name: str, old: Record, new: Record) -> bool:
    """Whether the quantity is a hit of the best attack that is the same but for what rounding chooses."""
    if name.rpartition("/")[2] not in _HITS:
        return False
    first, other = old["value"], new["value"]
    return isinstance(first, float) and isinstance(other, float) and abs(first - other) <= _OF_HITS


def _quantities(answer: Answer) -> dict[str, Record]:
    return {name: record for name, record in answer.items() if name != ABOUT}


def _of_question(question: str, old: Answer, new: Answer) -> list[Difference]:
    before, after = _quantities(old), _quantities(new)
    if (ERROR in before) != (ERROR in after):
        kind: Kind = "looser" if ERROR in after else "tighter"
        return [Difference(question, ERROR, kind, before.get(ERROR), after.get(ERROR))]
    differing = []
    for name in sorted({*before, *after}):
        if name not in after:
            differing.append(Difference(question, name, "removed", before[name], None))
        elif name not in before:
            differing.append(Difference(question, name, "added", None, after[name]))
        elif not _same_hit(name, before[name], after[name]) and (
            (changed := classify(before[name], after[name])) is not None
        ):
            differing.append(Difference(question, name, changed, before[name], after[name]))
    return differing


def differences(old: dict[str, Answer], new: dict[str, Answer]) -> list[Difference]:
    """Return every difference between two corpora; a question that is only in the new one is no difference.

    A question that is no longer asked is one: leaving it out could hide a change.
    """
    differing = [Difference(question, "*", "removed", None, None) for question in sorted(set(old) - set(new))]
    for question in sorted(set(old) & set(new)):
        differing += _of_question(question, old[question], new[question])
    return differing
