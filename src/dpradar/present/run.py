"""The page of a run: several threats, limits, releases that are composed or compared."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ..numerics.rounding import rounded
from ..results import AttackRun
from . import assessment_parts as parts
from . import pictures, sentences, verdicts
from .attack import attack_finding
from .audit import audit_finding
from .numbers import number
from .page import Chart, Curve, Entry, Finding, Limit, Line, Listing, Page, Reproduce, Table, Utility
from .run_verdict import AssessedThreat, limit_state, run_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..results import Assessment, AuditResult, Bound
    from ..results.limit_result import LimitResult
    from ..results.run import NoiseResult, ReleaseResult, RunResult, SweepResult
    from ..results.tradeoff import SavedRates

    Evidence = AttackRun | AuditResult

__all__ = ["page"]

_COSTS = {"error": "Off by less than", "frequency_error": "Standard error of a rare share"}
_TERMS = {"by": "Assessed by", "date": "Assessed on"}  # older specs say "by"
_NOT_STATED = "not stated"
_NOISE = {0.5: "half the noise", 1.0: "as released", 2.0: "twice the noise"}
_LESS_OR_MORE = {0.5: "less noise", 2.0: "more noise"}  # of an epsilon, which is no scale of the noise
_NO_LIMIT = Limit(text="No limit is set for this attacker.", state="open")


def _limits(limits: Sequence[LimitResult]) -> tuple[Limit, ...]:
    return tuple(Limit(text=sentences.limit_sentence(limit), state=limit_state(limit)) for limit in limits)


def _threats(result: RunResult) -> list[AssessedThreat]:
    threats: list[AssessedThreat] = []
    several = len(result.releases) > 1
    for release in result.releases:
        earlier: set[str] = set()
        for threat in release.assessments:
            group = (release.name or release.release.text) if several else ""
            limits = _limits(threat.limits) or ((_NO_LIMIT,) if result.met is not None else ())
            card = parts.card_of(threat.assessment, len(threats) + 1, threat.name, limits, group)
            # What is the same for several attackers on one release is said once.
            card = replace(card, sentences=tuple(text for text in card.sentences if text not in earlier))
            earlier |= {text for text in [verdicts.rarest_sentence(threat.assessment)] if text}
            threats.append(AssessedThreat(card, release, threat, parts.saved_rates(threat.assessment)))
    return _once(threats)


def _once(threats: Sequence[AssessedThreat]) -> list[AssessedThreat]:
    """Return the cards with the reason why two attackers gain different numbers on the first that needs it only."""
    why = f" {sentences.BOTH_TRUE}"
    first = next((i for i, one in enumerate(threats) if (one.card.blind or "").endswith(why)), 0)
    return [
        replace(one, card=replace(one.card, blind=one.card.blind.removesuffix(why)))
        if one.card.blind is not None and i != first
        else one
        for i, one in enumerate(threats)
    ]


def _paired(
    result: RunResult, threats: Sequence[AssessedThreat]
) -> list[tuple[ReleaseResult, Evidence, AssessedThreat | None]]:
    """Return every attack and audit with the threat that it was run against."""
    pairs: list[tuple[ReleaseResult, Evidence, AssessedThreat | None]] = []
    for release in result.releases:
        own = [one for one in threats if one.release is release]
        pairs += [(release, evidence, _attacked(evidence, own)) for evidence in release.evidence]
    return pairs


def _attacked(evidence: Evidence, threats: Sequence[AssessedThreat]) -> AssessedThreat | None:
    """Return the threat that an attack was run against.

    An attack of another run has no place in this one. Of threats that read the same it is compared with the one that
    allows most, so that what exceeds it exceeds all.
    """
    if not isinstance(evidence, AttackRun) or evidence.threat is None:
        return None
    described = evidence.threat
    if described.id:
        return next((one for one in threats if described.describes_same(one.assessment.threat)), None)
    alike = [one for one in threats if one.assessment.threat.text == described.text]
    return max(alike, key=lambda one: 1.0 if one.assessment.rad is None else one.assessment.rad.value, default=None)


def _with_attacks(
    curve: Curve | None, paired: Sequence[tuple[ReleaseResult, Evidence, AssessedThreat | None]], *, many: bool
) -> Curve | None:
    """Return the curve with the interval of an attack under the threat that it was run against."""
    if curve is None:
        return None
    runs = {
        against.card.number if many else 0: one
        for _, one, against in paired
        # An attack that maximises something else says nothing about the success that the curve bounds.
        if against is not None and isinstance(one, AttackRun) and one.maximise == "success"
    }
    marks = tuple(
        replace(mark, low=runs[mark.number].success.low, high=runs[mark.number].success.high)
        if mark.number in runs
        else mark
        for mark in curve.marks
    )
    return replace(curve, marks=marks)


def _lines(threats: Sequence[AssessedThreat]) -> list[tuple[str, SavedRates]]:
    """Return one curve for each release: threats of one release share it."""
    curves: dict[str, SavedRates] = {}
    for one in threats:
        if one.saved is not None:
            curves.setdefault(one.card.group or one.release.release.text, one.saved)
    return list(curves.items())


def _cost(name: str, cost: float, reports: int) -> str:
    if not math.isfinite(cost):
        return "any"
    return rounded(cost, 2, "up") if name == "error" else f"about {cost / math.sqrt(reports):.2g}"


def _reports(release: ReleaseResult) -> int:
    """Return how many reports a frequency is estimated from, as the limit on it says."""
    reports = [limit.at for limit in release.utility if limit.quantity == "frequency_error" and limit.at is not None]
    return int(reports[0]) if reports and reports[0] > 1 else sentences.REPORTS


def _number(bound: Bound | None) -> str:
    return "none" if bound is None else number(bound, 4)


def _added(assessment: Assessment) -> str:
    return _number(assessment.rad or assessment.gain)


def _noise_table(release: ReleaseResult, caption: str, numbers: Sequence[int]) -> Table | None:
    """Return risk and accuracy with half, the same and twice the noise."""
    if not release.neighbours_cost:
        return None
    costs = [name for name in _COSTS if name in release.cost]
    adds = [f"Taking part adds ({i})" if len(numbers) > 1 else "Taking part adds" for i in numbers]
    reports = _reports(release)
    rows = {one.factor: _noise_row(one, costs, reports) for one in release.neighbours_cost}
    if 1.0 not in rows:
        own = [_cost(name, release.cost[name], reports) for name in costs]
        rows[1.0] = (_NOISE[1.0], *own, *(_added(threat.assessment) for threat in release.assessments))
    headings = ("Noise", *(_COSTS[name] for name in costs), *adds)
    return Table(caption=caption, headings=headings, rows=tuple(rows[factor] for factor in sorted(rows)))


def _noise_row(one: NoiseResult, costs: Sequence[str], reports: int) -> tuple[str, ...]:
    spent = [_cost(name, one.cost[name], reports) if name in one.cost else "–" for name in costs]
    names = _LESS_OR_MORE if one.parameter == "epsilon" else _NOISE
    name = names.get(one.factor, f"{one.factor:g} times the noise")
    return (f"{name} ({one.parameter} {one.value:.6g})", *spent, *(_added(a) for a in one.assessments))


def _utility(result: RunResult, threats: Sequence[AssessedThreat]) -> Utility | None:
    several = len(result.releases) > 1
    lines: list[str] = []
    limits: list[Limit] = []
    tables: list[Table] = []
    for release in result.releases:
        name = release.name or release.release.text
        costs = (sentences.cost_sentence(key, cost, _reports(release)) for key, cost in release.cost.items())
        lines += [f"{name}: {text}" if several else text for text in costs if text is not None]
        limits += _limits(release.utility)
        numbers = [one.card.number for one in threats if one.release is release]
        table = _noise_table(release, f"Risk and accuracy with other noise{f': {name}' if several else ''}", numbers)
        tables += [] if table is None else [table]
    if not (lines or limits or tables):
        return None
    return Utility(sentences=tuple(lines), limits=tuple(limits), tables=tuple(tables))


def _evidence(
    pairs: Sequence[tuple[ReleaseResult, Evidence, AssessedThreat | None]], *, one_card: bool
) -> tuple[Finding, ...]:
    findings: list[Finding] = []
    several = len({id(release) for release, _, _ in pairs}) > 1
    for release, evidence, against in pairs:
        if isinstance(evidence, AttackRun):
            finding = attack_finding(evidence, None if against is None else against.assessment.rad)
        else:
            finding = audit_finding(evidence)
        place = f"{against.card.number}. " if against is not None and not one_card else ""
        name = f"{release.name}: " if several and release.name else ""
        findings.append(replace(finding, title=f"{place}{name}{finding.title}", only="document"))
    return tuple(findings)


def _charts(result: RunResult) -> tuple[Chart, ...]:
    """Return what happens when a parameter is varied."""
    return tuple(_chart(sweep, several=len(result.sweeps) > 1) for sweep in result.sweeps if sweep.points)


def _chart(sweep: SweepResult, *, several: bool) -> Chart:
    lines = []
    for i, name in enumerate(sweep.threats):
        bounds = [(point.value, point.bounds[i]["rad"] or point.bounds[i]["gain"]) for point in sweep.points]
        points = tuple((value, bound.value) for value, bound in bounds if bound is not None)
        if points:
            lines.append(Line(name=name, points=points))
    costs = [name for name in _COSTS if all(name in point.cost for point in sweep.points)]
    rows = tuple(
        (
            f"{point.value:.6g}",
            *(_number(one["rad"] or one["gain"]) for one in point.bounds),
            *(_cost(name, point.cost[name], sentences.REPORTS) for name in costs),
        )
        for point in sweep.points
    )
    headings = (sweep.parameter, *(f"Taking part adds: {name}" for name in sweep.threats), *(_COSTS[n] for n in costs))
    title = f"What if {sweep.parameter} were different?{f' ({sweep.release})' if several else ''}"
    return Chart(
        title=title,
        parameter=sweep.parameter,
        lines=tuple(lines),
        alt=pictures.sweep_sentence(sweep.parameter, [(line.name, line.points[0], line.points[-1]) for line in lines]),
        table=Table(caption=f"What taking part adds, by {sweep.parameter}", headings=headings, rows=rows),
    )


def _counted(release: ReleaseResult) -> list[str]:
    released = [part.text for part in release.parts or (release.release,)]
    dates = release.dates if len(release.dates) == len(released) else ("",) * len(released)
    return [f"{part} ({date})" if date else part for part, date in zip(released, dates, strict=True)]


def _reproduce(result: RunResult, threats: Sequence[AssessedThreat]) -> Reproduce:
    facts = [("Made", result.made), ("dpradar", result.version), ("Spec hash", result.spec_hash)]
    facts += [(f"Release {i}", release.release.text) for i, release in enumerate(result.releases, 1)]
    entries = [Entry(term=term, text=text, only="document") for term, text in facts if text]
    entries += parts.prior_entries([(str(one.card.number), one.assessment) for one in threats])
    texts = [("Command", result.command), ("Spec", result.spec_text)]
    listings = [Listing(title=title, text=text) for title, text in texts if text]
    listings.append(parts.citation_of([one.assessment for one in threats], result.version))
    return Reproduce(entries=tuple(entries), listings=tuple(listings))


def _others(threats: Sequence[AssessedThreat]) -> tuple[Table, ...]:
    captions = (f"Other bounds considered: {one.card.number}. {one.card.title}" for one in threats)
    tables = (parts.other_table(one.assessment, caption) for one, caption in zip(threats, captions, strict=True))
    return tuple(table for table in tables if table is not None)


def _decision(result: RunResult, threats: Sequence[AssessedThreat]) -> tuple[Entry, ...]:
    """Return who decided what and when, and the limits with where they come from; nothing where nothing was decided."""
    if not result.decision:
        return ()
    entries = [
        Entry(term=_TERMS.get(key, key.replace("_", " ").capitalize()), text=str(text))
        for key, text in result.decision.items()
    ]
    terms = [entry.term for entry in entries]
    entries += [Entry(term=term, text=_NOT_STATED) for term in ("Assessed by", "Decided by") if term not in terms]
    numbers: dict[str, list[str]] = {}
    for one in threats:
        numbers.setdefault(_limits_in_words(one.threat.limits), []).append(str(one.card.number))
    several = len(threats) > 1
    texts = [f"{', '.join(cards)}: {text}" if several else text for text, cards in numbers.items()]
    texts += [f"accuracy: {sentences.limit_words(limit)}" for release in result.releases for limit in release.utility]
    return (*entries, *([Entry(term="Limits", text="; ".join(texts))] if result.met is not None else []))


def _limits_in_words(limits: Sequence[LimitResult]) -> str:
    return ", ".join(map(sentences.limit_words, limits)) or "no limit"


def page(result: RunResult) -> Page:
    """Return the page of a run."""
    threats = _threats(result)
    pairs = _paired(result, threats)
    many = len(threats) > 1
    values = [(str(one.card.number) if many else "", one.assessment, one.saved) for one in threats]
    marked = [(one.card, one.assessment, one.saved) for one in threats]
    return Page(
        kind="run",
        title=result.title or "Disclosure risk",
        description=result.description,
        verdict=run_verdict(result, threats),
        cards=tuple(one.card for one in threats),
        curve=_with_attacks(parts.curve_of(_lines(threats), marked), pairs, many=many),
        label=parts.label_of(
            [(one.card, one.assessment) for one in threats],
            [part for release in result.releases for part in _counted(release)],
            [one.assessment.neighbours for one in threats],
        ),
        tables=(parts.value_table(values, only="document"),) if values else (),
        others=_others(threats),
        utility=_utility(result, threats),
        charts=_charts(result),
        evidence=_evidence(pairs, one_card=not many),
        reproduce=_reproduce(result, threats),
        decision=_decision(result, threats),
    )
