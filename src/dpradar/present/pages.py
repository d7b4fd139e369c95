"""Pages of single results: an assessment, a calibration, an attack, an audit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from . import findings, parts, sentences, verdicts
from .attackers import attacker
from .numbers import crowd, estimated_count, percent, shown_limit
from .view import (
    AUDITS,
    CHECK,
    MEASUREMENTS,
    Card,
    Entry,
    Finding,
    Icons,
    Limit,
    Listing,
    Page,
    Reproduce,
    Scale,
    State,
    Table,
    Utility,
    Verdict,
)

if TYPE_CHECKING:
    from ..results import Achieved, Assessment, AttackRun, AuditResult, Bound, Calibration

__all__ = ["assessment_page", "attack_page", "audit_page", "calibration_page", "finding_of"]

_CAPTION = "Every bound, with its theorem and what it assumes"


def assessment_page(result: Assessment) -> Page:
    """Return the page of an assessment."""
    card, saved = parts.card_of(result), parts.saved_rates(result)
    lines = [] if saved is None else [(result.release, saved)]
    others = parts.other_table(result, "Other bounds considered")
    entries = [
        Entry(term="Release", text=result.release),
        *parts.prior_entries([("1", result)]),
        Entry(term="dpradar", text=result.version),
    ]
    return Page(
        kind="assessment",
        title=f"Disclosure risk of {result.release}",
        verdict=_assessment_verdict(result),
        cards=(card,),
        curve=parts.curve_of(lines, [(card, result, saved)]),
        label=parts.label_of([(card, result)], [result.release], [result.neighbours]),
        tables=(parts.value_table([("", result, saved)], _CAPTION),),
        others=() if others is None else (others,),
        reproduce=Reproduce(entries=tuple(entries), listings=(parts.citation_of([result], result.version),)),
    )


def _assessment_verdict(result: Assessment) -> Verdict:
    """Return the largest extra success; without a limit nothing is praised, but what hardly protects is said to."""
    text, beside = sentences.largest_sentence(result), verdicts.ceiling_sentence(result)
    more = tuple(told for told in (beside, verdicts.rarest_sentence(result)) if told)
    if result.says_nothing:
        return Verdict(text=text, state="open", word=verdicts.VACUOUS_WORD, more=more)
    if result.near_ceiling and result.rad is not None and result.share is not None:
        return Verdict(
            text=text, state="open", word=_capital(verdicts.near_words(result.share, result.rad.side)), more=more
        )
    return Verdict(text=text)


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _achieved_state(one: Achieved) -> State:
    if one.limit is None or one.value > one.limit:
        return "unmet"
    if one.near_ceiling or one.idle:
        return "none" if one.acknowledge else "open"
    return "met"


def _achieved_card(number: int, one: Achieved) -> Card:
    told = sentences.quantity_sentence(one.quantity, one.value, one.side)
    text = sentences.achieved_limit_sentence(one)
    return Card(
        number=number,
        title=attacker(one.threat).title,
        sentences=tuple(text for text in (told, verdicts.raw_sentence(one)) if text),
        icons=parts.bound_icons(one.value, one.side) if one.quantity == "rad" else None,
        limits=() if one.limit is None else (Limit(text=text, state=_achieved_state(one)),),
    )


def _achieved_table(result: Calibration) -> Table:
    rows = tuple(
        (
            f"{one.quantity}{f', {one.neighbours}' if one.neighbours else ''}",
            sentences.achieved_sentence(one.value),
            "–" if one.limit is None else f"{one.limit:g}",
            one.rule or "–",
            attacker(one.threat).title,
        )
        for one in result.achieved
    )
    return Table(caption="What the release reaches", headings=("Measure", "Value", "Limit", "Rule", "For"), rows=rows)


def _calibration_word(result: Calibration) -> tuple[str, State]:
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


def calibration_page(result: Calibration) -> Page:
    """Return the page of a calibration."""
    told = [text for name, cost in result.cost.items() if (text := sentences.cost_sentence(name, cost))]
    risks = [one for one in result.achieved if one.threat != "accuracy"]
    word, state = _calibration_word(result)
    more = [
        f"The limit that decides: {one.quantity} <= {one.limit:g} ({attacker(one.threat).title})."
        for one in result.achieved
        if len(result.achieved) > 1 and one.label == result.binding
    ]
    entries = [Entry(term="Releases tried", text=f"{result.tried:,}"), Entry(term="dpradar", text=result.version)]
    if result.release is not None:
        value = f"{result.parameter} = {result.value!r}"
        entries = [Entry(term="Release", text=result.release), Entry(term="Exact value", text=value), *entries]
    return Page(
        kind="calibration",
        title=f"Noise that keeps the limits: {result.parameter}",
        verdict=Verdict(
            text=sentences.calibration_headline(result),
            state=state,
            word=word,
            more=tuple(more),
        ),
        cards=tuple(_achieved_card(number, one) for number, one in enumerate(risks, 1)),
        label=(
            Entry(term="Protected", text=sentences.PROTECTED),
            Entry(term="Attacker", text=f"{sentences.ASSUMED[:1].upper()}{sentences.ASSUMED[1:]}"),
            *(Entry(term="Assumes", text=f"{note[:1].upper()}{note[1:]}.") for note in result.assumes),
            Entry(term="Not covered", text=sentences.NOT_COVERED),
        ),
        tables=(_achieved_table(result),) if result.achieved else (),
        utility=Utility(sentences=tuple(told)) if told else None,
        reproduce=Reproduce(entries=tuple(entries)),
    )


def _attack_scale(run: AttackRun, upper: Bound | None) -> Scale:
    top = max(run.rad.high, 0.0 if upper is None else upper.value)
    text = "" if upper is None else f"bound {'' if upper.side == 'exact' else '≤ '}{shown_limit(upper.value, 'up')}"
    found = (
        f"{percent(run.confidence)}: {shown_limit(max(run.rad.low, 0.0), 'down')} to {shown_limit(run.rad.high, 'up')}"
    )
    under = "" if upper is None else f" {text},"
    return Scale(
        end=min(1.0, 1.15 * top) or 1.0,
        upper=None if upper is None else upper.value,
        low=max(run.rad.low, 0.0),
        high=max(run.rad.high, 0.0),
        upper_text=text,
        found_text=found,
        alt=f"What taking part adds:{under} measured {found}.",
    )


def finding_of(result: AttackRun | AuditResult, upper: Bound | None = None) -> Finding:
    """Return an attack or an audit as evidence beside the bound it must stay under."""
    from ..results import AttackRun

    return _attack_finding(result, upper) if isinstance(result, AttackRun) else _audit_finding(result)


def _attack_finding(run: AttackRun, upper: Bound | None) -> Finding:
    violated = upper is not None and run.rad.low > upper.value
    details = [findings.attack_people_sentence(run)]
    details += [f"Note: {note}." for note in run.notes]
    if run.seed is not None:
        details.append(f"Seed {run.seed}, {run.trials:,} trials.")
    return Finding(
        title=f"Attack: {run.strategy}",
        text=findings.sandwich_sentence(run, upper),
        state="unmet" if violated else "open",
        details=tuple(details),
        scale=_attack_scale(run, upper),
        section=CHECK if run.simulated else MEASUREMENTS,
    )


def _audit_scale(result: AuditResult) -> Scale | None:
    claim = result.claim_epsilon
    if claim is None or not math.isfinite(result.epsilon_lower):
        return None
    end = 1.15 * max(claim, result.epsilon_lower)
    lower = f"at least {shown_limit(result.epsilon_lower, 'down')}"
    return Scale(
        end=end or 1.0,
        upper=claim,
        low=result.epsilon_lower,
        high=None,
        upper_text=f"claim {claim:g}",
        found_text=lower,
        alt=f"Epsilon: claimed {claim:g}, the outputs show {lower}.",
    )


def _audit_finding(result: AuditResult) -> Finding:
    details = [findings.epsilon_sentence(result), *findings.method_sentences(result)]
    if result.witness is not None:
        details.append(findings.witness_sentence(result.witness))
    details += [findings.reading_sentence(reading) for reading in result.readings]
    details += [f"Note: {note}." for note in result.notes]
    return Finding(
        title=f"Audit of the claim {result.claim}",
        text=findings.audit_sentence(result),
        state="unmet" if result.refuted else "open",
        details=tuple(details),
        scale=_audit_scale(result),
        section=AUDITS,
    )


def _attack_icons(run: AttackRun) -> Icons:
    people = crowd(run.rad.high)
    anyway = min(max(estimated_count(run.false_hit, people)[0], 0), people)
    extra = min(max(estimated_count(run.rad, people)[0], 0), people - anyway)
    return Icons(
        total=people,
        right_anyway=anyway,
        extra=extra,
        most="about ",
        alt=findings.attack_icons_sentence(people, anyway, extra),
    )


def attack_page(run: AttackRun) -> Page:
    """Return the page of an attack that was run."""
    who = attacker(run.threat or "")
    card = Card(
        number=1,
        title=who.title or f"Attack: {run.strategy}",
        sentences=(findings.attack_people_sentence(run),),
        icons=_attack_icons(run),
    )
    rows = (
        ("right about people who took part (success)", findings.estimate_text(run.success)),
        ("right about people who did not (false_hit)", findings.estimate_text(run.false_hit)),
        ("what taking part adds (rad)", findings.estimate_text(run.rad)),
    )
    caption = f"What was measured; each range holds the true number with probability {percent(run.confidence)}"
    known = (("Release", run.release), ("Trials", f"{run.trials:,}"), ("Seed", run.seed), ("dpradar", run.version))
    return Page(
        kind="attack",
        title=f"Attack on {run.release}" if run.release else "An attack that was run",
        verdict=Verdict(text=findings.sandwich_sentence(run, None), more=(findings.attack_sentence(run),)),
        cards=(card,),
        label=(
            Entry(term="Measured", text=findings.MEASURED),
            Entry(term="Not covered", text=sentences.NOT_COVERED),
        ),
        tables=(Table(caption=caption, headings=("Measure", "Estimate"), rows=rows),),
        evidence=(finding_of(run),),
        reproduce=Reproduce(entries=tuple(Entry(term=t, text=str(v)) for t, v in known if v is not None)),
    )


def audit_page(result: AuditResult) -> Page:
    """Return the page of an audit."""
    known = (
        ("Claim", result.claim),
        ("Outputs", f"{result.trials:,}"),
        ("Seed", result.seed),
        ("dpradar", result.version),
    )
    listings = () if result.command is None else (Listing(title="Command", text=result.command),)
    return Page(
        kind="audit",
        title=f"Audit of the claim {result.claim}",
        verdict=Verdict(
            text=findings.audit_verdict(result),
            state="unmet" if result.refuted else "open",
            word=findings.audit_word(result),
            more=(findings.epsilon_sentence(result),),
        ),
        label=(
            Entry(term="Shown", text=findings.AUDITED),
            Entry(term="Not covered", text=findings.NOT_AUDITED),
        ),
        evidence=(finding_of(result),),
        reproduce=Reproduce(
            entries=tuple(Entry(term=t, text=str(v)) for t, v in known if v is not None), listings=listings
        ),
    )
