"""Parts of a page that an assessment fills: card, curve, label and tables."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from ..numerics.rounding import rounded
from . import pictures, sentences, verdicts
from .attackers import attacker
from .citations import bibtex
from .numbers import SNAP, Counts, advantage_counts, blind_counts, count_up, crowd, least, number, relation_words
from .view import Card, Curve, Entry, Icons, Limit, Line, Listing, Mark, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..results import Assessment, Bound
    from ..results.tradeoff import SavedRates

__all__ = [
    "assumed",
    "beside",
    "bound_icons",
    "bound_rows",
    "card_of",
    "citation_of",
    "curve_of",
    "described",
    "label_of",
    "other_table",
    "prior_entries",
    "value_table",
]

_HEADINGS = ("Measure", "Blind guess", "Value", "Side", "Rule", "Theorem", "Assumes")
_SIDES = {"exact": "exact", "upper": "upper", "lower": "lower"}
_FPR = 0.01
_BASELINES = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75)
_NONE = "–"
_ABOVE = 1e-6  # a mark this far above the curve does not belong to it


def bound_rows(result: Assessment) -> list[tuple[str, str, str]]:
    """Return rows (quantity, value in words, rule and theorem)."""
    rows: list[tuple[str, str, str]] = []
    for name, bound in result.bounds.items():
        if bound is None:
            rows.append((name, "none", result.reason.get(name, "")))
        else:
            cites = f" ({'; '.join(bound.cites)})" if bound.cites else ""
            rows.append((name, number(bound, 6), f"{bound.rule}{relation_words(bound)}{least(bound)}{cites}"))
    if result.ceiling is not None:
        rows.append(("ceiling", _ceiling_text(result.ceiling), "rad of publishing the raw data"))
    return rows


def _ceiling_text(ceiling: Bound) -> str:
    """Return the ceiling: to the nearest digit, as it is no risk of this release, or between its two ends."""
    if ceiling.side == "exact" or ceiling.low is None:
        return rounded(ceiling.value, 6, "nearest")
    return f"{rounded(ceiling.low, 4, 'down')} to {rounded(ceiling.value, 4, 'up')}"


def assumed(result: Assessment) -> list[str]:
    """Return what the bounds assume, each thing once."""
    return sorted({note for bound in result.bounds.values() if bound is not None for note in bound.assumes})


def described(result: Assessment) -> list[str]:
    """Return what the description of the release takes for granted: every bound ends its assumptions with it.

    Examples
    --------
    >>> import dpradar as dr
    >>> noise = dr.Laplace(1.0, sensitivity=1.0, neighbours="replace-one")
    >>> [note[:36] for note in described(dr.assess(noise, dr.Threat.baseline(0.1)))]
    ['stated sensitivity 1 (L1 norm, repla']
    """
    notes = [bound.assumes[::-1] for bound in result.bounds.values() if bound is not None]
    shared = takewhile(lambda level: len(set(level)) == 1, zip(*notes, strict=False))
    return [level[0] for level in shared][::-1]


def _icons(counts: Counts | None, told: str) -> Icons | None:
    if counts is None:
        return None
    return Icons(
        total=counts.people,
        right_anyway=counts.before or 0,
        extra=counts.added,
        known=counts.before is not None,
        most=counts.most,
        because=told,
        alt=pictures.icons_sentence(counts, f"right {told}"),
    )


def bound_icons(rad: float, side: str) -> Icons | None:
    """Return the icon array of an advantage of which only the difference is known."""
    people = crowd(rad)
    counts = Counts(
        people=people, before=None, after=None, added=count_up(rad, people), most="" if side == "exact" else "at most "
    )
    return _icons(counts, "because they took part")


def card_of(
    result: Assessment, number: int = 1, name: str = "", limits: tuple[Limit, ...] = (), group: str = ""
) -> Card:
    """Return the card of a threat: led by what taking part adds, then the blind guess."""
    who = attacker(result.threat)
    lead, blind = sentences.advantage_sentence(result), sentences.blind_sentence(result)
    told, note = [lead], ""
    if result.rad is None and blind is not None:
        told, blind, note = [blind], None, lead
    elif blind is not None and (why := sentences.both_sentence(result)):
        blind = f"{blind} {why}"
    if who.kind == "worst" and result.worst_gain is not None:
        told.append(sentences.worst_sentence(result.worst_gain))
    told += beside(result)
    counts, because = advantage_counts(result), "because they took part"
    if counts is None:
        counts, because = blind_counts(result), "after seeing the release"
    lines = [who.title] if name and name != who.title else []
    if who.believes:
        lines.append(f"Believed beforehand: {who.believes}{_skew(result)}")
    return Card(
        number=number,
        title=name or who.title,
        who=tuple(line if line.endswith("?") else f"{line}." for line in lines),
        sentences=tuple(told),
        blind=blind,
        note=note,
        icons=_icons(counts, because),
        limits=limits,
        group=group,
    )


def _skew(result: Assessment) -> str:
    """Return how unequal the answers are that the attacker wants, where the result says so."""
    skew = result.prior.get("skew")
    if skew is None or not result.prior.get("size"):
        return ""
    return f", the likeliest answer {skew:,g} times as likely as the rarest" if skew > 1.0 else ", all equally likely"


def beside(result: Assessment) -> list[str]:
    """Return what must stand beside the leading sentence: the raw data, the rarest value, and what is not known."""
    told = [verdicts.ceiling_sentence(result), verdicts.rarest_sentence(result)]
    if _vacuous(result):
        told.append(verdicts.VACUOUS)
    return [text for text in told if text] + sentences.left_out_sentences(result)


def _vacuous(result: Assessment) -> bool:
    return result.vacuous("success" if result.rad is None else "rad")


def _words(quantity: str) -> str:
    return f"{sentences.QUANTITIES[quantity]} ({quantity})"


class _Notes:
    """What rows assume, each thing once, with a letter to point to it."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def point(self, texts: Iterable[str]) -> str:
        """Return the letters of some notes."""
        return ", ".join(self.found.setdefault(text, _letter(len(self.found))) for text in texts if text) or _NONE


