"""A prior that is counted in a table: ``data``, ``columns``, ``known``, ``sensitive``, ``bins`` and their kin.

``known`` and ``sensitive`` are short for knowledge and goal about columns, and name the columns of a record unless
``columns`` does. A table is counted once, however often a question is asked about it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.table_prior import CONFIDENCE, SUPPRESS
from ..errors import ParameterError
from ..mechanisms.ldp.parameters import M
from ..options import reading
from ..params import shown
from .calls import Call

if TYPE_CHECKING:
    from ..options.reading import Options, Where
    from ..threats import Prior

__all__ = ["DATA", "PRIOR_CONFIDENCE", "SUPPRESS", "believed", "bins", "counted", "names", "table_call"]

DATA = ("data", "columns", "known", "sensitive", "bins", "suppress", "prior_confidence", "fixed_weights")
PRIOR_CONFIDENCE = replace(CONFIDENCE, name="prior_confidence")
_KEPT = 8  # priors of tables that are remembered


def names(value: Any, option: str, where: Where) -> list[str]:
    """Return names of columns, as a list or separated by commas."""
    return [str(word) for word in reading.words(value, option, where)]


def bins(value: Any, where: Where) -> dict[str, Any]:
    """Return the rules by column: a table, or text such as ``age=10,income=quantiles:5,hours=20:40``.

    Examples
    --------
    >>> from dpradar.options.reading import FLAGS
    >>> bins("age=10,income=quantiles:5,hours=20:40,born=year", FLAGS)
    {'age': 10, 'income': 'quantiles:5', 'hours': [20.0, 40.0], 'born': 'year'}
    """
    value = reading.data(value, where("bins"))
    if isinstance(value, Mapping):
        return {str(column): rule for column, rule in value.items()}
    allowed, hint = "NAME=RULE,NAME=RULE,...", "Such as age=10, age=18:65, income=width:5000 or income=quantiles:10."
    if not isinstance(value, str):
        raise ParameterError(where("bins"), allowed, shown(value), hint)
    found = {}
    for part in value.split(","):
        column, equals, rule = part.strip().rpartition("=")
        if not equals or not column or not rule:
            raise ParameterError(where("bins"), allowed, shown(part), hint)
        found[column] = _rule(rule, where)
    return found


def _rule(text: str, where: Where) -> Any:
    first = text.partition(":")[0]
    if first.isalpha():
        return text
    if ":" not in text and text.isdigit():
        return int(text)
    return [reading.number(word, where("bins")) for word in text.split(":")]


def believed(options: Options, where: Where) -> tuple[Any, Any]:
    """Return knowledge and goal; ``known`` and ``sensitive`` are about columns."""
    found = []
    for short, long, default in (("known", "knowledge", "nothing"), ("sensitive", "goal", "exact")):
        given = options.get(long, default)
        if options.get(short) is None:
            found.append(given)
            continue
        if given != default:
            raise ParameterError(where(short), f"given without {where(long)}, which it is short for", shown(given))
        found.append({"columns": names(options[short], short, where)})
    return found[0], found[1]


def table_call(options: Options, where: Where) -> Call | None:
    """Return the prior of the table that the options name, or None; ``m`` says how many records there may be."""
    if options.get("data") is None:
        given = [name for name in DATA if name not in ("known", "sensitive") and options.get(name) not in (None, False)]
        if given:
            raise ParameterError(where(given[0]), f"used with {where('data')}", f"no {where('data')}")
        return None
    others = [name for name in ("prior", "values", "records") if options.get(name) is not None]
    if others:
        raise ParameterError(where("data"), "the only prior", f"also {where(others[0])}")
    if not isinstance(options["data"], str):
        raise ParameterError(where("data"), "the name of a file, or a pattern", shown(options["data"]))
    settings: dict[str, Any] = {}
    if options.get("weights") is not None:
        settings["weight"] = str(options["weights"])
    if options.get("bins") is not None:
        settings["bins"] = bins(options["bins"], where)
    for name, param, argument in (
        ("suppress", SUPPRESS, "suppress"),
        ("prior_confidence", PRIOR_CONFIDENCE, "confidence"),
        ("m", M, "domain"),
    ):
        if options.get(name) is not None:
            settings[argument] = reading.checked(param, options[name], where(name))
    if options.get("fixed_weights"):
        settings["fixed_weights"] = True
    path = str(where.path(options["data"], "data"))
    return Call("data.prior", (path, _columns(options, where)), settings)


def _columns(options: Options, where: Where) -> list[str]:
    if options.get("columns") is not None:
        return names(options["columns"], "columns", where)
    told = [reading.data(options.get(long), where(long)) for long in ("knowledge", "goal")]
    found: list[str] = []
    for short, long in (("known", told[0]), ("sensitive", told[1])):
        if options.get(short) is not None:
            found += names(options[short], short, where)
        elif isinstance(long, Mapping) and "columns" in long:
            found += names(long["columns"], short, where)
        elif isinstance(long, str) and long.startswith("columns:"):
            found += names(long.removeprefix("columns:"), short, where)
    if not found:
        hint = f"Such as {where('known')} age,sex {where('sensitive')} race; or {where('columns')}."
        raise ParameterError(where("data"), "given with the columns of a record", "none", hint)
    return list(dict.fromkeys(found))


def counted(path: str, columns: list[str], *, domain: int | None = None, **settings: Any) -> Prior:
    """Return ``data.prior`` of files; the same question about unchanged files is answered from memory."""
    from ..data.engine import files
    from ..data.table_prior import extend_domain

    state = tuple((name, info.st_mtime_ns, info.st_size) for name in files(path) for info in [Path(name).stat()])
    found = _remembered(path, state, json.dumps([columns, settings], sort_keys=True, default=str))
    return found if domain is None else extend_domain(found, domain)


@lru_cache(maxsize=_KEPT)
def _remembered(path: str, _: tuple[Any, ...], asked: str) -> Prior:
    from ..data import prior

    columns, settings = json.loads(asked)
    return prior(path, columns, **settings)
