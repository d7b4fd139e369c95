"""``dpradar assess MECHANISM ...``: options are generated from the parameters of the mechanisms."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from .. import guarantees as g
from .. import mechanisms as ms
from ..bounds import assess
from ..errors import ParameterError
from ..guarantees.approx import DELTA, EPSILON
from ..guarantees.gdp import MU
from ..guarantees.tv import TV
from ..mechanisms.ldp.parameters import M
from ..present.text import explain
from . import parsing
from .main import EXIT_VACUOUS, Suggesting

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..params import Param
    from ..results import Assessment

__all__ = ["RELEASES", "group"]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A name on the command line: what it builds, from which parameters and further options."""

    help: str
    build: Callable[[dict[str, Any]], Any]
    params: tuple[Param, ...]
    extra: tuple[str, ...] = ()


def _ldp(protocol: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda o: protocol(m=o["m"], epsilon=o["epsilon"])


def _noise(mechanism: Any, parameter: str) -> Callable[[dict[str, Any]], Any]:
    def build(o: dict[str, Any]) -> Any:
        truncate = None if o["truncate"] is None else parsing.span(o["truncate"], "--truncate")
        return mechanism(o[parameter], query=o["query"], truncate=truncate)

    return build


def _exponential(o: dict[str, Any]) -> Any:
    interval = None if o["interval"] is None else parsing.span(o["interval"], "--interval")
    utility = None if o["utility"] is None else parsing.table(o["utility"], "--utility")
    return ms.Exponential(epsilon=o["epsilon"], utility=utility, interval=interval)


def _dp(o: dict[str, Any]) -> Any:
    if o["delta"] > 0.0:
        return g.ApproxDP(epsilon=o["epsilon"], delta=o["delta"], neighbours=o["neighbours"])
    return g.PureDP(epsilon=o["epsilon"], neighbours=o["neighbours"])


_NOISE = ("query", "truncate", "m")
RELEASES: dict[str, _Entry] = {
    "grr": _Entry("Generalised randomised response.", _ldp(ms.GRR), ms.GRR.PARAMS),
    "sue": _Entry("Symmetric unary encoding.", _ldp(ms.SUE), ms.SUE.PARAMS),
    "oue": _Entry("Optimised unary encoding.", _ldp(ms.OUE), ms.OUE.PARAMS),
    "ss": _Entry("Subset selection.", _ldp(ms.SubsetSelection), ms.SubsetSelection.PARAMS),
    "laplace": _Entry("Laplace noise.", _noise(ms.Laplace, "scale"), ms.Laplace.PARAMS, _NOISE),
    "gaussian": _Entry("Gaussian noise.", _noise(ms.Gaussian, "sigma"), ms.Gaussian.PARAMS, _NOISE),
    "geometric": _Entry("Two-sided geometric noise.", _noise(ms.Geometric, "scale"), ms.Geometric.PARAMS, _NOISE),
    "discrete-gaussian": _Entry(
        "Discrete Gaussian noise.", _noise(ms.DiscreteGaussian, "sigma"), ms.DiscreteGaussian.PARAMS, _NOISE
    ),
    "exponential": _Entry("The exponential mechanism.", _exponential, (EPSILON,), ("interval", "utility", "m")),
    "channel": _Entry(
        "A matrix p(output | input).", lambda o: ms.Channel(parsing.table(o["matrix"], "--matrix")), (), ("matrix",)
    ),
    "dp": _Entry("An (epsilon, delta)-DP guarantee.", _dp, (EPSILON, DELTA), ("neighbours", "m")),
    "gdp": _Entry(
        "A mu-GDP guarantee.", lambda o: g.GDP(mu=o["mu"], neighbours=o["neighbours"]), (MU,), ("neighbours", "m")
    ),
    "tv": _Entry(
        "A bound on the total variation.",
        lambda o: g.TotalVariation(tv=o["tv"], neighbours=o["neighbours"]),
        (TV,),
        ("neighbours", "m"),
    ),
}

_FURTHER: dict[str, dict[str, Any]] = {
    "m": {"type": parsing.WHOLE, "help": "Number of values (uniform prior unless --prior says otherwise)."},
    "query": {
        "metavar": "LIST",
        "help": "The target's contribution per value: a,b,c or @file.csv (vectors: one row each).",
    },
    "truncate": {"metavar": "LOW:HIGH", "help": "Clamp the output to this range."},
    "interval": {"metavar": "LOW:HIGH", "help": "Outputs are any number of this interval; utility -|record - output|."},
    "utility": {"metavar": "FILE", "help": "CSV of utilities, rows = inputs, columns = outputs."},
    "matrix": {"metavar": "FILE", "required": True, "help": "CSV of probabilities, rows = inputs."},
    "neighbours": {
        "type": click.Choice(["replace-one", "add-remove"]),
        "required": True,
        "help": "Which data sets the guarantee compares; never guessed.",
    },
}

_THREAT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--prior", {"metavar": "PRIOR", "help": "uniform, p1,p2,..., @file, continuous:uniform or continuous:beta:A,B."}),
    ("--values", {"metavar": "VALUES", "help": "The values: LOW:HIGH, LOW:HIGH:STEP, a,b,c or @file."}),
    ("--records", {"metavar": "FILE", "help": "CSV with a header: a prior over records of several columns."}),
    ("--weights", {"metavar": "COLUMN", "help": "Column of --records that holds weights."}),
    (
        "--knowledge",
        {"default": "nothing", "show_default": True, "help": "nothing, everything, labels:..., columns:..."},
    ),
    ("--goal", {"default": "exact", "show_default": True, "help": "exact, within:ETA, labels:..., columns:..."}),
    ("--baseline", {"type": parsing.NUMBER, "help": "Only the success of the best blind guess is known."}),
    ("--membership", {"type": parsing.NUMBER, "help": "Ask whether the target is in, with this prior probability."}),
    ("--worst", {"is_flag": True, "help": "Any prior, knowledge and goal."}),
)


