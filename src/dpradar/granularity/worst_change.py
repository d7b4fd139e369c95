"""The worst change of a pipeline under one granularity: which steps it concerns, and what they lose together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ..numerics.special import ndtri_exp
from .conversions import conversion
from .partition_cells import distance_in, patterns, scale_loss

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .database_facts import Facts, Hidden
    from .neighbour_relation import Granularity
    from .partition_cells import Pattern
    from .pipeline import Pipeline, Step

__all__ = ["Part", "Reading", "SumCache", "WorstSum", "gaussian_of_pure", "sequential", "sum_losses", "worst_change"]

_MODES: tuple[Hidden, ...] = ("values", "points", "people")
Reading = Literal["pure", "gaussian", "all"]
_TINY = 1e-150  # a smaller mu counts as this one: its square would vanish


def gaussian_of_pure(epsilon: float) -> float:
    """Return the least mu for which epsilon-DP implies mu-GDP.

    Guarantee
    ---------
    The trade-off function of epsilon-DP has its bend on the diagonal, at 1/(1 + e^epsilon); a Gaussian one is convex
    and lies below it exactly when it crosses the diagonal no later.

    Examples
    --------
    >>> round(gaussian_of_pure(1.0), 6), gaussian_of_pure(0.0)
    (1.232035, 0.0)
    """
    if epsilon == 0.0 or math.isinf(epsilon):
        return epsilon
    tail = -epsilon - math.log1p(math.exp(-epsilon))  # log of 1/(1 + e^epsilon)
    return float(-2.0 * ndtri_exp(tail)) * (1.0 + 1e-14)


@dataclass(frozen=True, slots=True)
class Part:
    """The loss of one step under one granularity where what it reads changes, and the rule behind it."""

    step: Step
    loss: float
    rule: str


@dataclass(frozen=True, slots=True)
class WorstSum:
    """The worst change: the sum of losses (of squares for Gaussian steps), and which steps it counts."""

    value: float
    parts: tuple[tuple[Part, bool], ...] = ()


SumCache = dict[tuple["Granularity", Reading, "Facts"], WorstSum]


def worst_change(pipeline: Pipeline, target: Granularity, reading: Reading, cache: SumCache | None = None) -> WorstSum:
    """Return the total under a granularity, the worst over what may be hidden where that is not said.

    ``cache`` holds sums that were computed before: totals under several granularities of one pipeline share it.
    """
    totals: SumCache = {} if cache is None else cache
    sums = [_smallest_total(pipeline, target, reading, mode, totals) for mode in _modes(pipeline, target)]
    if not sums:
        return WorstSum(math.inf)
    return max(sums, key=lambda one: one.value)


def _modes(pipeline: Pipeline, target: Granularity) -> tuple[Hidden, ...]:
    """Return what may be hidden: what the facts say, or all under which every relation has neighbours."""
    if pipeline.facts.hidden is not None:
        return (pipeline.facts.hidden,)
    joins = {g.name for g in (*pipeline.granularities, target) if g.neighbours == "add-remove"}
    if "user" in joins:
        return ("people",)
    return ("points", "people") if "trajectory" in joins else _MODES


def _smallest_total(
    pipeline: Pipeline, target: Granularity, reading: Reading, mode: Hidden, cache: SumCache
) -> WorstSum:
    """Return the smallest total that follows from one granularity under which all steps are composed."""
    facts = replace(pipeline.facts, hidden=mode)
    best = _cached_sum(pipeline, target, reading, facts, cache)
    value, base, factor = best.value, target, 1.0
    for other in dict.fromkeys((*pipeline.granularities, *pipeline.described)):
        far = conversion(other, target, facts).factor
        if other == target or math.isinf(far):
            continue
        one = _cached_sum(pipeline, other, reading, facts, cache)
        scaled = scale_loss(far if reading == "pure" else far * far, one.value)
        if scaled < value:
            best, value, base, factor = one, scaled, other, far
    if base == target:
        return best
    rule = f"; {base} to {target} times {factor:g} (Proposition A.7)"
    parts = tuple((replace(p, loss=scale_loss(factor, p.loss), rule=p.rule + rule), c) for p, c in best.parts)
    return WorstSum(value, parts)


def _cached_sum(pipeline: Pipeline, base: Granularity, reading: Reading, facts: Facts, cache: SumCache) -> WorstSum:
    key = (base, reading, facts)
    if key not in cache:
        cache[key] = _sum_of_steps(pipeline, base, reading, facts)
    return cache[key]


def _sum_of_steps(pipeline: Pipeline, base: Granularity, reading: Reading, facts: Facts) -> WorstSum:
    """Return the loss of all steps under one granularity."""
    included = [step for step in pipeline.steps if step.unbudgeted or _has_notion(step, reading)]
    whole = [_plain_part(step, base, facts) for step in included if step.partition is None or step.unbudgeted]
    values = [_contribution(part, reading) for part in whole]
    parts = [(part, True) for part in whole]
    for partition in pipeline.partitions:
        inside = [step for step in included if step.partition == partition.name and not step.unbudgeted]
        if inside:
            partition_sum = _partition_sum(pipeline, partition.name, inside, base, reading, facts)
            values.append(partition_sum.value)
            parts += partition_sum.parts
    return WorstSum(sum_losses(values), tuple(parts))


def _has_notion(step: Step, reading: Reading) -> bool:
    return step.notion is not None and reading in ("all", step.notion)


def _contribution(part: Part, reading: Reading) -> float:
    """Return what a step adds: its loss, or the square of its mu, as often as it is made."""
    if reading == "pure":
        return scale_loss(float(part.step.times), part.loss)
    mu = part.loss if part.step.notion == "gaussian" else gaussian_of_pure(part.loss)
    mu = max(mu, _TINY) if mu > 0.0 else 0.0
    return scale_loss(float(part.step.times), mu * mu)


def sum_losses(values: Iterable[float]) -> float:
    """Return a sum, infinite where a term is, or where it is too large for a float."""
    some = list(values)
    try:
        return math.inf if any(map(math.isinf, some)) else math.fsum(some)
    except OverflowError:
        return math.inf


def sequential(pipeline: Pipeline, target: Granularity, notion: Literal["pure", "gaussian"]) -> float:
    """Return the sum over all steps, whatever data they read."""
    totals = []
    for mode in _modes(pipeline, target):
        facts = replace(pipeline.facts, hidden=mode)
        parts = [
            _plain_part(step, target, facts) for step in pipeline.steps if step.unbudgeted or _has_notion(step, notion)
        ]
        totals.append(sum_losses(_contribution(part, notion) for part in parts))
    largest = max(totals, default=math.inf)
    return largest if notion == "pure" else math.sqrt(largest)


# --------------------------------------------------------------------------------------------------------------- steps


def _plain_part(step: Step, base: Granularity, facts: Facts) -> Part:
    """Return the loss of a step that reads everything."""
    if step.unbudgeted:
        return Part(step, math.inf, "no cost is stated")
    candidates = []
    for stated, budget in step.losses:
        far = conversion(stated, base, facts)
        loss = scale_loss(step.sensitivity, scale_loss(far.factor, budget))
        candidates.append((loss, stated, far))
    loss, stated, far = min(candidates, key=lambda one: one[0])
    names = ["Corollary 4.17" if step.notion == "gaussian" else "Corollary 4.2"]
    if step.sensitivity != 1.0:
        names.append("Proposition A.3")
    if stated != base:
        names.append("Proposition A.7")
    return Part(step, loss, f"sequential ({', '.join(names)})")


def _partition_sum(
    pipeline: Pipeline, name: str, steps: Sequence[Step], base: Granularity, reading: Reading, facts: Facts
) -> WorstSum:
    """Return the worst change of a partition: the largest sum over cells that can change together."""
    partition, cells = pipeline.partition(name), pipeline.cells(name)
    several = len(cells) > 1
    candidates: list[WorstSum] = []
    for pattern in patterns(partition, base, facts):
        distances: dict[tuple[Any, ...], float] = {}
        by_cell: dict[str, list[Part]] = {cell: [] for cell in cells}
        for step in steps:
            by_cell[str(step.cell)].append(_cell_part(step, base, pattern, pipeline, facts, distances, several=several))
        sums = [sum_losses(_contribution(part, reading) for part in by_cell[cell]) for cell in cells]
        value, cell_names = _largest_cells(sums, pattern)
        parts = [(part, place in cell_names) for place, cell in enumerate(cells) for part in by_cell[cell]]
        candidates.append(WorstSum(value, tuple(parts)))
    return max(candidates, key=lambda one: one.value)


def _cell_part(
    step: Step,
    base: Granularity,
    pattern: Pattern,
    pipeline: Pipeline,
    facts: Facts,
    distances: dict[tuple[Any, ...], float],
    *,
    several: bool,
) -> Part:
    partition = pipeline.partition(str(step.partition))
    common = step.domain == "common"
    losses = []
    for stated, budget in step.losses:
        key = (stated, common)  # thousands of steps share a few relations
        if key not in distances:
            distances[key] = distance_in(stated, base, pattern, partition, facts, common=common, several=several)
        losses.append(scale_loss(step.sensitivity, scale_loss(distances[key], budget)))
    return Part(step, min(losses), _theorem(step, base, pattern, partition.kind, infinite=math.isinf(min(losses))))


def _largest_cells(sums: Sequence[float], pattern: Pattern) -> tuple[float, set[int]]:
    """Return the largest sum of as many cells as can change together, and which they are."""
    count = len(sums) if math.isinf(pattern.cells) else min(int(pattern.cells), len(sums))
    if pattern.successive:
        windows = [range(start, start + count) for start in range(len(sums) - count + 1)]
        best = max(windows, key=lambda window: sum_losses(sums[k] for k in window))
        return sum_losses(sums[k] for k in best), set(best)
    order = sorted(range(len(sums)), key=lambda k: -sums[k])[:count]
    return sum_losses(sums[k] for k in order), set(order)


def _theorem(step: Step, base: Granularity, pattern: Pattern, kind: str, *, infinite: bool) -> str:
    """Return the name of the result that a step in a partition rests on."""
    gaussian, common = step.notion == "gaussian", step.domain == "common"
    if infinite:
        return "a cell can change further than the step allows (Theorem 4.1, Example 2.16)"
    general = (
        ("Theorem 4.18" if common else "Theorem 4.16") if gaussian else ("Theorem 4.10" if common else "Theorem 4.1")
    )
    if common and base.name == "bounded" and kind == "value":
        return f"two cells ({'Corollary 4.23' if gaussian else 'Corollary 4.12'})"
    if pattern.cells == 1.0:
        distinct = "Theorem 4.21" if gaussian else "Theorem 4.6"
        shared = "Theorem 4.22" if gaussian else "Theorem 4.11"
        order = "Proposition 4.7, " if kind == "index" else ""
        return f"parallel ({order}{shared if common else distinct})"
    count = "all cells" if math.isinf(pattern.cells) else f"at most {pattern.cells:g} cells"
    return f"{count}{' in a row' if pattern.successive else ''} ({general})"
