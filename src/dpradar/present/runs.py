"""The page of a run: several threats, limits, releases that are composed or compared."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ..numerics.rounding import rounded
from ..results import AttackRun
from . import parts, pictures, sentences, verdicts
from .numbers import number
from .pages import finding_of
from .run_verdicts import Shown, limit_state, run_verdict
from .view import Chart, Curve, Entry, Finding, Limit, Line, Listing, Page, Reproduce, Table, Utility

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..results import Assessment, AuditResult, Bound
    from ..results.change import LimitResult
    from ..results.run import NoiseResult, ReleaseResult, RunResult, SweepResult
    from ..results.tradeoff import SavedRates

    Evidence = AttackRun | AuditResult

__all__ = ["run_page"]

_CAPTION = "Every bound, with its theorem and what it assumes"
_COSTS = {"error": "Off by less than", "frequency_error": "Frequency off by"}
_TERMS = {"by": "Assessed by", "date": "Assessed on"}  # older specs say "by"
_NOT_STATED = "not stated"
_NOISE = {0.5: "half the noise", 1.0: "as released", 2.0: "twice the noise"}


def _limits(limits: Sequence[LimitResult]) -> tuple[Limit, ...]:
    return tuple(Limit(text=sentences.limit_sentence(limit), state=limit_state(limit)) for limit in limits)


def _shown(result: RunResult) -> list[Shown]:
    found: list[Shown] = []
    several = len(result.releases) > 1
    for release in result.releases:
        told: set[str] = set()
        for threat in release.assessments:
            group = (release.name or release.release) if several else ""
            limits = _limits(threat.limits)
            card = parts.card_of(threat.assessment, len(found) + 1, threat.name, limits, group)
            # What is the same for several attackers on one release is said once.
            card = replace(card, sentences=tuple(text for text in card.sentences if text not in told))
            told |= {text for text in [verdicts.rarest_sentence(threat.assessment)] if text}
            found.append(Shown(card, release, threat, parts.saved_rates(threat.assessment)))
    return _once(found)


def _once(shown: Sequence[Shown]) -> list[Shown]:
    """Return the cards with the reason why two attackers gain different numbers on the first that needs it only."""
    why = f" {sentences.BOTH_TRUE}"
    first = next((i for i, one in enumerate(shown) if (one.card.blind or "").endswith(why)), 0)
    return [
        replace(one, card=replace(one.card, blind=one.card.blind.removesuffix(why)))
        if one.card.blind is not None and i != first
        else one
        for i, one in enumerate(shown)
    ]


def _paired(result: RunResult, shown: Sequence[Shown]) -> list[tuple[ReleaseResult, Evidence, Shown | None]]:
    """Return every attack and audit with the threat that it was run against.

    Threats may read the same in words; their attacks come in the same order.
    """
    found: list[tuple[ReleaseResult, Evidence, Shown | None]] = []
    for release in result.releases:
        left = [one for one in shown if one.release is release]
        for one in release.evidence:
            against = next((card for card in left if _attacks(one, card)), None)
            if against is not None:
                left.remove(against)
            found.append((release, one, against))
    return found


def _attacks(one: Evidence, shown: Shown) -> bool:
    return isinstance(one, AttackRun) and one.threat == shown.assessment.threat


def _with_attacks(
    curve: Curve | None, paired: Sequence[tuple[ReleaseResult, Evidence, Shown | None]], *, many: bool
) -> Curve | None:
    """Return the curve with the interval of an attack under the threat that it was run against."""
    if curve is None:
        return None
    runs = {
        against.card.number if many else 0: one
        for _, one, against in paired
        # An attack that was made for something else says nothing about the success that the curve bounds.
        if against is not None and isinstance(one, AttackRun) and one.maximise == "success"
    }
    marks = tuple(
        replace(mark, low=runs[mark.number].success.low, high=runs[mark.number].success.high)
        if mark.number in runs
        else mark
        for mark in curve.marks
    )
    return replace(curve, marks=marks)


def _lines(shown: Sequence[Shown]) -> list[tuple[str, SavedRates]]:
    """Return one curve for each release: threats of one release share it."""
    found: dict[str, tuple[str, SavedRates]] = {}
    for one in shown:
        if one.saved is not None:
            found.setdefault(one.card.group or one.release.release, (one.card.group or one.release.release, one.saved))
    return list(found.values())


def _cost(name: str, cost: float, reports: int) -> str:
    if not math.isfinite(cost):
        return "any"
    return rounded(cost, 2, "up") if name == "error" else f"about {cost / math.sqrt(reports):.2g}"


def _reports(release: ReleaseResult) -> int:
    """Return how many reports a frequency is estimated from, as the limit on it says."""
    asked = [limit.at for limit in release.utility if limit.quantity == "frequency_error" and limit.at is not None]
    return int(asked[0]) if asked and asked[0] > 1 else sentences.REPORTS


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
    name = _NOISE.get(one.factor, f"{one.factor:g} times the noise")
    return (f"{name} ({one.parameter} {one.value:.6g})", *spent, *(_added(a) for a in one.assessments))


def _utility(result: RunResult, shown: Sequence[Shown]) -> Utility | None:
    several = len(result.releases) > 1
    told: list[str] = []
    limits: list[Limit] = []
    tables: list[Table] = []
    for release in result.releases:
        name = release.name or release.release
        costs = (sentences.cost_sentence(key, cost, _reports(release)) for key, cost in release.cost.items())
        found = [text for text in costs if text is not None]
        told += [f"{name}: {text}" if several else text for text in found]
        limits += _limits(release.utility)
        numbers = [one.card.number for one in shown if one.release is release]
        table = _noise_table(release, f"Risk and accuracy with other noise{f': {name}' if several else ''}", numbers)
        tables += [] if table is None else [table]
    if not (told or limits or tables):
        return None
    return Utility(sentences=tuple(told), limits=tuple(limits), tables=tuple(tables))


def _evidence(paired: Sequence[tuple[ReleaseResult, Evidence, Shown | None]], *, one_card: bool) -> tuple[Finding, ...]:
    found: list[Finding] = []
    several = len({id(release) for release, _, _ in paired}) > 1
    for release, one, against in paired:
        finding = finding_of(one, None if against is None else against.assessment.rad)
        place = f"{against.card.number}. " if against is not None and not one_card else ""
        name = f"{release.name}: " if several and release.name else ""
        found.append(replace(finding, title=f"{place}{name}{finding.title}"))
    return tuple(found)


def _charts(result: RunResult) -> tuple[Chart, ...]:
    """Return what happens when a parameter is varied."""
    return tuple(_chart(sweep, several=len(result.sweeps) > 1) for sweep in result.sweeps if sweep.points)


def _chart(sweep: SweepResult, *, several: bool) -> Chart:
    lines = []
    for i, name in enumerate(sweep.threats):
        bounds = [(point.value, point.bounds[i]["rad"] or point.bounds[i]["gain"]) for point in sweep.points]
        known = tuple((value, bound.value) for value, bound in bounds if bound is not None)
        if known:
            lines.append(Line(name=name, points=known))
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
    given = release.parts or (release.release,)
    dates = release.dates if len(release.dates) == len(given) else ("",) * len(given)
    return [f"{part} ({date})" if date else part for part, date in zip(given, dates, strict=True)]


def _reproduce(result: RunResult, shown: Sequence[Shown]) -> Reproduce:
    known = [("Made", result.made), ("dpradar", result.version), ("Spec hash", result.spec_hash)]
    entries = [Entry(term=term, text=text) for term, text in known if text]
    entries += [Entry(term=f"Release {i}", text=one.release) for i, one in enumerate(result.releases, 1)]
    entries += parts.prior_entries([(str(one.card.number), one.assessment) for one in shown])
    texts = [("Command", result.command), ("Spec", result.spec_text)]
    listings = [Listing(title=title, text=text) for title, text in texts if text]
    listings.append(parts.citation_of([one.assessment for one in shown], result.version))
    return Reproduce(entries=tuple(entries), listings=tuple(listings))


def _others(shown: Sequence[Shown]) -> tuple[Table, ...]:
    found = (parts.other_table(one.assessment, f"Other bounds considered: {_name(one)}") for one in shown)
    return tuple(table for table in found if table is not None)


def _name(one: Shown) -> str:
    return f"{one.card.number}. {one.card.title}"


def _decision(result: RunResult) -> tuple[Entry, ...]:
    """Return who decided what and when, and the limits with where they come from; nothing where nothing was decided."""
    if not result.decision:
        return ()
    entries = [
        Entry(term=_TERMS.get(key, key.replace("_", " ").capitalize()), text=str(text))
        for key, text in result.decision.items()
    ]
    named = [entry.term for entry in entries]
    entries += [Entry(term=t, text=_NOT_STATED) for t in ("Assessed by", "Decided by") if t not in named]
    limits = [limit for r in result.releases for limit in (*(x for t in r.assessments for x in t.limits), *r.utility)]
    told = dict.fromkeys(map(sentences.limit_words, limits))
    return (*entries, *([Entry(term="Limits", text="; ".join(told))] if told else []))


def run_page(result: RunResult) -> Page:
    """Return the page of a run."""
    shown = _shown(result)
    paired = _paired(result, shown)
    many = len(shown) > 1
    values = [(str(one.card.number) if many else "", one.assessment, one.saved) for one in shown]
    marked = [(one.card, one.assessment, one.saved) for one in shown]
    return Page(
        kind="run",
        title=result.title or "Disclosure risk",
        description=result.description,
        verdict=run_verdict(result, shown),
        cards=tuple(one.card for one in shown),
        curve=_with_attacks(parts.curve_of(_lines(shown), marked), paired, many=many),
        label=parts.label_of(
            [(one.card, one.assessment) for one in shown],
            [part for release in result.releases for part in _counted(release)],
            [one.assessment.neighbours for one in shown],
        ),
        tables=(parts.value_table(values, _CAPTION),) if values else (),
        others=_others(shown),
        utility=_utility(result, shown),
        charts=_charts(result),
        evidence=_evidence(paired, one_card=not many),
        reproduce=_reproduce(result, shown),
        decision=_decision(result),
    )
