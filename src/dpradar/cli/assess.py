"""``dpradar assess MECHANISM ...``: options are generated from the parameters of the mechanisms."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..bounds import assess
from ..options.reading import FLAGS, numbers
from ..present.pages import page_of
from ..present.sentences import rate_sentence
from ..present.text import table_lines, text
from ..spec.question import release_of, sized, threat_of
from . import parsing
from .main import EXIT_VACUOUS, Suggesting
from .releases import RELEASES, further_options, plugin_command, release_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..results import Assessment
    from ..spec.kinds import Kind

__all__ = ["group"]


def _command(name: str, kind: Kind) -> click.Command:
    options = [*release_options(kind), *further_options(kind)]
    options.append(
        click.Option(["--all", "show_all"], is_flag=True, help="List the other bounds and why they were not used.")
    )
    options.append(
        click.Option(
            ["--fpr"], metavar="LIST", help="Also the largest true-positive rate at these false-positive rates."
        )
    )
    options.append(
        click.Option(
            ["--tolerance"], type=parsing.NUMBER, help="Refine composed privacy losses to this relative width."
        )
    )
    return click.Command(name, params=options, callback=partial(_run, name), help=kind.help)


def _run(kind: str, **options: Any) -> int:
    asked = sized({**options, "kind": kind}, FLAGS)
    what, threat = release_of(asked, FLAGS), threat_of(asked, FLAGS)
    result = assess(what, threat, neighbours=options["neighbours"], tolerance=options["tolerance"])
    rates = [] if options["fpr"] is None else numbers(options["fpr"], "fpr", FLAGS)
    _show(result, rates, as_json=options["as_json"], show_all=options["show_all"])
    return EXIT_VACUOUS if result.says_nothing else 0


def _show(result: Assessment, rates: list[float], *, as_json: bool, show_all: bool) -> None:
    found = {f"{fpr:g}": result.tpr(fpr) for fpr in rates}
    if as_json:
        told = {"tpr": {fpr: bound.to_dict() for fpr, bound in found.items()}} if found else {}
        click.echo(json.dumps({**result.to_dict(), **told}))
        return
    page = page_of(result)
    click.echo(text(page))
    for fpr, bound in found.items():
        click.echo(rate_sentence(float(fpr), bound))
    if not show_all:
        click.echo("\nAdd --all to list the other bounds and why they were not used. Machine-readable: add --json.")
        return
    for table in page.others:
        click.echo("\n".join(["", f"{table.caption}:", *(f"  {line}" for line in table_lines(table))]))


def group() -> click.Group:
    """Return the ``assess`` group."""
    loaders: dict[str, Callable[[], click.Command]] = {
        name: partial(_command, name, kind) for name, kind in RELEASES.items()
    }
    help_text = "What could someone learn about one person? Name a mechanism or a guarantee."
    load_plugin = partial(plugin_command, command=_command)
    return Suggesting(name="assess", loaders=loaders, help=help_text, load_plugin=load_plugin)
