"""The tables of a spec file: which keys each has. The keys are declared at the classes that they describe."""

from __future__ import annotations

from dataclasses import MISSING, replace
from functools import cache

from ..attacks.attack_options import AttackOptions
from ..calibration.limit import COST_KEYS, RISK_KEYS
from ..options import About, Choice, Option, by_name
from ..options.tables import Nested, Table, options_in
from .model import RELATION, REPORT_KEYS, TOP_KEYS, Decision, ReleaseSpec, Spec, ThreatSpec
from .question import TIMES
from .release_kinds import IN_FILES, KINDS
from .threat_options import THREAT, ThreatOptions

__all__ = [
    "SINGLE",
    "THREAT_TABLE",
    "TOP",
    "kind_option",
    "limits_option",
    "nested",
    "question_options",
    "release_table",
    "spec_file",
]


def nested(
    name: str,
    *tables: Table,
    noun: str = "a table",
    needed: bool = False,
    several: bool = False,
    separately: bool = False,
) -> Option:
    """Return the key of a table inside a table."""
    shape = Nested(noun, tables=tables, several=several, separately=separately)
    return Option(name, shape, About(""), MISSING if needed else None)


def kind_option(name: str, *kinds: str) -> Option:
    """Return the key that says of which kind a table is."""
    return Option(name, Choice.of(*kinds), About(""), MISSING)


LIMITS = Table("Limits", "The most that is accepted under a threat.", RISK_KEYS)


def limits_option(*, needed: bool) -> Option:
    """Return the key of a table of limits."""
    return nested("limits", LIMITS, noun="a table such as { rad = 0.1 }", needed=needed)


THREAT_TABLE = Table(
    "Threat",
    "Who attacks, and the limits.",
    (*options_in(ThreatSpec), *options_in(ThreatOptions), RELATION, limits_option(needed=False)),
)
SINGLE = {
    "utility": Table("Utility", "The largest errors that are accepted.", COST_KEYS),
    "evidence": Table(
        "Evidence",
        "What is shown beside the bounds.",
        (
            nested(
                "attack",
                Table("Attack", "The optimal attack, run as evidence.", options_in(AttackOptions)),
                noun="a table; {} will do",
            ),
            *options_in(Spec, "results"),
        ),
    ),
    "report": Table("Report", "What the report shows.", REPORT_KEYS),
    "decision": Table("Decision", "Who assessed, who decided what, when and until when.", options_in(Decision)),
}


@cache
def release_table(kind: str) -> Table:
    """Return the keys of a release of some kind."""
    name = "".join(word.capitalize() for word in kind.split("-"))
    options = (kind_option("kind", kind), *_own_options(kind), *options_in(ReleaseSpec), TIMES)
    return Table(f"{name}Release", KINDS[kind].help, options, tuple((key, "threat") for key in THREAT))


def _own_options(kind: str) -> list[Option]:
    """Return the options of a kind; what the whole file may state need not be stated here."""
    options = (option for option in KINDS[kind].options if "file" in option.about.places)
    return [replace(option, default=None) if option.about.of_question else option for option in options]


def question_options(kind: str) -> tuple[Option, ...]:
    """Return the options of a flat question: a release of some kind, and a threat."""
    options = [kind_option("kind", kind), *_own_options(kind), *options_in(ThreatOptions), RELATION, TIMES]
    return tuple(by_name(options).values())


TOP = Table(
    "Spec",
    "Keys outside of tables.",
    (
        *TOP_KEYS,
        nested("release", needed=True, several=True, separately=True),
        *(nested(name, several=name == "threat", separately=True) for name in ("threat", *SINGLE)),
    ),
)


@cache
def spec_file() -> Table:
    """Return the keys of a whole file."""
    return Table(
        "Spec",
        "What is released, who attacks, and which limits hold.",
        (
            nested("release", *map(release_table, IN_FILES), needed=True, several=True),
            *TOP_KEYS,
            nested("threat", THREAT_TABLE, several=True),
            *(nested(name, table) for name, table in SINGLE.items()),
        ),
    )
