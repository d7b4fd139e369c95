"""The shape of a spec file, by pydantic: keys, types and ranges. Imported only when a file is read.

Every table is checked by itself, key by key, so that all problems are found at once. Lists, priors and the like are
checked by the functions that the command line uses; pydantic knows of them only what the JSON Schema says.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema, create_model
from pydantic_core import PydanticCustomError

from ..attacks.attack_runs import CONFIDENCE, TRIALS
from ..calibration.limit import COSTS
from ..errors import ParameterError
from ..mechanisms import Repeated
from ..options import Choice, parameters, reading
from ..options import Flag as FlagShape
from ..params import Param
from ..results.bound import QUANTITIES
from ..threats.threat import BASELINE, MEMBERSHIP
from . import attacker, tables
from .kinds import IN_FILES, KINDS
from .question import THREAT

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..options import Option

__all__ = [
    "TABLES",
    "WORDED",
    "Allowed",
    "Attack",
    "Limits",
    "Table",
    "Text",
    "Top",
    "file_model",
    "question_keys",
    "release_model",
    "table_model",
    "type_of",
]

WORDED = "worded"  # the type of errors whose message is already the one to show


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a key must be and what it means, in words: for messages and for the schema."""

    text: str
    hint: str = ""


class Table(BaseModel):
    """A table of the file: unknown keys are errors, and nothing is converted silently."""

    model_config = ConfigDict(extra="forbid", strict=True)


def type_of(param: Param) -> Any:
    """Return the type of a parameter: its domain is that of the parameter."""
    limits: dict[str, Any] = {}
    cast = int if param.integer else float
    if math.isfinite(param.low):
        limits["gt" if param.low_open else "ge"] = cast(param.low)
    if math.isfinite(param.high):
        limits["lt" if param.high_open else "le"] = cast(param.high)
    if not param.integer:
        limits["allow_inf_nan"] = False
    allowed = Allowed(param.allowed, f"It is {param.what}.")
    return Annotated[cast, Field(**limits, description=param.what), allowed]


def _worded(
    check: Callable[[Any, reading.Where], Any], schema: dict[str, Any], what: str, allowed: Allowed | None = None
) -> Any:
    """Return the type of a key that is checked by words; its value is kept as it was written."""

    def checked(value: Any, info: ValidationInfo) -> Any:
        try:
            check(value, (info.context or {}).get("where", reading.PLAIN))
        except ParameterError as error:
            told = {"told": f"must be {error.allowed}; got {error.got}", "hint": error.hint}
            raise PydanticCustomError(WORDED, "{told}", told) from None
        return value

    described = WithJsonSchema({**schema, "description": what})
    return Annotated[Any, BeforeValidator(checked), described, allowed or Allowed(what)]


_NUMBERS = {"type": "array", "items": {"type": "number"}}
_LIST = {"anyOf": [{"type": "string"}, _NUMBERS]}
_WORDS = {"anyOf": [{"type": "string"}, {"type": "array"}]}


def _one_of(*keys: str) -> dict[str, Any]:
    properties = {key: {"type": "number"} if key == "within" else _WORDS for key in keys}
    shape = {"type": "object", "properties": properties, "additionalProperties": False, "maxProperties": 1}
    return {"anyOf": [{"type": "string"}, {**shape, "minProperties": 1}]}


def _numbers(option: str) -> Callable[[Any, reading.Where], Any]:
    return lambda value, where: reading.numbers(value, option, where)


def _names(option: str) -> Callable[[Any, reading.Where], Any]:
    return lambda value, where: tables.names(value, option, where)


def _prior(value: Any, where: reading.Where) -> None:
    if not (isinstance(value, str) and (value == "uniform" or value.startswith("continuous:"))):
        for word in reading.words(value, "prior", where):
            reading.number(word, where("prior"))


_PROBABILITY = Param(name="limit", low=0.0, high=1.0, what="the most that is accepted")
_POSITIVE = Param(name="limit", low=0.0, what="the most that is accepted")
_FPR = Param(name="fpr", low=0.0, high=1.0, what="the false-positive rate at which tpr is limited")
_DELTA = Param(name="delta", low=0.0, high=1.0, what="the delta at which epsilon is limited")
_COUNT = Param(name="m", integer=True, low=2, what="the number of values; each is as likely as the others")
_SEED = Param(name="seed", integer=True, low=0, what="the seed; it gives the same result again")
_REPORTS = Param(name="reports", integer=True, low=1, what="the number of reports that a frequency is estimated from")

