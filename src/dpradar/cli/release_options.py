"""What can be named on the command line: mechanisms and guarantees, and the options of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..options.reading import FLAGS
from ..spec.model import RELATION
from ..spec.question import TIMES
from ..spec.release_kinds import KINDS, Kind, kind_named
from ..spec.threat_options import DATA
from ..threats.attackers import can_be_simulated
from .described_options import click_option
from .main import SuggestingGroup, new_json_option
from .progress import new_quiet_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..options import Option

__all__ = ["ReleaseGroup", "further_options", "instead_of", "release_options"]

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


class ReleaseGroup(SuggestingGroup):
    """A command for each kind of release, also of plug-ins.

    Parameters
    ----------
    command
        Returns the command about a kind.
    reason_against
        Returns why there is no command about a kind, or nothing.
    """

    def __init__(
        self,
        name: str,
        command: Callable[[Kind], click.Command],
        reason_against: Callable[[Kind], str] = lambda _: "",
        noun: str = "mechanism or guarantee",
        **settings: Any,
    ) -> None:
        super().__init__(name, noun=noun, **settings)
        self._command = command
        self._reason_against = reason_against

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all kinds of dpradar that the command is about."""
        return [name for name, kind in KINDS.items() if not self._reason(kind)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command about a kind, or None."""
        kind = kind_named(cmd_name)
        return None if kind is None or self._reason(kind) else self._command(kind)

    def why_not(self, name: str) -> str:
        """Return why there is no command about a kind that is known elsewhere."""
        kind = kind_named(name)
        return "" if kind is None else self._reason(kind)

    def _reason(self, kind: Kind) -> str:
        return self._reason_against(kind) if kind.on_command_line else "it is known in spec files only"


class _UnlessData(click.Option):
    """An option that is needed unless --data, which is read before it, says as much."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the value; None is one where there is a table."""
        table = isinstance(ctx.params.get(DATA.name), str)  # else None, or what click has for not given
        return None if table and self.value_is_missing(value) else super().process_value(ctx, value)


def release_options(kind: Kind, *, free: bool = False, simulated: bool = False) -> list[click.Parameter]:
    """Return the options of a release.

    With ``free`` a parameter may be left out, to be chosen; ``simulated``: only those that an attack has a use for.
    """
    return [
        _option(option, required=option.required and not (free and option.about.typical is not None))
        for option in kind.options
        if "command" in option.about.places
        and (option.required or not option.about.of_question)
        and (can_be_simulated(option.about) or not simulated)
    ]


def _option(option: Option, *, required: bool) -> click.Option:
    settings = {"is_eager": True} if option == DATA else {}  # without it m is needed
    cls = _UnlessData if option.about.counts_values and option.param is not None else click.Option
    return click_option(option, cls=cls, required=required, **settings)


def further_options(kind: Kind, *, simulated: bool = False) -> list[click.Parameter]:
    """Return the options that every command about this release has; ``simulated``: that every attack on it has."""
    options: list[click.Parameter] = [_option(TIMES, required=False)]
    options += [
        _option(option, required=False)
        for option in kind.threat_options
        if can_be_simulated(option.about) or not simulated
    ]
    options += [new_quiet_option(), new_json_option()]
    if not kind.states_relation and not simulated:
        beside = "" if kind.relation is None else f"{FLAGS(kind.relation.about.beside)}, "
        help_text = f"Neighbour relation used for {beside}worst_gain, tpr and epsilon."
        options.append(click_option(RELATION, help=help_text))
    return options
