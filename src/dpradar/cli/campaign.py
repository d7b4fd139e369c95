"""``dpradar campaign run|status|resume|export``: many runs from one file, kept in one file."""

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
from .main import EXIT_INPUT, EXIT_INTERRUPTED
from .progress import is_quiet, quiet_option, repeat_command, show_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..campaigns import Outcome, Results

__all__ = ["campaign_command"]

_WIDTH = 44
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
_CREW = (
    click.option("--workers", type=number_types.WHOLE, help="Shards computed at a time; one for each processor."),
    click.option("--executor", metavar="dask://HOST:PORT", help="Compute with a Dask scheduler and its workers."),
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.group("campaign", context_settings={"help_option_names": ["-h", "--help"]})
def campaign_command() -> None:
    """Run many attacks, audits, assessments and trainings from one file.

    What is finished survives a crash.
    """


def _crew(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_CREW):
        command = option(command)
    return command


@campaign_command.command("run")
@click.argument("file", metavar="CAMPAIGN")
@click.option("--store", metavar="FILE", help="Where shards are kept; CAMPAIGN with .sqlite unless given.")
@click.option("--changed", is_flag=True, help="Go on although runs of the store are no longer in CAMPAIGN.")
@_crew
@quiet_option
@_JSON
def run_command(
    file: str, store: str | None, workers: int | None, executor: str | None, *, changed: bool, as_json: bool
) -> int:
    """Run a campaign, or go on with it.

    CAMPAIGN is a TOML file. Finished shards are kept, so that starting again continues and asking for more trials adds
    to them. Exit code 2: a run failed; 130: interrupted.
    """
    from ..campaigns import read, run

    campaign = read(file)
    kept = Path(file).with_suffix(".sqlite") if store is None else Path(store)
    with _bar() as progress:
        found = run(campaign, kept, executor=executor, workers=workers, progress=progress, changed=changed)
    return _ended(found, as_json=as_json)


@campaign_command.command("resume")
@click.argument("store", metavar="STORE")
@click.argument("file", metavar="[CAMPAIGN]", required=False)
@click.option(
    "--trust-store", is_flag=True, help="Follow the text in STORE without CAMPAIGN, and run the code that it names."
)
@_crew
@quiet_option
@_JSON
def resume_command(
    store: str, file: str | None, workers: int | None, executor: str | None, *, trust_store: bool, as_json: bool
) -> int:
    """Go on with the campaign of a store.

    CAMPAIGN is the file that the store was last started with; it is compared with the store, and so is every file that
    it names. It may be left out where the campaign names no code and no files.
    """
    from ..campaigns import read, resume

    campaign = None if file is None else read(file)
    with _bar() as progress:
        found = resume(store, campaign, trust_store=trust_store, executor=executor, workers=workers, progress=progress)
    return _ended(found, as_json=as_json)


@campaign_command.command("status")
@click.argument("store", metavar="STORE")
@_JSON
def status_command(store: str, *, as_json: bool) -> int:
    """Tell how far a campaign is; others may be at work on it."""
    from ..campaigns import status

    found = status(store)
    click.echo(json.dumps(found.to_dict()) if as_json else visible(_table(found)))
    return 0


@campaign_command.command("export")
@click.argument("store", metavar="STORE")
@click.option("--out", required=True, metavar="FILE", help="The table to write: .parquet or .csv.")
@_JSON
def export_command(store: str, out: str, *, as_json: bool) -> int:
    """Write one row for each run: parameters, estimates, limits, trials, seed, versions."""
    from ..campaigns import export

    rows = export(store, out)
    told = {"schema": "dpradar/campaign-export/1", "file": out, "rows": rows}
    click.echo(json.dumps(told) if as_json else visible(f"wrote {out}: {rows} rows"))
    return 0


@contextmanager
def _bar() -> Iterator[Callable[[int, int, float | None], None] | None]:
    """Yield what moves a bar with the time left; without a terminal, what updates the lines of progress."""
    if is_quiet() or not sys.stderr.isatty():
        with show_progress("campaign") as progress:
            yield lambda done, total, _: progress.count(done, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("shards"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("shards", total=None, left="")

        def moved(done: int, total: int, seconds: float | None) -> None:
            left = "" if seconds is None else f"{_time(seconds)} left"
            shown.update(task, completed=done, total=total, left=left)

        yield moved


def _ended(found: Results, *, as_json: bool) -> int:
    click.echo(json.dumps(found.to_dict()) if as_json else visible(_table(found)))
    again = repeat_command(None)
    for run in found.failed:
        click.echo(visible(f"error: {run.title}: {run.reason}"), err=True)
    if found.interrupted:
        click.echo(f"interrupted; what is finished is kept. Go on: {again}", err=True)
        return EXIT_INTERRUPTED
    if found.failed:
        click.echo(f"{len(found.failed)} of {len(found.runs)} runs failed. Try them again: {again}", err=True)
        return EXIT_INPUT
    if not as_json:
        click.echo(f"\nAs a table: dpradar campaign export {shlex.quote(found.store)} --out results.csv")
    return 0


def _table(found: Results) -> str:
    lines = [found.title] if found.title else []
    lines.append(f"{'run':{_WIDTH}} {'shards':>15}  {'':8} result")
    lines += [_line(run) for run in found.runs]
    done = sum(run.state == "done" for run in found.runs)
    lines.append(f"{done} of {len(found.runs)} runs are done.")
    if found.processes:
        left = "" if found.seconds_left is None else f", {_time(found.seconds_left)} left"
        lines.append(f"{found.workers} workers of {found.processes} processes are at work{left}.")
    return "\n".join(lines)


def _line(run: Outcome) -> str:
    title = run.title if len(run.title) <= _WIDTH else f"{run.title[: _WIDTH - 3]}..."
    of = "?" if run.shards is None else f"{run.shards:,}"
    return f"{title:{_WIDTH}} {f'{run.shards_done:,} of {of}':>15}  {run.state:8} {_told(run)}".rstrip()


def _told(run: Outcome) -> str:
    """Return the answer in a few words."""
    if run.result is not None:
        return {"audit": _verdict, "calibrate": _chosen}.get(run.do, _rad)(run.result)
    if run.state == "failed":
        return run.reason
    return "" if run.seconds_left is None else f"{_time(run.seconds_left)} of work left"


def _verdict(result: Any) -> str:
    least = rounded(result.epsilon_lower, 4, "down")
    return f"claim {'' if result.refuted else 'not '}refuted; epsilon at least {least}"


def _chosen(result: Any) -> str:
    if result.value is None:
        return "no value keeps the limits"
    if any(one.idle for one in result.achieved):
        return "the raw data would keep a limit too: it does not protect"
    near = [one for one in result.achieved if one.near_ceiling]
    told = f"{result.parameter} {safe_number(result.value, result.more_private)}"
    return f"{told}{limit_remark(near[0])}" if near else told


def _rad(result: Any) -> str:
    rad = result.rad
    if rad is None:
        return "rad is not defined"
    if hasattr(rad, "side"):
        return f"rad {number(rad, 6)}{remark(result)}"
    low, high = rounded(rad.low, 6, "down"), rounded(rad.high, 6, "up")
    return f"rad {rounded(rad.estimate, 6, 'nearest')} in [{low}, {high}]"


def _time(seconds: float) -> str:
    """Return a time for people.

    Examples
    --------
    >>> _time(4.2), _time(75), _time(7300), _time(200_000)
    ('5 s', '2 min', '2 h 2 min', '2 d 8 h')
    """
    if seconds < _MINUTE:
        return f"{int(seconds) + 1} s"
    if seconds < _HOUR:
        return f"{int(seconds / _MINUTE) + 1} min"
    if seconds < _DAY:
        return f"{int(seconds // _HOUR)} h {int(seconds % _HOUR / _MINUTE) + 1} min"
    return f"{int(seconds // _DAY)} d {int(seconds % _DAY / _HOUR) + 1} h"
