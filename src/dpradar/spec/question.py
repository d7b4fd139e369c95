"""A question as a flat table of options: what is released, and who attacks.

The options are those of the command line, with ``_`` for ``-``: ``kind`` and its parameters, ``times``, and the threat
(``m``, ``prior``, ``values``, ``records``, ``weights``, ``knowledge``, ``goal``, ``baseline``, ``membership``,
``worst``, and what ``tables`` knows of data). Command line, files and web all go through here, so that they give the
same numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..mechanisms import Repeated
from ..mechanisms.ldp.parameters import M
from ..options import parameters, reading
from ..options.reading import PLAIN
from ..threats.threat import BASELINE, MEMBERSHIP
from . import attacker, tables
from .calls import Call
from .kinds import KINDS, kind_of

if TYPE_CHECKING:
    from ..options.reading import Options, Where
    from ..threats import Threat

__all__ = ["THREAT", "release_call", "release_of", "sized", "threat_call", "threat_of", "without_prior"]

THREAT = (
    *("m", "prior", "values", "records", "weights", "knowledge", "goal", "baseline", "membership", "worst"),
    *tables.DATA,
)


def release_call(options: Options, where: Where = PLAIN) -> Call:
    """Return what the options describe, as often as they say, as a call."""
    release = kind_of(options, where).call(options, where)
    text = options.get("times")
    times = 1 if text is None else reading.checked(parameters(Repeated)[0], text, where("times"))
    return release if times == 1 else Call("Repeated", (release, times))


def release_of(options: Options, where: Where = PLAIN) -> Any:
    """Return the mechanism or guarantee that the options describe.

    Examples
    --------
    >>> release_of({"kind": "laplace", "scale": 5.0, "truncate": "0:100"})
    Laplace(scale=5, truncate=(0.0, 100.0))
    """
    call = release_call(options, where)
    with kind_of(options, where).placed(where):
        return call.build()


def size_of(options: Options, where: Where = PLAIN) -> int | None:
    """Return the number of values when the release settles it."""
    counted = _counted(options, where)
    return None if counted is None else counted[1]


def _counted(options: Options, where: Where) -> tuple[str, int] | None:
    """Return the option that settles the number of values, and the number."""
    size = options.get("m")
    if size is not None:
        count: int = reading.checked(M, size, where("m"))
        where.check_count(count, "m")
        return "m", count
    kind = KINDS.get(str(options.get("kind")))
    for option in () if kind is None else kind.options:
        needless = not option.required and options.get("worst")
        if option.about.counts_values and options.get(option.name) is not None and not needless:
            return option.name, len(option.read(options[option.name], where))
    return None


def sized(options: Options, where: Where = PLAIN) -> Options:
    """Return the options with ``m``, where the release needs it and a table says it: the number of occupied cells.

    This errs on the safe side: with records that nobody has, randomised response is a post-processing of the one
    without, and the protocols of bits and hashes tell as much (docs/derivations/tables.md).
    """
    kind = KINDS.get(str(options.get("kind")))
    if options.get("data") is None or options.get("m") is not None or kind is None:
        return options
    if not getattr(kind.cls, "COUNTED_IN_TABLES", False):
        return options
    table = tables.table_call(options, where)
    return options if table is None else {**options, "m": table.build().size}


def without_prior(options: Options) -> list[str]:
    """Return which of the threats that need no prior the options name."""
    given = {name: options.get(name) for name in ("baseline", "membership", "worst")}
    return [name for name, value in given.items() if value is not None and value is not False]  # 0 is a baseline


def threat_of(options: Options, where: Where = PLAIN) -> Threat:
    """Return the threat that the options describe; a prior must fit the release.

    Examples
    --------
    >>> threat_of({"kind": "grr", "m": 3, "epsilon": 1.0, "prior": [0.5, 0.3, 0.2], "knowledge": "labels:a,a,b"})
    Threat(Prior(3 values), Knowledge.labels(2 labels), Goal.exact())
    >>> threat_of({"kind": "dpsgd", "membership": 0.5})
    Threat.membership(0.5)
    """
    threat: Threat = threat_call(options, where).build()
    counted = None if threat.prior is None else _counted(options, where)
    if counted is not None and threat.prior is not None and threat.prior.size not in (0, counted[1]):
        raise _other_size(*counted, threat.prior.size, where)
    return threat


def _other_size(option: str, size: int, wanted: int, where: Where) -> ParameterError:
    """Return what is wrong where the option that settles the number of values and the prior have different ones."""
    name = where(option)
    if option == "m":
        hint = f"Leave out {name}, or give as many values."
        return ParameterError(name, f"{wanted}, as the prior has that many values", f"{size}", hint)
    hint = f"Give one for each value, or a prior of {size} values."
    return ParameterError(name, f"of {wanted} entries, as the prior has that many values", f"{size}", hint)


def threat_call(options: Options, where: Where = PLAIN) -> Call:
    """Return the threat that the options describe, as a call."""
    short = without_prior(options)
    prior = _prior(options, None if short else size_of(options, where), where)
    if len(short) + (prior is not None) > 1:
        given = [where(name) for name in short] + (["a prior"] if prior is not None else [])
        allowed = f"one of {where('baseline')}, {where('membership')}, {where('worst')} or a prior"
        raise ParameterError("threat", allowed, " and ".join(given))
    if short and short[0] != "worst":
        param = {"baseline": BASELINE, "membership": MEMBERSHIP}[short[0]]
        return Call(f"Threat.{short[0]}", (reading.checked(param, options[short[0]], where(short[0])),))
    believed = tables.believed(options, where)
    if prior is None:
        if believed != ("nothing", "exact"):
            files = () if where.folder is None else ("data",)
            names = ", ".join(map(where, ("m", "values", "prior", "records", *files)))
            raise ParameterError(
                f"{where('knowledge')} and {where('goal')}", f"used with a prior ({names})", "no prior"
            )
        return Call("Threat.worst")
    return Call("Threat", (prior, attacker.knowledge(believed[0], where), attacker.goal(believed[1], where)))


def _prior(options: Options, size: int | None, where: Where) -> Call | None:
    """Return the prior that the options describe; ``size`` is what the mechanism needs; None when nothing is said."""
    prior, values = options.get("prior"), options.get("values")
    table = tables.table_call(options, where)
    if table is not None:
        return table
    if options.get("records") is not None:
        return _records(options, where)
    if isinstance(prior, str) and prior.startswith("continuous:"):
        return _continuous(prior, values, where)
    named = None if values is None else reading.steps(values, "values", where)
    if prior is not None and prior != "uniform":
        probabilities = [reading.number(word, where("prior")) for word in reading.words(prior, "prior", where)]
        return Call("Prior.of", (probabilities,) if named is None else (probabilities, named))
    if named is not None:
        count = named.count if isinstance(named, reading.Steps) else len(named)
        return Call("Prior.uniform", (count, named))
    return None if size is None else Call("Prior.uniform", (size,))


def _records(options: Options, where: Where) -> Call:
    table = reading.columns(options["records"], "records", where)
    weights = options.get("weights")
    if weights is None:
        return Call("Prior.records", (table,))
    if weights not in table:
        raise ParameterError(where("weights"), f"a column of the records: {', '.join(table)}", repr(weights))
    raw = [reading.number(word, where("weights")) for word in table.pop(weights)]
    return Call("Prior.records", (table, raw))


def _continuous(text: str, values: Any, where: Where) -> Call:
    if values is None:
        raise ParameterError(where("values"), "LOW:HIGH, the interval of a continuous prior", "nothing")
    low, high = reading.span(values, "values", where)
    kind, _, arguments = text.removeprefix("continuous:").partition(":")
    shape = [reading.number(word, where("prior")) for word in arguments.split(",")] if arguments else []
    if kind == "uniform" and not shape:
        return Call("Prior.continuous", (Call("stats.uniform", (low, high - low)), low, high))
    if kind == "beta" and len(shape) == 2 and min(shape) > 0.0:
        law = Call("stats.beta", tuple(shape), {"loc": low, "scale": high - low})
        return Call("Prior.continuous", (law, low, high))
    raise ParameterError(where("prior"), "continuous:uniform or continuous:beta:A,B with A, B above 0", repr(text))
