"""What can be named: mechanisms and guarantees, their parameters and further options."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import mechanisms as ms
from ..errors import ParameterError
from ..guarantees.approx import DELTA, EPSILON
from ..guarantees.gdp import MU
from ..guarantees.renyi import RHO
from ..guarantees.tv import TV
from ..mechanisms.query import RELATIONS, STATED
from ..params import shown
from . import words
from .calls import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..params import Param
    from .words import Options, Where

__all__ = ["IN_FILES", "KINDS", "Kind", "kind_of"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A name: what it stands for, its parameters, its further options, and the call that makes it.

    ``samples``: reports can be drawn from it, so it can be attacked. ``flat``: it can be written as a command line.

    Examples
    --------
    >>> KINDS["dpsgd"].noise.name, KINDS["rdp"].noise
    ('noise_multiplier', None)
    """

    help: str
    call: Callable[[Options, Where], Call]
    params: tuple[Param, ...]
    extra: tuple[str, ...] = ()
    samples: bool = True
    flat: bool = True

    @property
    def noise(self) -> Param | None:
        """The parameter that makes the noise: the first that has a direction; delta is none."""
        able = [param for param in self.params if param.more_private is not None and param is not DELTA]
        return able[0] if able else None

    @property
    def names(self) -> tuple[str, ...]:
        """The options of the release itself; ``m`` is one only where it is a parameter."""
        return (*(param.name for param in self.params), *(name for name in self.extra if name != "m"))


