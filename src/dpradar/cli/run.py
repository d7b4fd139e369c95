"""``dpradar run spec.toml``: assess what a file describes, write a report, gate a build."""

from __future__ import annotations

import json
import shlex

import click

from ..errors import ParameterError
from .main import EXIT_INTERRUPTED, EXIT_UNMET, EXIT_VACUOUS, json_option
from .progress import quiet_option, show_progress
from .report_files import checked_reports, write_reports

__all__ = ["run_command"]


@click.command("run")
@click.argument("file", metavar="SPEC")
@click.option(
    "--check",
    is_flag=True,
    help="Exit with code 3 if a limit is not met, or if the release hardly protects people better than publishing the "
    "raw data; see above.",
)
@click.option(
    "--report", "reports", multiple=True, metavar="FILE", help="Write a report: .html or .md. May be repeated."
)
@click.option(
    "--sweep", metavar="NAME=LOW:HIGH:COUNT", help="Vary a parameter of the release, such as epsilon=0.1:10:50."
)
@quiet_option
@json_option
def run_command(file: str, reports: tuple[str, ...], sweep: str | None, *, check: bool, as_json: bool) -> int:
    """Assess what a spec file describes; with --check, fail where a limit is not met.

    SPEC is a TOML file; `dpradar new` writes one to start from.

    Without --check a limit that is not met is reported and does not change the exit code. With it, exit code 3: a limit
    on risk or accuracy is not met, or the risk of a threat with limits is at least 90 % of the risk of publishing the
    raw data. To accept that, set acknowledge = "near-ceiling" in one of its limits.
    A threat without a limit is reported and never causes exit code 3; --check refuses a spec without any limit (exit
    code 2).

    With or without --check, exit code 4: for at least one threat, with or without a limit, the proven bound is too weak
    to be useful (if --check also finds a limit exceeded, the exit code is 3); 130: an attack run now, or an attack or
    audit read from a file that the spec names, was interrupted.
    """
    from ..spec import read, run

    targets = checked_reports(reports)
    spec = read(file)
    if check and not any(threat.limits for threat in spec.threats) and not spec.utility:
        hint = "Add limits = { rad = 0.1 } to a [threat]."
        raise ParameterError("--check", "used with a spec that has limits", f"{file}, which has none", hint)
    with show_progress("run") as progress:
        result = run(spec, sweep=sweep, progress=progress.describe, typed=_typed(file, sweep))
    click.echo(json.dumps(result.to_dict()) if as_json else result.explain())
    write_reports(result, targets)
    if not as_json and not targets:
        what = "Read it as a page" if sweep is None else "The sweep is shown in a report"
        click.echo(f"\n{what}: {_typed(file, sweep)} --report risk.html. Machine-readable: add --json.")
    if not result.complete:
        return EXIT_INTERRUPTED
    if check and result.met is not True:
        return EXIT_UNMET
    if result.says_nothing:
        return EXIT_VACUOUS
    return EXIT_UNMET if check and not result.passes else 0


def _typed(file: str, sweep: str | None) -> str:
    return shlex.join(["dpradar", "run", file, *(["--sweep", sweep] if sweep else [])])
