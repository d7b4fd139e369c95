"""``dpradar report result.json``: a saved result as a page."""

from __future__ import annotations

import json
from pathlib import Path

import click

from .main import json_option
from .report_files import checked_reports, write_reports

__all__ = ["report_command"]


@click.command("report")
@click.argument("file", metavar="RESULT")
@click.option(
    "--out", "outs", multiple=True, metavar="FILE", help="What to write: .html or .md. Beside RESULT by default."
)
@json_option
def report_command(file: str, outs: tuple[str, ...], *, as_json: bool) -> int:
    """Turn a saved result into an HTML or Markdown report.

    RESULT is what --json printed or save() wrote: of assess, calibrate, attack, audit, measure, run,
    correlate, account or lint.
    """
    from ..results import load

    result = load(file)
    paths = checked_reports(outs or [str(Path(file).with_suffix(".html"))], "--out")
    write_reports(result, paths)
    if as_json:
        click.echo(json.dumps({"schema": "dpradar/report/1", "files": [str(path) for path in paths]}))
    return 0
