"""Parts of pages that assessments fill: card, curve, label and tables."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from ..numerics.rounding import rounded
from . import pictures, sentences, verdicts
from .attackers import attacker
from .citations import bibtex
from .numbers import SNAP, Counts, advantage_counts, blind_counts, count_up, crowd, least, number, relation_words
from .page import (
    AFTER_RELEASE,
    GUESSED,
    RECOGNISED,
    Card,
    Curve,
    Entry,
    Icons,
    IconWords,
    Limit,
    Line,
    Listing,
    Mark,
    Only,
    Table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..results import Assessment, Bound
    from ..results.tradeoff import SavedRates

__all__ = [
    "bound_icons",
    "card_of",
    "citation_of",
    "curve_of",
    "described",
    "label_of",
    "other_table",
    "prior_entries",
    "saved_rates",
    "unprotected_word",
    "value_table",
]

_HEADINGS = ("Measure", "Blind guess", "Value", "Exact or bound", "Rule", "Theorem", "Assumes")
_SIDES = {"exact": "exact", "upper": "upper", "lower": "lower"}
_FPR = 0.01
_BASELINES = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75)
_NONE = "–"
_ABOVE = 1e-6  # a mark this far above the curve does not belong to it
_CAPTION = "Every bound, with its rule and what it assumes"
_NARROW = (0, 1, 2, 4, 6)  # the words of a value say its side, and a rule has its theorem


def _ceiling_text(ceiling: Bound) -> str:
    """Return the ceiling: to the nearest digit, as it is no risk of this release, or between its two ends."""
    if ceiling.side == "exact" or ceiling.low is None:
        return rounded(ceiling.value, 6, "nearest")
    return f"{rounded(ceiling.low, 4, 'down')} to {rounded(ceiling.value, 4, 'up')}"


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


def _icons(counts: Counts | None, words: IconWords) -> Icons | None:
    if counts is None:
        return None
    return Icons(
        total=counts.people,
        right_anyway=counts.before or 0,
        extra=counts.added,
        rest_is_wrong=counts.before is not None,
        most=counts.most,
        words=words,
        alt=pictures.icons_sentence(counts, words),
    )


def bound_icons(rad: float, side: str) -> Icons | None:
    """Return the icon array of an advantage of which only the difference is known."""
    people = crowd(rad)
    counts = Counts(
        people=people, before=None, after=None, added=count_up(rad, people), most="" if side == "exact" else "at most "
    )
    return _icons(counts, GUESSED)


def card_of(
    result: Assessment, number: int = 1, name: str = "", limits: tuple[Limit, ...] = (), group: str = ""
) -> Card:
    """Return the card of a threat: led by what taking part adds, then the blind guess."""
    who = attacker(result.threat)
    advantage, blind = sentences.advantage_sentence(result), sentences.blind_sentence(result)
    leading, note = [advantage], ""
    if result.rad is None and blind is not None:
        leading, blind, note = [blind], None, advantage
    elif blind is not None and (why := sentences.both_sentence(result)):
        blind = f"{blind} {why}"
    if who.kind == "worst" and result.worst_gain is not None:
        leading.append(sentences.worst_sentence(result.worst_gain))
    counts, words = advantage_counts(result), RECOGNISED if who.knows_value else GUESSED
    if counts is None:
        counts, words = blind_counts(result), AFTER_RELEASE
    lines = [who.title] if name and name != who.title else []
    if who.believes:
        lines.append(f"{who.believes}{_skew(result)}")
    return Card(
        number=number,
        title=name or who.title,
        who=tuple(line if line.endswith("?") else f"{line}." for line in lines),
        sentences=(*leading, *_beside(result)),
        blind=blind,
        note=note,
        icons=_icons(counts, words),
        limits=limits,
        group=group,
    )


def _skew(result: Assessment) -> str:
    """Return how unequal the answers are that the attacker wants, where the result says so."""
    skew = result.prior.get("skew")
    if skew is None or not result.prior.get("size"):
        return ""
    has_classes = result.threat.options.get("goal", {}).get("kind", "exact") in ("labels", "columns")
    if skew == 1.0:
        return f" ({'all classes' if has_classes else 'all'} equally likely)"
    noun = "likeliest class" if has_classes else "likeliest"
    return f" (the {noun} {skew:,g} times as likely as the rarest)"


def _beside(result: Assessment) -> list[str]:
    """Return what must stand beside the leading sentence: the raw data, the rarest value, and what is not known."""
    vacuous = verdicts.VACUOUS if _vacuous(result) else None
    beside = (verdicts.ceiling_sentence(result), verdicts.rarest_sentence(result), vacuous)
    return [text for text in beside if text] + sentences.left_out_sentences(result)


def _vacuous(result: Assessment) -> bool:
    return result.vacuous("success" if result.rad is None else "rad")


def unprotected_word(results: Iterable[Assessment]) -> str:
    """Return what a verdict says first where a release hardly protects; empty where it does."""
    assessments = list(results)
    if any(result.says_nothing for result in assessments):
        return verdicts.VACUOUS_WORD
    remarks = [verdicts.remark(result) for result in assessments]
    return sentences.capital(next((text for text in remarks if text), "").removeprefix(": "))


class _Notes:
    """What rows assume, each thing once, with a letter to point to it."""

    def __init__(self) -> None:
        self.letters: dict[str, str] = {}

    def point(self, texts: Iterable[str]) -> str:
        """Return the letters of some notes."""
        return ", ".join(self.letters.setdefault(text, _letter(len(self.letters))) for text in texts if text) or _NONE


def _letter(index: int) -> str:
    first, second = divmod(index, 26)
    return f"{chr(96 + first) if first else ''}{chr(97 + second)}"


def _row(quantity: str, bound: Bound | None, result: Assessment, notes: _Notes) -> tuple[str, ...]:
    """Return the cells of a row, with its short name before them."""
    words = f"{sentences.QUANTITIES[quantity]} ({quantity})"
    if bound is None:
        reason = notes.point([result.reason.get(quantity, "")])
        return (quantity, words, _NONE, "none", _NONE, _NONE, _NONE, reason)
    compared = quantity in ("success", "gain") and result.baseline is not None
    blind = rounded(result.baseline, 6, "nearest") if compared and result.baseline is not None else _NONE
    value = _ceiling_text(bound) if quantity == "ceiling" else f"{number(bound, 6)}{least(bound)}"
    return _bound_cells(quantity, words, blind, value, bound, notes)


def _bound_cells(name: str, words: str, blind: str, value: str, bound: Bound, notes: _Notes) -> tuple[str, ...]:
    relation, assumed = relation_words(bound), notes.point(bound.assumes)
    side, theorems = _SIDES[bound.side], _theorems(bound.cites)
    return (f"{name}{relation}", f"{words}{relation}", blind, value, side, bound.rule, theorems, assumed)


def _theorems(cites: Sequence[str]) -> str:
    """Return citations with the name of a work said once: ``[RAD] Theorem 4.3, Example 4.4``."""
    works: dict[str, list[str]] = {}
    for cite in cites:
        work, bracket, place = cite.partition("] ")
        works.setdefault(f"{work}] " if bracket else cite, []).append(place)
    return "; ".join(work + ", ".join(place for place in places if place) for work, places in works.items()) or _NONE


def _rate_rows(saved: SavedRates | None, notes: _Notes) -> list[tuple[str, ...]]:
    if saved is None:
        return []
    bound, words = saved.tpr(_FPR), "members found, 1 % of non-members wrongly flagged (tpr)"
    return [_bound_cells(f"tpr at fpr {_FPR:g}", words, _NONE, f"{number(bound, 6)}{least(bound)}", bound, notes)]


def saved_rates(result: Assessment) -> SavedRates | None:
    """Return the rates of an assessment on their grid, where there are any."""
    return None if result.rates is None else result.rates.saved()


def value_table(results: Sequence[tuple[str, Assessment, SavedRates | None]], only: Only = "") -> Table:
    """Return every bound with its theorem and what it assumes; each result comes with its number.

    Rows that several results share stand once, with all their numbers.
    """
    merged: dict[tuple[str, ...], list[str]] = {}
    notes = _Notes()
    for prefix, result, saved in results:
        # Where the value is known beforehand success is 1 and the gain 0 whatever is released.
        hidden = ("success", "gain") if result.baseline == 1.0 and result.rad is not None else ()
        bounds = {name: bound for name, bound in result.bounds.items() if name not in hidden}
        rows = [_row(quantity, bound, result, notes) for quantity, bound in bounds.items()]
        if result.ceiling is not None:
            rows.insert(1, _row("ceiling", result.ceiling, result, notes))
        for row in (*rows, *_rate_rows(saved, notes)):
            merged.setdefault(row, []).append(prefix)
    prefixes = [f"{', '.join(numbers)} · " if any(numbers) else "" for numbers in merged.values()]
    return Table(
        caption=_CAPTION,
        headings=_HEADINGS,
        rows=tuple((f"{prefix}{row[1]}", *row[2:]) for prefix, row in zip(prefixes, merged, strict=True)),
        names=tuple(f"{prefix}{row[0]}" for prefix, row in zip(prefixes, merged, strict=True)),
        notes=tuple((letter, text) for text, letter in notes.letters.items()),
        narrow=_NARROW,
        only=only,
    )


def other_table(result: Assessment, caption: str) -> Table | None:
    """Return the rules that lost or did not apply, and why; those that gave no bound for the same reason in one row."""
    if not result.others:
        return None
    without_bound: dict[str, list[tuple[str, str]]] = {}
    for one in result.others:
        if one.bound is None:
            without_bound.setdefault(one.why, []).append((one.rule, one.quantity))
    rows: list[tuple[str, ...]] = [
        (one.rule, one.quantity, number(one.bound, 6), one.why) for one in result.others if one.bound is not None
    ]
    for why, names in without_bound.items():
        rules, quantities = (", ".join(dict.fromkeys(column)) for column in zip(*names, strict=True))
        rows.append((rules, quantities, _NONE, why))
    return Table(caption=caption, headings=("Rule", "Measure", "Value", "Why it was not used"), rows=tuple(rows))


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
        return "this attacker knows the record, so there is nothing to guess; see what taking part adds"
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
    threats = list(marked)
    places = [_mark(card, result, saved, alone=len(threats) == 1) for card, result, saved in threats]
    marks = tuple(place for place in places if isinstance(place, Mark))
    notes = _missing([(card.number, place) for (card, _, _), place in zip(threats, places, strict=True)])
    name, first = lines[0]
    rows = tuple(
        (f"{_share(x)}", "; ".join(f"{_after(saved, x)}{f' ({n})' if len(lines) > 1 else ''}" for n, saved in lines))
        for x in _BASELINES
    )
    alt = pictures.curve_sentence(name if len(lines) > 1 else "", 0.1, first.tpr(0.1).value)
    alt += "".join(f" {f'{mark.number}: ' if mark.number else ''}{mark.text}." for mark in marks)
    return Curve(lines=tuple(line_of(saved, n) for n, saved in lines), marks=marks, alt=alt, rows=rows, notes=notes)


def _missing(places: Sequence[tuple[int, Mark | str]]) -> tuple[str, ...]:
    """Return which threats are not on the curve, and why."""
    reasons: dict[str, list[str]] = {}
    for number_of_card, place in places:
        if isinstance(place, str):
            reasons.setdefault(place, []).append("This threat" if len(places) == 1 else str(number_of_card))
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
    compared = dict.fromkeys(sentences.neighbours_sentence(relation) for relation in neighbours)
    people = [(card.number, attacker(result.threat)) for card, result in results]
    knows = _numbered([(number_of_card, who.knows) for number_of_card, who in people])
    wants = _numbered([(number_of_card, who.wants) for number_of_card, who in people])
    entries = [
        Entry(term="Whose risk", text=sentences.WHOSE_RISK, only="document"),
        Entry(term="Compared", text=" ".join(compared), only="document"),
        Entry(term="Attacker", text=_sentence([sentences.ATTACKER_KNOWLEDGE, *knows])),
        Entry(term="Success", text=_sentence(wants), only="document"),
        Entry(term="Releases included", text=_sentence(releases), only="document"),
        Entry(term="Assumes", text=_sentence([note for _, result in results for note in described(result)])),
        Entry(term="Not covered", text=sentences.NOT_COVERED),
    ]
    if any("counted" in result.prior for _, result in results):
        entries.append(Entry(term="These numbers", text=sentences.COUNTED))
    elif any(result.prior for _, result in results):
        entries.append(Entry(term="These numbers", text=sentences.NOT_PRIVATE, only="document"))
    return tuple(entry for entry in entries if entry.text)


def _numbered(texts: Sequence[tuple[int, str]]) -> list[str]:
    """Return each text once, after the numbers of the cards it is about where they differ."""
    numbers: dict[str, list[str]] = {}
    for number_of_card, text in texts:
        numbers.setdefault(text, []).append(str(number_of_card))
    if len(numbers) == 1:
        return [text for text in numbers if text]
    return [f"{', '.join(cards)}: {text}" for text, cards in numbers.items() if text]


def _sentence(parts: Sequence[str]) -> str:
    text = "; ".join(dict.fromkeys(part for part in parts if part))
    return f"{sentences.capital(text)}." if text else ""


def prior_entries(results: Sequence[tuple[str, Assessment]]) -> list[Entry]:
    """Return what results keep of their priors, as people read it: the size, never labels or frequencies."""
    names: dict[str, list[str]] = {}
    for name, result in results:
        if result.prior:
            size = result.prior.get("size", 0)
            names.setdefault(f"{f'{size:,} values' if size else 'continuous'}{_skew(result)}", []).append(name)
    terms = [f"Prior of {', '.join(of)}" if len(results) > 1 else "Prior" for of in names.values()]
    return [Entry(term=term, text=text, only="document") for term, text in zip(terms, names, strict=True)]


def citation_of(results: Iterable[Assessment], version: str) -> Listing:
    """Return the BibTeX of the works that the bounds rest on."""
    bounds = [bound for result in results for bound in result.bounds.values() if bound is not None]
    return Listing(title="BibTeX", text=bibtex([cite for bound in bounds for cite in bound.cites], version))