def kind_of(options: Options, where: Where, known: Sequence[str] | None = None) -> Kind:
    """Return the kind that the options name, or say which are known."""
    name, names = options.get("kind"), tuple(KINDS) if known is None else known
    if isinstance(name, str) and name in names:
        return KINDS[name]
    near = difflib.get_close_matches(str(name).lower(), names, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else "`dpradar list` describes them."
    got = "nothing" if name is None else shown(name)
    raise ParameterError(where("kind"), f"one of {', '.join(names)}", got, hint)


def _value(param: Param, options: Options, where: Where) -> Any:
    """Return the value of a parameter; delta is 0 unless given."""
    value = options.get(param.name)
    if value is None and param is DELTA:
        return 0.0
    if value is None:
        raise ParameterError(where(param.name), param.allowed, "nothing", f"It is {param.what}.")
    return words.checked(param, value, where(param.name))


def _needed(option: str, allowed: str, options: Options, where: Where) -> Any:
    value = options.get(option)
    if value is None:
        raise ParameterError(where(option), allowed, "nothing")
    return value


def _neighbours(options: Options, where: Where) -> Any:
    return _needed("neighbours", "'replace-one' or 'add-remove' (it is never guessed)", options, where)


def _plain(name: str, params: tuple[Param, ...]) -> Callable[[Options, Where], Call]:
    return lambda o, where: Call(name, (), {param.name: _value(param, o, where) for param in params})


def _ldp(help_text: str, protocol: Any) -> Kind:
    return Kind(help_text, _plain(protocol.__name__, protocol.PARAMS), protocol.PARAMS)


def _noise(help_text: str, mechanism: Any) -> Kind:
    def call(o: Options, where: Where) -> Call:
        made = {param.name: _value(param, o, where) for param in mechanism.PARAMS}
        if o.get("query") is not None:
            made["query"] = words.contribution(o["query"], where)
        if o.get("truncate") is not None:
            made["truncate"] = words.span(o["truncate"], "truncate", where)
        return Call(mechanism.__name__, (), {**made, **_sensitivity(o, where, options)})

    options = ("sensitivity", "neighbours", *(("nonnegative",) if mechanism is ms.Gaussian else ()))
    return Kind(help_text, call, mechanism.PARAMS, ("query", "truncate", *options, "m"))


def _sensitivity(o: Options, where: Where, options: tuple[str, ...]) -> dict[str, Any]:
    """Return a sensitivity with its relation, which is also that of the question; without one neither is passed on."""
    given = o.get("sensitivity")
    if given is None:
        if o.get("nonnegative"):
            raise ParameterError(where("nonnegative"), f"given with {where('sensitivity')}", "no sensitivity")
        return {}
    if o.get("neighbours") is None and o.get("query") is None:  # a query beside a sensitivity is the first mistake
        raise ParameterError(where("neighbours"), STATED, "nothing", RELATIONS)
    made = {"sensitivity": words.number(given, where("sensitivity")), "neighbours": o.get("neighbours")}
    return {**made, "nonnegative": True} if "nonnegative" in options and o.get("nonnegative") else made


def _exponential(o: Options, where: Where) -> Call:
    made: dict[str, Any] = {"epsilon": _value(EPSILON, o, where)}
    if o.get("utility") is not None:
        made["utility"] = words.table(o["utility"], "utility", where)
    if o.get("interval") is not None:
        made["interval"] = words.span(o["interval"], "interval", where)
    return Call("Exponential", (), made)


def _channel(o: Options, where: Where) -> Call:
    matrix = _needed("matrix", "a matrix of probabilities, rows = inputs", o, where)
    return Call("Channel", (words.table(matrix, "matrix", where),))


def _dp(o: Options, where: Where) -> Call:
    epsilon, delta = _value(EPSILON, o, where), _value(DELTA, o, where)
    both = {"epsilon": epsilon, "neighbours": _neighbours(o, where)}
    return Call("PureDP", (), both) if delta == 0.0 else Call("ApproxDP", (), {"delta": delta, **both})


def _guarantee(name: str, help_text: str, param: Param) -> Kind:
    def call(o: Options, where: Where) -> Call:
        return Call(name, (), {param.name: _value(param, o, where), "neighbours": _neighbours(o, where)})

    return Kind(help_text, call, (param,), ("neighbours", "m"), samples=False)


def _lists(name: str, *options: str) -> Callable[[Options, Where], Call]:
    def call(o: Options, where: Where) -> Call:
        given = {option: _needed(option, "a list of numbers", o, where) for option in options}
        made = {option: words.numbers(value, option, where) for option, value in given.items()}
        return Call(name, (), {**made, "neighbours": _neighbours(o, where)})

    return call


def _register(o: Options, where: Where) -> Call:
    file = _needed("file", "a TOML file with one [[release]] table per release", o, where)
    return Call("spec.register", (str(where.path(file, "file")),))


KINDS: Mapping[str, Kind] = {
    "grr": _ldp("Generalised randomised response.", ms.GRR),
    "sue": _ldp("Symmetric unary encoding.", ms.SUE),
    "oue": _ldp("Optimised unary encoding.", ms.OUE),
    "ss": _ldp("Subset selection.", ms.SubsetSelection),
    "blh": _ldp("Binary local hashing.", ms.BLH),
    "olh": _ldp("Optimal local hashing.", ms.OLH),
    "she": _ldp("Histogram encoding, noisy vector as it is.", ms.SHE),
    "the": _ldp("Histogram encoding, values above a threshold.", ms.THE),
    "hadamard": _ldp("Hadamard response.", ms.HadamardResponse),
    "laplace": _noise("Laplace noise.", ms.Laplace),
    "gaussian": _noise("Gaussian noise.", ms.Gaussian),
    "geometric": _noise("Two-sided geometric noise.", ms.Geometric),
    "discrete-gaussian": _noise("Discrete Gaussian noise.", ms.DiscreteGaussian),
    "exponential": Kind("The exponential mechanism.", _exponential, (EPSILON,), ("interval", "utility", "m")),
    "channel": Kind("A matrix p(output | input).", _channel, (), ("matrix",)),
    "dp": Kind("An (epsilon, delta)-DP guarantee.", _dp, (EPSILON, DELTA), ("neighbours", "m"), samples=False),
    "gdp": _guarantee("GDP", "A mu-GDP guarantee.", MU),
    "zcdp": _guarantee("ZCDP", "A rho-zCDP guarantee.", RHO),
    "rdp": Kind(
        "Renyi divergences at some orders.",
        _lists("RDP", "orders", "epsilons"),
        (),
        ("orders", "epsilons", "neighbours", "m"),
        samples=False,
    ),
    "dpsgd": Kind(
        "A training run with DP-SGD.", _plain("DPSGD", ms.DPSGD.PARAMS), ms.DPSGD.PARAMS, ("m",), samples=False
    ),
    "register": Kind("All releases of a register, together.", _register, (), ("file", "m"), samples=False),
    "tv": _guarantee("TotalVariation", "A bound on the total variation.", TV),
    # Its --fpr would be mistaken for the rates that are asked about.
    "tradeoff": Kind(
        "A trade-off curve through some points.",
        _lists("Tradeoff", "fpr", "fnr"),
        (),
        ("fpr", "fnr", "neighbours", "m"),
        samples=False,
        flat=False,
    ),
}
IN_FILES = tuple(name for name in KINDS if name != "register")  # a file is a register itself
