"""The page of correlated records: how much is given away, by which theorem, and what the noise costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..numerics.rounding import rounded
from . import sentences
from .citations import bibtex
from .correlation import (
    calibrated_sentence,
    epsilon_text,
    error_text,
    guesses,
    leak_text,
    leakage_sentence,
    people_sentence,
    simulated_sentence,
    without_model_sentence,
)
from .view import Card, Entry, Icons, Listing, Page, Reproduce, Table, Utility, Verdict

if TYPE_CHECKING:
    from ..results.correlation import Correlation, Theorem
    from .view import State

__all__ = ["correlation_page"]

_NONE = "–"
_ATTACKER = "Knows the mechanism, how records depend on each other, and any of the other records."
_PEOPLE, _BLIND = 100, 50


def correlation_page(result: Correlation) -> Page:
    """Return the page of an answer about correlated records.

    Examples
    --------
    >>> from dpradar import correlated
    >>> page = correlation_page(correlated.leakage(correlated.Groups(size=2), 1.0, clip=(0.0, 10.0)))
    >>> page.verdict.word, page.cards[0].icons.extra
    ('May leak more than 1', 39)
    """
    kept = result.leakage.value <= result.target
    state: State = "met" if kept else "unmet" if result.leakage.side == "exact" else "open"
    words = {
        "met": f"Leaks at most {result.target:g}",
        "unmet": f"Leaks more than {result.target:g}",
        "open": f"May leak more than {result.target:g}",
    }
    more = [text for text in (without_model_sentence(result), *map(_warned, result.warnings)) if text]
    return Page(
        kind="correlation",
        title="What is given away when records depend on each other",
        verdict=Verdict(text=leakage_sentence(result), state=state, word=words[state], more=tuple(more)),
        cards=(_card(result),),
        label=_label(result),
        tables=(_theorems(result), *((_checks(result),) if result.checks else ())),
        utility=Utility(
            sentences=tuple(text for text in (calibrated_sentence(result), simulated_sentence(result)) if text)
        ),
        reproduce=_reproduce(result),
        notes=tuple(f"{note}." for note in result.notes),
    )


def _warned(text: str) -> str:
    return f"Warning: {text}."


def _card(result: Correlation) -> Card:
    after, _ = guesses(result)
    told = people_sentence(result)
    icons = Icons(
        total=_PEOPLE,
        right_anyway=_BLIND,
        extra=after - _BLIND,
        alt=f"{_PEOPLE} squares, one a guess: {_BLIND} right anyway, at most {after - _BLIND} right because of this "
        f"release, the rest wrong.",
        most="at most ",
        because="because of this release",
    )
    return Card(number=1, title="A guess between two values of someone's record", sentences=(told,), icons=icons)


def _label(result: Correlation) -> tuple[Entry, ...]:
    entries = [
        Entry(term="Protected", text=sentences.PROTECTED),
        Entry(term="Released", text=f"{result.release[:1].upper()}{result.release[1:]}."),
        Entry(term="Records", text=f"{result.model[:1].upper()}{result.model[1:]}."),
        Entry(term="Attacker", text=_ATTACKER),
        Entry(term="Assumes", text="; ".join(result.leakage.assumes)),
        Entry(term="Not covered", text=sentences.NOT_COVERED),
    ]
    return tuple(entry for entry in entries if entry.text)


def _theorem_row(one: Theorem) -> tuple[str, ...]:
    if one.bound is None:
        claim = _NONE if one.claimed is None else f"would claim {leak_text(one.claimed)}"
        return (one.rule, claim, "not usable", _NONE, _NONE, one.why, _NONE)
    side = {"upper": "upper bound", "exact": "exact", "lower": "lower bound"}[one.bound.side]
    epsilon = _NONE if one.epsilon is None else epsilon_text(one.epsilon)
    error = _NONE if one.error is None else error_text(one.error)
    return (one.rule, leak_text(one.bound.value), side, epsilon, error, one.title, "; ".join(one.bound.cites))


def _theorems(result: Correlation) -> Table:
    headings = (
        "Rule",
        "Leakage",
        "Side",
        f"Epsilon for {result.target:g}",
        "Error, 95 of 100",
        "What or why",
        "Source",
    )
    rows = [_theorem_row(one) for one in result.theorems]
    if result.at_least is not None and result.leakage.side != "exact":
        found = result.at_least
        rows.append(
            (found.rule, rounded(found.value, 4, "down"), "lower bound", _NONE, _NONE, "what some attacker reaches", "")
        )
    return Table(caption="Every theorem that was asked", headings=headings, rows=tuple(rows))


def _checks(result: Correlation) -> Table:
    rows = tuple((one.name, one.word, one.text) for one in result.checks)
    return Table(
        caption="Hypotheses, checked on the data", headings=("Hypothesis", "State", "What was seen"), rows=rows
    )


def _reproduce(result: Correlation) -> Reproduce:
    cites = [cite for one in result.theorems if one.bound is not None for cite in one.bound.cites]
    listings = [] if result.command is None else [Listing(title="Command", text=result.command)]
    listings.append(Listing(title="BibTeX", text=bibtex(cites, result.version)))
    return Reproduce(entries=(Entry(term="dpradar", text=result.version),), listings=tuple(listings))
