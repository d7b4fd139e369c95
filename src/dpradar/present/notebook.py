"""Results in a notebook: static HTML, at most 20 kB, no script, style that touches nothing else."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra
from ..params import visible
from .html import environment
from .pages import page_of

if TYPE_CHECKING:
    from .page import Page

__all__ = ["LARGEST", "notebook_html"]

LARGEST = 20_000  # bytes of one output


@cache
def _style() -> str:
    return files("dpradar.present").joinpath("templates", "notebook.css").read_text(encoding="utf-8")


def notebook_html(result: Any) -> str | None:
    """Return a result as a notebook shows it; None without jinja2, so that the notebook shows the text instead.

    Examples
    --------
    >>> import dpradar as dr
    >>> html = notebook_html(dr.assess(dr.GRR(m=10, epsilon=1.0)))
    >>> len(html) <= 20_000, "<script" in html
    (True, False)
    """
    try:
        return _fitting(page_of(result))
    except MissingExtra:
        return None


def _fitting(page: Page) -> str:
    """Return as much of the page as fits: the tables go first, then cards from the end."""
    for tables, count in [(page.tables, len(page.cards)), *(((), n) for n in range(len(page.cards), 0, -1))]:
        html = _render(page, tables, count)
        if len(html.encode()) <= LARGEST:
            return html
    return _render(page, (), 0)


def _render(page: Page, tables: Any, count: int) -> str:
    from markupsafe import Markup

    style = Markup(_style())  # noqa: S704 - our own style sheet
    template = environment().get_template("notebook.html")
    left = len(page.cards) - count
    return visible(template.render(page=page, style=style, cards=page.cards[:count], left=left, tables=tables))
