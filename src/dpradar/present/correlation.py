"""The page of correlated records: how much is given away, by which theorem, and what the noise costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..numerics.rounding import rounded
from ..results.correlation import DOUBTED
from . import sentences
from .citations import bibtex
from .numbers import count_up, safe_number
from .page import Card, Entry, Icons, IconWords, Listing, Page, Reproduce, Table, Utility, Verdict

if TYPE_CHECKING:
    from ..results.correlation import Correlation, Theorem
    from .page import State

__all__ = ["page"]

_ATTACKER = "Knows the mechanism, how records depend on each other, and any of the other records."
_PEOPLE, _BLIND = 100, 50
_LARGE = 1000.0  # leakages above are shown in whole numbers
_NONE = "–"


def page(result: Correlation) -> Page:
    """Return the page of an answer about correlated records.

    Examples
    --------
    >>> from dpradar import correlated
    >>> leakage = page(correlated.leakage(correlated.Groups(size=2), 1.0, clip=(0.0, 10.0)))
    >>> leakage.verdict.word, leakage.cards[0].icons.extra
    ('May leak more than 1', 39)
    """
    within = result.leakage.value <= result.target
    state: State = "met" if within else "unmet" if result.leakage.side == "exact" else "open"
    words = {
        "met": f"Leaks at most {result.target:g}",
        "unmet": f"Leaks more than {result.target:g}",
        "open": f"May leak more than {result.target:g}",
    }
    warnings = (f"Warning: {text}." for text in result.warnings)
    more = tuple(text for text in (_without_model_sentence(result), *warnings) if text)
    costs = tuple(text for text in (_calibrated_sentence(result), _simulated_sentence(result)) if text)
    return Page(
        kind="correlation",
        title="What is given away when records depend on each other",
        verdict=Verdict(text=_leakage_sentence(result), state=state, word=words[state], more=more),
        cards=(_card(result),),
        label=_label(result),
        tables=(_theorems(result), *((_checks(result),) if result.checks else ())),
        utility=Utility(sentences=costs),
        reproduce=_reproduce(result),
        notes=tuple(f"{note}." for note in result.notes),
    )


def _leakage_text(value: float) -> str:
    """Return a leakage, rounded up."""
    return rounded(value, 4, "up") if value < _LARGE else f"{math.ceil(value):,}"


def _leakage_sentence(result: Correlation) -> str:
    """Return how much is lost, beside what would be lost if records were independent."""
    bound = result.leakage
    most = "" if bound.side == "exact" else "at most "
    cites = f", {'; '.join(bound.cites)}" if bound.cites else ""
    doubted = any(note.startswith(DOUBTED) for note in bound.assumes)
    doubt = " The model is taken as given, and the data speak against it: see the checks." if doubted else ""
    return (
        f"Leakage: {most}{_leakage_text(bound.value)}; it would be {result.epsilon:g} if records were independent "
        f"({bound.rule}{cites}).{doubt}"
    )


def _without_model_sentence(result: Correlation) -> str | None:
    """Return the bound that needs no model of the dependence, where another one is the answer."""
    free = result.any_dependence
    if free.rule == result.leakage.rule:
        return None
    return f"Whatever the dependence within a group: at most {_leakage_text(free.value)} ({free.rule})."


def _card(result: Correlation) -> Card:
    """Return the leakage in people: a guess between two values of one record, before and after the release.

    Between two values that are equally likely, the best guess is right with probability at most e^L / (1 + e^L).
    """
    levels = (result.leakage.value, result.epsilon)
    after, independent = (count_up(1.0 / (1.0 + math.exp(-min(level, 700.0))), _PEOPLE) for level in levels)
    people = (
        f"A guess between two equally likely values is right for {_BLIND} of {_PEOPLE}; after this release for at most "
        f"{after} of {_PEOPLE} ({independent} if records were independent)."
    )
    icons = Icons(
        total=_PEOPLE,
        right_anyway=_BLIND,
        extra=after - _BLIND,
        alt=f"{_PEOPLE} squares, one a guess: {_BLIND} right without it, at most {after - _BLIND} right because of "
        f"this release, the rest wrong.",
        most="at most ",
        words=IconWords("right because of this release", "right without it", "wrong"),
    )
    return Card(number=1, title="A guess between two values of someone's record", sentences=(people,), icons=icons)


def _calibrated_sentence(result: Correlation) -> str:
    """Return the noise that keeps the leakage at the target, and what it costs."""
    chosen = result.chosen
    if chosen is None or chosen.epsilon is None:
        return f"No noise keeps the leakage at {result.target:g} by a theorem that may be used here."
    epsilon = f"To keep the leakage at {result.target:g}: epsilon {_epsilon_text(chosen.epsilon)} ({chosen.rule})"
    if result.sensitivity is None or chosen.error is None:
        return f"{epsilon}."
    scale = safe_number(_snapped(result.sensitivity / chosen.epsilon), "up", 4)
    plain = chosen.error / chosen.times if chosen.times else None
    beside = "" if plain is None else f" ({_error_text(plain)} with noise for independent records)"
    return (
        f"{epsilon}, noise of scale {scale}; the answer is then off by less than {_error_text(chosen.error)} in 95 of "
        f"100 releases{beside}."
    )


def _snapped(value: float) -> float:
    return float(f"{value:.10g}")  # so that 174 and a rounding error is not shown as 174.1


def _epsilon_text(epsilon: float) -> str:
    """Return a calibrated epsilon, rounded down."""
    return safe_number(_snapped(epsilon), "down", 4)


def _error_text(error: float) -> str:
    """Return an error, rounded up."""
    return safe_number(_snapped(error), "up", 5)


def _simulated_sentence(result: Correlation) -> str | None:
    """Return what the noise did to the true answer in a simulation."""
    run = result.simulated
    if run is None:
        return None
    share = "" if run.mape is None else f", and by {100 * run.mape:.3g} % of the answer on average"
    seed = "" if run.seed is None else f" (seed {run.seed})"
    return (
        f"In {run.runs:,} simulated releases{seed} the answer was off by less than {run.error:.5g} in 95 of 100{share}."
    )


def _label(result: Correlation) -> tuple[Entry, ...]:
    entries = [
        Entry(term="Whose risk", text=sentences.WHOSE_RISK, only="document"),
        Entry(term="Released", text=f"{sentences.capital(result.release)}."),
        Entry(term="Records", text=f"{sentences.capital(result.model)}."),
        Entry(term="Attacker", text=_ATTACKER),
        Entry(term="Assumes", text=f"{sentences.capital('; '.join(result.leakage.assumes) or 'nothing more')}."),
        Entry(term="Not covered", text=sentences.NOT_COVERED, only="document"),
    ]
    return tuple(entry for entry in entries if entry.text)


def _theorems(result: Correlation) -> Table:
    target = f"Epsilon for {result.target:g}"
    headings = ("Rule", "Leakage", "Side", target, "Error, 95 of 100", "What or why", "Source")
    rows = [_theorem_row(theorem) for theorem in result.theorems]
    if result.at_least is not None and result.leakage.side != "exact":
        lower = rounded(result.at_least.value, 4, "down")
        reached = "what some attacker reaches under the model"
        rows.append((result.at_least.rule, lower, "lower bound", _NONE, _NONE, reached, ""))
    return Table(caption="Every theorem that was tried", headings=headings, rows=tuple(rows), narrow=(0, 1, 2, 3, 4, 5))


def _theorem_row(theorem: Theorem) -> tuple[str, ...]:
    if theorem.bound is None:
        claim = _NONE if theorem.claimed is None else f"would claim {_leakage_text(theorem.claimed)}"
        return (theorem.rule, claim, "not usable", _NONE, _NONE, theorem.why, _NONE)
    side = {"upper": "upper bound", "exact": "exact", "lower": "lower bound"}[theorem.bound.side]
    epsilon = _NONE if theorem.epsilon is None else _epsilon_text(theorem.epsilon)
    leakage, cites = _leakage_text(theorem.bound.value), "; ".join(theorem.bound.cites)
    return (theorem.rule, leakage, side, epsilon, _error_cell(theorem), theorem.title, cites)


def _error_cell(theorem: Theorem) -> str:
    """Return the error of the noise that a theorem asks for, and how many times that for independent records it is."""
    error = [] if theorem.error is None else [_error_text(theorem.error)]
    if theorem.times is not None and math.isfinite(theorem.times):
        error.append(f"{safe_number(_snapped(theorem.times), 'up', 4)} times")
    return ", ".join(error) or _NONE


def _checks(result: Correlation) -> Table:
    rows = tuple((check.name, check.word, check.text) for check in result.checks)
    headings = ("Hypothesis", "State", "What was seen")
    return Table(caption="Hypotheses, checked on the data", headings=headings, rows=rows)


def _reproduce(result: Correlation) -> Reproduce:
    cites = [cite for theorem in result.theorems if theorem.bound is not None for cite in theorem.bound.cites]
    listings = [] if result.command is None else [Listing(title="Command", text=result.command)]
    listings.append(Listing(title="BibTeX", text=bibtex(cites, result.version)))
    return Reproduce(entries=(Entry(term="dpradar", text=result.version, only="document"),), listings=tuple(listings))
