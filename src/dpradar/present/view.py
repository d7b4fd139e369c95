"""The view model: what every renderer shows. All strings are final: rounded to the side that never understates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..results import Assessment, AttackRun, AuditResult, Calibration
    from ..results.accounting import Accounting
    from ..results.correlation import Correlation
    from ..results.lint import LintReport
    from ..results.run import RunResult

__all__ = [
    "Card",
    "Chart",
    "Curve",
    "Entry",
    "Finding",
    "Icons",
    "Limit",
    "Line",
    "Listing",
    "Mark",
    "Page",
    "Reproduce",
    "Scale",
    "Section",
    "State",
    "Table",
    "Utility",
    "Verdict",
    "page_of",
]

# none: no limit was given, so nothing is praised or blamed; open: not shown either way.
State = Literal["none", "met", "open", "unmet"]

CHECK = "Check of the calculation (simulated here; no software was tested)"
MEASUREMENTS = "Attacks that were measured"
AUDITS = "Audits of software"
NO_AUDIT = "None supplied."
_KINDS = ("", CHECK, MEASUREMENTS, AUDITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer in one sentence; ``word`` says the state, so that colour is never the only sign of it."""

    text: str
    state: State = "none"
    word: str = ""
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Icons:
    """``total`` squares, one a person: right anyway, right because of the release, and the rest.

    ``known`` says whether the rest are wrong; where only the difference is known, the bound does not say.
    """

    total: int
    right_anyway: int
    extra: int
    alt: str
    known: bool = True
    most: str = ""
    because: str = "because they took part"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table; the first cell of a row names it. Notes stand below it, each after the letter that cells point to."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Utility:
    """What the noise costs, and what half and twice of it would do."""

    sentences: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A bound and what was found below it, on one axis from 0 to ``end``."""

    end: float
    upper: float | None
    low: float
    high: float | None
    upper_text: str
    found_text: str
    alt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One attack or audit: the sentence that counts, details, and a picture under the bound."""

    title: str
    text: str
    state: State
    details: tuple[str, ...] = ()
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
        found = [Section(title=title or self.evidence_title, findings=own) for title, own in kinds.items() if own]
        if kinds[CHECK] and not kinds[AUDITS]:
            found.append(Section(title=AUDITS, text=NO_AUDIT))
        return tuple(found)


def page_of(
    result: Assessment | Calibration | AttackRun | AuditResult | RunResult | Accounting | LintReport | Correlation,
) -> Page:
    """Return the page of a result.

    Examples
    --------
    >>> import dpradar as dr
    >>> page = page_of(dr.assess(dr.GRR(m=10, epsilon=1.0), dr.Threat(dr.Prior.uniform(10))))
    >>> page.verdict.text
    'Because they took part, an attacker who learns from the data is right about 14 more people in every 100.'
    """
    from ..errors import ParameterError
    from . import accounting_view, correlation_view, pages, runs

    builders: dict[str, Callable[[Any], Page]] = {
        "Assessment": pages.assessment_page,
        "Calibration": pages.calibration_page,
        "AttackRun": pages.attack_page,
        "AuditResult": pages.audit_page,
        "RunResult": runs.run_page,
        "Accounting": accounting_view.accounting_page,
        "LintReport": accounting_view.lint_page,
        "Correlation": correlation_view.correlation_page,
    }
    builder = builders.get(type(result).__name__)
    if builder is None:
        raise ParameterError("page_of", f"given one of {', '.join(builders)}", type(result).__name__)
    return builder(result)
