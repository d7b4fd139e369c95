"""``dpradar correlate FILE ...``: what a release gives away when the records of a table depend on each other."""

from __future__ import annotations

import json
import math
import operator
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..attacks.attack_runs import checked_seed
from ..errors import ParameterError
from ..numerics.lazy_numpy import np
from ..options.reading import FLAGS, TABLES, columns, number, span, words
from . import number_types
from .main import EXIT_UNMET, EXIT_VACUOUS, json_option
from .progress import quiet_option, repeat_command, show_progress
from .report_files import checked_reports, report_option, write_reports

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from ..correlated import Fit
    from ..results import Correlation

__all__ = ["correlate_command"]

_STATE = re.compile(r"^\s*(?P<column>.+?)\s*(?P<sign>>=|<=|==|!=|>|<)\s*(?P<limit>[^<>=!]+?)\s*$")
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_SAYS_NOTHING = 50.0  # a leakage at which every guess between two values may be right
_TABLE_ONLY = ("group", "value", "role", "columns", "clip", "targets")


@click.command("correlate")
@click.argument("file")
@click.option(
    "--group", metavar="COLUMN", help="Column with the group of a record, in a table with one row per record."
)
@click.option("--value", metavar="COLUMN", help="Column with the numeric value of each record.")
@click.option(
    "--role", metavar="COLUMN", help="Column with the kind of a record within its group, such as father or child."
)
@click.option(
    "--columns",
    metavar="A,B,...",
    help="Instead of --group: the columns with the numeric values of the records, in a table with one row per group.",
)
@click.option("--gaussian", is_flag=True, help="Treat groups as jointly Gaussian even if the data contradict it.")
@click.option("--markov", is_flag=True, help="Treat the states as a Markov chain, in a table with one row per time.")
@click.option(
    "--state",
    metavar="COLUMN or COLUMN>0",
    help="Column with the state, or the condition under which it is 1 instead of 0 (with --markov).",
)
@click.option(
    "--missing",
    type=click.Choice(["break", "drop", "refuse"]),
    default="break",
    show_default=True,
    help="Treatment of missing entries: interrupt the series, leave them out, or refuse them (with --markov).",
)
@click.option(
    "--period", type=number_types.WHOLE, help="Also compare the parts of a period of this many rows (with --markov)."
)
@click.option("--clip", metavar="LOW:HIGH", help="Interval to which values are clipped before they are summed.")
@click.option(
    "--targets",
    metavar="LOW:HIGH",
    help="Range of the values that the attacker tries to distinguish, or 'any' (default: --clip, or else the range of "
    "the data).",
)
@click.option(
    "--epsilon", type=number_types.NUMBER, required=True, help="Epsilon of the planned release (replace-one)."
)
@click.option("--target", type=number_types.NUMBER, help="Largest leakage allowed (default: --epsilon).")
@click.option(
    "--simulate",
    type=number_types.WHOLE,
    metavar="RUNS",
    help="Simulate this many releases with the noise that meets --target.",
)
@click.option("--seed", type=number_types.WHOLE, help="Seed of the simulation.")
@report_option
@quiet_option
@json_option
def correlate_command(**options: Any) -> int:
    """Report what a release gives away when records depend on each other.

    Examples of such records are members of a family, readings of a meter and points of a time series. FILE is a CSV
    file with a header. Exit code 3: the planned release leaks more than --target; 4: the bound is too weak to be
    useful.
    """
    from ..correlated import leakage

    paths = checked_reports(options["pages"])
    with show_progress("correlate") as progress:
        progress.describe("fit the model to the data")
        table = columns(options["file"], "FILE", TABLES)
        model = _series(table, options) if options["markov"] else _groups(table, options)
        targets = options["targets"]
        apart = "any" if targets == "any" else None if targets is None else span(targets, "targets", FLAGS)
        progress.describe("compute the leakage")
        result = leakage(model, options["epsilon"], target=options["target"], targets=apart)  # type: ignore[arg-type]
        if options["simulate"] is not None:
            progress.describe("simulate releases")
            result = _simulated(result, model, options["simulate"], options["seed"])
    result = replace(result, command=repeat_command(None if result.simulated is None else result.simulated.seed))
    click.echo(
        json.dumps(result.to_dict()) if options["as_json"] else f"{result.explain()}\n\nMachine-readable: --json."
    )
    write_reports(result, paths)
    if options["target"] is not None and result.leakage.value > result.target:
        return EXIT_UNMET
    return EXIT_VACUOUS if result.leakage.value > _SAYS_NOTHING else 0


def _groups(table: dict[str, list[str]], options: dict[str, Any]) -> Fit:
    from ..correlated import fit

    if options["state"] is not None or options["period"] is not None:
        raise ParameterError("--state and --period", "used with --markov", "a table of groups")
    names = None if options["columns"] is None else [str(word) for word in words(options["columns"], "columns", FLAGS)]
    if names is None and (options["group"] is None or options["value"] is None):
        hint = "Or --columns for one row a group, or --markov --state for a series."
        raise ParameterError("correlate", "given --group and --value", "one of them or none", hint)
    clip = None if options["clip"] is None else span(options["clip"], "clip", FLAGS)
    if clip is not None and not clip[0] < clip[1]:
        raise ParameterError("--clip", "LOW:HIGH with LOW below HIGH", options["clip"])
    return fit(
        table,
        group=options["group"],
        value=options["value"],
        role=options["role"],
        columns=names,
        clip=clip,
        model="gaussian" if options["gaussian"] else None,
    )


def _series(table: dict[str, list[str]], options: dict[str, Any]) -> Fit:
    from ..correlated import fit
    from ..correlated.fitting import numbers_in

    table_options = [name for name in _TABLE_ONLY if options[name] is not None]
    if table_options or options["gaussian"]:
        flag = f"--{table_options[0] if table_options else 'gaussian'}"
        raise ParameterError(flag, "left out with --markov", "both", "It is about tables of groups.")
    if options["state"] is None:
        hint = 'Such as --state mode, or --state "steps>0".'
        raise ParameterError("--state", "given with --markov", "nothing", hint)
    column, state = _state(options["state"], table)
    entries = table[column] if state is None else numbers_in(table[column], column)
    return fit(entries, model="markov", state=state, missing=options["missing"], period=options["period"])


def _state(text: str, table: dict[str, list[str]]) -> tuple[str, Callable[[Any], Hashable] | None]:
    """Return the column, and how its entries become states: as they are, or 1 where a condition holds."""
    if text in table:
        return text, None
    match = _STATE.match(text)
    if match is None or match["column"] not in table:
        raise ParameterError("--state", f"a column or COLUMN>NUMBER, of {', '.join(table)}", repr(text))
    limit, compare = number(match["limit"], "--state"), _SIGNS[match["sign"]]
    if not math.isfinite(limit):
        raise ParameterError("--state", "COLUMN>NUMBER with a finite number", repr(text))

    return match["column"], lambda entry: int(compare(entry, limit))


def _simulated(result: Correlation, model: Fit, runs: int, seed: int | None) -> Correlation:
    from ..correlated.noise_simulation import simulate

    noise = result.chosen
    if noise is None or noise.epsilon is None or result.sensitivity is None or model.answer is None:
        hint = "Needs --clip, or a state that is a condition, and a target that some noise keeps."
        raise ParameterError("--simulate", "used where the noise and the answer are known", "an unknown one", hint)
    checked = checked_seed("simulate", seed)
    rng = np.random.default_rng(checked)
    run = simulate(model.answer, result.sensitivity / noise.epsilon, runs=runs, rng=rng, seed=checked)
    return replace(result, simulated=run)
