"""Descriptions: steps, the parts of the data they read, and what is claimed of all of them together."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from ..errors import ParameterError
from ..guarantees.composition import gaussian_mu
from ..guarantees.privacy import HasPrivacy
from ..mechanisms.capabilities import Mechanism
from ..options import About, Choice
from ..options.tables import options_in
from ..params import Param, shown
from .database_facts import Facts
from .neighbour_relation import NAMES, Granularity
from .option_shapes import Cell, Cells, Changes, Loss, MechanismTable, RelationName

__all__ = ["Claim", "Partition", "Pipeline", "Practice", "Step"]

Notion = Literal["pure", "gaussian"]
_BUDGET = Param(name="budget", low=0.0, what="the privacy loss of the step", typical=(0.0, 10.0))
_DELTA = Param(name="delta", low=0.0, high=1.0, what="the probability mass outside the epsilon bound")
_CHANGED = Param(name="changes", integer=True, low=1, what="how many cells one step of the granularity changes")
_TIMES = Param(name="times", integer=True, low=1, what="the number of times the step is run", typical=(1, 100))
_SENSITIVITY = Param(
    name="sensitivity",
    low=0.0,
    what="how far one change of the data moves what the mechanism reads",
    typical=(0.0, 100.0),
)
NOISES = (
    *("laplace", "gaussian", "geometric", "discrete-gaussian", "exponential"),
    *("randomised-response", "sampling", "none"),
)
_Loss = Annotated[float, Ge(0), About("what is claimed")]
_RelationName = Annotated[Any, RelationName(), About("", example="'bounded', 'user:add-remove' or 'w-event:10'")]


def _granularity(owner: str, value: Granularity | str) -> Granularity:
    if isinstance(value, Granularity):
        return value
    if not isinstance(value, str):
        raise ParameterError(owner, "a Granularity or its name", shown(value))
    return Granularity.parse(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Practice:
    """How a step is carried out, as far as a claim can fail on it; None means that it is not said.

    ``noise_on`` "present" adds noise only to counts that are not 0. ``support`` "data" means that the possible outputs
    depend on the data. ``query`` with ``longest`` (points of a trajectory), ``gram`` (the n of n-grams, or the levels
    of a tree) and ``assumed`` (the sensitivity that the noise was scaled to) says what is counted.
    """

    noise: Annotated[str, Choice.of(*NOISES), About("the distribution of the noise")] | None = None
    arithmetic: Annotated[Literal["float", "exact"], About("how the noise is computed")] | None = None
    noise_on: Annotated[Literal["all", "present"], About("which counts get noise")] | None = None
    support: Annotated[Literal["fixed", "data"], About("what the possible outputs depend on")] | None = None
    query: Annotated[Literal["count", "histogram", "n-gram", "prefix-tree"], About("what is counted")] | None = None
    longest: Annotated[int, Ge(1), Le(10**9), About("the largest number of points of a trajectory")] | None = None
    gram: Annotated[int, Ge(1), About("the n of n-grams, or the number of levels of a tree")] | None = None
    assumed: Annotated[float, Ge(0), About("the sensitivity that the noise was scaled to")] | None = None

    def __post_init__(self) -> None:
        for option in options_in(Practice):  # an unknown word would hide what is wrong
            object.__setattr__(self, option.name, option.check("Practice", getattr(self, option.name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """How the data are divided among steps; each reads one cell.

    ``kind``: by the "value" of records or points, by their "index" (a place that does not depend on values), by the
    "user" they belong to, by "time" (each cell is one time, in their order), or "custom". A custom partition says for
    each granularity how many cells one step of it can change (``changes``), and how far, in the granularity of the
    steps, such a change moves the content of a cell (``moves``, where the steps have domains of their own).

    Examples
    --------
    >>> Partition(name="degrees", kind="custom", changes={"edge": 2}, moves=1.0).most("edge")
    2
    """

    name: Annotated[str, About("")]
    kind: Annotated[Literal["value", "index", "user", "time", "custom"], About("what the data are divided by")]
    cells: Annotated[Sequence[str], Cells(), About("")] = ()
    changes: Annotated[Mapping[str, int], Changes(), About("")] = field(default_factory=dict, hash=False)
    moves: Annotated[float, _SENSITIVITY] | None = None

    def __post_init__(self) -> None:
        options_in(Partition, "kind")[0].check("Partition", self.kind)
        if len(set(self.cells)) != len(self.cells):
            raise ParameterError("Partition.cells", "different names", shown(list(self.cells)))
        object.__setattr__(self, "cells", tuple(map(str, self.cells)))
        changes = {
            str(_granularity("Partition.changes", key)): _CHANGED.check("Partition", value)
            for key, value in self.changes.items()
        }
        if (self.kind == "custom") != bool(changes):
            hint = "Such as changes={'edge': 2}: how many cells one change of an edge touches."
            allowed = "given for a custom partition, and only there"
            raise ParameterError("Partition.changes", allowed, shown(dict(self.changes)), hint)
        object.__setattr__(self, "changes", changes)
        if self.moves is not None:
            object.__setattr__(self, "moves", _SENSITIVITY.check("Partition", self.moves))

    def most(self, granularity: Granularity | str) -> int | None:
        """Return how many cells of a custom partition one step of a granularity changes; None where it is not said."""
        return self.changes.get(str(granularity))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a pipeline: what it costs, under which granularity, and which part of the data it reads.

    The cost is ``epsilon`` (pure) or ``mu`` (Gaussian) under ``granularity``, or a mapping from granularities to
    numbers where several are known, or that of a ``mechanism`` or guarantee. ``sensitivity`` is that of what is done
    to the data before (doctoral thesis, Proposition A.3). A step that reads a ``cell`` of a ``partition`` has a
    guarantee about databases of its "own" (its cell), or about the "common" database of which it reads one cell.
    ``reads`` "outputs" is post-processing, and "public" reads no data of people. A step that reads data and states no
    cost is taken to cost infinitely much.

    ``function`` and ``distance`` are for exact computations on listed databases: what the step reads, and how far apart
    two readings are for its mechanism (default: the distance of its granularity).

    Examples
    --------
    >>> Step(name="visits", epsilon=0.5, granularity="event").losses
    ((Granularity('event'), 0.5),)
    >>> import dpradar as dr
    >>> noise = dr.Gaussian(sigma=2.0, sensitivity=1.0, neighbours="replace-one")
    >>> Step(name="mean", mechanism=noise, granularity="bounded").notion
    'gaussian'
    """

    name: Annotated[str, About("")]
    epsilon: Annotated[float | Mapping[str | Granularity, float] | None, Loss(), About("")] = None
    mu: Annotated[float | Mapping[str | Granularity, float] | None, Loss(), About("")] = None
    mechanism: Annotated[Any, MechanismTable(), About("")] = None
    granularity: _RelationName = None
    sensitivity: Annotated[float, _SENSITIVITY] = 1.0
    reads: Annotated[Literal["data", "outputs", "public"], About("what the step reads")] = "data"
    partition: Annotated[str, About("")] | None = None
    cell: Annotated[str | None, Cell(), About("")] = None
    domain: Annotated[Literal["own", "common"], About("the databases that the cost is about")] = "own"
    times: Annotated[int, _TIMES] = 1
    practice: Practice = field(default_factory=Practice)
    function: Callable[[Any], Any] | None = field(default=None, compare=False)
    distance: Callable[[Any, Any], float] | None = field(default=None, compare=False)
    losses: tuple[tuple[Granularity, float], ...] = field(init=False, default=())
    notion: Notion | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        owner = f"step {self.name!r}"
        costs = [name for name in ("epsilon", "mu", "mechanism") if getattr(self, name) is not None]
        if len(costs) > 1:
            raise ParameterError(owner, "given one of epsilon, mu, mechanism", " and ".join(costs))
        for option in options_in(Step, "reads", "domain", "sensitivity", "times"):
            object.__setattr__(self, option.name, option.check(owner, getattr(self, option.name)))
        if (self.partition is None) != (self.cell is None):
            raise ParameterError(f"{owner}.cell", "given together with partition", shown(self.cell))
        if costs and self.reads == "data":
            notion, losses = _losses(self, costs[0], owner)
            object.__setattr__(self, "notion", notion)
            object.__setattr__(self, "losses", losses)

    @property
    def unbudgeted(self) -> bool:
        """Whether it reads data without a stated cost."""
        return self.reads == "data" and not self.losses

    def __repr__(self) -> str:
        text = ", ".join(f"{'epsilon' if self.notion == 'pure' else 'mu'} {x:g} under {g}" for g, x in self.losses)
        return f"Step({self.name!r}, {text or self.reads})"


