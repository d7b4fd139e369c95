"""Pages as text for a terminal: the answer first, no pictures, and nothing that is for documents only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..params import visible
from .page import HEADINGS
from .pages import page_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .page import Card, Page, Section, Table

__all__ = ["explain", "table_lines", "text"]


def explain(result: Any) -> str:
    """Return a result as text.

    Examples
    --------
    >>> import dpradar as dr
    >>> print(explain(dr.assess(dr.GRR(m=10, epsilon=1.0), dr.Threat(dr.Prior.uniform(10)))).splitlines()[0])
    Of every 100 people, an attacker who goes by the data guesses 14 more correctly because they took part.
    """
    return text(page_of(result))


def text(page: Page) -> str:
    """Return a page as text: verdict, title, threats, tables, costs, evidence, what is assumed, how to repeat it."""
    word = f"{page.verdict.word.upper()}. " if page.verdict.word else ""
    numbered = len(page.cards) > 1
    blocks = [
        [f"{word}{page.verdict.text}", *page.verdict.more],
        [line for line in (page.title, page.description) if line],
        *(_card(card, numbered=numbered) for card in page.cards),
        *(_captioned(table) for table in page.tables if not table.only),
        _utility(page),
        *(_section(section) for section in page.sections),
        [f"{entry.term}: {entry.text}" for entry in page.label if not entry.only],
        [f"Note: {note}" for note in page.notes],
        _reproduce(page),
    ]
    return visible("\n\n".join("\n".join(block) for block in blocks if block))


def _indented(lines: Iterable[str | None], spaces: int) -> list[str]:
    return [f"{' ' * spaces}{line}" for line in lines if line]


def _card(card: Card, *, numbered: bool) -> list[str]:
    number = f"{card.number}. " if numbered else ""
    group = f" [{card.group}]" if card.group else ""
    limits = (limit.text for limit in card.limits)
    lines = (*card.who, *card.sentences, card.blind, card.note, *limits)
    return [f"{number}{card.title}{group}", *_indented(lines, 3)]


def _captioned(table: Table) -> list[str]:
    notes = (f"{letter}: {note}" for letter, note in table.notes)
    return [f"{table.caption}:", *_indented([*table_lines(table), *notes], 2)]


def table_lines(table: Table) -> list[str]:
    r"""Return a table in columns, without its caption and its notes; only the columns that a terminal has room for.

    Examples
    --------
    >>> from dpradar.present.page import Table
    >>> rows = (("what taking part adds", "0.1", "exact"), ("right", "0.25", "upper"))
    >>> table = Table(
    ...     caption="", headings=("Measure", "Value", "Side"), rows=rows, narrow=(0, 1), names=("rad", "success")
    ... )
    >>> print("\n".join(table_lines(table)))
    Measure  Value
    rad      0.1
    success  0.25
    """
    rows = [(name, *row[1:]) for name, row in zip(table.names, table.rows, strict=True)] if table.names else table.rows
    columns = table.narrow or range(len(table.headings))
    cells = [[row[i] for i in columns] for row in (table.headings, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _utility(page: Page) -> list[str]:
    if page.utility is None:
        return []
    limits = (limit.text for limit in page.utility.limits)
    return [HEADINGS["utility"], *_indented([*page.utility.sentences, *limits], 2)]


def _section(section: Section) -> list[str]:
    lines = [f"{section.title}:", *_indented([section.text], 2)]
    for finding in section.findings:
        word = f"{finding.word.upper()}. " if finding.word else ""
        lines += _indented([f"{word}{finding.title}."], 2)
        lines += _indented([finding.text, *(() if finding.only else finding.details)], 4)
    return lines


def _reproduce(page: Page) -> list[str]:
    entries = [f"{entry.term}: {entry.text}" for entry in page.reproduce.entries if not entry.only]
    return entries + [f"{listing.title}: {listing.text}" for listing in page.reproduce.listings if not listing.only]
