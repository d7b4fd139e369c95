"""Results in sentences. All rounding for people is done here: shown upper bounds go up, lower ones down."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..numerics.rounding import rounded

if TYPE_CHECKING:
    from ..results import Assessment, Bound, Calibration

__all__ = [
    "advantage_sentence",
    "blind_sentence",
    "explain",
    "explain_calibration",
    "number",
    "rate_sentence",
    "safe_number",
    "summary",
]

_SNAP = 1e-9  # a count this close to a whole number is that number
_SMALL = 0.01  # below one in a hundred, count in ten thousand
_LARGE = 1e6
_MOST_PLACES = 12  # decimals; smaller numbers are shown in full


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


def rate_sentence(fpr: float, bound: Bound) -> str:
    """Return the largest true-positive rate at a false-positive rate in words.

    Examples
    --------
    >>> from dpradar.results import Bound
    >>> rate_sentence(0.01, Bound(value=0.0923622, side="upper", rule="trade-off"))
    'An attack that accuses 1 of 100 bystanders finds at most 10 of 100 targets (tpr at most 0.092363 at fpr 0.01).'
    """
    people = 10_000 if fpr < _SMALL else 100
    return (
        f"An attack that accuses {_plain(fpr * people)} of {people:,} bystanders finds at most "
        f"{_count(bound.value, people)} of {people:,} targets (tpr {number(bound, 6)} at fpr {fpr:g})."
    )


def _plain(count: float) -> str:
    return f"{round(count, 9):g}"


def safe_number(value: float, more_private: str | None, digits: int = 6) -> str:
    """Return a calibrated parameter with a few significant digits, rounded to the side with more noise.

    Examples
    --------
    >>> safe_number(2.5043787, "down", 4), safe_number(22.730878, "up", 4)
    ('2.504', '22.74')
    """
    if value == 0.0 or float(value).is_integer():
        return f"{value:g}" if abs(value) < _LARGE else f"{value:.6g}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    if places > _MOST_PLACES:
        return f"{value:.17g}"
    return rounded(value, places, "down" if more_private == "down" else "up")


def explain_calibration(result: Calibration) -> str:
    """Return the answer of a calibration: the value, what it achieves, which limit decides and what it costs."""
    if result.value is None:
        return f"Not met: {result.reason}."
    accuracy = bool(result.achieved) and result.achieved[0].threat == "accuracy"
    safe = {"up": "down", "down": "up"}.get(result.more_private or "") if accuracy else result.more_private
    value = safe_number(result.value, safe)
    lines = [_headline(result, value), ""]
    for one in result.achieved:
        shown = rounded(one.value, 6, "up") if one.value < _LARGE else f"{one.value:.6g}"
        limit = "" if one.limit is None else f"  limit {one.limit:g}"
        lines.append(f"{one.quantity:<24} {shown:<12}{limit}  {one.threat}{f' ({one.rule})' if one.rule else ''}")
    if result.binding is not None and len(result.achieved) > 1:
        lines.append(f"The limit that decides: {result.binding}.")
    lines += [sentence for name, cost in result.cost.items() if (sentence := _cost_sentence(name, cost))]
    return "\n".join(lines)


def _headline(result: Calibration, value: str) -> str:
    if result.status == "free":
        return f"No noise is needed: {result.reason}."
    told = f"{result.parameter} {value} keeps every limit"
    if result.status == "stopped":
        return f"{told}; {result.reason}."
    least = "most" if result.achieved and result.achieved[0].threat == "accuracy" else "least"
    return f"{told}: the {least} noise that does. Release: {result.release}."


def _cost_sentence(name: str, cost: float) -> str | None:
    if name == "error":
        return f"Each released number is off by less than {rounded(cost, 2, 'up')} in 95 of 100 releases."
    if name == "frequency_error":
        people = 10_000
        return (
            f"A frequency estimated from {people:,} reports is off by about {cost / math.sqrt(people):.2g} "
            "(one standard deviation)."
        )
    return None


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