def _parameter(param: Param) -> click.Option:
    kind = parsing.WHOLE if param.integer else parsing.NUMBER
    if param is DELTA:
        return click.Option([f"--{param.name}"], type=kind, default=0.0, show_default=True, help=f"{param.what}.")
    return click.Option([f"--{param.name}"], type=kind, required=True, help=f"{param.what} ({param.allowed}).")


def _command(name: str, entry: _Entry) -> click.Command:
    options: list[click.Parameter] = [_parameter(param) for param in entry.params]
    options += [click.Option([f"--{extra}"], **_FURTHER[extra]) for extra in entry.extra]
    options += [click.Option([flag], **settings) for flag, settings in _THREAT]
    options.append(click.Option(["--all", "show_all"], is_flag=True, help="Show every rule and why it lost."))
    options.append(click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object."))
    if "neighbours" not in entry.extra:
        choice = click.Choice(["replace-one", "add-remove"])
        options.append(click.Option(["--neighbours"], type=choice, help="Relation for worst_gain."))
    return click.Command(name, params=options, callback=partial(_run, entry), help=entry.help)


def _size(entry: _Entry, options: dict[str, Any]) -> int | None:
    """Return the number of values when an option settles it."""
    size: int | None = options.get("m")
    if size is not None:
        return int(M.check("--m", size)) if M not in entry.params else size
    if options.get("query") is not None and not options["worst"]:
        return len(options["query"])
    return None


def _run(entry: _Entry, **options: Any) -> int:
    if options.get("query") is not None:
        options["query"] = _query(options["query"])
    what = entry.build(options)
    size = _size(entry, options)
    if size is None and isinstance(what, ms.Channel):
        size = what.at(None).inputs
    threat = parsing.threat_from(options, size)
    if size is not None and threat.prior is not None and threat.prior.size not in (0, size):
        raise ParameterError("--m", f"{threat.prior.size}, as the prior has that many values", f"{size}")
    result = assess(what, threat, neighbours=options["neighbours"])
    _show(result, as_json=options["as_json"], show_all=options["show_all"])
    return EXIT_VACUOUS if _vacuous(result) else 0


def _query(text: str) -> Any:
    if text.startswith("@"):
        return parsing.as_array(parsing.table(text[1:], "--query"))
    return parsing.numbers(text, "--query")


def _vacuous(result: Assessment) -> bool:
    bounds = [bound for bound in (result.rad, result.success) if bound is not None]
    return all(bound.rule == "trivial" for bound in bounds)


def _show(result: Assessment, *, as_json: bool, show_all: bool) -> None:
    if as_json:
        click.echo(json.dumps(result.to_dict()))
        return
    click.echo(explain(result))
    if not show_all:
        click.echo("\nSee every rule and why it lost: add --all. Machine-readable: add --json.")
        return
    click.echo("\nOther rules:")
    for other in result.others:
        value = "" if other.bound is None else f" {other.bound.value:.6g}"
        click.echo(f"  {other.quantity:<11} {other.rule}{value}: {other.why}")


def group() -> click.Group:
    """Return the ``assess`` group."""
    loaders: dict[str, Callable[[], click.Command]] = {
        name: partial(_command, name, entry) for name, entry in RELEASES.items()
    }
    help_text = "What could someone learn about one person? Name a mechanism or a guarantee."
    return Suggesting(name="assess", loaders=loaders, help=help_text)
