"""``dpradar reproduce FIGURE|all``: the numbers as CSV and the picture as SVG; all of them as one page."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from dpradar.cli.main import json_option
from dpradar.cli.progress import is_quiet, quiet_option, show_progress
from dpradar.errors import ParameterError

__all__ = ["reproduce_command"]


@click.command("reproduce")
@click.argument("figure", required=False)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to write to: figures, or figures-quick with --quick.",
)
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    envvar="DPRADAR_DATA",
    help="Folder of data sets.",
)
@click.option("--quick", is_flag=True, help="A small version of figures that take hours.")
@click.option("--models", type=click.IntRange(min=1), help="Models trained for each candidate (figures that train).")
@click.option(
    "--network", type=click.Choice(["mlp", "convnet"]), default="mlp", show_default=True, help="The network trained."
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Processes that train, or figures at a time; as many as there are cores.",
)
@click.option("--only", help="With all: sources or figures, such as rad,unify:fig4.")
@quiet_option
@json_option
def reproduce_command(figure: str | None, out: Path | None, only: str | None, as_json: bool, **options: Any) -> None:
    """Recompute a figure of the four papers behind dpradar, such as rad:fig1, or compare all of them.

    Numbers are written as CSV files, pictures as SVG files. With all, a page also says which numbers agree with the
    papers. Completed parts of long computations are kept: run the command again to continue. --quick without a name is
    the same as all --quick.
    """
    if figure is None and not options["quick"]:
        message = "Missing argument 'FIGURE': a name such as rad:fig1, or all (hours; with --quick minutes)."
        raise click.UsageError(message)
    folder = out or Path("figures-quick" if options["quick"] else "figures")
    if figure in (None, "all"):
        _all(folder, only, as_json=as_json, **options)
        return
    if only is not None:
        raise click.UsageError("--only goes with all, not with the name of a figure.")
    _one(str(figure), folder, as_json=as_json, **options)


def _effort(quick: bool, models: int | None, network: str, workers: int | None) -> Any:
    from .paper_figure import Effort

    return Effort(quick=quick, models=models, network=network, workers=workers or os.cpu_count() or 1)


def _unwritable(folder: Path, error: OSError) -> ParameterError:
    hint = f"{error.strerror or error}. What is finished is kept: start again to go on."
    return ParameterError("--out", "a folder that can be written to", repr(str(folder)), hint)


def _one(figure: str, out: Path, *, as_json: bool, data: Path | None, **options: Any) -> None:
    from .figures import reproduce

    try:
        with show_progress(figure) as progress:
            files = reproduce(
                figure,
                out,
                data,
                lambda text: click.echo(text, err=True),
                effort=_effort(**options),
                bar=progress.count,
            )
    except OSError as error:
        raise _unwritable(out, error) from None
    if as_json:
        click.echo(json.dumps({"schema": "dpradar/reproduce/1", "figure": figure, "files": [str(f) for f in files]}))
        return
    for file in files:
        click.echo(f"wrote {file}")


def _print_progress(text: str) -> None:
    if not is_quiet():
        click.echo(text, err=True)


def _all(folder: Path, only: str | None, *, as_json: bool, data: Path | None, **options: Any) -> None:
    from .all_figures import reproduce_all
    from .page import counts, write_page

    effort = _effort(**options)
    if effort.models is not None or options["network"] != "mlp":
        raise click.UsageError("--models and --network go with the name of one figure, not with all.")
    words = [word for word in (only or "").split(",") if word]
    try:
        run = reproduce_all(folder, data, _print_progress, effort=effort, only=words)
        page, verdicts = write_page(run, folder), counts(run, folder)
    except OSError as error:
        raise _unwritable(folder, error) from None
    states = {state: run.state(state) for state in ("done", "left out", "failed")}
    if as_json:
        answer = {"schema": "dpradar/reproduce-all/1", "page": str(page), "quick": effort.quick}
        click.echo(json.dumps({**answer, "verdicts": verdicts, "figures": states}))
    else:
        click.echo(", ".join(f"{number} {verdict}" for verdict, number in verdicts.items() if number))
        click.echo(f"{len(states['done'])} done, {len(states['left out'])} left out, {len(states['failed'])} failed")
        click.echo(f"wrote {page}")
    if states["failed"]:
        sys.exit(1)
    if verdicts["unexplained"]:
        sys.exit(3)
