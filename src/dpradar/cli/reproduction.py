"""What the package dpradar-reproduction adds: the command ``dpradar reproduce`` and the names of its figures.

It registers both by entry points, which are looked up only when one of the two is wanted.
"""

from __future__ import annotations

from typing import Any

import click

__all__ = ["figure_names", "reproduce_command"]

_COMMANDS, _FIGURES = "dpradar.commands", "dpradar.figures"  # groups of entry points
_NOT_INSTALLED = (
    "'dpradar reproduce' needs the package dpradar-reproduction, which is not installed: run pip install "
    "dpradar-reproduction, or pip install ./reproduction in a copy of the repository."
)


def _registered(group: str, name: str) -> Any:
    """Return what an installed package has registered under a name, or None."""
    from importlib.metadata import entry_points  # reads the metadata of all packages

    for entry in entry_points(group=group, name=name):
        return entry.load()
    return None


def reproduce_command() -> click.Command:
    """Return the command of dpradar-reproduction, or one that says how to get it."""
    command = _registered(_COMMANDS, "reproduce")
    return command if isinstance(command, click.Command) else _missing_command


def figure_names() -> tuple[str, ...]:
    """Return the names of the figures that can be reproduced; none where dpradar-reproduction is not installed."""
    names = _registered(_FIGURES, "names")
    return () if names is None else tuple(names())


# Takes whatever is given, --help too: all of it needs the package.
@click.command("reproduce", add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def _missing_command(arguments: tuple[str, ...]) -> None:
    """Recompute a figure of the four papers behind dpradar, such as rad:fig1, or compare all of them."""
    raise click.ClickException(_NOT_INSTALLED)