def _letter(index: int) -> str:
    first, second = divmod(index, 26)
    return f"{chr(96 + first) if first else ''}{chr(97 + second)}"


def _row(quantity: str, bound: Bound | None, result: Assessment, notes: _Notes) -> tuple[str, ...]:
    name = _words(quantity)
    if bound is None:
        return (name, _NONE, "none", _NONE, _NONE, _NONE, notes.point([result.reason.get(quantity, "")]))
    compared = quantity in ("success", "gain") and result.baseline is not None
    blind = rounded(result.baseline, 6, "nearest") if compared and result.baseline is not None else _NONE
    told, shown = notes.point(bound.assumes), f"{number(bound, 6)}{least(bound)}"
    name = f"{name}{relation_words(bound)}"
    return (name, blind, shown, _SIDES[bound.side], bound.rule, _theorems(bound.cites), told)


def _theorems(cites: Sequence[str]) -> str:
    """Return citations with the name of a work said once: ``[RAD] Theorem 4.3, Example 4.4``."""
    works: dict[str, list[str]] = {}
    for cite in cites:
        work, found, place = cite.partition("] ")
        works.setdefault(f"{work}] " if found else cite, []).append(place)
    return "; ".join(work + ", ".join(place for place in places if place) for work, places in works.items()) or _NONE


def _rate_row(saved: SavedRates | None, notes: _Notes) -> list[tuple[str, ...]]:
    if saved is None:
        return []
    bound = saved.tpr(_FPR)
    name = f"members found, 1 % of non-members wrongly flagged (tpr){relation_words(bound)}"
    told, shown = notes.point(bound.assumes), f"{number(bound, 6)}{least(bound)}"
    return [(name, _NONE, shown, _SIDES[bound.side], bound.rule, _theorems(bound.cites), told)]


