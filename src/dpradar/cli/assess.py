"""``dpradar assess MECHANISM ...``: options are generated from the parameters of the mechanisms."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..bounds import assess
from ..bounds.assess_options import AssessOptions
from ..errors import AssessmentInterrupted
from ..options.reading import FLAGS, numbers
from ..options.tables import options_in
from ..present.numbers import number
from ..present.pages import page_of
from ..present.sentences import rate_sentence
from ..present.text import table_lines, text
from ..spec.model import RELATION
from ..spec.question import release_of, sized, threat_of
from .described_options import click_option
from .main import EXIT_INTERRUPTED, EXIT_VACUOUS
from .progress import show_progress
from .release_options import ReleaseGroup, further_options, release_options

if TYPE_CHECKING:
    from ..results import Assessment, Bound
    from ..spec.release_kinds import Kind

__all__ = ["group"]

_OPTIONS = options_in(AssessOptions)


def _command(kind: Kind) -> click.Command:
    options = [*release_options(kind), *further_options(kind)]
    options.append(
        click.Option(["--all", "show_all"], is_flag=True, help="List the other bounds and why they were not used.")
    )
    options.append(
        click.Option(
            ["--fpr"], metavar="LIST", help="Also report the largest true-positive rate at these false-positive rates."
        )
    )
    options += [click_option(option) for option in _OPTIONS]
    return click.Command(kind.name, params=options, callback=partial(_run, kind.name), help=kind.help)


def _run(kind: str, **options: Any) -> int:
    try:
        return _answer(kind, options)
    except AssessmentInterrupted as interruption:
        return _show_incomplete(interruption, as_json=options["as_json"])


def _answer(kind: str, options: dict[str, Any]) -> int:
    with show_progress("assess") as progress:
        question = sized({**options, "kind": kind}, FLAGS)
        what, threat = release_of(question, FLAGS), threat_of(question, FLAGS)
        settings: dict[str, Any] = {option.name: options[option.name] for option in (RELATION, *_OPTIONS)}
        result = assess(what, threat, **settings, progress=progress.describe)
        rates = [] if options["fpr"] is None else numbers(options["fpr"], "fpr", FLAGS)
        tprs = {f"{fpr:g}": result.tpr(fpr) for fpr in rates}
    _show(result, tprs, as_json=options["as_json"], show_all=options["show_all"])
    return EXIT_VACUOUS if result.says_nothing else 0


def _show_incomplete(interruption: AssessmentInterrupted, *, as_json: bool) -> int:
    """Show the bounds of an interrupted assessment; they hold, but a rule that was not run may give a tighter one."""
    partial: Assessment | None = interruption.partial
    bounds = {} if partial is None else {name: bound for name, bound in partial.bounds.items() if bound is not None}
    if partial is None or not bounds:
        raise KeyboardInterrupt
    if as_json:
        content = {name: bound.to_dict() for name, bound in bounds.items()}
        counts = {"rules_run": interruption.rules_run, "rules": interruption.rules}
        answer = {"schema": "dpradar/assessment-incomplete/1", "complete": False, "exit": EXIT_INTERRUPTED, **counts}
        click.echo(
            json.dumps(
                {**answer, "release": partial.release.to_dict(), "threat": partial.threat.to_dict(), "bounds": content}
            )
        )
    else:
        click.echo(f"INCOMPLETE. Interrupted after {interruption.rules_run} of {interruption.rules} rules.")
        click.echo(f"\nBounds so far for {partial.release}. They hold; the other rules may give tighter ones:")
        for name, bound in bounds.items():
            click.echo(f"  {name:<12}{number(bound, 6)} ({bound.rule})")
    click.echo("error: interrupted before every rule was run", err=True)
    return EXIT_INTERRUPTED


def _show(result: Assessment, tprs: dict[str, Bound], *, as_json: bool, show_all: bool) -> None:
    if as_json:
        rates = {"tpr": {fpr: bound.to_dict() for fpr, bound in tprs.items()}} if tprs else {}
        click.echo(json.dumps(result.to_dict(**rates)))
        return
    page = page_of(result)
    click.echo(text(page))
    for fpr, bound in tprs.items():
        click.echo(rate_sentence(float(fpr), bound))
    if not show_all:
        click.echo("\nAdd --all to list the other bounds and why they were not used. Machine-readable: add --json.")
        return
    for table in page.others:
        click.echo("\n".join(["", f"{table.caption}:", *(f"  {line}" for line in table_lines(table))]))


def group() -> click.Group:
    """Return the ``assess`` group."""
    help_text = "What could someone learn about one person? Name a mechanism or a guarantee."
    return ReleaseGroup("assess", _command, help=help_text)
