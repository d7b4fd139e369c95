"""What can be named on the command line: mechanisms and guarantees, their options, and the threat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from .. import guarantees as g
from .. import mechanisms as ms
from ..errors import ParameterError
from ..guarantees.approx import DELTA, EPSILON
from ..guarantees.gdp import MU
from ..guarantees.renyi import RHO
from ..guarantees.tv import TV
from ..mechanisms.ldp.parameters import M
from ..spec import register
from . import parsing

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..params import Param
    from ..threats import Threat

__all__ = ["RELEASES", "Entry", "further_options", "parameter_option", "release_from", "threat_of"]


@dataclass(frozen=True, slots=True)
class Entry:
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
        query = None if o["query"] is None else _query(o["query"])
        return mechanism(o[parameter], query=query, truncate=truncate, sensitivity=o["sensitivity"])

    return build


def _exponential(o: dict[str, Any]) -> Any:
    interval = None if o["interval"] is None else parsing.span(o["interval"], "--interval")
    utility = None if o["utility"] is None else parsing.table(o["utility"], "--utility")
    return ms.Exponential(epsilon=o["epsilon"], utility=utility, interval=interval)


def _dp(o: dict[str, Any]) -> Any:
    if o["delta"] > 0.0:
        return g.ApproxDP(epsilon=o["epsilon"], delta=o["delta"], neighbours=o["neighbours"])
    return g.PureDP(epsilon=o["epsilon"], neighbours=o["neighbours"])


def _rdp(o: dict[str, Any]) -> Any:
    orders, epsilons = parsing.numbers(o["orders"], "--orders"), parsing.numbers(o["epsilons"], "--epsilons")
    return g.RDP(orders=orders, epsilons=epsilons, neighbours=o["neighbours"])


def _dpsgd(o: dict[str, Any]) -> Any:
    return ms.DPSGD(o["noise_multiplier"], o["sample_rate"], o["steps"])


_NOISE = ("query", "truncate", "sensitivity", "m")
RELEASES: dict[str, Entry] = {
    "grr": Entry("Generalised randomised response.", _ldp(ms.GRR), ms.GRR.PARAMS),
    "sue": Entry("Symmetric unary encoding.", _ldp(ms.SUE), ms.SUE.PARAMS),
    "oue": Entry("Optimised unary encoding.", _ldp(ms.OUE), ms.OUE.PARAMS),
    "ss": Entry("Subset selection.", _ldp(ms.SubsetSelection), ms.SubsetSelection.PARAMS),
    "blh": Entry("Binary local hashing.", _ldp(ms.BLH), ms.BLH.PARAMS),
    "olh": Entry("Optimal local hashing.", _ldp(ms.OLH), ms.OLH.PARAMS),
    "she": Entry("Histogram encoding, noisy vector as it is.", _ldp(ms.SHE), ms.SHE.PARAMS),
    "the": Entry("Histogram encoding, values above a threshold.", _ldp(ms.THE), ms.THE.PARAMS),
    "hadamard": Entry("Hadamard response.", _ldp(ms.HadamardResponse), ms.HadamardResponse.PARAMS),
    "laplace": Entry("Laplace noise.", _noise(ms.Laplace, "scale"), ms.Laplace.PARAMS, _NOISE),
    "gaussian": Entry("Gaussian noise.", _noise(ms.Gaussian, "sigma"), ms.Gaussian.PARAMS, _NOISE),
    "geometric": Entry("Two-sided geometric noise.", _noise(ms.Geometric, "scale"), ms.Geometric.PARAMS, _NOISE),
    "discrete-gaussian": Entry(
        "Discrete Gaussian noise.", _noise(ms.DiscreteGaussian, "sigma"), ms.DiscreteGaussian.PARAMS, _NOISE
    ),
    "exponential": Entry("The exponential mechanism.", _exponential, (EPSILON,), ("interval", "utility", "m")),
    "channel": Entry(
        "A matrix p(output | input).", lambda o: ms.Channel(parsing.table(o["matrix"], "--matrix")), (), ("matrix",)
    ),
    "dp": Entry("An (epsilon, delta)-DP guarantee.", _dp, (EPSILON, DELTA), ("neighbours", "m")),
    "gdp": Entry(
        "A mu-GDP guarantee.", lambda o: g.GDP(mu=o["mu"], neighbours=o["neighbours"]), (MU,), ("neighbours", "m")
    ),
    "zcdp": Entry(
        "A rho-zCDP guarantee.", lambda o: g.ZCDP(rho=o["rho"], neighbours=o["neighbours"]), (RHO,), ("neighbours", "m")
    ),
    "rdp": Entry("Renyi divergences at some orders.", _rdp, (), ("orders", "epsilons", "neighbours", "m")),
    "dpsgd": Entry("A training run with DP-SGD.", _dpsgd, ms.DPSGD.PARAMS, ("m",)),
    "register": Entry("All releases of a register, together.", lambda o: register(o["file"]), (), ("file", "m")),
    "tv": Entry(
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
    "sensitivity": {
        "type": parsing.NUMBER,
        "help": "Instead of a query: how much the released number changes between neighbours.",
    },
    "orders": {"metavar": "LIST", "required": True, "help": "Orders of the Renyi divergences: a,b,c or LOW:HIGH."},
    "epsilons": {"metavar": "LIST", "required": True, "help": "The bound at each order."},
    "file": {"metavar": "FILE", "required": True, "help": "TOML file with one [[release]] table per release."},
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


def parameter_option(param: Param, *, required: bool = True) -> click.Option:
    """Return the option of a parameter; delta is 0 unless given."""
    kind = parsing.WHOLE if param.integer else parsing.NUMBER
    flag = f"--{param.name.replace('_', '-')}"
    if param is DELTA:
        return click.Option([flag], type=kind, default=0.0, show_default=True, help=f"{param.what}.")
    return click.Option([flag], type=kind, required=required, help=f"{param.what} ({param.allowed}).")


def further_options(entry: Entry) -> list[click.Parameter]:
    """Return the options that every command about this release has."""
    options: list[click.Parameter] = [click.Option([f"--{extra}"], **_FURTHER[extra]) for extra in entry.extra]
    options.append(
        click.Option(
            ["--times"], type=parsing.WHOLE, default=1, help="The release is made this often about the same person."
        )
    )
    options += [click.Option([flag], **settings) for flag, settings in _THREAT]
    options.append(click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object."))
    if "neighbours" not in entry.extra:
        choice = click.Choice(["replace-one", "add-remove"])
        options.append(click.Option(["--neighbours"], type=choice, help="Relation for worst_gain, tpr and epsilon."))
    return options


def release_from(entry: Entry, options: dict[str, Any]) -> Any:
    """Return what the options describe, as often as they say."""
    what = entry.build(options)
    return what if options["times"] == 1 else ms.Repeated(what, options["times"])


def _size(entry: Entry, options: dict[str, Any]) -> int | None:
    """Return the number of values when an option settles it."""
    size: int | None = options.get("m")
    if size is not None:
        return int(M.check("--m", size)) if M not in entry.params else size
    if options.get("query") is not None and not options["worst"]:
        return len(_query(options["query"]))
    if options.get("matrix") is not None:
        return len(parsing.table(options["matrix"], "--matrix"))
    return None


def threat_of(entry: Entry, options: dict[str, Any]) -> Threat:
    """Return the threat that the options describe; a prior must fit the release."""
    size = _size(entry, options)
    threat = parsing.threat_from(options, size)
    if size is not None and threat.prior is not None and threat.prior.size not in (0, size):
        hint = "Leave out --m, or give as many values."
        raise ParameterError("--m", f"{threat.prior.size}, as the prior has that many values", f"{size}", hint)
    return threat


def _query(text: str) -> Any:
    if text.startswith("@"):
        return parsing.as_array(parsing.table(text[1:], "--query"))
    return parsing.numbers(text, "--query")
