"""Write a result as a file for people: the end of its name says which kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import ParameterError

__all__ = ["save_report"]


def save_report(result: Any, path: str | Path) -> Path:
    """Write a result as .html or .md and return where it is.

    Examples
    --------
    >>> save_report(None, "risk.pdf")
    Traceback (most recent call last):
    ...
    dpradar.errors.ParameterError: report must be a path that ends in .html or .md; got 'risk.pdf'. Print the page ...
    """
    from . import html, markdown

    where = Path(path)
    writers = {".html": html.report, ".md": markdown.report}
    writer = writers.get(where.suffix.lower())
    if writer is None:
        hint = "Print the page to get a PDF."
        raise ParameterError("report", "a path that ends in .html or .md", repr(str(path)), hint)
    return writer(result, where)
