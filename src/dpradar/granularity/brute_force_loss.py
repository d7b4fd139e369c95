"""The loss of a pipeline by definition: for given databases, and the largest over listed neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from .finite_domain import freeze
from .partition_cells import scale_loss

if TYPE_CHECKING:
    from .pipeline import Pipeline, Step

__all__ = ["Worst", "loss_between", "worst_pair"]

Metric = Callable[[Any, Any], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """The largest loss of pure steps (sum) and of Gaussian ones (root of the sum of squares), and for which pair."""

    epsilon: float
    mu: float
    first: Any
    other: Any


def loss_between(pipeline: Pipeline, first: Any, other: Any, databases: Sequence[Any] = ()) -> tuple[float, float]:
    """Return how far apart two databases are for a pipeline: epsilon of the pure steps, mu of the Gaussian ones.

    Every step needs a ``function``, what it reads, unless it reads everything. A step on the common domain needs the
    list of ``databases``: its distance is the least over those that look the same to it.

    Notes
    -----
    Doctoral thesis, Theorems 4.1, 4.10, 4.16, 4.18, Proposition A.16.

    Examples
    --------
    Noisy degrees of a graph: one edge more changes two of them (Example 4.3).

    >>> from dpradar.granularity import Graph, Pipeline, Step
    >>> def step(v):
    ...     return Step(
    ...         name=f"degree of {v}",
    ...         epsilon=0.5,
    ...         granularity="edge",
    ...         function=lambda graph: graph.degree(v),
    ...         distance=lambda a, b: float(abs(a - b)),
    ...     )
    >>> pipeline = Pipeline(steps=[step(v) for v in range(4)])
    >>> loss_between(pipeline, Graph.of([(0, 1)], range(4)), Graph.of([], range(4)))
    (1.0, 0.0)
    """
    return _loss([_with_distance(step, databases) for step in pipeline.steps], first, other)


def worst_pair(pipeline: Pipeline, pairs: Iterable[tuple[Any, Any]], databases: Sequence[Any] = ()) -> Worst:
    """Return the largest loss over listed pairs of neighbours, and a pair that has it.

    Examples
    --------
    >>> from dpradar.granularity import Granularity, Pipeline, Step, worst_pair
    >>> step = Step(name="sum", epsilon=1.0, granularity="unbounded")
    >>> worst_pair(Pipeline(steps=[step]), Granularity.bounded().on(["ab", "aa", "bb"]).pairs()).epsilon
    2.0
    """
    steps = [_with_distance(step, databases) for step in pipeline.steps]
    best: Worst | None = None
    for first, other in pairs:
        epsilon, mu = _loss(steps, first, other)
        if best is None or (epsilon, mu) > (best.epsilon, best.mu):
            best = Worst(epsilon=epsilon, mu=mu, first=first, other=other)
    if best is None:
        raise ParameterError("worst_pair", "given at least one pair of neighbours", "none")
    return best


def _loss(steps: Sequence[tuple[Step, Metric]], first: Any, other: Any) -> tuple[float, float]:
    pure, squares = 0.0, 0.0
    for step, distance in steps:
        if step.reads != "data":
            continue
        if step.unbudgeted:
            return math.inf, math.inf
        far = scale_loss(step.sensitivity, distance(first, other))
        loss = scale_loss(far, step.losses[0][1])
        pure += step.times * loss if step.notion == "pure" else 0.0
        squares += step.times * loss * loss if step.notion == "gaussian" else 0.0
    return pure, math.sqrt(squares)


def _with_distance(step: Step, databases: Sequence[Any]) -> tuple[Step, Metric]:
    """Return a step with the distance of two databases for it."""
    if not step.losses:
        return step, lambda first, other: 0.0
    metric: Metric = step.distance or step.losses[0][0].distance
    read = step.function
    if read is None:
        if step.partition is not None:
            hint = "Give function=, which takes a database and returns what the step reads of it."
            raise ParameterError(f"step {step.name!r}", "given with a function", "a cell without one", hint)
        return step, metric
    if step.domain == "own":
        return step, lambda first, other: metric(read(first), read(other))
    return step, _quotient_metric(read, metric, databases, step.name)


def _quotient_metric(read: Callable[[Any], Any], metric: Metric, databases: Sequence[Any], name: str) -> Metric:
    """Return the least distance over databases that look the same (doctoral thesis, Proposition A.16)."""
    if not databases:
        hint = "List the databases: the distance is the least over those that look the same to the step."
        raise ParameterError(f"step {name!r}", "asked about with databases=", "none", hint)
    groups: dict[Any, list[Any]] = {}
    for database in databases:
        groups.setdefault(freeze(read(database)), []).append(database)
    distances: dict[tuple[Any, Any], float] = {}

    def distance(first: Any, other: Any) -> float:
        one, two = freeze(read(first)), freeze(read(other))
        if (one, two) not in distances:
            distances[one, two] = min(metric(a, b) for a in groups[one] for b in groups[two])
        return distances[one, two]

    return distance
