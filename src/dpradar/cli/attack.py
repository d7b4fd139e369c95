"""``dpradar attack MECHANISM ...``: run the optimal attack and count."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..attacks import attack
from . import parsing
from .main import Suggesting
from .progress import bar, repeat_command
from .releases import RELEASES, Entry, further_options, parameter_option, release_from, threat_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["group"]

_GUARANTEES = ("dp", "gdp", "zcdp", "rdp", "tv", "register", "dpsgd")  # nothing to draw from

_OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--trials", {"type": parsing.WHOLE, "default": 100_000, "show_default": True, "help": "Reports to attack."}),
    ("--seed", {"type": parsing.WHOLE, "help": "Gives the same result again."}),
    ("--maximise", {"type": click.Choice(["rad", "success"]), "default": "rad", "show_default": True}),
    ("--strategy", {"type": click.Choice(["report", "prior"]), "help": "Another attack than the optimal one."}),
    ("--confidence", {"type": parsing.NUMBER, "default": 0.95, "show_default": True, "help": "Of the intervals."}),
)


def _command(name: str, entry: Entry) -> click.Command:
    options: list[click.Parameter] = [parameter_option(param) for param in entry.params]
    options += [option for option in further_options(entry) if option.name not in ("neighbours", "baseline", "worst")]
    options = [option for option in options if option.name != "membership"]
    options += [click.Option([flag], **settings) for flag, settings in _OPTIONS]
    return click.Command(name, params=options, callback=partial(_run, entry), help=entry.help)


def _run(entry: Entry, **options: Any) -> int:
    options |= {"baseline": None, "membership": None, "worst": False, "neighbours": None}
    what, threat = release_from(entry, options), threat_of(entry, options)
    settings = {name: options[name] for name in ("trials", "seed", "maximise", "strategy", "confidence")}
    with bar("attack") as progress:
        run = attack(what, threat, progress=progress, **settings)
    if options["as_json"]:
        click.echo(json.dumps(run.to_dict()))
        return 0
    click.echo(run.explain())
    click.echo(f"Repeat it: {repeat_command(run.seed)}")
    return 0


def group() -> click.Group:
    """Return the ``attack`` group."""
    loaders: dict[str, Callable[[], click.Command]] = {
        name: partial(_command, name, entry) for name, entry in RELEASES.items() if name not in _GUARANTEES
    }
    help_text = "How often is the best attacker right, when it is run? Name a mechanism."
    return Suggesting(name="attack", loaders=loaders, help=help_text)
