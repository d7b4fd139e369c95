"""``dpradar lint PIPELINE`` and ``dpradar lint --sampler ...``: what is wrong with a claim of differential privacy."""

from __future__ import annotations

import json
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..audits.audit_options import AuditOptions
from ..audits.import_by_name import import_object
from ..errors import ParameterError
from ..options.reading import FLAGS
from ..options.tables import options_in
from .described_options import takes
from .main import EXIT_REFUTED, EXIT_UNMET, json_option
from .progress import quiet_option, repeat_command, show_progress
from .report_files import checked_reports, report_option, write_reports
from .sampler_options import CLAIM, PAIRS, claim_options, pairs_of, stated_claim

if TYPE_CHECKING:
    from ..results.lint import LintReport

__all__ = ["lint_command"]

_SAMPLER = options_in(AuditOptions, "domain", "one_value", "trials", "significance", "seed")
_ONLY_OF_SAMPLERS = (*CLAIM, PAIRS, *(option.name for option in _SAMPLER if option.default in (None, False)))


@click.command("lint")
@click.argument("file", required=False)
@click.option("--sampler", metavar="MODULE:FUNCTION", help="Implementation to draw from, instead of FILE.")
@claim_options
@takes(_SAMPLER)
@click.option(
    "--survey",
    "as_survey",
    is_flag=True,
    help="Show what is wrong with 17 mechanisms for trajectories in the literature.",
)
@report_option
@quiet_option
@json_option
def lint_command(**options: Any) -> int:
    """Check a claim of differential privacy for errors.

    FILE describes a pipeline, as for `dpradar account`. --sampler looks for known defects of an implementation, in
    outputs that are drawn from it; `dpradar audit` uses all of them for one lower bound on epsilon. Exit code 5: the
    claim is refuted; 3: the description does not support the claim; 0: no problem found, which does not prove the
    claim.
    """
    if options["as_survey"]:
        sources = {"a FILE": options["file"], "--sampler": options["sampler"], "--report": options["pages"]}
        conflicting = [word for word, value in sources.items() if value]
        if conflicting:
            hint = "It lists published mechanisms."
            raise ParameterError(
                "--survey", "given without FILE, --sampler and --report", " and ".join(conflicting), hint
            )
        return _survey(as_json=options["as_json"])
    if (options["file"] is None) == (options["sampler"] is None):
        got = "both" if options["file"] is not None else "neither"
        raise ParameterError("lint", "given a FILE or --sampler", got)
    for name in _ONLY_OF_SAMPLERS if options["sampler"] is None else ():
        if options[name] not in (None, False):
            hint = "A file states its claim in [claim]."
            raise ParameterError(FLAGS(name), "used with --sampler", "a FILE", hint)
    paths = checked_reports(options["pages"])
    report = _of_file(options["file"]) if options["sampler"] is None else _of_sampler(options)
    click.echo(json.dumps(report.to_dict()) if options["as_json"] else report.explain())
    write_reports(report, paths)
    return EXIT_REFUTED if report.refuted else EXIT_UNMET if report.unproven else 0


def _of_file(path: str) -> LintReport:
    from ..granularity import lint
    from ..spec.pipeline import read_pipeline

    return replace(lint(read_pipeline(path)), command=repeat_command(None))


def _of_sampler(options: dict[str, Any]) -> LintReport:
    from ..granularity import lint_sampler

    sampler = import_object(options["sampler"], "--sampler")
    settings = AuditOptions.of(options).of_samplers
    others = {option.name for option in options_in(AuditOptions)} - set(options)  # an audit has more
    with show_progress("lint") as progress:
        report = lint_sampler(
            sampler,
            claim=stated_claim(options),
            pairs=pairs_of(options),
            progress=progress.count,
            **{name: value for name, value in settings.items() if name not in others},
        )
    return replace(report, command=repeat_command(report.seed))


def _survey(*, as_json: bool) -> int:
    from ..granularity import survey

    rows = survey()
    if as_json:
        mechanisms = [{name: getattr(row, name) for name in row.__slots__} for row in rows]
        click.echo(json.dumps({"schema": "dpradar/survey/1", "mechanisms": mechanisms}))
        return 0
    for row in rows:
        rules = f" [{', '.join(row.rules)}]" if row.rules else ""
        click.echo(f"{row.key}: {row.verdict}{rules}. {row.reference} ({row.year}).")
        click.echo(textwrap.indent(textwrap.fill(row.why, 100), "  "))
    wrong = sum(row.thesis_verdict == "wrong" for row in rows)
    click.echo(f"\n{wrong} of {len(rows)} claims fail (doctoral thesis, Table 3.2). Ours rests on its descriptions.")
    return 0
