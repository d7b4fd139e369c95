"""What can be named on the command line: mechanisms and guarantees, and the options of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..mechanisms import Repeated
from ..options import Choice, Flag, describe
from ..options.reading import FLAGS
from ..spec.kinds import KINDS, Kind
from . import parsing

if TYPE_CHECKING:
    from ..options import Option

__all__ = ["RELEASES", "further_options", "instead_of", "release_options"]

RELEASES: dict[str, Kind] = {name: kind for name, kind in KINDS.items() if kind.on_command_line}

_COUNT: dict[str, Any] = {
    "type": parsing.WHOLE,
    "help": "Number of values (uniform prior unless --prior says otherwise).",
}

_THREAT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--prior", {"metavar": "PRIOR", "help": "uniform, p1,p2,..., @file, continuous:uniform or continuous:beta:A,B."}),
    ("--values", {"metavar": "VALUES", "help": "The values: LOW:HIGH, LOW:HIGH:STEP, a,b,c or @file."}),
    ("--records", {"metavar": "FILE", "help": "CSV with a header: a prior over records of several columns."}),
    ("--weights", {"metavar": "COLUMN", "help": "Column of --records or --data that holds weights."}),
    (
        "--data",
        {
            "metavar": "FILES",
            "is_eager": True,
            "help": "CSV or Parquet, also a pattern, of any size: the prior is counted there. Without --m the protocol "
            "takes the records that occur.",
        },
    ),
    ("--known", {"metavar": "COLUMNS", "help": "Columns that are known of the target: a,b,c."}),
    ("--sensitive", {"metavar": "COLUMNS", "help": "Columns that are guessed: a,b,c."}),
    ("--columns", {"metavar": "COLUMNS", "help": "Columns of a record, where they are not --known and --sensitive."}),
    (
        "--bins",
        {
            "metavar": "RULES",
            "help": "How columns of --data are cut: age=10 (equal width), age=18:65 (edges), age=width:5, "
            "pay=quantiles:4, born=year, age=values.",
        },
    ),
    (
        "--suppress",
        {"type": parsing.WHOLE, "help": "Leave out cells of --data with fewer rows; the numbers cover them."},
    ),
    (
        "--prior-confidence",
        {"type": parsing.NUMBER, "help": "The rows of --data are a sample: hold for every prior this likely."},
    ),
    (
        "--fixed-weights",
        {
            "is_flag": True,
            "help": "State that --weights were settled before the rows were drawn, as in a stratified sample.",
        },
    ),
    (
        "--knowledge",
        {"default": "nothing", "show_default": True, "help": "nothing, everything, labels:..., columns:..."},
    ),
    ("--goal", {"default": "exact", "show_default": True, "help": "exact, within:ETA, labels:..., columns:..."}),
    ("--baseline", {"type": parsing.NUMBER, "help": "Only the success of the best blind guess is known."}),
    ("--membership", {"type": parsing.NUMBER, "help": "Ask whether the target is in, with this prior probability."}),
    ("--worst", {"is_flag": True, "help": "Any prior, knowledge and goal."}),
)


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
        return click.Option(flag, is_flag=True, help=f"Say {about.what}.")
    if isinstance(option.shape, Choice):
        return click.Option(flag, type=click.Choice(option.shape.words), required=required, help=f"{what}.")
    if option.param is None:
        notation = f": {option.shape.notation}" if option.shape.notation else ""
        return click.Option(flag, metavar=option.shape.metavar, required=required, help=f"{what}{notation}.")
    number = parsing.WHOLE if option.param.integer else parsing.NUMBER
    if not option.required and option.default is not None:
        return click.Option(flag, type=number, default=option.default, show_default=True, help=f"{what}.")
    kind = _UnlessData if about.counts_values else click.Option
    return kind(flag, type=number, required=required, help=f"{what} ({option.allowed}).")


def further_options(kind: Kind) -> list[click.Parameter]:
    """Return the options that every command about this release has."""
    options: list[click.Parameter] = [] if kind.counts_values else [click.Option(["--m"], **_COUNT)]
    options.append(_option(replace(describe(Repeated)[-1], default=1), required=False))
    options += [click.Option([flag], **settings) for flag, settings in _THREAT]
    options.append(click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object."))
    if not kind.states_relation:
        choice = click.Choice(["replace-one", "add-remove"])
        of = "of --sensitivity, and " if "sensitivity" in kind.names else ""
        help_text = f"Relation {of}for worst_gain, tpr and epsilon."
        options.append(click.Option(["--neighbours"], type=choice, help=help_text))
    return options
