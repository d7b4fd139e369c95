"""``dpradar attack MECHANISM ...``: run the optimal attack and count."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..attacks import attack
from ..options.reading import FLAGS
from ..spec.question import release_of, sized, threat_of
from . import number_types
from .main import EXIT_INTERRUPTED, Suggesting
from .progress import repeat_command, show_progress
from .release_options import RELEASES, further_options, plugin_command, release_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..spec.kinds import Kind

__all__ = ["group"]

_OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "--trials",
        {
            "type": number_types.WHOLE,
            "default": 100_000,
            "show_default": True,
            "help": "Number of simulated outputs to attack.",
        },
    ),
    ("--seed", {"type": number_types.WHOLE, "help": "Seed, to repeat the result."}),
    (
        "--maximise",
        {
            "type": click.Choice(["rad", "success"]),
            "default": "rad",
            "show_default": True,
            "help": "What the attack maximises.",
        },
    ),
    ("--strategy", {"type": click.Choice(["report", "prior"]), "help": "Run this attack instead of the optimal one."}),
    (
        "--confidence",
        {
            "type": number_types.NUMBER,
            "default": 0.95,
            "show_default": True,
            "help": "Confidence level of the intervals.",
        },
    ),
)


# A sensitivity says nothing of what is released about one person, so there are no reports to draw from.
_NOT_ATTACKED = ("neighbours", "baseline", "worst", "membership", "sensitivity", "nonnegative")


def _command(name: str, kind: Kind) -> click.Command:
    every = [*release_options(kind), *further_options(kind)]
    options = [option for option in every if option.name not in _NOT_ATTACKED]
    options += [click.Option([flag], **settings) for flag, settings in _OPTIONS]
    return click.Command(name, params=options, callback=partial(_run, name), help=kind.help)


def _run(kind: str, **options: Any) -> int:
    question = sized({**options, "kind": kind}, FLAGS)
    what, threat = release_of(question, FLAGS), threat_of(question, FLAGS)
    settings = {name: options[name] for name in ("trials", "seed", "maximise", "strategy", "confidence")}
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
    loaders: dict[str, Callable[[], click.Command]] = {
        name: partial(_command, name, kind) for name, kind in RELEASES.items() if kind.samples
    }
    help_text = "Simulate a mechanism, run the optimal attack on it, and count how often it is right. Name a mechanism."
    reason = "it is a promise, there are no reports to draw from"
    reasons = {name: reason for name in RELEASES if name not in loaders}
    reasons["dpsgd"] = (
        "it describes a training run; docs/how-to/attack-a-model.md attacks a model, docs/how-to/audit-a-model.md "
        "audits one"
    )
    load_plugin = partial(plugin_command, command=_command, suits=lambda kind: kind.samples, reason=reason)
    return Suggesting(name="attack", loaders=loaders, help=help_text, reasons=reasons, load_plugin=load_plugin)