def _losses(step: Step, option: str, owner: str) -> tuple[Notion, tuple[tuple[Granularity, float], ...]]:
    if option == "mechanism":
        return _of_mechanism(step, owner)
    value = getattr(step, option)
    notion: Notion = "pure" if option == "epsilon" else "gaussian"
    if isinstance(value, Mapping):
        if step.granularity is not None:
            raise ParameterError(f"{owner}.granularity", f"left out where {option} is a table", str(step.granularity))
        pairs = [(_granularity(f"{owner}.{option}", key), number) for key, number in value.items()]
    else:
        pairs = [(_required_granularity(step, owner), value)]
    if not pairs:
        raise ParameterError(f"{owner}.{option}", "at least one number", "an empty table")
    return notion, tuple((granularity, _checked(owner, option, number)) for granularity, number in pairs)


def _checked(owner: str, name: str, number: Any) -> float:
    if isinstance(number, Real) and math.isinf(float(number)) and float(number) > 0.0:
        return math.inf
    param = Param(name=name, low=0.0, what=_BUDGET.what)
    return param.check(owner, number)


def _required_granularity(step: Step, owner: str) -> Granularity:
    if step.granularity is None:
        hint = "It says which change of the data the number is about, and is never guessed."
        raise ParameterError(f"{owner}.granularity", "given, such as 'bounded' or 'user:add-remove'", "nothing", hint)
    return _granularity(f"{owner}.granularity", step.granularity)


