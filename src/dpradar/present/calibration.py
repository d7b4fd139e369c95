"""The page of a calibration: the noise that keeps every limit, and what it reaches and costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..numerics.rounding import rounded, significant
from . import assessment_parts as parts
from . import sentences, verdicts
from .attackers import attacker
from .numbers import LARGE, safe_number
from .page import Card, Entry, Limit, Page, Reproduce, State, Table, Utility, Verdict

if TYPE_CHECKING:
    from ..results import Achieved, Calibration

__all__ = ["headline", "limit_sentence", "page"]


def page(result: Calibration) -> Page:
    """Return the page of a calibration."""
    costs = [text for name, cost in result.cost.items() if (text := sentences.cost_sentence(name, cost))]
    risks = [one for one in result.achieved if not one.limits_accuracy]
    accuracy = tuple(_limit(one) for one in result.achieved if one.limits_accuracy and one.limit is not None)
    word, state = _word(result)
    decisive = [
        f"The limit that decides: {one.quantity} <= {one.limit:g} ({_who(one)})."
        for one in result.achieved
        if len(result.achieved) > 1 and one.label == result.binding
    ]
    return Page(
        kind="calibration",
        title=f"Noise that keeps the limits: {result.parameter}",
        verdict=Verdict(text=headline(result), state=state, word=word, more=tuple(decisive)),
        cards=tuple(_card(number, one) for number, one in enumerate(risks, 1)),
        label=(
            Entry(term="Whose risk", text=sentences.WHOSE_RISK, only="document"),
            Entry(term="Attacker", text=f"{sentences.capital(sentences.ATTACKER_KNOWLEDGE)}."),
            *(Entry(term="Assumes", text=f"{sentences.capital(note)}.") for note in result.assumes),
            Entry(term="Not covered", text=sentences.NOT_COVERED, only="document"),
        ),
        tables=(_table(result),) if result.achieved else (),
        utility=Utility(sentences=tuple(costs), limits=accuracy) if costs or accuracy else None,
        reproduce=Reproduce(entries=_entries(result)),
    )


def _entries(result: Calibration) -> tuple[Entry, ...]:
    facts = [("Releases tried", f"{result.tried:,}"), ("dpradar", result.version)]
    if result.release is not None:
        exact = f"{result.parameter} = {result.value!r}"
        facts = [("Release", result.release.text), ("Exact value", exact), *facts]
    return tuple(Entry(term=term, text=text, only="document") for term, text in facts)


def _who(one: Achieved) -> str:
    return attacker(one.threat).title


def _state(one: Achieved) -> State:
    if one.limit is None or one.value > one.limit:
        return "unmet"
    if one.near_ceiling or one.idle:
        return "none" if one.acknowledge else "open"
    return "met"


def _limit(one: Achieved) -> Limit:
    return Limit(text=limit_sentence(one), state=_state(one))


def _card(number: int, one: Achieved) -> Card:
    people = sentences.quantity_sentence(one.quantity, one.value, one.side)
    return Card(
        number=number,
        title=_who(one),
        sentences=tuple(text for text in (people, verdicts.raw_sentence(one)) if text),
        icons=parts.bound_icons(one.value, one.side) if one.quantity == "rad" else None,
        limits=() if one.limit is None else (_limit(one),),
    )


def _table(result: Calibration) -> Table:
    rows = tuple(
        (
            f"{one.quantity}{f', {one.neighbours}' if one.neighbours else ''}",
            _achieved_number(one.value),
            "–" if one.limit is None else f"{one.limit:g}",
            one.rule or "–",
            _who(one),
        )
        for one in result.achieved
    )
    headings = ("Measure", "Value", "Limit", "Rule", "For")
    return Table(caption="What the release reaches", headings=headings, rows=rows, only="document")


def _word(result: Calibration) -> tuple[str, State]:
    """Return the verdict in a few words: green only where the release protects and the raw data would break a limit."""
    if not result.met:
        return "Limits not kept", "unmet"
    near = [one for one in result.achieved if one.near_ceiling]
    if near and all(one.acknowledge for one in near):
        return f"Limits kept, {verdicts.ACKNOWLEDGED}", "none"
    if near:
        return f"Limits kept{verdicts.limit_remark(near[0])}", "open"
    if any(one.idle for one in result.achieved):
        return "Limits kept, but the raw data would keep one too", "open"
    return "Limits kept", "met"


def headline(result: Calibration) -> str:
    """Return the answer of a calibration: the value that keeps every limit, or why none does."""
    if result.value is None:
        return f"{sentences.capital(result.reason)}."
    accuracy = bool(result.achieved) and result.achieved[0].limits_accuracy
    if result.status == "free":
        reason = f"{sentences.capital(result.reason)}."
        return (
            reason
            if accuracy or not any(one.idle for one in result.achieved)
            else verdicts.idle_sentence(result.achieved)
        )
    side = {"up": "down", "down": "up"}.get(result.more_private or "") if accuracy else result.more_private
    per_report = sentences.per_report_words(result.release, result.parameter, result.value)
    answer = f"{result.parameter} {safe_number(result.value, side)}{per_report} keeps every limit"
    if result.status == "stopped":
        return f"{answer}; {result.reason}."
    verb = "does" if result.exact else "can be shown to"
    least = f"the {'most' if accuracy else 'least'} noise that {verb}. Release: {result.release}."
    near = [one for one in result.achieved if one.near_ceiling]
    return f"{answer}{verdicts.limit_remark(near[0])}: {least}" if near else f"{answer}: {least}"


def _achieved_number(value: float) -> str:
    """Return what a calibrated release reaches, rounded up."""
    return rounded(value, 6, "up") if value < LARGE else significant(value, 6, "up")


def limit_sentence(one: Achieved) -> str:
    """Return a limit of a calibration beside what is reached."""
    word = "" if one.side == "exact" or one.limits_accuracy else "at most "
    relation = f", {one.neighbours}" if one.neighbours else ""
    within = one.limit is None or one.value <= one.limit
    verb = f"{f'Kept{verdicts.limit_remark(one)}' if within else 'Not confirmed'}: {one.quantity}{relation}"
    limit = "" if one.limit is None else f", the limit {one.limit:g}"
    if " because " in one.rule:  # the reason why no tighter rule was used
        limit += f" ({one.rule})"
    return f"{verb} is {word}{_achieved_number(one.value)}{limit}.{f' {verdicts.IDLE}' if one.idle else ''}"
