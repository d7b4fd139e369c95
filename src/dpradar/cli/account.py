"""``dpradar account PIPELINE``: what the steps of a pipeline cost together, under each granularity."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..errors import ParameterError
from ..options.reading import FLAGS, TABLES, columns
from ..params import shown
from . import number_types
from .main import EXIT_REFUTED, EXIT_UNMET, EXIT_VACUOUS, json_option
from .progress import quiet_option, repeat_command, show_progress
from .report_files import checked_reports, report_option, write_reports

if TYPE_CHECKING:
    from ..granularity import Pipeline
    from ..results.accounting import Accounting
    from .progress import Progress

__all__ = ["account_command"]


@click.command("account")
@click.argument("file")
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="GRANULARITY",
    help="Also account for this unit of privacy, such as event, w-event:10 or user:add-remove.",
)
@click.option("--m", type=number_types.WHOLE, help="Also report the risk for a unit that can take this many values.")
@click.option(
    "--trajectories",
    metavar="CSV",
    help="Also recommend a unit of privacy for locations: a table with one row for each user and time.",
)
@click.option(
    "--user", default="user", show_default=True, metavar="COLUMN", help="Column of --trajectories with the user."
)
@click.option(
    "--time",
    default="time",
    show_default=True,
    metavar="COLUMN",
    help="Column of --trajectories with the time, in whole numbers.",
)
@click.option(
    "--place", default="place", show_default=True, metavar="COLUMN", help="Column of --trajectories with the place."
)
@click.option("--window", type=number_types.WHOLE, help="Window of w-event DP to consider (with --trajectories).")
@report_option
@quiet_option
@json_option
def account_command(**options: Any) -> int:
    """Report the total privacy loss of a pipeline for each unit of privacy: event, user, and others.

    FILE is a TOML file with [[step]], [[partition]], [data] and [claim] tables. The unit of privacy (granularity) is
    what two neighbouring data sets may differ in: one event, all data of one user, a window of a stream, an edge of a
    graph, ... If the file states a claim, the output says whether it follows from the steps. The rules of
    `dpradar lint` are applied too. Exit code 5: a rule refutes the claim; otherwise 3: the claim does not follow from
    what is stated; otherwise 4: there is no claim, and no bound follows for any unit of privacy; otherwise 0.
    """
    from ..granularity import Granularity
    from ..spec.pipeline import read_pipeline

    paths = checked_reports(options["pages"])
    if options["window"] is not None and (options["trajectories"] is None or options["window"] < 1):
        got = f"{options['window']}" if options["trajectories"] is not None else "no --trajectories"
        raise ParameterError("--window", "a whole number at least 1, with --trajectories", got)
    pipeline = read_pipeline(options["file"])
    more = [Granularity.parse(text) for text in options["targets"]]
    pipeline = replace(pipeline, targets=(*pipeline.targets, *more))
    with show_progress("account") as progress:
        accounting = _accounting(pipeline, options, progress)
    if options["trajectories"] is not None and accounting.advice is None:
        click.echo("No advice from the trajectories: under no granularity of a stream is the total finite.", err=True)
    accounting = replace(accounting, command=repeat_command(None))
    text = f"{accounting.explain()}\n\nNext: dpradar lint {options['file']}"
    click.echo(json.dumps(accounting.to_dict()) if options["as_json"] else text)
    write_reports(accounting, paths)
    if accounting.refuted:
        return EXIT_REFUTED
    if accounting.met is False:
        return EXIT_UNMET
    if accounting.met is None and accounting.vacuous:
        return EXIT_VACUOUS
    return EXIT_UNMET if accounting.findings else 0


def _accounting(pipeline: Pipeline, options: dict[str, Any], progress: Progress) -> Accounting:
    """Return the costs of a pipeline, with advice on its stream and the risk for a unit where they are asked for."""
    from ..granularity import account

    stream = None
    if options["trajectories"] is not None:
        progress.describe("read the trajectories")
        stream = _stream(options)
        pipeline = _with_stream_sizes(pipeline, stream)
    progress.describe("account for the steps")
    accounting = account(pipeline)
    if stream is not None:
        progress.describe("advise on the stream")
        accounting = replace(accounting, advice=_advice(accounting, pipeline, stream, options["window"]))
    return accounting if options["m"] is None else _with_assessment(accounting, options["m"], progress)


def _with_assessment(accounting: Accounting, m: int, progress: Progress) -> Accounting:
    from ..bounds import assess
    from ..granularity import guarantee
    from ..threats import Prior, Threat

    FLAGS.check_count(m, "m")
    promise = guarantee(accounting, accounting.totals[0].granularity)
    assessment = assess(promise, Threat(Prior.uniform(m)), progress=progress.describe)
    return replace(accounting, assessment=assessment)


def _stream(options: dict[str, Any]) -> dict[str, dict[int, str]]:
    """Return the points of a table, by user and time."""
    table = columns(options["trajectories"], "--trajectories", TABLES)
    missing = [name for name in ("user", "time", "place") if options[name] not in table]
    if missing:
        allowed = f"a column of the file ({', '.join(table)})"
        raise ParameterError(f"--{missing[0]}", allowed, repr(options[missing[0]]))
    points: dict[str, dict[int, str]] = {}
    rows = zip(*(table[options[name]] for name in ("user", "time", "place")), strict=True)
    for line, (user, time, place) in enumerate(rows, start=2):
        try:
            moment = int(time)
        except ValueError:
            hint = "Count times in steps of the stream: 0, 1, 2, ..."
            raise ParameterError("--time", "a column of whole numbers", f"{shown(time)} in line {line}", hint) from None
        points.setdefault(user, {})[moment] = place
    if not points:
        raise ParameterError("--trajectories", "a table with points", "none")
    return points


def _with_stream_sizes(pipeline: Pipeline, stream: dict[str, dict[int, str]]) -> Pipeline:
    """Return the pipeline with the sizes of the stream where it states none."""
    times = [time for row in stream.values() for time in row]
    facts = pipeline.facts
    facts = replace(
        facts,
        users=facts.users or len(stream),
        points_per_user=facts.points_per_user or max(map(len, stream.values())),
        times=facts.times or max(times) - min(times) + 1,
    )
    return replace(pipeline, facts=facts)


def _advice(accounting: Accounting, pipeline: Pipeline, stream: dict[str, dict[int, str]], window: int | None) -> Any:
    from ..granularity import Granularity, advise

    finite = [Granularity.parse(total.granularity) for total in accounting.totals if total.finite]
    of_streams = [one for one in finite if one.kind in ("stream", "any") and one.name != "free-lunch"]
    if not of_streams:
        return None
    total = accounting.total(of_streams[0])
    if total.epsilon is None:
        return None
    return advise(stream, granularity=of_streams[0], epsilon=total.epsilon, hidden=pipeline.facts.hidden, window=window)
