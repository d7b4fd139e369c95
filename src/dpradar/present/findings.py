"""What attacks and audits found, in sentences, one function each: evidence of a risk, never of its absence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..numerics.rounding import rounded
from .numbers import SMALL, crowd, estimated_count, percent

if TYPE_CHECKING:
    from ..results import AttackRun, AuditResult, Bound, Estimate, Reading, Witness

__all__ = [
    "AUDITED",
    "MEASURED",
    "NOT_AUDITED",
    "NOT_A_PROOF",
    "attack_icons_sentence",
    "attack_people_sentence",
    "attack_sentence",
    "audit_sentence",
    "audit_verdict",
    "audit_word",
    "epsilon_sentence",
    "estimate_text",
    "incomplete_sentence",
    "measured_sentences",
    "method_sentences",
    "reading_sentence",
    "sandwich_sentence",
    "witness_sentence",
    "witness_sentences",
]

NOT_A_PROOF = "This does not prove there is none."
MEASURED = "One attack. Another attacker may do better: this is evidence of a risk, not of its absence."
AUDITED = "A lower bound on epsilon, which holds whatever the software does. Outputs alone never show an upper bound."
NOT_AUDITED = "Inputs that were not tried, events that were not looked for, and other versions of the software."
_SHORT, _LONG = 6, 12  # decimals
_KINDS = {"lower": "lower bound", "claim test": "at least, if it is this protocol; not a bound on epsilon"}


def estimate_text(estimate: Estimate) -> str:
    """Return an estimate and its interval, which is rounded outward."""
    digits = 4 if abs(estimate.estimate) >= SMALL else 7
    middle = rounded(estimate.estimate, digits, "nearest")
    if estimate.low == estimate.high:
        return f"{middle} (exactly)"
    return f"{middle} (between {rounded(estimate.low, digits, 'down')} and {rounded(estimate.high, digits, 'up')})"


def attack_sentence(run: AttackRun) -> str:
    """Return which attack was run on how many people."""
    people = f"{run.trials:,} targets" if run.release is None else f"{run.trials:,} reports of {run.release}"
    return f"{incomplete_sentence(run)}Attack: {run.strategy}, on {people}."


def incomplete_sentence(result: AttackRun | AuditResult) -> str:
    """Return that something was interrupted, before anything else that is said about it; nothing where it was not."""
    return "" if result.complete else "Incomplete: it was interrupted before all of its trials. "


def measured_sentences(run: AttackRun) -> list[str]:
    """Return the numbers of an attack, and what they do not say."""
    lines = [
        f"Right about people who took part: {estimate_text(run.success)}.",
        f"Right about people who did not:   {estimate_text(run.false_hit)}.",
        f"What the release adds (rad):      {estimate_text(run.rad)}.",
        f"Each range holds the true number with probability {percent(run.confidence)}.",
    ]
    if run.rad.low <= 0.0 <= run.rad.high:
        lines.append("The advantage could be 0: these trials do not show that the release helped this attack.")
    if run.baseline is not None:
        lines.append(f"The best blind guess is right with probability {run.baseline:.4g}.")
    if run.maximise is None:
        lines.append("Another attacker may do better: this is evidence of a risk, not of its absence.")
    return lines


def _about(estimate: Estimate, people: int, confidence: str) -> str:
    middle, low, high = estimated_count(estimate, people)
    return f"about {middle:,} ({confidence}: {low:,} to {high:,})"


def attack_people_sentence(run: AttackRun) -> str:
    """Return what an attack reached in people, as estimates with their intervals.

    Examples
    --------
    >>> from dpradar.results import AttackRun, Estimate
    >>> rates = {"success": (0.24, 0.23, 0.25), "false_hit": (0.1, 0.1, 0.1), "rad": (0.14, 0.13, 0.15)}
    >>> found = {n: Estimate(estimate=e, low=low, high=high) for n, (e, low, high) in rates.items()}
    >>> attack_people_sentence(AttackRun(**found, trials=10_000, confidence=0.95, strategy="optimal"))
    'Of 100 people who took part, this attack was right for about 24 (95 %: 23 to 25); of 100 people whose data were not
    used, it would be right for about 10 (95 %: 10 to 10). Taking part added about 14 (95 %: 13 to 15).'
    """
    people, sure = crowd(run.rad.high), percent(run.confidence)
    return (
        f"Of {people:,} people who took part, this attack was right for {_about(run.success, people, sure)}; of "
        f"{people:,} people whose data were not used, it would be right for {_about(run.false_hit, people, sure)}. "
        f"Taking part added {_about(run.rad, people, sure)}."
    )


def attack_icons_sentence(people: int, anyway: int, extra: int) -> str:
    """Return what the icon array of an attack shows, for those who do not see it."""
    wrong = people - anyway - extra
    return (
        f"{people:,} squares, one a person: about {anyway:,} right anyway, about {extra:,} right because they took "
        f"part, about {wrong:,} wrong."
    )


def sandwich_sentence(run: AttackRun, upper: Bound | None) -> str:
    """Return what an attack says about a bound on what taking part adds."""
    violated = upper is not None and run.rad.low > upper.value
    digits = _LONG if violated else _SHORT  # what contradicts itself must not look equal
    least = rounded(max(run.rad.low, 0.0), digits, "down")
    if upper is None and run.rad.low <= 0.0:
        return "These trials do not show that the release helped this attack. Another attacker may do better."
    if upper is None:
        return f"This attack shows that taking part adds at least {least}. Another attacker may do better."
    bound = f"{'' if upper.side == 'exact' else 'at most '}{rounded(upper.value, digits, 'up')}"
    if violated:
        return (
            f"Violation found: this attack shows at least {least}, but the bound is {bound}. Either the release is not "
            "what it is said to be, or one of the two numbers is wrong."
        )
    if run.simulated:
        return f"The simulated attack shows at least {least}, the calculation says {bound}: no contradiction."
    return f"No violation found: this attack shows at least {least}, the bound is {bound}. {NOT_A_PROOF}"


def audit_verdict(result: AuditResult) -> str:
    """Return what an audit says about the claim; ``audit_word`` comes before it."""
    if result.refuted:
        error = percent(result.significance)
        return f"{result.claim} does not hold (a true claim is refuted in at most {error} of audits)."
    if not result.complete:
        tested = f"after {result.trials:,} outputs" if result.trials else "before anything was tested"
        return f"{result.claim}. The audit was interrupted {tested}: it says nothing in favour of the claim."
    return f"{result.claim}. This does not prove it: other inputs, other events or more outputs may still show a leak."


def audit_word(result: AuditResult) -> str:
    """Return the verdict of an audit in a word or two."""
    return "Refuted" if result.refuted else "Not refuted" if result.complete else "Incomplete"


def _epsilon(value: float | None) -> str:
    if value is None:
        return "none"
    return "infinite" if math.isinf(value) else f"{value:.4g}"


def epsilon_sentence(result: AuditResult) -> str:
    """Return the lower bound on epsilon, and the confidence in it."""
    at = f" at delta {result.delta:g}" if result.delta else ""
    confidence = percent(1 - result.significance)
    lower = rounded(result.epsilon_lower, 4, "down")
    return f"Epsilon is at least {lower}{at} (confidence {confidence}, whatever the mechanism is)."


def audit_sentence(result: AuditResult) -> str:
    """Return the audit in one sentence, for a list of evidence."""
    claimed = "" if result.claim_epsilon is None else f"Claimed epsilon {result.claim_epsilon:g}; the "
    looks = "one look" if result.looks == 1 else f"{result.looks} looks"
    lower, sure = rounded(result.epsilon_lower, 4, "down"), percent(1 - result.significance)
    told = f"{claimed or 'The '}outputs show at least {lower} ({sure} confidence, {looks})."
    if result.refuted:
        return f"{incomplete_sentence(result)}Claim refuted. {told}"
    if not result.complete:
        return f"{incomplete_sentence(result)}{told} It says nothing in favour of the claim."
    return f"No violation found. {told} {NOT_A_PROOF}"


def method_sentences(result: AuditResult) -> list[str]:
    """Return the estimate, which is no bound, and the method."""
    looks = f", {result.looks} looks." if result.looks > 1 else "."
    return [
        f"Estimate, not a bound: {_epsilon(result.epsilon_estimate)}.",
        f"Method: {result.method}; {result.trials:,} outputs{looks}",
    ]


def witness_sentence(witness: Witness) -> str:
    """Return the event that leaks most in one sentence."""
    never = " If it is impossible there, no epsilon holds." if witness.never else ""
    return (
        f"Seen {witness.seen_first:,} of {witness.drawn_first:,} times for {witness.first} and "
        f"{witness.seen_other:,} of {witness.drawn_other:,} times for {witness.other}: {witness.event}.{never}"
    )


def witness_sentences(witness: Witness) -> list[str]:
    """Return the event that leaks most, and how often it was seen."""
    lines = [
        f"Witness: {witness.event}.",
        f"  seen {witness.seen_first:,} of {witness.drawn_first:,} times for {witness.first},",
        f"  and {witness.seen_other:,} of {witness.drawn_other:,} times for {witness.other}.",
    ]
    if witness.never:
        lines.append("  If it is impossible there, no epsilon holds.")
    return lines


def reading_sentence(reading: Reading) -> str:
    """Return another way to read the same outputs."""
    note = f"; {reading.note})." if reading.note else ")."
    return (
        f"Also: {reading.method}: epsilon {_epsilon(reading.epsilon)} ({_KINDS.get(reading.kind, reading.kind)}{note}"
    )