def saved_rates(result: Assessment) -> SavedRates | None:
    """Return the rates of an assessment on their grid, where there are any."""
    return None if result.rates is None else result.rates.saved()


def value_table(results: Sequence[tuple[str, Assessment, SavedRates | None]], caption: str) -> Table:
    """Return every bound with its theorem and what it assumes; each result comes with its number.

    Rows that several results share stand once, with all their numbers.
    """
    merged: dict[tuple[str, ...], list[str]] = {}
    notes = _Notes()
    for prefix, result, saved in results:
        rows = [_row(quantity, bound, result, notes) for quantity, bound in result.bounds.items()]
        if result.ceiling is not None:
            row = _row("ceiling", result.ceiling, result, notes)
            rows.insert(1, (*row[:2], _ceiling_text(result.ceiling), *row[3:]))
        for row in (*rows, *_rate_row(saved, notes)):
            merged.setdefault(row, []).append(prefix)
    names = [(f"{', '.join(prefixes)} · " if any(prefixes) else "", row) for row, prefixes in merged.items()]
    ordered = tuple((f"{name}{row[0]}", *row[1:]) for name, row in names)
    told = tuple((letter, text) for text, letter in notes.found.items())
    return Table(caption=caption, headings=_HEADINGS, rows=ordered, notes=told)


def other_table(result: Assessment, caption: str) -> Table | None:
    """Return the rules that lost or did not apply, and why."""
    if not result.others:
        return None
    rows = tuple(
        (one.rule, one.quantity, _NONE if one.bound is None else number(one.bound, 6), one.why) for one in result.others
    )
    return Table(caption=caption, headings=("Rule", "Measure", "Value", "Why it is not the answer"), rows=rows)


def line_of(saved: SavedRates, name: str) -> Line:
    """Return success against the blind guess: at most the true-positive rate at this false-positive rate.

    [UNIFY] Theorem 3.2: success <= 1 - f(baseline), for every prior, knowledge and goal.
    """
    best = [min(curve[i] for curve in saved.fnr) for i in range(len(saved.fpr))]
    points = tuple((x, min(max(1.0 - fnr, x), 1.0)) for x, fnr in zip(saved.fpr, best, strict=True))
    return Line(name=name, points=points)


def _mark(card: Card, result: Assessment, saved: SavedRates | None, *, alone: bool) -> Mark | str:
    """Return a threat on the curve, or the reason why it is not there."""
    if result.baseline is None or result.success is None:
        return "no blind guess to compare with"
    if result.baseline >= 1.0 - SNAP:
        return "the blind guess is always right, so only what taking part adds speaks"
    if saved is not None and result.success.value > saved.tpr(result.baseline).value + _ABOVE:
        return "the curve compares other data sets than this question does"
    people = crowd(result.baseline)
    after = f"{'' if result.success.side == 'exact' else 'at most '}{count_up(result.success.value, people):,}"
    text = f"{card.title}: from {round(result.baseline * people):,} to {after} of {people:,}"
    return Mark(number=0 if alone else card.number, x=result.baseline, y=result.success.value, text=text)


def curve_of(
    lines: Sequence[tuple[str, SavedRates]], marked: Iterable[tuple[Card, Assessment, SavedRates | None]]
) -> Curve | None:
    """Return the curve of success against the blind guess, with the threats on it; None where no curve is known."""
    if not lines:
        return None
    given = list(marked)
    found = [_mark(card, result, saved, alone=len(given) == 1) for card, result, saved in given]
    marks = tuple(one for one in found if isinstance(one, Mark))
    notes = _missing([(card.number, one) for (card, _, _), one in zip(given, found, strict=True)])
    name, first = lines[0]
    rows = tuple(
        (f"{_share(x)}", "; ".join(f"{_after(saved, x)}{f' ({n})' if len(lines) > 1 else ''}" for n, saved in lines))
        for x in _BASELINES
    )
    alt = pictures.curve_sentence(name if len(lines) > 1 else "", 0.1, first.tpr(0.1).value)
    alt += "".join(f" {f'{mark.number}: ' if mark.number else ''}{mark.text}." for mark in marks)
    return Curve(lines=tuple(line_of(saved, n) for n, saved in lines), marks=marks, alt=alt, rows=rows, notes=notes)


