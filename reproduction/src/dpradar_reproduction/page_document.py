"""The page of recomputed figures: published statements, our numbers, verdicts, pictures; one file without network."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from dpradar import __version__
from dpradar.errors import ParameterError
from dpradar.present.html import environment as report_environment
from dpradar.present.html import stylesheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_POINT, _LEGIBLE = 4.0 / 3.0, 560.0  # pixels; a picture of several panels narrower than this cannot be read
__all__ = ["FigureEntry", "ReproductionPage", "SourceSection", "StatementRow", "inline_svg", "page_html"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementRow:
    """One line of a figure: what is published, what came out, and the verdict in a word and in a sentence."""

    where: str
    says: str
    printed: str
    what: str
    ours: str
    state: str
    word: str
    why: str = ""
    page: str = ""
    allowed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureEntry:
    """One figure or table."""

    name: str
    title: str
    what: str
    state: str
    word: str
    statements: Sequence[StatementRow] = ()
    svg: str = ""
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    more_rows: int = 0
    time: str = ""
    files: Sequence[str] = ()
    notes: Sequence[str] = ()
    error: str = ""

    @property
    def anchor(self) -> str:
        """Return the id of its place on the page."""
        return self.name.replace(":", "-").replace(".", "-")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSection:
    """The figures and tables of one source."""

    anchor: str
    title: str
    figures: Sequence[FigureEntry]
    omitted: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproductionPage:
    """The whole page."""

    title: str
    lead: str
    lines: Sequence[str]
    quick: bool
    counts: Sequence[tuple[str, str, int, str]]  # state, word, how many, meaning
    stand_ins: Sequence[tuple[str, str]]
    sections: Sequence[SourceSection]
    facts: Mapping[str, str]


def inline_svg(text: str, prefix: str, label: str) -> str:
    """Return a picture for the inside of a page: its ids get a prefix, its style does not leave it, numbers are short.

    Examples
    --------
    >>> inline_svg(
    ...     '<?xml version="1.0"?><svg width="4pt" height="2pt" viewBox="0 0 4 2"><path id="a" d="M 1.23556 2"/>'
    ...     '<use xlink:href="#a"/><text>0.015</text></svg>',
    ...     "x",
    ...     "two < three",
    ... )
    '<svg viewBox="0 0 4 2" style="max-width:8px;min-width:5px" role="img" aria-label="two &lt; three"><path ...'
    """
    from markupsafe import escape

    body = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.S)
    body = re.sub(r"<style[^>]*>.*?</style>", "", body, flags=re.S)
    body = re.sub(r"\bid=\"([^\"]+)\"", rf'id="{prefix}-\1"', body)
    body = re.sub(r"(?:xlink:)?href=\"#([^\"]+)\"", rf'href="#{prefix}-\1"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", body)
    # Coordinates inside of tags only: a letter of the text between them must not change.
    body = re.sub(r"<[^>]+>", lambda tag: re.sub(r"-?\d+\.\d{3,}", _short, tag[0]), body)
    body = re.sub(r">\s+<", "><", body).strip()
    head, rest = body.split(">", 1)
    box = re.search(r'viewBox="([^"]+)"', head)
    if box is None:
        raise ParameterError("svg", "a picture with a viewBox", repr(head[:60]))
    # As wide as there is room for, up to half as large again as drawn; small screens scroll rather than shrink letters.
    width = float(box[1].split()[2]) * _POINT
    size = f'style="max-width:{1.5 * width:.0f}px;min-width:{min(width, _LEGIBLE):.0f}px"'
    return f'<svg {box[0]} {size} role="img" aria-label="{escape(label)}">{rest}'


def _short(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}"


def page_html(page: ReproductionPage) -> str:
    """Return the page as HTML that needs nothing else."""
    environment = report_environment()  # first: it says what to install where jinja2 is missing
    from jinja2 import PackageLoader
    from markupsafe import Markup

    page_style = files("dpradar.present").joinpath("templates", "page.css")
    own_style = files("dpradar_reproduction").joinpath("templates", "reproduction.css")
    sheets = [sheet.read_text(encoding="utf-8") for sheet in (page_style, own_style)]
    own = environment.overlay(loader=PackageLoader("dpradar_reproduction", "templates"))
    template = own.get_template("reproduction.html")
    return template.render(
        page=page,
        version=__version__,
        style=Markup(stylesheet() + "".join(sheets)),  # noqa: S704 - style sheets of our own
        safe=lambda svg: Markup(svg),  # noqa: S704, PLW0108 - pictures of our own; their texts were escaped when drawn
    )
