"""What can be named on the command line: mechanisms and guarantees, and the options of each."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..mechanisms import Repeated
from ..options import Choice, Flag, describe
from ..options.reading import FLAGS
from ..options.tables import options_in
from ..spec.kinds import KINDS, Kind, kind_named
from ..spec.threat_options import DataFiles, ThreatOptions
from . import number_types
from .progress import new_quiet_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..options import Option

__all__ = ["RELEASES", "further_options", "instead_of", "plugin_command", "release_options"]

RELEASES: dict[str, Kind] = {name: kind for name, kind in KINDS.items() if kind.on_command_line}

_WHETHER = re.compile(r"^whether\b")

# Noise is described by its size, but people have an epsilon in mind.
_BY_SCALE = "It takes --scale = sensitivity / epsilon: for epsilon 0.5 of a count, --scale 2."
_BY_SIGMA = "It takes --sigma; `dpradar calibrate {} --limit epsilon=1@delta=1e-5` finds one."
_INSTEAD = {
    "laplace": _BY_SCALE,
    "geometric": _BY_SCALE,
    "gaussian": _BY_SIGMA.format("gaussian"),
    "discrete-gaussian": _BY_SIGMA.format("discrete-gaussian"),
}


def instead_of(option: str, path: str) -> str:
    """Return what to give instead of an option that noise does not have, or nothing; ``path`` is the command.

    Examples
    --------
    >>> instead_of("--epsilon", "dpradar assess laplace")
    'It takes --scale = sensitivity / epsilon: for epsilon 0.5 of a count, --scale 2.'
    """
    group, _, name = path.removeprefix("dpradar ").partition(" ")
    if option not in ("--epsilon", "--delta") or name not in _INSTEAD:
        return ""
    return "Give it as a limit: --limit epsilon=1@delta=1e-5." if group == "calibrate" else _INSTEAD[name]


def plugin_command(
    name: str,
    command: Callable[[str, Kind], click.Command],
    suits: Callable[[Kind], bool] = lambda _: True,
    reason: str = "",
) -> click.Command | str | None:
    """Return the command about a mechanism of a plug-in, or the reason why there is none; None for an unknown name."""
    kind = None if name in KINDS else kind_named(name)
    if kind is None:
        return None
    if not kind.on_command_line:
        return "it is known in spec files only"
    return command(name, kind) if suits(kind) else reason


class _UnlessData(click.Option):
    """An option that is needed unless --data, which is read before it, says as much."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the value; None is one where there is a table."""
        table = isinstance(ctx.params.get("data"), str)  # else None, or what click has for not given
        return None if table and self.value_is_missing(value) else super().process_value(ctx, value)


def release_options(kind: Kind, *, free: bool = False) -> list[click.Parameter]:
    """Return the options of a release; with ``free`` a parameter may be left out, to be chosen."""
    return [
        _option(option, required=option.required and not (free and option.about.typical is not None))
        for option in kind.options
        if "command" in option.about.places and (option.required or not option.about.of_question)
    ]


def _option(option: Option, *, required: bool) -> click.Option:
    flag, about = [FLAGS(option.name)], option.about
    what = f"{about.what[:1].upper()}{about.what[1:]}"
    if isinstance(option.shape, Flag):
        return click.Option(flag, is_flag=True, help=f"Assume {_WHETHER.sub('that', about.what)}.")
    if isinstance(option.shape, Choice):
        return click.Option(flag, type=click.Choice(option.shape.words), required=required, help=f"{what}.")
    if option.param is None:
        shape = option.shape
        settings: dict[str, Any] = {"metavar": shape.metavar, "required": required}
        if isinstance(option.default, str) and option.default:
            settings |= {"default": option.default, "show_default": True}
        if isinstance(shape, DataFiles):
            settings["is_eager"] = True  # without it m is needed
        notation = f": {shape.notation}" if shape.notation else ""
        return click.Option(flag, help=f"{what}{notation}.", **settings)
    number = number_types.WHOLE if option.param.integer else number_types.NUMBER
    if not option.required and option.default is not None:
        return click.Option(flag, type=number, default=option.default, show_default=True, help=f"{what}.")
    kind = _UnlessData if about.counts_values else click.Option
    return kind(flag, type=number, required=required, help=f"{what} ({option.allowed}).")


def further_options(kind: Kind) -> list[click.Parameter]:
    """Return the options that every command about this release has."""
    options: list[click.Parameter] = [_option(replace(describe(Repeated)[-1], default=1), required=False)]
    options += [
        _option(option, required=False)
        for option in options_in(ThreatOptions)
        if not (option.about.counts_values and kind.counts_values)
    ]
    options += [new_quiet_option(), click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object.")]
    if not kind.states_relation:
        choice = click.Choice(["replace-one", "add-remove"])
        sensitivity = "--sensitivity, " if "sensitivity" in kind.names else ""
        help_text = f"Neighbour relation used for {sensitivity}worst_gain, tpr and epsilon."
        options.append(click.Option(["--neighbours"], type=choice, help=help_text))
    return options
