"""The sorts of attackers that forms offer: each is a choice of options, and has a first question of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..options import About, Group

__all__ = ["ATTACKERS", "RECORD", "TABLE", "WITHOUT_PRIOR", "WITH_PRIOR", "AttackerKind", "can_be_simulated"]


@dataclass(frozen=True, slots=True)
class AttackerKind:
    """A sort of attacker.

    Parameters
    ----------
    name
        Its name in addresses, and that of the option that states it where it has no prior.
    label
        What it is, for people.
    groups
        The groups of releases about which it can be asked, besides releases whose first question is about it.
    first
        What its first question says, as texts.
    lists_records
        Whether the possible records are listed, so that their number need not be stated.
    """

    name: str
    label: str
    groups: tuple[Group, ...] = ("local", "noise", "other", "guarantee")
    first: Mapping[str, str] = field(default_factory=dict)
    lists_records: bool = False


RECORD = AttackerKind("record", "wants one person's value")
TABLE = AttackerKind(
    "table",
    "knows part of a record",
    ("local", "guarantee"),
    {
        "records": "age,diagnosis\nyoung,flu\nyoung,none\nold,flu\nold,none",
        "knowledge": "columns:age",
        "goal": "columns:diagnosis",
    },
    lists_records=True,
)
_MEMBERSHIP = AttackerKind("membership", "asks whether someone took part", ("noise", "guarantee"))
_BASELINE = AttackerKind("baseline", "any attacker with this baseline")
_WORST = AttackerKind("worst", "any attacker")
ATTACKERS = {attacker.name: attacker for attacker in (RECORD, TABLE, _MEMBERSHIP, _BASELINE, _WORST)}
WITH_PRIOR = (RECORD.name, TABLE.name)
WITHOUT_PRIOR = (_MEMBERSHIP.name, _BASELINE.name, _WORST.name)


def can_be_simulated(about: About) -> bool:
    """Whether an option means something where an attack is run: every attacker that can be has a prior."""
    return not about.attackers or not set(WITH_PRIOR).isdisjoint(about.attackers)
