"""``dpradar attack MECHANISM ...``: run the optimal attack and count."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..attacks import attack
from ..attacks.attack_options import AttackOptions
from ..options.reading import FLAGS
from ..options.tables import options_in
from ..spec.question import release_of, sized, threat_of
from .described_options import click_option
from .main import EXIT_INTERRUPTED
from .progress import repeat_command, show_progress
from .release_options import ReleaseGroup, further_options, release_options

if TYPE_CHECKING:
    from ..spec.release_kinds import Kind

__all__ = ["group"]

_OPTIONS = options_in(AttackOptions)


def _command(kind: Kind) -> click.Command:
    options = [*release_options(kind, simulated=True), *further_options(kind, simulated=True)]
    options += [click_option(option) for option in _OPTIONS]
    return click.Command(kind.name, params=options, callback=partial(_run, kind.name), help=kind.help)


def _run(kind: str, **options: Any) -> int:
    question = sized({**options, "kind": kind}, FLAGS)
    what, threat = release_of(question, FLAGS), threat_of(question, FLAGS)
    settings = {option.name: options[option.name] for option in _OPTIONS}
    with show_progress("attack") as progress:
        run = attack(what, threat, progress=progress.count, **settings)
    if options["as_json"]:
        click.echo(json.dumps(run.to_dict()))
    else:
        click.echo(run.explain())
        click.echo(f"Repeat it: {repeat_command(run.seed)}")
    return 0 if run.complete else EXIT_INTERRUPTED


def group() -> click.Group:
    """Return the ``attack`` group."""
    help_text = "Simulate a mechanism, run the optimal attack on it, and count how often it is right. Name a mechanism."
    return ReleaseGroup("attack", _command, _reason_against, "mechanism", help=help_text)


def _reason_against(kind: Kind) -> str:
    if kind.samples:
        return ""
    return kind.instead_of_attack or "it is a promise, there are no reports to draw from"
