"""The page of a result: what every renderer shows, as plain data.

All strings are final sentences and numbers, rounded to the side that never understates. Text, HTML, Markdown, notebooks
and the explorer are renderings of it; escaping, and making hidden characters visible, is left to them. What is marked
``only="document"`` is left out of the text for a terminal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

__all__ = [
    "AFTER_RELEASE",
    "AUDITS",
    "CHECK",
    "GUESSED",
    "HEADINGS",
    "MEASUREMENTS",
    "RECOGNISED",
    "Card",
    "Chart",
    "Curve",
    "Entry",
    "Finding",
    "IconWords",
    "Icons",
    "Limit",
    "Line",
    "Listing",
    "Mark",
    "Only",
    "Page",
    "Reproduce",
    "Scale",
    "Section",
    "State",
    "Table",
    "Utility",
    "Verdict",
]

# none: no limit was given, so nothing is praised or blamed; open: not shown either way.
State = Literal["none", "met", "open", "unmet"]
Only = Literal["", "document"]  # where a part is shown: everywhere, or not in a terminal

HEADINGS = {
    "cards": "What could someone learn about one person?",
    "curve": "How much better than guessing?",
    "label": "What these numbers cover",
    "tables": "Every number and where it comes from",
    "utility": "What does the noise cost?",
    "decision": "Decision record, as it was entered",
    "reproduce": "Reproduce",
}

CHECK = "Check of the calculation (simulated here; no software was tested)"
MEASUREMENTS = "Attacks that were measured"
AUDITS = "Audits of software"
_NO_AUDIT = "None supplied: the software that adds the noise was not tested."
_KINDS = ("", CHECK, MEASUREMENTS, AUDITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer in one sentence; ``word`` says the state, so that colour is never the only sign of it."""

    text: str
    state: State = "none"
    word: str = ""
    more: tuple[str, ...] = ()


class IconWords(NamedTuple):
    """What the kinds of squares of an icon array are."""

    extra: str
    anyway: str
    rest: str


GUESSED = IconWords("right because they took part", "right by chance", "wrong")
RECOGNISED = IconWords("recognised because they took part", "named in any case", "not recognised")
AFTER_RELEASE = IconWords("right after seeing the release", "right by guessing blindly", "wrong")


@dataclass(frozen=True, slots=True, kw_only=True)
class Icons:
    """``total`` squares, one a person: right anyway, right because of the release, and the rest.

    ``words`` say what the second, the first and the rest are. ``rest_is_wrong`` is false where only the difference is
    known: then the rest may be right or wrong.
    """

    total: int
    right_anyway: int
    extra: int
    alt: str
    rest_is_wrong: bool = True
    most: str = ""
    words: IconWords = GUESSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One limit beside what is reached."""

    text: str
    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One threat: who attacks, the sentence that leads, the blind guess, and the limits.

    Where no advantage is given the ``note`` says why, and the blind guess leads.
    """

    number: int
    title: str
    who: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    blind: str | None = None
    note: str = ""  # why no advantage is given, where none is
    icons: Icons | None = None
    limits: tuple[Limit, ...] = ()
    group: str = ""  # the release, where several are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Success against the blind guess for one release; every point is an upper bound."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A threat on the curve: number of its card, blind guess, success, and the interval of an attack where one ran.

    The number is 0 where there is one card only, which then needs none.
    """

    number: int
    x: float
    y: float
    text: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Success against the blind guess, with the threats of the page on it and some points as text."""

    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]
    alt: str
    rows: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """What taking part adds when one parameter is varied: one line for each threat, and the same as a table."""

    title: str
    parameter: str
    lines: tuple[Line, ...]
    alt: str
    table: Table
    at: float | None = None  # where the release stands


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A term and what it is here."""

    term: str
    text: str
    only: Only = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table; the first cell of a row names it. Notes stand below it, each after the letter that cells point to.

    A terminal has less room: there, ``narrow`` says which columns are shown, and ``names`` are shorter first cells.
    """

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[tuple[str, str], ...] = ()
    narrow: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    only: Only = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Utility:
    """What the noise costs, and what half and twice of it would do."""

    sentences: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A bound and what was measured below it, on one axis from 0 to ``end``."""

    end: float
    upper: float | None
    low: float
    high: float | None
    upper_text: str
    lower_text: str
    alt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One attack, audit or broken rule: the sentence that counts, details, and a picture under the bound."""

    title: str
    text: str
    state: State
    word: str = ""  # says the state, as that of a verdict does
    details: tuple[str, ...] = ()
    only: Only = ""  # of the details
    scale: Scale | None = None
    section: str = ""  # the kind of evidence; empty where the page has one kind only


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Evidence of one kind; ``text`` says that there is none."""

    title: str
    findings: tuple[Finding, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A text to copy: a spec, a command, a citation."""

    title: str
    text: str
    only: Only = "document"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduce:
    """What is needed to get the same numbers again."""

    entries: tuple[Entry, ...] = ()
    listings: tuple[Listing, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One result as people see it, whatever shows it."""

    kind: str
    title: str
    verdict: Verdict
    description: str = ""
    cards: tuple[Card, ...] = ()
    curve: Curve | None = None
    label: tuple[Entry, ...] = ()
    tables: tuple[Table, ...] = ()
    others: tuple[Table, ...] = ()  # rules that lost, and why
    charts: tuple[Chart, ...] = ()
    utility: Utility | None = None
    evidence: tuple[Finding, ...] = ()
    evidence_title: str = "Evidence"  # of findings that name no section
    reproduce: Reproduce = field(default_factory=Reproduce)
    decision: tuple[Entry, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def sections(self) -> tuple[Section, ...]:
        """The evidence by kind, so that a simulation is not taken for a test of software; audits may be missing."""
        kinds = {title: tuple(one for one in self.evidence if one.section == title) for title in _KINDS}
        sections = [Section(title=title or self.evidence_title, findings=own) for title, own in kinds.items() if own]
        if kinds[CHECK] and not kinds[AUDITS]:
            sections.append(Section(title=AUDITS, text=_NO_AUDIT))
        return tuple(sections)
