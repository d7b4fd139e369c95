"""``dpradar account PIPELINE``: what the steps of a pipeline cost together, under each granularity."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import ParameterError
from ..options.reading import FLAGS, Where, columns
from ..params import shown
from . import parsing
from .main import EXIT_REFUTED, EXIT_UNMET, EXIT_VACUOUS
from .progress import repeat_command
from .writing import checked_reports, write_reports

if TYPE_CHECKING:
    from ..granularity import Pipeline
    from ..results.accounting import Accounting

__all__ = ["account_command"]

_FILES = Where(str, Path(), 10_000_000)  # the most rows of a table


@click.command("account")
@click.argument("file")
@click.option("--target", "targets", multiple=True, metavar="GRANULARITY", help="Account for this one too.")
@click.option("--m", type=parsing.WHOLE, help="Also tell what someone could learn about a unit with so many values.")
@click.option("--trajectories", metavar="CSV", help="Also advise on a stream: one row a point.")
@click.option("--user", default="user", show_default=True, metavar="COLUMN", help="Of the stream: whose point it is.")
@click.option("--time", default="time", show_default=True, metavar="COLUMN", help="Of the stream: whole numbers.")
@click.option("--place", default="place", show_default=True, metavar="COLUMN", help="Of the stream: where.")
@click.option("--window", type=parsing.WHOLE, help="Of the stream: the window of w-event DP to look at.")
@click.option("--report", "reports", multiple=True, metavar="FILE", help="Also write a page to read: .html or .md.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def account_command(**options: Any) -> int:
    """Tell what the steps of a pipeline cost together, under each granularity, and whether its claim follows.

    FILE is a TOML file with [[step]], [[partition]], [data] and [claim] tables. The rules of `dpradar lint` are applied
    too, and the worse verdict counts. Exit code 5: a rule refutes the claim; 3: the claim does not follow from what is
    stated; 4: there is no claim, and nothing follows under any granularity.
    """
    from ..granularity import Granularity, account
    from ..spec.pipeline import read_pipeline

    paths = checked_reports(options["reports"])
    if options["window"] is not None and (options["trajectories"] is None or options["window"] < 1):
        got = f"{options['window']}" if options["trajectories"] is not None else "no --trajectories"
        raise ParameterError("--window", "a whole number at least 1, with --trajectories", got)
    pipeline = read_pipeline(options["file"])
    more = [Granularity.parse(text) for text in options["targets"]]
    pipeline = replace(pipeline, targets=(*pipeline.targets, *more))
    stream = None if options["trajectories"] is None else _stream(options)
    if stream is not None:
        pipeline = _limited(pipeline, stream)
    found = account(pipeline)
    if stream is not None:
        found = replace(found, advice=_advice(found, pipeline, stream, options["window"]))
        if found.advice is None:
            click.echo(
                "No advice from the trajectories: under no granularity of a stream is the total finite.", err=True
            )
    if options["m"] is not None:
        found = _assessed(found, options["m"])
    found = replace(found, command=repeat_command(None))
    click.echo(json.dumps(found.to_dict()) if options["as_json"] else _told(found, options["file"]))
    write_reports(found, paths)
    if found.refuted:
        return EXIT_REFUTED
    if found.met is False:
        return EXIT_UNMET
    if found.met is None and found.vacuous:
        return EXIT_VACUOUS
    return EXIT_UNMET if found.findings else 0


def _told(found: Accounting, file: str) -> str:
    return f"{found.explain()}\n\nNext: dpradar lint {file}"


def _assessed(found: Accounting, m: int) -> Accounting:
    from ..bounds import assess
    from ..granularity import guarantee
    from ..threats import Prior, Threat

    FLAGS.check_count(m, "m")
    promise = guarantee(found, found.totals[0].granularity)
    return replace(found, assessment=assess(promise, Threat(Prior.uniform(m))))


def _stream(options: dict[str, Any]) -> dict[str, dict[int, str]]:
    """Return the points of a table, by user and time."""
    table = columns(options["trajectories"], "--trajectories", _FILES)
    missing = [name for name in ("user", "time", "place") if options[name] not in table]
    if missing:
        allowed = f"a column of the file ({', '.join(table)})"
        raise ParameterError(f"--{missing[0]}", allowed, repr(options[missing[0]]))
    found: dict[str, dict[int, str]] = {}
    rows = zip(*(table[options[name]] for name in ("user", "time", "place")), strict=True)
    for line, (user, time, place) in enumerate(rows, start=2):
        try:
            moment = int(time)
        except ValueError:
            hint = "Count times in steps of the stream: 0, 1, 2, ..."
            raise ParameterError("--time", "a column of whole numbers", f"{shown(time)} in line {line}", hint) from None
        found.setdefault(user, {})[moment] = place
    if not found:
        raise ParameterError("--trajectories", "a table with points", "none")
    return found


def _limited(pipeline: Pipeline, stream: dict[str, dict[int, str]]) -> Pipeline:
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


def _advice(found: Accounting, pipeline: Pipeline, stream: dict[str, dict[int, str]], window: int | None) -> Any:
    from ..granularity import Granularity, advise

    able = [Granularity.parse(total.granularity) for total in found.totals if total.finite]
    able = [one for one in able if one.kind in ("stream", "any") and one.name != "free-lunch"]
    if not able:
        return None
    total = found.total(able[0])
    if total.epsilon is None:
        return None
    return advise(stream, granularity=able[0], epsilon=total.epsilon, hidden=pipeline.facts.hidden, window=window)
