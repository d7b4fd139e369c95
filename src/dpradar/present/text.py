"""Results as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..numerics.rounding import rounded
from .numbers import number, safe_number
from .parts import assumed, beside, bound_rows, card_of
from .sentences import (
    ASSUMED,
    COUNTED,
    achieved_sentence,
    advantage_sentence,
    blind_sentence,
    calibration_headline,
    cost_sentence,
    rate_sentence,
)
from .verdicts import raw_sentence
from .view import page_of

if TYPE_CHECKING:
    from ..results import Assessment, Calibration
    from ..results.run import RunResult
    from .view import Card, Page

__all__ = [
    "advantage_sentence",
    "blind_sentence",
    "explain",
    "explain_calibration",
    "explain_run",
    "number",
    "rate_sentence",
    "safe_number",
    "summary",
]


def summary(result: Assessment) -> list[tuple[str, str, str]]:
    """Return rows (quantity, value in words, rule and theorem) for a table."""
    return bound_rows(result)


def explain_calibration(result: Calibration) -> str:
    """Return the answer of a calibration: the value, what it achieves, which limit decides and what it costs."""
    if result.value is None:
        return calibration_headline(result)
    lines = [calibration_headline(result), ""]
    for one in result.achieved:
        limit = "" if one.limit is None else f"  limit {one.limit:g}"
        rule = f" ({', '.join(text for text in (one.rule, one.neighbours) if text)})" if one.rule else ""
        most = "" if one.side == "exact" or one.threat == "accuracy" else "at most "
        lines.append(f"{one.quantity:<24} {most + achieved_sentence(one.value):<12}{limit}  {one.threat}{rule}")
        lines += [text for text in (raw_sentence(one),) if text]
    if result.binding is not None and len(result.achieved) > 1:
        lines.append(f"The limit that decides: {result.binding}.")
    lines += [sentence for name, cost in result.cost.items() if (sentence := cost_sentence(name, cost))]
    lines += [f"Assumes: {text}." for text in result.assumes]
    return "\n".join(lines)


def explain(result: Assessment) -> str:
    """Return the whole answer: who guesses what, the sentences, the numbers with their rules, what is assumed.

    Examples
    --------
    >>> import dpradar as dr
    >>> print(explain(dr.assess(dr.GRR(m=10, epsilon=1.0), dr.Threat(dr.Prior.uniform(10)))).splitlines()[2])
    Of 100 people who took part, an attacker who learns from the data is right about 24. The same guesses would be...
    """
    card = card_of(result)
    lines = [f"Release: {result.release}", f"Threat:  {result.threat}"]
    lines += [text for text in (card.note, card.sentences[0], card.blind, *beside(result)) if text]
    lines.append("")
    for name, value, rule in bound_rows(result):
        lines.append(f"{name:<11} {value:<18} {rule}")
    if result.baseline is not None:
        lines.append(f"{'baseline':<11} {rounded(result.baseline, 6, 'nearest'):<18} best guess without the release")
    lines += ["", f"Assumes: {ASSUMED}", *(f"         {note}" for note in assumed(result))]
    return "\n".join(lines)


def explain_run(result: RunResult) -> str:
    """Return the answer of a run: the verdict, then every threat with its limits, the cost and the evidence."""
    return _page_text(page_of(result))


def _page_text(page: Page) -> str:
    told = [page.title, *([page.description] if page.description else []), ""]
    word = f"{page.verdict.word.upper()}. " if page.verdict.word else ""
    told += [f"{word}{page.verdict.text}", *page.verdict.more]
    for card in page.cards:
        told += ["", *_card_text(card)]
    if page.utility is not None:
        told += ["", "What the noise costs:"]
        told += [f"  {text}" for text in (*page.utility.sentences, *(limit.text for limit in page.utility.limits))]
    for section in page.sections:
        told += ["", f"{section.title}:", *([f"  {section.text}"] if section.text else [])]
        told += [line for one in section.findings for line in (f"  {one.title}.", f"    {one.text}")]
    told += ["", f"Assumes: {ASSUMED}"]
    told += [
        f"{entry.term}: {entry.text}"
        for entry in page.label
        if entry.term in ("Assumes", "Not covered") or entry.text == COUNTED
    ]
    return "\n".join(told)


def _card_text(card: Card) -> list[str]:
    group = f" [{card.group}]" if card.group else ""
    told = [text for text in (*card.sentences, card.blind, card.note) if text]
    lines = [*told, *(limit.text for limit in card.limits)]
    return [f"{card.number}. {card.title}{group}", *(f"   {line}" for line in lines)]