def _of_mechanism(step: Step, owner: str) -> tuple[Notion, tuple[tuple[Granularity, float], ...]]:
    """Return what a mechanism or guarantee of the library costs, its record being the unit of the granularity."""
    granularity, mechanism = _required_granularity(step, owner), step.mechanism
    if granularity.neighbours is None:
        raise ParameterError(f"{owner}.granularity", "one that replaces, adds or removes a unit", str(granularity))
    if not isinstance(mechanism, (Mechanism, HasPrivacy)):
        raise ParameterError(f"{owner}.mechanism", "a mechanism or a guarantee", shown(mechanism))
    promise = (mechanism.at(None) if isinstance(mechanism, Mechanism) else mechanism).privacy(granularity.neighbours)
    mu = None if promise is None or promise.pairs is None else gaussian_mu(promise.pairs)
    if mu is not None:
        return "gaussian", ((granularity, mu),)
    if promise is not None and promise.epsilon is not None and promise.delta == 0.0:
        return "pure", ((granularity, promise.epsilon),)
    hint = "Give its epsilon or mu yourself, or a guarantee such as PureDP or GDP."
    raise ParameterError(f"{owner}.mechanism", f"pure or Gaussian under {granularity}", repr(mechanism), hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is claimed of the whole pipeline: ``epsilon`` (with ``delta``) or ``mu`` under a granularity.

    ``composition`` says how the claim was derived, where that is known.
    """

    granularity: _RelationName
    epsilon: _Loss | None = None
    mu: _Loss | None = None
    delta: Annotated[float, _DELTA] = 0.0
    composition: Annotated[Literal["sequential", "parallel"], About("how the claim was derived")] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "granularity", _granularity("claim.granularity", self.granularity))
        if (self.epsilon is None) == (self.mu is None):
            raise ParameterError("claim", "given epsilon or mu", "both" if self.mu is not None else "neither")
        for option in options_in(Claim, "epsilon", "mu", "delta", "composition"):
            object.__setattr__(self, option.name, option.check("claim", getattr(self, option.name)))
        if self.mu is not None and self.delta > 0.0:
            raise ParameterError("claim.delta", "left out with mu", f"{self.delta:g}")

    @property
    def relation(self) -> Granularity:
        """The granularity as an object."""
        return _granularity("claim.granularity", self.granularity)

    def __str__(self) -> str:
        if self.mu is not None:
            return f"{self.mu:g}-GDP under {self.granularity}"
        delta = f", delta {self.delta:g}" if self.delta > 0.0 else ""
        return f"epsilon {self.epsilon:g}{delta} under {self.granularity}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """Steps in order, the partitions they read from, what is known of the data, and what is claimed.

    Later steps may depend on earlier outputs. ``targets`` are further granularities to account for.

    Examples
    --------
    >>> steps = [Step(name=n, epsilon=0.5, granularity="bounded", partition="p", cell=n) for n in "ab"]
    >>> Pipeline(steps=steps, partitions=[Partition(name="p", kind="value")]).cells("p")
    ('a', 'b')
    """

    steps: Sequence[Step]
    partitions: Sequence[Partition] = ()
    facts: Facts = field(default_factory=Facts)
    claim: Claim | None = None
    targets: Sequence[Granularity | str] = ()
    title: str = ""

    def __post_init__(self) -> None:
        for name in ("steps", "partitions"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "targets", tuple(_granularity("targets", target) for target in self.targets))
        if not self.steps:
            raise ParameterError("Pipeline.steps", "at least one step", "none")
        names = [partition.name for partition in self.partitions]
        if len(set(names)) != len(names):
            raise ParameterError("Pipeline.partitions", "partitions with different names", shown(names))
        for step in self.steps:
            self._check(step, names)

    def _check(self, step: Step, names: list[str]) -> None:
        if step.partition is None:
            return
        if step.partition not in names:
            near = difflib.get_close_matches(step.partition, names, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else ""
            allowed = f"one of the partitions {', '.join(names) or '(none)'}"
            raise ParameterError(f"step {step.name!r}.partition", allowed, repr(step.partition), hint)
        cells = self.partition(step.partition).cells
        if cells and step.cell not in cells:
            raise ParameterError(f"step {step.name!r}.cell", f"a cell of {step.partition}", repr(step.cell))

    def partition(self, name: str) -> Partition:
        """Return a partition by its name."""
        return next(partition for partition in self.partitions if partition.name == name)

    def cells(self, name: str) -> tuple[str, ...]:
        """Return the cells of a partition in their order: those it states, or those that steps read."""
        cells = tuple(self.partition(name).cells)
        return cells or tuple(dict.fromkeys(str(s.cell) for s in self.steps if s.partition == name))

    @property
    def described(self) -> tuple[Granularity, ...]:
        """The granularities that custom partitions say something about."""
        return tuple(
            Granularity.parse(key) for p in self.partitions for key in p.changes if key.partition(":")[0] in NAMES
        )

    @property
    def granularities(self) -> tuple[Granularity, ...]:
        """Every granularity that is claimed, requested or stated, each once."""
        claimed = () if self.claim is None else (self.claim.relation,)
        of_steps = (granularity for step in self.steps for granularity, _ in step.losses)
        targets = (_granularity("targets", target) for target in self.targets)
        return tuple(dict.fromkeys((*claimed, *targets, *of_steps)))