def _missing(found: Sequence[tuple[int, Mark | str]]) -> tuple[str, ...]:
    """Return which threats are not on the curve, and why."""
    reasons: dict[str, list[str]] = {}
    for of, one in found:
        if isinstance(one, str):
            reasons.setdefault(one, []).append("This threat" if len(found) == 1 else str(of))
    return tuple(
        f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not shown: {reason}"
        for reason, names in reasons.items()
    )


def _share(x: float) -> str:
    people = crowd(x)
    return f"{round(x * people):,} of {people:,}"


def _after(saved: SavedRates, x: float) -> str:
    people = crowd(x)
    return f"at most {count_up(saved.tpr(x).value, people):,} of {people:,}"


def label_of(
    results: Sequence[tuple[Card, Assessment]], releases: Sequence[str], neighbours: Sequence[str | None]
) -> tuple[Entry, ...]:
    """Return the label: who is protected from whom, what is compared, assumed, counted, and not covered."""
    told = {sentences.neighbours_sentence(relation): None for relation in neighbours}
    people = [(card.number, attacker(result.threat)) for card, result in results]
    knows = _numbered([(n, one.knows) for n, one in people])
    wants = _numbered([(n, one.wants) for n, one in people])
    entries = [
        Entry(term="Protected", text=sentences.PROTECTED),
        Entry(term="Compared", text=" ".join(told)),
        Entry(term="Attacker", text=_sentence(["Knows the mechanism, the prior and every other record", *knows])),
        Entry(term="Success", text=_sentence(wants)),
        Entry(term="Counted", text=_sentence(list(dict.fromkeys(releases)))),
        Entry(term="Assumes", text=_sentence([note for _, result in results for note in described(result)])),
        Entry(term="Not covered", text=sentences.NOT_COVERED),
    ]
    if any("counted" in result.prior for _, result in results):
        entries.append(Entry(term="These numbers", text=sentences.COUNTED))
    elif any(result.prior for _, result in results):
        entries.append(Entry(term="These numbers", text=sentences.NOT_PRIVATE))
    return tuple(entry for entry in entries if entry.text)


def _numbered(told: Sequence[tuple[int, str]]) -> list[str]:
    """Return each text once, after the numbers of the cards it is about where they differ."""
    found: dict[str, list[str]] = {}
    for of, text in told:
        found.setdefault(text, []).append(str(of))
    if len(found) == 1:
        return [text for text in found if text]
    return [f"{', '.join(numbers)}: {text}" for text, numbers in found.items() if text]


def _sentence(parts: Sequence[str]) -> str:
    unique = list(dict.fromkeys(part for part in parts if part))
    text = "; ".join(unique)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def prior_entries(results: Sequence[tuple[str, Assessment]]) -> list[Entry]:
    """Return what results keep of their priors, as people read it: the size, never labels or frequencies."""
    found: dict[str, list[str]] = {}
    for name, result in results:
        if result.prior:
            size = result.prior.get("size", 0)
            found.setdefault(f"{f'{size:,} values' if size else 'continuous'}{_skew(result)}", []).append(name)
    many = len(results) > 1
    return [Entry(term=f"Prior of {', '.join(ns)}" if many else "Prior", text=text) for text, ns in found.items()]


def citation_of(results: Iterable[Assessment], version: str) -> Listing:
    """Return the BibTeX of the works that the bounds rest on."""
    bounds = [bound for result in results for bound in result.bounds.values() if bound is not None]
    return Listing(title="BibTeX", text=bibtex([cite for bound in bounds for cite in bound.cites], version))
