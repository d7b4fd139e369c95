"""The options that describe an attacker: declared once, and read into a threat.

Command line, files and forms all go through here, so that they give the same numbers. ``known`` and ``sensitive`` are
short for knowledge and goal about columns. A prior that is counted in a table is that of ``table_prior``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge

from ..data.table_prior import CONFIDENCE, SUPPRESS
from ..errors import ParameterError
from ..options import About, Shape, Text, reading
from ..options.tables import options_in
from ..params import shown
from ..threats import Goal, Knowledge
from ..threats.attackers import RECORD, TABLE, WITH_PRIOR
from ..threats.threat import BASELINE, MEMBERSHIP
from .constructor_calls import Call
from .table_prior import Bins, ColumnNames, table_prior_call

if TYPE_CHECKING:
    from ..options.about import Place
    from ..options.reading import Options, Where

__all__ = ["ANY_ATTACKER", "DATA", "EQUALLY_LIKELY", "KEYS_IN_ERRORS", "OPTIONS", "PRIOR", "SIZE", "THREAT", "VALUES"]
__all__ += ["ThreatOptions", "has_prior", "threat_call", "values_from_zero", "without_prior"]

_NOT_IN_FORMS: tuple[Place, ...] = ("command", "file")  # of files, which the explorer does not read


@dataclass(frozen=True, slots=True)
class PriorText(Shape):
    """Probabilities, or the name of a distribution."""

    noun: str = "uniform, probabilities, @file, continuous:uniform or continuous:beta:A,B"
    metavar: str = "PRIOR"
    notation: str = "uniform, p1,p2,..., @file, continuous:uniform or continuous:beta:A,B"

    def read(self, value: Any, option: str, where: Where) -> Any:
        """Return the name of a distribution, or probabilities."""
        if isinstance(value, str) and (value == "uniform" or value.startswith("continuous:")):
            return value
        return [reading.number(word, where(option)) for word in reading.words(value, option, where)]

    def schema(self) -> dict[str, Any]:
        """Return text or numbers."""
        return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "number"}}]}


@dataclass(frozen=True, slots=True)
class PossibleValues(PriorText):
    """Numbers: a list, or evenly spaced ones."""

    noun: str = "LOW:HIGH, LOW:HIGH:STEP, a list or @file"
    metavar: str = "VALUES"
    notation: str = "LOW:HIGH, LOW:HIGH:STEP, a,b,c or @file"

    def read(self, value: Any, option: str, where: Where) -> Any:
        """Return the numbers."""
        return reading.steps(value, option, where)


@dataclass(frozen=True, slots=True)
class Records(Shape):
    """Records of several columns."""

    noun: str = "a CSV file with a header, or a table of columns"
    metavar: str = "FILE"
    notation: str = "a CSV file with a header"
    pasted: Literal["", "rows", "columns"] = "columns"
    names_file: bool = True

    def read(self, value: Any, option: str, where: Where) -> Any:
        """Return the columns."""
        return reading.columns(value, option, where)

    def schema(self) -> dict[str, Any]:
        """Return text or columns."""
        return {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "array"}}]}


@dataclass(frozen=True, slots=True)
class DataFiles(Shape):
    """Files that are counted, of any size."""

    noun: str = "the name of a CSV or Parquet file, or a pattern of them"
    metavar: str = "FILES"
    notation: str = "CSV or Parquet, or a pattern; without --m, the possible values are the records that occur in them"
    names_file: bool = True

    def read(self, value: Any, option: str, where: Where) -> str:
        """Return the name."""
        if not isinstance(value, str):
            raise ParameterError(where(option), self.noun, shown(value), "Put it in quotes.")
        return value

    def schema(self) -> dict[str, Any]:
        """Return text."""
        return {"type": "string"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreatOptions:
    """Who attacks: what is believed, known of the target and guessed, or one of the threats that need no prior."""

    m: (
        Annotated[
            int,
            Ge(2),
            About("the number of values, equally likely unless a prior says otherwise", example="10",
                  label="number of values (m)", form_help="The number of values a person can have.",
                  file_help="how many values the record can have, all equally likely",
                  typical=(2, 5000), counts_values=True, needless_with=("values",), attackers=(RECORD.name,)),
        ]
        | None
    ) = None  # fmt: skip
    prior: Annotated[
        Any,
        PriorText(),
        About("the probability of each value", example="@prior.csv", label="how likely each value is (prior)",
              form_help="Equally likely if empty, or a list: 0.5, 0.3, 0.2; over an interval: continuous:beta:2,5.",
              file_help="how likely each value is, one number per line; or a list",
              unset="uniform", private=True, attackers=(RECORD.name,)),
    ] = None  # fmt: skip
    values: Annotated[
        Any,
        PossibleValues(),
        About("the possible values", label="possible values", example="0:100", private=True, folded=True,
              form_help="If the values are numbers: LOW:HIGH, LOW:HIGH:STEP or a list.", attackers=(RECORD.name,),
              file_help="what the record can be; all values are equally likely unless prior says else"),
    ] = None  # fmt: skip
    records: Annotated[
        Any,
        Records(),
        About("the possible records", label="records", private=True, attackers=(TABLE.name,),
              form_help="A table with a header; every row is one possible record."),
    ] = None  # fmt: skip
    weights: (
        Annotated[
            str,
            Text(metavar="COLUMN"),
            About("the column of the records or of the data that holds weights", label="column with weights",
                  form_help="The column with the weight of each row; equal weights if empty.", folded=True,
                  attackers=(TABLE.name,)),
        ]
        | None
    ) = None  # fmt: skip
    knowledge: Annotated[
        Any,
        Knowledge.KINDS,
        About("what the attacker knows of the target (with everything, the attacker knows the record and asks whether "
              "it was used)", example="everything", label="Already knows", private=True, attackers=WITH_PRIOR,
              file_help="what is known of the target; nothing unless given"),
    ] = "nothing"  # fmt: skip
    goal: Annotated[
        Any,
        Goal.KINDS,
        About("what counts as a right guess", example="within:2", label="Wants", private=True, attackers=WITH_PRIOR,
              file_help="what counts as a right guess; exact unless given"),
    ] = "exact"  # fmt: skip
    baseline: (
        Annotated[
            float,
            BASELINE,
            About("the success rate of the best guess without the release; instead of a prior, for any attacker",
                  example="0.1", label="right without the release (baseline)", slider=(0.0, 1.0),
                  slider_ends=("rarely", "often"),
                  form_help="How often the best guess is right without the release.", attackers=("baseline",)),
        ]
        | None
    ) = None  # fmt: skip
    membership: (
        Annotated[
            float,
            MEMBERSHIP,
            About("the prior probability that the target took part, for an attacker who only asks whether it did; "
                  "instead of knowledge and goal", example="0.5", label="took part, beforehand (prior)",
                  slider=(0.0, 1.0), slider_ends=("rarely", "often"),
                  form_help="Probability, before the release, that the person took part.", attackers=("membership",),
                  file_help="instead of all this: was the target's record used? (prior)"),
        ]
        | None
    ) = None  # fmt: skip
    worst: Annotated[
        bool,
        About("the worst case over all priors, knowledge and goals", places=_NOT_IN_FORMS, attackers=("worst",)),
    ] = False
    data: Annotated[
        Any, DataFiles(), About("the files of records whose frequencies are the prior", places=_NOT_IN_FORMS)
    ] = None
    columns: Annotated[Any, ColumnNames(), About("the columns of a record", places=_NOT_IN_FORMS)] = None
    known: Annotated[Any, ColumnNames(), About("the columns that are known of the target", places=_NOT_IN_FORMS)] = None
    sensitive: Annotated[Any, ColumnNames(), About("the columns that are guessed", places=_NOT_IN_FORMS)] = None
    bins: Annotated[Any, Bins(), About("the groups of values of each column of the data", places=_NOT_IN_FORMS)] = None
    suppress: (
        Annotated[
            int,
            SUPPRESS,
            About(
                "the number of rows below which a cell of the data is left out of the prior; the results are then "
                "upper bounds that hold for the people left out too",
                places=_NOT_IN_FORMS,
            ),
        ]
        | None
    ) = None
    prior_confidence: (
        Annotated[
            float,
            CONFIDENCE,
            About(
                "the confidence with which the results hold for the population, of which the rows are a random sample",
                places=_NOT_IN_FORMS,
            ),
        ]
        | None
    ) = None
    fixed_weights: Annotated[
        bool,
        About(
            "that the weights were settled before the rows were drawn, as in a stratified sample", places=_NOT_IN_FORMS
        ),
    ] = False

    @classmethod
    def of(cls, options: Options) -> ThreatOptions:
        """Return the options of a flat question that are about the attacker."""
        return cls(**{name: options[name] for name in THREAT if options.get(name) is not None})

    @property
    def without_prior(self) -> list[str]:
        """The threats that are named and need no prior."""
        named = {"baseline": self.baseline, "membership": self.membership, "worst": self.worst}
        return [name for name, value in named.items() if value is not None and value is not False]  # 0 is a baseline

    @property
    def has_prior(self) -> bool:
        """Whether the options state a prior themselves."""
        return any(part is not None for part in (self.m, self.prior, self.values, self.records, self.data))

    @property
    def prior_is_continuous(self) -> bool:
        """Whether the prior is a distribution over an interval, whose ends are the values."""
        return isinstance(self.prior, str) and self.prior.startswith("continuous:")


OPTIONS = {option.name: option for option in options_in(ThreatOptions)}
THREAT = tuple(OPTIONS)
SIZE, PRIOR, VALUES, DATA = (OPTIONS[name] for name in ("m", "prior", "values", "data"))
EQUALLY_LIKELY: Options = {"prior": "uniform"}
ANY_ATTACKER: Options = {"worst": True}
# What the errors of the objects that are made of the options call them, where that is not the option's own name.
KEYS_IN_ERRORS = {
    "Prior.probabilities": "prior",
    "Prior.uniform": "m",
    "Prior.continuous": "values",
    "Knowledge.labels": "knowledge",
    "Knowledge.columns": "knowledge",
    "Goal.within": "goal",
    "Goal.labels": "goal",
    "Goal.columns": "goal",
    "data.table": "data",
    "data.weight": "weights",
    "data.domain": "m",
    "data.confidence": "prior_confidence",
}


def values_from_zero(size: int) -> Options:
    """Return the options of a prior over 0, 1, 2, ..., all equally likely."""
    return {VALUES.name: f"0:{size - 1}"}


def without_prior(options: Options) -> list[str]:
    """Return which of the threats that need no prior the options name."""
    return ThreatOptions.of(options).without_prior


def has_prior(options: Options) -> bool:
    """Return whether the options state a prior themselves."""
    return ThreatOptions.of(options).has_prior


def threat_call(options: Options, size: int | None, where: Where) -> Call:
    """Return the threat that the options describe, as a call; ``size`` is how many values the release has."""
    threat = ThreatOptions.of(options)
    short = threat.without_prior
    prior = _prior(threat, None if short else size, where)
    if len(short) + (prior is not None) > 1:
        choices = [where(name) for name in short] + (["a prior"] if prior is not None else [])
        allowed = f"one of {where('baseline')}, {where('membership')}, {where('worst')} or a prior"
        raise ParameterError("threat", allowed, " and ".join(choices))
    if short and short[0] != "worst":
        return Call(f"Threat.{short[0]}", (OPTIONS[short[0]].read(getattr(threat, short[0]), where),))
    knowledge, goal = _knowledge_and_goal(threat, where)
    if prior is None:
        if (knowledge, goal) != (OPTIONS["knowledge"].default, OPTIONS["goal"].default):
            files = () if where.folder is None else ("data",)
            names = ", ".join(map(where, ("m", "values", "prior", "records", *files)))
            raise ParameterError(
                f"{where('knowledge')} and {where('goal')}", f"used with a prior ({names})", "no prior"
            )
        return Call("Threat.worst")
    return Call(
        "Threat", (prior, _part("Knowledge", "knowledge", knowledge, where), _part("Goal", "goal", goal, where))
    )


def _part(owner: str, option: str, value: Any, where: Where) -> Call:
    """Return knowledge or goal; columns are arguments of their own."""
    kind, argument = OPTIONS[option].read(value, where)
    if argument is None:
        return Call(f"{owner}.{kind}")
    return Call(f"{owner}.{kind}", tuple(argument) if kind == "columns" else (argument,))


def _knowledge_and_goal(threat: ThreatOptions, where: Where) -> tuple[Any, Any]:
    """Return knowledge and goal; ``known`` and ``sensitive`` are about columns."""
    parts = []
    for short, long in (("known", "knowledge"), ("sensitive", "goal")):
        columns, stated = getattr(threat, short), getattr(threat, long)
        if columns is None:
            parts.append(stated)
            continue
        if stated != OPTIONS[long].default:
            raise ParameterError(where(short), f"given without {where(long)}, which it is short for", shown(stated))
        parts.append({"columns": OPTIONS[short].read(columns, where)})
    return parts[0], parts[1]


def _prior(threat: ThreatOptions, size: int | None, where: Where) -> Call | None:
    """Return the prior of the options, or one of the ``size`` that the mechanism needs; None where there is neither."""
    table = table_call(threat, where)
    if table is not None:
        return table
    if threat.records is not None:
        return _records(threat, where)
    if threat.prior_is_continuous:
        return _continuous(threat, where)
    values = None if threat.values is None else OPTIONS["values"].read(threat.values, where)
    probabilities = None if threat.prior is None else OPTIONS["prior"].read(threat.prior, where)
    if probabilities is not None and probabilities != "uniform":
        return Call("Prior.of", (probabilities,) if values is None else (probabilities, values))
    if values is not None:
        count = values.count if isinstance(values, reading.Steps) else len(values)
        return Call("Prior.uniform", (count, values))
    return None if size is None else Call("Prior.uniform", (size,))


def _records(threat: ThreatOptions, where: Where) -> Call:
    table = OPTIONS["records"].read(threat.records, where)
    if threat.weights is None:
        return Call("Prior.records", (table,))
    if threat.weights not in table:
        raise ParameterError(where("weights"), f"a column of the records: {', '.join(table)}", repr(threat.weights))
    raw = [reading.number(word, where("weights")) for word in table.pop(threat.weights)]
    return Call("Prior.records", (table, raw))


def _continuous(threat: ThreatOptions, where: Where) -> Call:
    if threat.values is None:
        raise ParameterError(where("values"), "LOW:HIGH, the interval of a continuous prior", "nothing")
    low, high = reading.span(threat.values, "values", where)
    kind, _, arguments = threat.prior.removeprefix("continuous:").partition(":")
    shape = [reading.number(word, where("prior")) for word in arguments.split(",")] if arguments else []
    if kind == "uniform" and not shape:
        return Call("Prior.continuous", (Call("stats.uniform", (low, high - low)), low, high))
    if kind == "beta" and len(shape) == 2 and min(shape) > 0.0:
        law = Call("stats.beta", tuple(shape), {"loc": low, "scale": high - low})
        return Call("Prior.continuous", (law, low, high))
    raise ParameterError(
        where("prior"), "continuous:uniform or continuous:beta:A,B with A, B above 0", repr(threat.prior)
    )


def table_call(threat: ThreatOptions, where: Where) -> Call | None:
    """Return the prior of the table that the options name, or None; ``m`` says how many records there may be."""
    if threat.data is None:
        of_tables = ("columns", "bins", "suppress", "prior_confidence", "fixed_weights")
        lonely = [name for name in of_tables if getattr(threat, name) not in (None, False)]
        if lonely:
            raise ParameterError(where(lonely[0]), f"used with {where('data')}", f"no {where('data')}")
        return None
    others = [name for name in ("prior", "values", "records") if getattr(threat, name) is not None]
    if others:
        raise ParameterError(where("data"), "the only prior", f"also {where(others[0])}")
    settings: dict[str, Any] = {} if threat.weights is None else {"weight": str(threat.weights)}
    arguments = {"bins": "bins", "suppress": "suppress", "prior_confidence": "confidence", "m": "domain"}
    for name, argument in arguments.items():
        if getattr(threat, name) is not None:
            settings[argument] = OPTIONS[name].read(getattr(threat, name), where)
    if threat.fixed_weights:
        settings["fixed_weights"] = True
    path = str(where.path(OPTIONS["data"].read(threat.data, where), "data"))
    return table_prior_call(path, _columns(threat, where), settings)


def _columns(threat: ThreatOptions, where: Where) -> list[str]:
    """Return the columns of a record: those that are listed, or those that are known or guessed."""
    if threat.columns is not None:
        return list(OPTIONS["columns"].read(threat.columns, where))
    names: list[str] = []
    for short, long in (("known", "knowledge"), ("sensitive", "goal")):
        if getattr(threat, short) is not None:
            names += OPTIONS[short].read(getattr(threat, short), where)
            continue
        kind, argument = OPTIONS[long].read(getattr(threat, long), where)
        names += map(str, argument) if kind == "columns" else ()
    if not names:
        hint = f"Such as {where('known')} age,sex {where('sensitive')} race; or {where('columns')}."
        raise ParameterError(where("data"), "given with the columns of a record", "none", hint)
    return list(dict.fromkeys(names))
