"""``dpradar campaign run|status|resume|export``: many runs from one file, saved in one store."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..numerics.rounding import rounded
from ..params import visible
from ..present.numbers import number, safe_number
from ..present.verdicts import limit_remark, remark
from . import number_types
from .main import EXIT_INPUT, EXIT_INTERRUPTED, json_option
from .progress import is_quiet, quiet_option, repeat_command, show_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..campaigns import CampaignStatus, RunStatus

__all__ = ["campaign_command"]

_WIDTH = 44
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
_POOL_OPTIONS = (
    click.option(
        "--workers",
        type=number_types.WHOLE,
        help="Number of shards computed at a time; one for each processor by default.",
    ),
    click.option("--executor", metavar="dask://HOST:PORT", help="Compute with a Dask scheduler and its workers."),
)


@click.group("campaign", context_settings={"help_option_names": ["-h", "--help"]})
def campaign_command() -> None:
    """Run many attacks, audits, assessments and training runs from one file.

    Completed work is kept after a crash.
    """


def _pool_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_POOL_OPTIONS):
        command = option(command)
    return command


@campaign_command.command("run")
@click.argument("file", metavar="CAMPAIGN")
@click.option("--store", metavar="FILE", help="File that stores the shards; CAMPAIGN with .sqlite by default.")
@click.option("--changed", is_flag=True, help="Continue even if CAMPAIGN no longer lists some runs of the store.")
@_pool_options
@quiet_option
@json_option
def run_command(
    file: str, store: str | None, workers: int | None, executor: str | None, *, changed: bool, as_json: bool
) -> int:
    """Run a campaign, or continue it.

    CAMPAIGN is a TOML file. Its runs are cut into shards, and each completed shard is saved: running the command again
    continues, and a larger number of trials adds to them. Exit code 2: a run failed; 130: interrupted.
    """
    from ..campaigns import read, run

    campaign = read(file)
    store_path = Path(file).with_suffix(".sqlite") if store is None else Path(store)
    with _progress_bar() as progress:
        status = run(campaign, store_path, executor=executor, workers=workers, progress=progress, changed=changed)
    return _finish(status, as_json=as_json)


@campaign_command.command("resume")
@click.argument("store", metavar="STORE")
@click.argument("file", metavar="[CAMPAIGN]", required=False)
@click.option(
    "--trust-store",
    is_flag=True,
    help="Use the campaign text in STORE instead of CAMPAIGN, and run the code that it names.",
)
@_pool_options
@quiet_option
@json_option
def resume_command(
    store: str, file: str | None, workers: int | None, executor: str | None, *, trust_store: bool, as_json: bool
) -> int:
    """Continue an interrupted campaign from its store.

    STORE is the file in which `campaign run` saved the completed work. CAMPAIGN is the file that the campaign was last
    started with; it is compared with the store, and so is every file that it names. It may be omitted if the campaign
    names no code and no files.
    """
    from ..campaigns import read, resume

    campaign = None if file is None else read(file)
    with _progress_bar() as progress:
        status = resume(store, campaign, trust_store=trust_store, executor=executor, workers=workers, progress=progress)
    return _finish(status, as_json=as_json)


@campaign_command.command("status")
@click.argument("store", metavar="STORE")
@json_option
def status_command(store: str, *, as_json: bool) -> int:
    """Show the progress of a campaign, also while it is running."""
    from ..campaigns import status

    campaign = status(store)
    click.echo(json.dumps(campaign.to_dict()) if as_json else visible(_table(campaign)))
    return 0


@campaign_command.command("export")
@click.argument("store", metavar="STORE")
@click.option("--out", required=True, metavar="FILE", help="Table to write: .parquet or .csv.")
@json_option
def export_command(store: str, out: str, *, as_json: bool) -> int:
    """Write one row for each run: parameters, estimates, confidence limits, trials, seed, versions."""
    from ..campaigns import export

    rows = export(store, out)
    summary = {"schema": "dpradar/campaign-export/1", "file": out, "rows": rows}
    click.echo(json.dumps(summary) if as_json else visible(f"wrote {out}: {rows} rows"))
    return 0


@contextmanager
def _progress_bar() -> Iterator[Callable[[int, int, float | None], None] | None]:
    """Yield a function that updates a bar with the time that remains; without a terminal, the lines of progress."""
    if is_quiet() or not sys.stderr.isatty():
        with show_progress("campaign") as progress:
            yield lambda done, total, _: progress.count(done, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("shards"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("shards", total=None, left="")

        def update(done: int, total: int, seconds: float | None) -> None:
            left = "" if seconds is None else f"{_duration(seconds)} left"
            bar.update(task, completed=done, total=total, left=left)

        yield update


def _finish(campaign: CampaignStatus, *, as_json: bool) -> int:
    click.echo(json.dumps(campaign.to_dict()) if as_json else visible(_table(campaign)))
    command = repeat_command(None)
    for run in campaign.failed:
        click.echo(visible(f"error: {run.title}: {run.reason}"), err=True)
    if campaign.interrupted:
        click.echo(f"interrupted; finished shards are saved. Continue: {command}", err=True)
        return EXIT_INTERRUPTED
    if campaign.failed:
        click.echo(f"{len(campaign.failed)} of {len(campaign.runs)} runs failed. Try them again: {command}", err=True)
        return EXIT_INPUT
    if not as_json:
        click.echo(f"\nAs a table: dpradar campaign export {shlex.quote(campaign.store)} --out results.csv")
    return 0


def _table(campaign: CampaignStatus) -> str:
    lines = [campaign.title] if campaign.title else []
    lines.append(f"{'run':{_WIDTH}} {'shards':>15}  {'':8} result")
    lines += [_run_line(run) for run in campaign.runs]
    done = sum(run.state == "done" for run in campaign.runs)
    lines.append(f"{done} of {len(campaign.runs)} runs are done.")
    if campaign.processes:
        remaining = "" if campaign.seconds_left is None else f", {_duration(campaign.seconds_left)} left"
        lines.append(f"{campaign.workers} workers of {campaign.processes} processes are running{remaining}.")
    return "\n".join(lines)


def _run_line(run: RunStatus) -> str:
    title = run.title if len(run.title) <= _WIDTH else f"{run.title[: _WIDTH - 3]}..."
    of = "?" if run.shards is None else f"{run.shards:,}"
    return f"{title:{_WIDTH}} {f'{run.shards_done:,} of {of}':>15}  {run.state:8} {_summary(run)}".rstrip()


def _summary(run: RunStatus) -> str:
    """Return the result in a few words."""
    if run.result is not None:
        return {"audit": _audit_summary, "calibrate": _calibration_summary}.get(run.do, _attack_summary)(run.result)
    if run.state == "failed":
        return run.reason
    return "" if run.seconds_left is None else f"{_duration(run.seconds_left)} of work left"


def _audit_summary(result: Any) -> str:
    least = rounded(result.epsilon_lower, 4, "down")
    return f"claim {'' if result.refuted else 'not '}refuted; epsilon at least {least}"


def _calibration_summary(result: Any) -> str:
    if result.value is None:
        return "no value keeps the limits"
    if any(limit.idle for limit in result.achieved):
        return "a limit does not protect: the raw data would keep it, too"
    near_limits = [limit for limit in result.achieved if limit.near_ceiling]
    text = f"{result.parameter} {safe_number(result.value, result.more_private)}"
    return f"{text}{limit_remark(near_limits[0])}" if near_limits else text


def _attack_summary(result: Any) -> str:
    rad = result.rad
    if rad is None:
        return "rad is not defined"
    if hasattr(rad, "side"):
        return f"rad {number(rad, 6)}{remark(result)}"
    low, high = rounded(rad.low, 6, "down"), rounded(rad.high, 6, "up")
    return f"rad {rounded(rad.estimate, 6, 'nearest')} in [{low}, {high}]"


def _duration(seconds: float) -> str:
    """Return a duration in words.

    Examples
    --------
    >>> _duration(4.2), _duration(75), _duration(7300), _duration(200_000)
    ('5 s', '2 min', '2 h 2 min', '2 d 8 h')
    """
    if seconds < _MINUTE:
        return f"{int(seconds) + 1} s"
    if seconds < _HOUR:
        return f"{int(seconds / _MINUTE) + 1} min"
    if seconds < _DAY:
        return f"{int(seconds // _HOUR)} h {int(seconds % _HOUR / _MINUTE) + 1} min"
    return f"{int(seconds // _DAY)} d {int(seconds % _DAY / _HOUR) + 1} h"
