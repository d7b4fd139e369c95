"""``dpradar measure FILE ...``: what someone's own attack gained, from its logged results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ..attacks import measure
from ..errors import ParameterError
from ..numerics.lazy_numpy import np
from ..options.reading import TABLES, columns
from ..params import bad_cell
from . import number_types
from .main import json_option
from .progress import quiet_option, show_progress

if TYPE_CHECKING:
    from ..results import AttackRun

__all__ = ["measure_command"]

_YES, _NO = {"true", "1", "yes"}, {"false", "0", "no"}


@click.command("measure")
@click.argument("file")
@click.option("--with", "with_", required=True, metavar="COLUMN", help="Guesses (or hits) about members.")
@click.option("--without", required=True, metavar="COLUMN", help="Guesses (or hits) about non-members.")
@click.option(
    "--truth",
    metavar="COLUMN",
    help="Column with the truth. Without it, --with and --without hold hits: true/false or 1/0.",
)
@click.option(
    "--truth-without", metavar="COLUMN", help="Column with the truth about non-members, if it is another one."
)
@click.option(
    "--within", type=number_types.NUMBER, default=0.0, show_default=True, help="Numbers may be off by this much."
)
@click.option("--paired", is_flag=True, help="Both columns of a row are about the same target.")
@click.option("--target", metavar="COLUMN", help="Column that identifies the person, where a person has several rows.")
@click.option(
    "--confidence", type=number_types.NUMBER, default=0.95, show_default=True, help="Confidence level of the intervals."
)
@quiet_option
@json_option
def measure_command(**options: Any) -> int:
    """Report what an attack gained: success on members, success on non-members, and the difference.

    FILE is a CSV file with a header, one row for each guess. Members are people whose data were used. Each number has a
    confidence interval.
    """
    with show_progress("measure"):
        run = _measured(options)
    click.echo(json.dumps(run.to_dict()) if options["as_json"] else run.explain())
    return 0


def _measured(options: dict[str, Any]) -> AttackRun:
    table = columns(options["file"], "FILE", TABLES)
    names = ("with_", "without", "truth", "truth_without")
    guesses: dict[str, Any] = {name: _column(table, options[name], name) for name in names}
    if guesses["truth"] is None:
        guesses["with_"], guesses["without"] = (_hits(guesses[name]) for name in ("with_", "without"))
    elif options["within"] > 0.0:
        guesses = {
            name: None if column is None else _numbers(column, options[name]) for name, column in guesses.items()
        }
    return measure(
        guesses["with_"],
        guesses["without"],
        truth=guesses["truth"],
        truth_without=guesses["truth_without"],
        within=options["within"],
        paired=options["paired"],
        targets=_column(table, options["target"], "target"),
        confidence=options["confidence"],
        name=f"logged in {options['file']}",
    )


def _column(table: dict[str, list[str]], name: str | None, option: str) -> list[str] | None:
    if name is None:
        return None
    if name not in table:
        flag = f"--{option.rstrip('_').replace('_', '-')}"
        raise ParameterError(flag, f"a column of the file: {', '.join(table)}", repr(name))
    return table[name]


def _numbers(column: list[str], name: str) -> list[float]:
    """Return the numbers of a column; what a cell says is a guess about somebody, and stays out of messages."""
    numbers = []
    for row, cell in enumerate(column):
        try:
            numbers.append(float(cell))
        except ValueError:
            raise ParameterError(f"column {name!r}", "numbers with --within", *bad_cell(cell, row)) from None
    return numbers


def _hits(column: list[str] | None) -> Any:
    words = [word.strip().lower() for word in column or []]
    other = next((row for row, word in enumerate(words) if word not in _YES | _NO), None)
    if other is not None:
        got, _ = bad_cell("", other)
        raise ParameterError("hits", "true/false, yes/no or 1/0", got, "Or name the column of the --truth.")
    return np.array([word in _YES for word in words])