Text = Annotated[str, Allowed("text", "Put it in quotes.")]
Day = Annotated[dt.date | str, Allowed("a date such as 2026-03-01, or text")]
Flag = Annotated[bool, Allowed("true or false")]
Relation = Annotated[
    Literal["replace-one", "add-remove"],
    Allowed("'replace-one' or 'add-remove'", "It says which data sets are compared."),
]
_COLUMNS = {
    "columns": "the columns of a record",
    "known": "the columns that are known of the target",
    "sensitive": "the columns that are guessed",
}
_PEOPLE = {"name": Text, "what": Text, "date": Day, "note": Text, "times": type_of(parameters(Repeated)[0])}
_LIMITS = {
    **dict.fromkeys((*QUANTITIES, "tpr"), type_of(_PROBABILITY)),
    "fpr": type_of(_FPR),
    "epsilon": type_of(_POSITIVE),
    "delta": type_of(_DELTA),
    "acknowledge": Annotated[
        Literal["near-ceiling"],
        Allowed("'near-ceiling'", "It accepts a release that is hardly better than publishing the raw data."),
    ],
}
_THREAT = {
    "name": Text,
    "m": type_of(_COUNT),
    "prior": _worded(_prior, _LIST, "uniform, probabilities, @file, continuous:uniform or continuous:beta:A,B"),
    "values": _worded(_numbers("values"), _LIST, "the values: LOW:HIGH, LOW:HIGH:STEP, a list or @file"),
    "records": _worded(
        lambda value, where: reading.columns(value, "records", where),
        {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "array"}}]},
        "a CSV file with a header, or a table of columns",
    ),
    "weights": Text,
    "data": Annotated[str, Allowed("the name of a CSV or Parquet file, or a pattern of them", "Put it in quotes.")],
    **{name: _worded(_names(name), _WORDS, what) for name, what in _COLUMNS.items()},
    "bins": _worded(tables.bins, {"anyOf": [{"type": "string"}, {"type": "object"}]}, "how columns are cut, by name"),
    "suppress": type_of(tables.SUPPRESS),
    "prior_confidence": type_of(tables.PRIOR_CONFIDENCE),
    "fixed_weights": Flag,
    "knowledge": _worded(
        attacker.knowledge, _one_of("labels", "columns"), "nothing, everything, labels:... or columns:..."
    ),
    "goal": _worded(
        attacker.goal, _one_of("within", "labels", "columns"), "exact, within:ETA, labels:..., columns:..."
    ),
    "baseline": type_of(BASELINE),
    "membership": type_of(MEMBERSHIP),
    "worst": Flag,
    "neighbours": Relation,
    "limit_source": Text,
}
_ATTACK = {
    "trials": type_of(TRIALS),
    "seed": type_of(_SEED),
    "maximise": Annotated[Literal["rad", "success"], Allowed("'rad' or 'success'")],
    "confidence": type_of(CONFIDENCE),
}
_TOP = {
    "title": Text,
    "description": Text,
    "neighbours": Relation,
    "together": Annotated[
        Literal["compose", "compare"],
        Allowed("'compose' or 'compare'", "Composed: all were released about the same people. Compared: one of them."),
    ],
}


def table_model(name: str, what: str, keys: dict[str, Any], needed: tuple[str, ...] = ()) -> type[Table]:
    """Return the shape of a table with these keys."""
    fields: dict[str, Any] = {key: (kind, ... if key in needed else None) for key, kind in keys.items()}
    return create_model(name, __base__=Table, __doc__=what, **fields)


Limits = table_model("Limits", "The most that is accepted under a threat.", _LIMITS)
Threat = table_model("Threat", "Who attacks, and the limits.", {**_THREAT, "limits": Limits})
Attack = table_model("Attack", "The optimal attack, run as evidence.", _ATTACK)
Utility = table_model(
    "Utility",
    "The largest errors that are accepted.",
    {**dict.fromkeys(COSTS, type_of(_POSITIVE)), "reports": type_of(_REPORTS)},
)
Evidence = table_model(
    "Evidence",
    "What is shown beside the bounds.",
    {
        "attack": Annotated[Attack, Allowed("a table; {} will do")],
        "results": Annotated[list[str], Allowed("a list of files with saved attacks or audits")],
    },
)
Report = table_model("Report", "What the report shows.", {"include_prior": Flag, "noise_table": Flag})
Decision = table_model(
    "Decision",
    "Who assessed, who decided what, when, and until when it holds.",
    {"assessed_by": Text, "decided_by": Text, "by": Text, "date": Day, "review_by": Day, "outcome": Text, "note": Text},
)
TABLES: dict[str, type[Table]] = {
    "threat": Threat, "utility": Utility, "evidence": Evidence, "report": Report, "decision": Decision,
}  # fmt: skip
Top = table_model("Top", "Keys outside of tables.", {**_TOP, **dict.fromkeys(("release", *TABLES), Any)}, ("release",))


def _key(option: Option) -> Any:
    """Return the type of an option as a key of a file."""
    allowed = Allowed(option.allowed, option.hint)
    if option.param is not None:
        return type_of(option.param)
    if isinstance(option.shape, Choice):
        return Annotated[Literal[option.shape.words], Field(description=option.about.what), allowed]
    if isinstance(option.shape, FlagShape):
        return Annotated[bool, Field(description=option.about.what), Allowed("true or false", option.hint)]

    def read(value: Any, where: reading.Where) -> Any:
        return option.read(value, where)

    return _worded(read, option.shape.schema(), option.about.what, allowed)


def _own_keys(kind: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the keys of a kind with their types, and those it needs."""
    options = [option for option in KINDS[kind].options if "file" in option.about.places]
    needed = [option.name for option in options if option.required and not option.about.of_question]
    return {option.name: _key(option) for option in options}, tuple(needed)


@cache
def release_model(kind: str) -> type[Table]:
    """Return the shape of a release of some kind."""
    own, needed = _own_keys(kind)
    name = "".join(word.capitalize() for word in kind.split("-"))
    keys = {"kind": Literal[kind], **own, **_PEOPLE}
    return table_model(f"{name}Release", KINDS[kind].help, keys, ("kind", *needed))


def question_keys(kind: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the keys of a flat question, a release of some kind and a threat, with their types, and those it needs."""
    own, needed = _own_keys(kind)
    threat = {key: _THREAT[key] for key in (*THREAT, "neighbours")}
    return {"kind": Literal[kind], **threat, **own, "times": _PEOPLE["times"]}, ("kind", *needed)


@cache
def file_model() -> type[Table]:
    """Return the shape of a whole file, for the JSON Schema."""
    release: Any = Annotated[reduce(or_, map(release_model, IN_FILES)), Field(discriminator="kind")]
    threat: Any = TABLES["threat"]
    keys = {"release": release | list[release], **_TOP, **TABLES, "threat": threat | list[threat]}
    return table_model("Spec", "What is released, who attacks, and which limits hold.", keys, ("release",))
