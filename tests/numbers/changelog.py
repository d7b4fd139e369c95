"""Read which changes of numbers CHANGELOG.md names, and judge differences by them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from tests.numbers.compare import ALSO, CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.numbers.compare import Difference

__all__ = ["Named", "Verdict", "idle", "judge", "read_changelog"]

_UNRELEASED = re.compile(r"^## \[Unreleased\]\s*\n(.*?)(?=^## |\Z)", flags=re.M | re.S)
_NUMBERS = re.compile(r"^### Numbers\s*\n(.*?)(?=^### |\Z)", flags=re.M | re.S)
_LINE = re.compile(r"^- (?P<kind>\w+): (?P<patterns>(?:`[^`\s]+`(?:,| and|) ?)+)because (?P<why>\S.*)$", flags=re.S)
_PATTERN = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Named:
    """One line of the section Numbers: a kind of change, the questions it is about, and the reason."""

    kind: str
    patterns: tuple[str, ...]
    why: str

    def matches(self, question: str, quantity: str) -> bool:
        """Whether the line speaks of this quantity: a pattern names questions, or QUESTION:QUANTITY."""
        names = (question, f"{question}:{quantity}")
        return any(fnmatchcase(name, pattern) for name in names for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A difference, and what CHANGELOG says of it: ``problem`` is empty where it is named as what it is."""

    difference: Difference
    problem: str


def read_changelog(text: str) -> tuple[list[Named], list[str]]:
    """Return the lines of the section Numbers of what is unreleased, and what is wrong with them."""
    unreleased = _UNRELEASED.search(text)
    section = None if unreleased is None else _NUMBERS.search(unreleased.group(1))
    if section is None:
        return [], []
    entries = [" ".join(entry.split()) for entry in re.split(r"^(?=- )", section.group(1), flags=re.M)]
    named, problems = [], []
    for entry in filter(None, entries):
        match = _LINE.match(entry)
        if match is None:
            problems.append(f"not of the form '- KIND: `PATTERN`, ... because REASON': {entry}")
        elif match["kind"] not in CLASSES:
            problems.append(f"unknown kind {match['kind']!r} (known: {', '.join(CLASSES)}): {entry}")
        else:
            named.append(Named(match["kind"], tuple(_PATTERN.findall(match["patterns"])), match["why"]))
    return named, problems


def idle(named: Sequence[Named], quantities: Iterable[tuple[str, str]]) -> list[str]:
    """Return the patterns that match nothing that was ever asked: a slip of the pen."""
    pairs = list(quantities)
    return [
        pattern
        for line in named
        for pattern in line.patterns
        if not any(Named(line.kind, (pattern,), "").matches(*one) for one in pairs)
    ]


def judge(differences: Sequence[Difference], named: Sequence[Named]) -> list[Verdict]:
    """Return for each difference whether CHANGELOG names it, and as what it is."""
    return [Verdict(one, _problem(one, named)) for one in differences]


def _problem(difference: Difference, named: Sequence[Named]) -> str:
    kinds = {line.kind for line in named if line.matches(difference.question, difference.quantity)}
    right = {difference.kind} | ALSO.get(difference.kind, frozenset())
    if kinds & right:
        return ""
    return f"named as {', '.join(sorted(kinds))}" if kinds else "not named"
