"""Results as Markdown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..params import visible
from .page import HEADINGS
from .pages import page_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .page import Card, Entry, Limit, Page, Section, Table

__all__ = ["markdown", "report"]

_SIGNS = re.compile(r"([\\`*_\[\]|~])")
_FIRST = re.compile(
    r"^(\d+(?=[.)](?:\s|$))|(?=[#+=-]))(.)"
)  # what makes a heading or a list at the beginning of a line
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_MARKS = {"met": "✓", "unmet": "✕", "open": "!", "none": ""}


def plain(text: str) -> str:
    r"""Return text in which nothing is read as Markdown or HTML, on one line.

    Examples
    --------
    >>> print(plain("<b>a|b</b>"))
    &lt;b&gt;a\|b&lt;/b&gt;
    """
    escaped = _FIRST.sub(r"\1\\\2", _SIGNS.sub(r"\\\1", " ".join(text.split())))
    for sign, entity in _ENTITIES.items():
        escaped = escaped.replace(sign, entity)
    return escaped


def _code(text: str) -> list[str]:
    """Return a text as a block that nothing inside can end."""
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in re.findall(r"`+", text)), default=0))
    return [f"{fence}text", *text.splitlines(), fence]


def _table(table: Table) -> list[str]:
    rows = [table.headings, *table.rows]
    lines = [f"| {' | '.join(plain(cell) for cell in row)} |" for row in rows]
    notes = [f"- {plain(letter)}: {plain(text)}" for letter, text in table.notes]
    head = [f"**{plain(table.caption)}**", "", lines[0], f"|{' --- |' * len(table.headings)}"]
    return [*head, *lines[1:], "", *notes, *([""] if notes else [])]


def _limits(limits: Iterable[Limit]) -> list[str]:
    lines = [f"- {_MARKS[limit.state]} {plain(limit.text)}" for limit in limits]
    return [*lines, ""] if lines else []


def _card(card: Card, *, numbered: bool) -> list[str]:
    group = f" ({plain(card.group)})" if card.group else ""
    lines = [f"### {f'{card.number}. ' if numbered else ''}{plain(card.title)}{group}", ""]
    if card.who:
        lines += [f"_{plain(' '.join(card.who))}_", ""]
    for text in (*card.sentences, card.blind, card.note):
        if text:
            lines += [plain(text), ""]
    return [*lines, *_limits(card.limits)]


def _entries(entries: Iterable[Entry]) -> list[str]:
    return [*(f"- **{plain(entry.term)}:** {plain(entry.text)}" for entry in entries), ""]


def _head(page: Page) -> list[str]:
    lines = [f"# {plain(page.title)}", ""]
    if page.description:
        lines += [plain(page.description), ""]
    word = f"{_MARKS[page.verdict.state]} {plain(page.verdict.word)}. " if page.verdict.word else ""
    lines += [f"> **{word}{plain(page.verdict.text)}**"]
    return [*lines, *(line for text in page.verdict.more for line in (">", f"> {plain(text)}")), ""]


def _evidence(page: Page) -> list[str]:
    return [line for section in page.sections for line in _section(section)]


def _section(section: Section) -> list[str]:
    lines = [f"## {plain(section.title)}", "", *([plain(section.text), ""] if section.text else [])]
    for one in section.findings:
        word = f"{_MARKS[one.state]} {plain(one.word)}. ".lstrip() if one.word else ""
        lines += [f"### {word}{plain(one.title)}", "", plain(one.text), "", *(f"- {plain(t)}" for t in one.details), ""]
    return lines


def _utility(page: Page) -> list[str]:
    if page.utility is None:
        return []
    lines = [f"## {HEADINGS['utility']}", ""]
    for text in page.utility.sentences:
        lines += [plain(text), ""]
    lines += _limits(page.utility.limits)
    return [*lines, *(line for table in page.utility.tables for line in _table(table))]


def _curve(page: Page) -> list[str]:
    if page.curve is None:
        return []
    lines = [f"## {HEADINGS['curve']}", "", "| Guessing blindly | After the release |", "| --- | --- |"]
    lines += [f"| {plain(before)} | {plain(after)} |" for before, after in page.curve.rows]
    return [
        *lines,
        "",
        *(f"- {f'{mark.number}: ' if mark.number else ''}{plain(mark.text)}" for mark in page.curve.marks),
        "",
    ]


def _reproduce(page: Page) -> list[str]:
    lines = [f"## {HEADINGS['reproduce']}", "", *_entries(page.reproduce.entries)]
    for listing in page.reproduce.listings:
        lines += [f"### {plain(listing.title)}", "", *_code(listing.text), ""]
    return lines


def markdown(result: Any) -> str:
    """Return a result as Markdown.

    Examples
    --------
    >>> import dpradar as dr
    >>> print(markdown(dr.assess(dr.GRR(m=10, epsilon=1.0))).splitlines()[0])
    # Disclosure risk of GRR(m=10, epsilon=1.0)
    """
    page = page_of(result)
    lines = _head(page)
    if page.cards:
        lines += [f"## {HEADINGS['cards']}", ""]
        lines += [line for card in page.cards for line in _card(card, numbered=len(page.cards) > 1)]
    lines += _curve(page)
    if page.label:
        lines += [f"## {HEADINGS['label']}", "", *_entries(page.label)]
    if page.tables:
        lines += [f"## {HEADINGS['tables']}", ""]
        lines += [line for table in page.tables for line in _table(table)]
    lines += [line for chart in page.charts for line in (f"## {plain(chart.title)}", "", *_table(chart.table))]
    lines += [*_utility(page), *_evidence(page)]
    lines += [line for note in page.notes for line in (plain(note), "")]
    if page.decision:
        lines += [f"## {HEADINGS['decision']}", "", *_entries(page.decision)]
    return visible("\n".join([*lines, *_reproduce(page)]).rstrip() + "\n")


def report(result: Any, path: str | Path) -> Path:
    """Write a result as Markdown and return where it is."""
    where = Path(path)
    where.write_text(markdown(result), encoding="utf-8")
    return where
