"""A spec as plain data: what is released, who attacks, which limits hold, what else the report shows."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from pathlib import Path  # noqa: TC003 (annotations are read)
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..attacks.attack_options import AttackOptions  # noqa: TC001 (annotations are read)
from ..errors import ParameterError
from ..guarantees.neighbours import RELATIONS, Neighbours
from ..options import About, Day, ListOf
from ..options.reading import inside
from ..options.tables import options_in, options_of
from .question import THREAT, TIMES, release_call, size_of, threat_of
from .threat_options import ANY_ATTACKER, SIZE, without_prior

if TYPE_CHECKING:
    from ..options.reading import Where
    from ..threats import Threat
    from .constructor_calls import Call

__all__ = ["RELATION", "REPORT_KEYS", "TOP_KEYS", "Decision", "ReleaseSpec", "Spec", "ThreatSpec", "place_of"]

Relation = Annotated[
    Neighbours,
    RELATIONS,
    About(
        "the relation of the data sets that are compared",
        example="add-remove",
        label="Data sets that are compared",
        form_help="The neighbour relation that worst_gain, tpr and epsilon are about.",
        unset="whichever tells more",
        folded=True,
    ),
]
_Date = Annotated[dt.date | str, Day(), About("")]
_ForPeople = Annotated[str, About("")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseSpec:
    """One release: its kind, its options as they were written, and what people should know of it."""

    kind: str
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    times: int = TIMES.default
    name: _ForPeople = ""
    what: _ForPeople = ""
    date: _Date | None = None
    note: _ForPeople = ""

    @property
    def question(self) -> dict[str, Any]:
        """The release as part of a question."""
        times = {} if self.times == TIMES.default else {TIMES.name: self.times}
        return {"kind": self.kind, **self.options, **times}

    @property
    def table(self) -> dict[str, Any]:
        """The release as a table of a file: its question, between what is said of it and the note."""
        texts = options_of(self)
        return {**{name: text for name, text in texts.items() if name != "note"}, **self.question, **texts}


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreatSpec:
    """One threat: its options as they were written, the limits under it, and where they come from."""

    options: dict[str, Any] = field(default_factory=dict, hash=False)
    name: _ForPeople = ""
    limits: dict[str, Any] = field(default_factory=dict, hash=False)  # numbers, and what is acknowledged
    limit_source: _ForPeople = ""

    @property
    def table(self) -> dict[str, Any]:
        """The threat as a table of a file."""
        name = {"name": self.name} if self.name else {}
        limits = {"limits": self.limits} if self.limits else {}
        source = {"limit_source": self.limit_source} if self.limit_source else {}
        return {**name, **self.options, **limits, **source}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Who assessed, who decided what, when, and until when it holds."""

    assessed_by: _ForPeople = ""
    decided_by: _ForPeople = ""
    by: _ForPeople = ""
    date: _Date | None = None
    review_by: _Date | None = None
    outcome: _ForPeople = ""
    note: _ForPeople = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What to assess: releases, composed or compared, under threats with limits.

    ``utility`` limits the errors of :func:`dpradar.mechanisms.cost.cost_of` (``error``, ``variance``,
    ``frequency_error``; the last from ``reports`` reports). ``results`` are saved attacks and audits to be shown as
    evidence. ``decision`` records who assessed and who decided what.
    File names are relative to ``folder``; without one none is read.

    Examples
    --------
    >>> spec = Spec(releases=(ReleaseSpec(kind="grr", options={"m": 3, "epsilon": 1.0}),))
    >>> spec.release_call(0).source(), spec.threat(0, 0)
    ('dr.GRR(m=3, epsilon=1.0)', Threat.worst())
    """

    releases: tuple[ReleaseSpec, ...]
    threats: tuple[ThreatSpec, ...] = ()
    title: _ForPeople = ""
    description: _ForPeople = ""
    neighbours: Relation | None = None
    together: Annotated[
        Literal["compose", "compare"],
        About("how several releases are judged: all were published about the same people, or one of them will be"),
    ] = "compose"
    utility: dict[str, float] = field(default_factory=dict, hash=False)
    attack: AttackOptions | None = None
    results: Annotated[
        tuple[str, ...], ListOf("a list of files with saved attacks or audits"), About("saved attacks and audits")
    ] = ()
    include_prior: Annotated[bool, About("whether the report shows the prior")] = False
    noise_table: Annotated[bool, About("whether the report shows a table of the noise")] = True
    decision: dict[str, dt.date | str] = field(default_factory=dict, hash=False)
    folder: Path | None = field(default=None, compare=False)
    file: str = field(default="the spec", compare=False)  # its name in messages

    @property
    def assessed_threats(self) -> tuple[ThreatSpec, ...]:
        """The threats; where the spec states none, the one that allows every prior, knowledge and goal."""
        return self.threats or (ThreatSpec(name="any attacker", options=dict(ANY_ATTACKER)),)

    def place(self, table: Literal["release", "threat"], index: int) -> str:
        """Return the path of a table in the file: ``threat``, or ``threat[2]`` where there are several."""
        return place_of(table, index, len(self.releases if table == "release" else self.threats))

    def where(self, table: Literal["release", "threat"], index: int) -> Where:
        """Return how messages name the options of a table."""
        return inside(self.place(table, index), self.folder)

    def release(self, index: int) -> dict[str, Any]:
        """Return a release as part of a question, with the relation of the whole spec where it states none."""
        relation = {} if self.neighbours is None else {RELATION.name: self.neighbours}
        return {**relation, **self.releases[index].question}

    def release_call(self, index: int) -> Call:
        """Return a release as a call."""
        return release_call(self.release(index), self.where("release", index))

    def question(self, release: int, threat: int) -> dict[str, Any]:
        """Return one release under one threat as a flat question."""
        question = {**self.release(release), **self.assessed_threats[threat].options}
        relation = self.relation(release, threat)
        return question if relation is None else {**question, RELATION.name: relation}

    def threat(self, release: int | None, threat: int) -> Threat:
        """Return a threat to one release, or to all of them composed."""
        where = self.where("threat", threat)
        options = self.assessed_threats[threat].options
        if without_prior(options):
            return self._threat(options, None, where)
        sizes: dict[int, str] = {}
        for i in range(len(self.releases)) if release is None else (release,):
            size = size_of(self.release(i), self.where("release", i))
            if size is not None:
                sizes.setdefault(size, self.place("release", i))
        if len(sizes) > 1:
            got = " and ".join(f"{size} ({place})" for size, place in sizes.items())
            raise ParameterError("releases", "about the same number of values to be composed", got)
        return self._threat(options, next(iter(sizes.items()), None), where)

    def _threat(self, options: dict[str, Any], size: tuple[int, str] | None, where: Where) -> Threat:
        """Return a threat about as many values as the releases have."""
        own = options.get(SIZE.name)
        if size is not None and own is not None and own != size[0]:
            hint = f"Leave it out: {size[1]} says it."
            raise ParameterError(where(SIZE.name), f"{size[0]}", f"{own}", hint)
        options = {name: options[name] for name in THREAT if name in options}
        return threat_of(options if size is None else {**options, SIZE.name: size[0]}, where)

    def relation(self, release: int | None, threat: int) -> str | None:
        """Return the relation that worst_gain, tpr and epsilon are about."""
        of_release = None if release is None else self.releases[release].options.get(RELATION.name)
        of_threat = self.assessed_threats[threat].options.get(RELATION.name)
        return of_release or of_threat or self.neighbours


# Which keys stand outside of tables, and which in [report].
TOP_KEYS = options_in(Spec, "title", "description", "neighbours", "together")
REPORT_KEYS = options_in(Spec, "include_prior", "noise_table")
(RELATION,) = options_in(Spec, "neighbours")


def place_of(table: str, index: int, count: int) -> str:
    """Return the path of a table in a file; the first of several is number 1."""
    return table if count <= 1 else f"{table}[{index + 1}]"
