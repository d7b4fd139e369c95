"""A question as a flat table of options: what is released, and who attacks.

The options are those of the command line, with ``_`` for ``-``: ``kind`` and its parameters, ``times``, and the options
of a threat. Command line, files and web all go through here, so that they give the same numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..mechanisms import Repeated
from ..mechanisms.ldp.parameters import M
from ..options import describe, reading
from ..options.reading import PLAIN
from . import threat_options
from .constructor_calls import Call
from .release_kinds import kind_named, kind_of
from .threat_options import SIZE, THREAT, ThreatOptions, without_prior

if TYPE_CHECKING:
    from ..options.reading import Options, Where
    from ..threats import Threat

__all__ = ["THREAT", "TIMES", "release_call", "release_of", "sized", "threat_call", "threat_of"]

TIMES = replace(describe(Repeated)[-1], default=1)  # of every release, repeated or not


def release_call(options: Options, where: Where = PLAIN) -> Call:
    """Return the release that the options describe, repeated as often as they say, as a call."""
    release = kind_of(options, where).call(options, where)
    times = options.get(TIMES.name)
    times = TIMES.default if times is None else TIMES.read(times, where)
    return release if times == TIMES.default else Call("Repeated", (release, times))


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
    threat = ThreatOptions.of(options)
    if threat.m is not None:
        count: int = reading.checked(M, threat.m, where(SIZE.name))
        where.check_count(count, SIZE.name)
        return SIZE.name, count
    kind = kind_named(str(options.get("kind")))
    for option in () if kind is None else kind.options:
        needless = not option.required and threat.worst
        if option.about.counts_values and options.get(option.name) is not None and not needless:
            return option.name, len(option.read(options[option.name], where))
    return None


def sized(options: Options, where: Where = PLAIN) -> Options:
    """Return the options with ``m``, where the release needs it and a table says it: the number of occupied cells.

    This errs on the safe side: with records that nobody has, randomised response is a post-processing of the one
    without, and the protocols of bits and hashes disclose as much (docs/derivations/tables.md).
    """
    threat = ThreatOptions.of(options)
    if threat.data is None or threat.m is not None:
        return options
    kind = kind_named(str(options.get("kind")))
    if kind is None or not getattr(kind.cls, "COUNTED_IN_TABLES", False):
        return options
    table = threat_options.table_call(threat, where)
    return options if table is None else {**options, SIZE.name: table.build().size}


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


def _other_size(option: str, size: int, prior_size: int, where: Where) -> ParameterError:
    """Return the error of an option that settles another number of values than the prior has."""
    name = where(option)
    if option == SIZE.name:
        hint = f"Leave out {name}, or give as many values."
        return ParameterError(name, f"{prior_size}, as the prior has that many values", f"{size}", hint)
    hint = f"Give one for each value, or a prior of {size} values."
    return ParameterError(name, f"of {prior_size} entries, as the prior has that many values", f"{size}", hint)


def threat_call(options: Options, where: Where = PLAIN) -> Call:
    """Return the threat that the options describe, as a call."""
    needless = bool(without_prior(options))
    return threat_options.threat_call(options, None if needless else size_of(options, where), where)
