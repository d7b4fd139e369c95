"""Results in sentences. All rounding for people is done here: shown upper bounds go up, lower ones down."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..numerics.rounding import rounded

if TYPE_CHECKING:
    from ..results import Assessment, Bound

__all__ = ["advantage_sentence", "blind_sentence", "explain", "number", "summary"]

_SNAP = 1e-9  # a count this close to a whole number is that number
_SMALL = 0.01  # below one in a hundred, count in ten thousand


def number(bound: Bound, digits: int = 4) -> str:
    """Return a bound as text, rounded to its safe side, with the word that says which side it is.

    Examples
    --------
    >>> from dpradar.results import Bound
    >>> number(Bound(value=0.38914, side="upper", rule="thm-4.2"), 3)
    'at most 0.390'
    """
    word = {"upper": "at most ", "lower": "at least ", "exact": ""}[bound.side]
    return word + rounded(bound.value, digits, "down" if bound.side == "lower" else "up")


def _count(probability: float, people: int) -> int:
    return math.ceil(probability * people - _SNAP)


def advantage_sentence(result: Assessment) -> str:
    """Return what taking part adds, in people out of 100 (or 10,000 when it is less than one in a hundred)."""
    rad = result.rad
    if rad is None:
        return f"No advantage is given: {result.reason.get('rad', '')}."
    people = 10_000 if rad.value < _SMALL else 100
    added = _count(rad.value, people)
    most = "at most " if rad.side == "upper" else ""
    if result.hit is None or result.false_hit is None:
        return f"Taking part adds {most}{added} in {people:,} to the chance that the best attacker is right."
    right = _count(result.hit, people)  # up, as is what is added; the difference then goes down
    return (
        f"Of {people:,} people who took part, the best attacker is right about {most}{right}; of {people:,} who did "
        f"not, also about {max(right - added, 0)}. Taking part adds {most}{added}."
    )


def blind_sentence(result: Assessment) -> str | None:
    """Return the success beside the blind guess, where the blind guess can fail."""
    if result.success is None or result.baseline is None or result.baseline >= 1.0 - _SNAP:
        return None
    people = 10_000 if result.baseline < _SMALL else 100
    most = "at most " if result.success.side == "upper" else ""
    return (
        f"Guessing alone: right for {round(result.baseline * people)} of {people:,}. After seeing this release: {most}"
        f"{min(_count(result.success.value, people), people)} of {people:,}."
    )


def summary(result: Assessment) -> list[tuple[str, str, str]]:
    """Return rows (quantity, value in words, rule and theorem) for a table."""
    rows: list[tuple[str, str, str]] = []
    for name, bound in result.bounds.items():
        if bound is None:
            rows.append((name, "none", result.reason.get(name, "")))
        else:
            cites = f" ({'; '.join(bound.cites)})" if bound.cites else ""
            rows.append((name, number(bound, 6), f"{bound.rule}{cites}"))
    return rows


def explain(result: Assessment) -> str:
    """Return the whole answer: who guesses what, the sentences, the numbers with their rules, what is assumed.

    Examples
    --------
    >>> import dpradar as dr
    >>> print(explain(dr.assess(dr.GRR(m=10, epsilon=1.0), dr.Threat(dr.Prior.uniform(10)))).splitlines()[2])
    Of 100 people who took part, the best attacker is right about 24; of 100 who did not, also about 10. Taking part...
    """
    lines = [f"Release: {result.release}", f"Threat:  {result.threat}", advantage_sentence(result)]
    blind = blind_sentence(result)
    if blind:
        lines.append(blind)
    lines.append("")
    for name, value, rule in summary(result):
        lines.append(f"{name:<11} {value:<18} {rule}")
    if result.baseline is not None:
        lines.append(f"{'baseline':<11} {rounded(result.baseline, 6, 'nearest'):<18} best guess without the release")
    assumed = sorted({note for bound in result.bounds.values() if bound is not None for note in bound.assumes})
    lines.append("")
    lines.append("Assumes: the attacker knows the mechanism, the prior and every other record.")
    lines += [f"         {note}" for note in assumed]
    return "\n".join(lines)
