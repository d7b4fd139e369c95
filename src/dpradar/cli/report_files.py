"""Reports as files: their names are checked before the work, and each one written is told."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import MissingExtra, ParameterError
from ..params import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["checked_reports", "report_option", "write_reports"]

report_option = click.option(
    "--report", "pages", multiple=True, metavar="FILE", help="Also write a page to read: .html or .md."
)
_SUFFIXES = (".html", ".md")


def checked_reports(names: Sequence[str], option: str = "--report") -> list[Path]:
    """Return the files to write, or say what is wrong with one of them."""
    paths = [Path(name) for name in names]
    for path in paths:
        if path.suffix not in _SUFFIXES:
            hint = f"Such as {path.stem or 'risk'}.html."
            raise ParameterError(option, "a file that ends in .html or .md", repr(str(path)), hint)
        if not path.parent.is_dir():
            raise ParameterError(
                option, "a file in a folder that exists", repr(str(path)), f"Make {path.parent} first."
            )
    if any(path.suffix == ".html" for path in paths) and find_spec("jinja2") is None:
        raise MissingExtra("jinja2", "report")
    return paths


def write_reports(result: Any, paths: Sequence[Path]) -> None:
    """Write the reports and say where they are."""
    for path in paths:
        try:
            result.report(path)
        except OSError as error:
            raise ParameterError("the report", "written to a file", repr(str(path)), f"{error.strerror}.") from None
        click.echo(visible(f"wrote {path}"), err=True)
