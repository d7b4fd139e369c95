"""The page of an audit, and the audit as evidence: what outputs of software say about a claim of privacy."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ..numerics.rounding import rounded
from .attack import NOT_A_PROOF, estimate_text
from .numbers import percent, shown_limit
from .page import AUDITS, Entry, Finding, Listing, Page, Reproduce, Scale, Verdict
from .sentences import capital

if TYPE_CHECKING:
    from ..results import AuditResult, Reading, Witness

__all__ = ["audit_finding", "page"]

_SHOWN = "A lower bound on epsilon, which holds whatever the software does. Outputs alone never show an upper bound."
_NOT_COVERED = "Inputs that were not tried, events that were not looked for, and other versions of the software."
_INCOMPLETE = "It was interrupted before all of its trials"
_KINDS = {"lower": "lower bound", "claim test": "at least, if it is this protocol; not a bound on epsilon"}


def page(result: AuditResult) -> Page:
    """Return the page of an audit."""
    facts = (("Claim", result.claim.text), ("Outputs", f"{result.trials:,}"), ("dpradar", result.version))
    entries = [Entry(term=term, text=text, only="document") for term, text in facts]
    entries += [] if result.seed is None else [Entry(term="Seed", text=str(result.seed))]
    listings = () if result.command is None else (Listing(title="Repeat it", text=result.command, only=""),)
    return Page(
        kind="audit",
        title=f"Audit of the claim {result.claim}",
        verdict=Verdict(text=_verdict_text(result), state="unmet" if result.refuted else "open", word=_word(result)),
        label=(
            Entry(term="Shown", text=_SHOWN, only="document"),
            Entry(term="Not covered", text=_NOT_COVERED, only="document"),
        ),
        evidence=(
            replace(audit_finding(result), title=capital(_method(result)), details=_details(result), section=""),
        ),
        evidence_title="What the outputs show",
        reproduce=Reproduce(entries=tuple(entries), listings=listings),
    )


def _word(result: AuditResult) -> str:
    return "Refuted" if result.refuted else "Not refuted" if result.complete else "Incomplete"


def _verdict_text(result: AuditResult) -> str:
    if result.refuted:
        error = percent(result.significance)
        return f"{result.claim} does not hold (a true claim is refuted in at most {error} of audits)."
    if not result.complete:
        tested = f"after {result.trials:,} outputs" if result.trials else "before anything was tested"
        return f"The audit of {result.claim} was interrupted {tested}: it says nothing in favour of the claim."
    return (
        f"The outputs do not contradict {result.claim}. This does not prove it: other inputs, other events or more "
        "outputs may still show a leak."
    )


def audit_finding(result: AuditResult) -> Finding:
    """Return an audit as evidence."""
    return Finding(
        title=f"Audit of the claim {result.claim}",
        text=_sentence(result),
        state="unmet" if result.refuted else "open",
        details=(f"Method: {_method(result)}.", *_details(result)),
        scale=_scale(result),
        section=AUDITS,
    )


def _method(result: AuditResult) -> str:
    return f"{result.method}; {result.trials:,} outputs{f', {result.looks} looks' if result.looks > 1 else ''}"


def _details(result: AuditResult) -> tuple[str, ...]:
    details = [f"Estimate, not a bound: {_epsilon(result.epsilon_estimate)}."]
    if result.rad is not None:
        details.append(f"Advantage of the attack (rad): {estimate_text(result.rad)}.")
    if result.witness is not None:
        details.append(_witness_sentence(result.witness))
    details += [_reading_sentence(reading) for reading in result.readings]
    return (*details, *(f"Note: {note}." for note in result.notes))


def _epsilon(value: float | None) -> str:
    if value is None:
        return "none"
    return "infinite" if math.isinf(value) else f"{value:.4g}"


def _sentence(result: AuditResult) -> str:
    """Return the audit in one sentence: what is claimed, and what the outputs show."""
    claimed = "" if result.claim_epsilon is None else f"Claimed epsilon {result.claim_epsilon:g}; the "
    at = f" at delta {result.delta:g}" if result.delta else ""
    looks = "one look" if result.looks == 1 else f"{result.looks} looks"
    lower, confidence = rounded(result.epsilon_lower, 4, "down"), percent(1 - result.significance)
    shown = f"{claimed or 'The '}outputs show at least {lower}{at} ({confidence} confidence, {looks})."
    if result.refuted:
        return f"{'' if result.complete else f'{_INCOMPLETE}. '}Claim refuted. {shown}"
    if not result.complete:
        return f"{_INCOMPLETE}. {shown} It says nothing in favour of the claim."
    return f"No violation found. {shown} {NOT_A_PROOF}"


def _witness_sentence(witness: Witness) -> str:
    """Return the event that leaks most, and how often it was seen."""
    never = " If it is impossible there, no epsilon holds." if witness.never else ""
    return (
        f"Witness: seen {witness.seen_first:,} of {witness.drawn_first:,} times for {witness.first} and "
        f"{witness.seen_other:,} of {witness.drawn_other:,} times for {witness.other}: {witness.event}.{never}"
    )


def _reading_sentence(reading: Reading) -> str:
    """Return another estimate from the same outputs."""
    note = f"; {reading.note})." if reading.note else ")."
    return (
        f"Also: {reading.method}: epsilon {_epsilon(reading.epsilon)} ({_KINDS.get(reading.kind, reading.kind)}{note}"
    )


def _scale(result: AuditResult) -> Scale | None:
    claim = result.claim_epsilon
    if claim is None or not math.isfinite(result.epsilon_lower):
        return None
    lower = f"at least {shown_limit(result.epsilon_lower, 'down')}"
    return Scale(
        end=1.15 * max(claim, result.epsilon_lower) or 1.0,
        upper=claim,
        low=result.epsilon_lower,
        high=None,
        upper_text=f"claim {claim:g}",
        lower_text=lower,
        alt=f"Epsilon: claimed {claim:g}, the outputs show {lower}.",
    )
