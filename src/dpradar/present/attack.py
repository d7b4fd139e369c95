"""The page of an attack that was run, and the attack as evidence: of a risk, never of its absence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..numerics.rounding import rounded
from . import sentences
from .attackers import attacker
from .numbers import SMALL, crowd, estimated_count, percent, shown_limit
from .page import (
    CHECK,
    GUESSED,
    MEASUREMENTS,
    RECOGNISED,
    Card,
    Entry,
    Finding,
    Icons,
    Page,
    Reproduce,
    Scale,
    Table,
    Verdict,
)

if TYPE_CHECKING:
    from ..results import AttackRun, Bound, Estimate

__all__ = ["attack_finding", "estimate_text", "page"]

NOT_A_PROOF = "This does not prove there is none."
_OTHERS = "Another attacker may do better"
_MEASURED = f"One attack. {_OTHERS}: this is evidence of a risk, not of its absence."
_SHORT, _LONG = 6, 12  # decimals


def page(run: AttackRun) -> Page:
    """Return the page of an attack that was run."""
    on = f"reports of {run.release}, simulated here; no software was tested" if run.simulated else "targets"
    card = Card(
        number=1,
        title=(attacker(run.threat).title if run.threat else "") or "The people who were attacked",
        who=(f"Attack: {run.strategy}, on {run.trials:,} {on}.",),
        sentences=(_people_sentence(run),),
        icons=_icons(run),
    )
    return Page(
        kind="attack",
        title=f"Attack on {run.release}" if run.release else "An attack that was run",
        verdict=Verdict(
            text=bound_sentence(run, None),
            word="" if run.complete else "Incomplete",
            state="none" if run.complete else "open",
        ),
        cards=(card,),
        label=(
            Entry(term="Measured", text=_MEASURED, only="document"),
            Entry(term="Not covered", text=sentences.NOT_COVERED, only="document"),
        ),
        tables=(_table(run),),
        notes=tuple(f"{note}." for note in run.notes),
        reproduce=Reproduce(entries=_entries(run)),
    )


def _table(run: AttackRun) -> Table:
    rows = [
        ("right for people who took part (success)", estimate_text(run.success)),
        ("right for people who did not (false_hit)", estimate_text(run.false_hit)),
        ("what taking part adds (rad)", estimate_text(run.rad)),
    ]
    if run.baseline is not None:
        rows.append(("right without the release (baseline)", f"{run.baseline:.4g}"))
    caption = f"What was measured; each interval contains the true value with probability {percent(run.confidence)}"
    return Table(caption=caption, headings=("Measure", "Estimate"), rows=tuple(rows))


def _entries(run: AttackRun) -> tuple[Entry, ...]:
    facts = [] if run.release is None else [("Release", run.release.text)]
    facts += [("Trials", f"{run.trials:,}"), ("dpradar", run.version)]
    entries = [Entry(term=term, text=text, only="document") for term, text in facts]
    return (*entries, *([] if run.seed is None else [Entry(term="Seed", text=str(run.seed))]))


def estimate_text(estimate: Estimate) -> str:
    """Return an estimate and its interval, which is rounded outward."""
    digits = 4 if abs(estimate.estimate) >= SMALL else 7
    middle = rounded(estimate.estimate, digits, "nearest")
    if estimate.low == estimate.high:
        return f"{middle} (exactly)"
    return f"{middle} (between {rounded(estimate.low, digits, 'down')} and {rounded(estimate.high, digits, 'up')})"


def _people_sentence(run: AttackRun) -> str:
    """Return what an attack reached in people, as estimates with their intervals."""
    people, confidence = crowd(run.rad.high), percent(run.confidence)
    if _knows_value(run):
        return (
            f"Of {people:,} people whose record was used, this attack said so for "
            f"{_about(run.success, people, confidence)}; of {people:,} people whose record was not used, it would "
            f"wrongly say so for {_about(run.false_hit, people, confidence)}. Taking part added "
            f"{_about(run.rad, people, confidence)}."
        )
    return (
        f"Of {people:,} people who took part, this attack was right for {_about(run.success, people, confidence)}; of "
        f"{people:,} people whose data were not used, it would be right for "
        f"{_about(run.false_hit, people, confidence)}. Taking part added {_about(run.rad, people, confidence)}."
    )


def _knows_value(run: AttackRun) -> bool:
    """Whether the attacker knows the record and asks whether it was used."""
    return run.threat is not None and attacker(run.threat).knows_value


def _about(estimate: Estimate, people: int, confidence: str) -> str:
    middle, low, high = estimated_count(estimate, people)
    return f"about {middle:,} ({confidence}: {low:,} to {high:,})"


def _icons(run: AttackRun) -> Icons:
    people = crowd(run.rad.high)
    words = RECOGNISED if _knows_value(run) else GUESSED
    anyway = min(max(estimated_count(run.false_hit, people)[0], 0), people)
    extra = min(max(estimated_count(run.rad, people)[0], 0), people - anyway)
    alt = (
        f"{people:,} squares, one a person: about {anyway:,} {words.anyway}, about {extra:,} {words.extra}, about "
        f"{people - anyway - extra:,} {words.rest}."
    )
    return Icons(total=people, right_anyway=anyway, extra=extra, most="about ", words=words, alt=alt)


def bound_sentence(run: AttackRun, upper: Bound | None) -> str:
    """Return what an attack says about a bound on what taking part adds, or by itself where there is none."""
    violated = upper is not None and run.rad.low > upper.value
    digits = _LONG if violated else _SHORT  # what contradicts itself must not look equal
    least = rounded(max(run.rad.low, 0.0), digits, "down")
    if upper is None:
        shown = (
            "These trials do not show that the release helped this attack."
            if run.rad.low <= 0.0
            else f"This attack shows that taking part adds at least {least}."
        )
        return shown if run.maximise == "rad" else f"{shown} {_OTHERS}."
    bound = f"{'' if upper.side == 'exact' else 'at most '}{rounded(upper.value, digits, 'up')}"
    if violated:
        return (
            f"Violation found: this attack shows at least {least}, but the bound is {bound}. Either the release is not "
            "what it is said to be, or one of the two numbers is wrong."
        )
    if run.simulated:
        calculated = f"bound, {bound}" if bound.startswith("at most") else bound
        return f"The simulated attack reaches at least {least}, consistent with the calculated {calculated}."
    return f"No violation found: this attack shows at least {least}, the bound is {bound}. {NOT_A_PROOF}"


def attack_finding(run: AttackRun, upper: Bound | None) -> Finding:
    """Return an attack as evidence beside the bound that it must stay under.

    Examples
    --------
    >>> from dpradar.results import AttackRun, Bound, Estimate
    >>> rates = {"success": (0.24, 0.23, 0.25), "false_hit": (0.1, 0.1, 0.1), "rad": (0.14, 0.13, 0.15)}
    >>> rates = {n: Estimate(estimate=e, low=low, high=high) for n, (e, low, high) in rates.items()}
    >>> run = AttackRun(**rates, trials=10_000, confidence=0.95, strategy="optimal")
    >>> finding = attack_finding(run, Bound(value=0.15, side="upper", rule="thm-4.2"))
    >>> finding.text
    'No violation found: this attack shows at least 0.130000, the bound is at most 0.150000. This does not prove there
    is none.'
    >>> finding.details[0]
    'Of 100 people who took part, this attack was right for about 24 (95 %: 23 to 25); of 100 people whose data were not
    used, it would be right for about 10 (95 %: 10 to 10). Taking part added about 14 (95 %: 13 to 15).'
    """
    violated = upper is not None and run.rad.low > upper.value
    details = [_people_sentence(run), *(f"Note: {note}." for note in run.notes)]
    if run.seed is not None:
        details.append(f"Seed {run.seed}, {run.trials:,} trials.")
    return Finding(
        title=f"Attack: {run.strategy}",
        text=bound_sentence(run, upper),
        state="unmet" if violated else "open",
        word="" if run.complete else "Incomplete",
        details=tuple(details),
        scale=_scale(run, upper),
        section=CHECK if run.simulated else MEASUREMENTS,
    )


def _scale(run: AttackRun, upper: Bound | None) -> Scale:
    top = max(run.rad.high, 0.0 if upper is None else upper.value)
    bound = "" if upper is None else f"bound {'' if upper.side == 'exact' else '≤ '}{shown_limit(upper.value, 'up')}"
    low, high = shown_limit(max(run.rad.low, 0.0), "down"), shown_limit(run.rad.high, "up")
    measured = f"{percent(run.confidence)}: {low} to {high}"
    return Scale(
        end=min(1.0, 1.15 * top) or 1.0,
        upper=None if upper is None else upper.value,
        low=max(run.rad.low, 0.0),
        high=max(run.rad.high, 0.0),
        upper_text=bound,
        lower_text=measured,
        alt=f"What taking part adds:{f' {bound},' if bound else ''} measured {measured}.",
    )
