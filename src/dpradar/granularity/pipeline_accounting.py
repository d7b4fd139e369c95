"""What a pipeline costs under each granularity: one maximum over the changes that a granularity allows.

For a granularity G and neighbours D, D' the loss of all steps together is the sum of the losses of those that read
something that changed (doctoral thesis, Theorems 4.1 and 4.10; root of the sum of squares for Gaussian steps, Theorems
4.16 and 4.18). The total is the largest such sum. It is computed under every granularity that is stated, and the
smallest of what follows for the requested one (Proposition A.7) is kept.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from .._version import __version__
from ..errors import ParameterError
from ..guarantees import GDP, PureDP, TotalVariation
from ..guarantees.epsilon import epsilon_at
from ..mechanisms import Composed
from ..results.accounting import Accounting, StepLoss, Total
from .conversions import conversion
from .database_facts import domain_warnings
from .neighbour_relation import Granularity
from .partition_cells import scale_loss
from .worst_change import Part, Reading, SumCache, WorstSum, sequential, sum_losses, worst_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .pipeline import Claim, Pipeline

__all__ = ["account_costs", "guarantee"]

_CLOSE = 1.0 + 1e-12  # sums of budgets that were split may miss the budget by rounding


def account_costs(pipeline: Pipeline) -> Accounting:
    """Return what a pipeline costs, and whether its claim is at least that; ``account`` also looks at the practice."""
    targets = _reported_granularities(pipeline)
    cache: SumCache = {}
    totals = tuple(_total(pipeline, target, cache) for target in targets)
    claim = pipeline.claim
    notes = [note for granularity in pipeline.granularities for note in domain_warnings(granularity, pipeline.facts)]
    notes += [f"{step.name}: reads data and states no cost" for step in pipeline.steps if step.unbudgeted]
    return Accounting(
        title=pipeline.title,
        totals=totals,
        claim=None if claim is None else str(claim),
        claimed=None if claim is None else str(claim.granularity),
        met=None if claim is None else _follows(claim, totals[0]),
        warnings=tuple(dict.fromkeys(notes)),
        facts=dict(pipeline.facts.stated_facts()),
        version=__version__,
    )


def _reported_granularities(pipeline: Pipeline) -> tuple[Granularity, ...]:
    """Return the granularities to report: the claim first, then the requested ones, then those that steps state."""
    return pipeline.granularities or (Granularity.bounded(), Granularity.unbounded())


def _total(pipeline: Pipeline, target: Granularity, cache: SumCache) -> Total:
    kinds = {step.notion for step in pipeline.steps if step.notion is not None}
    blank = any(step.unbudgeted for step in pipeline.steps)
    pure = worst_change(pipeline, target, "pure", cache) if "pure" in kinds or blank else None
    gauss = worst_change(pipeline, target, "gaussian", cache) if "gaussian" in kinds else None
    all_steps = worst_change(pipeline, target, "all", cache)
    notion: Literal["pure", "gaussian", "mixed", "none"] = "pure" if blank else "none"
    if kinds:
        notion = "mixed" if len(kinds) > 1 else kinds.pop()
    steps = _step_losses(pipeline, [worst_sum for worst_sum in (pure, gauss) if worst_sum is not None])
    infinite = any(worst_sum is not None and math.isinf(worst_sum.value) for worst_sum in (pure, gauss))
    return Total(
        granularity=str(target),
        unit=target.unit,
        exposed=target.exposed,
        notion=notion,
        epsilon=None if pure is None else pure.value,
        mu=None if gauss is None else math.sqrt(gauss.value),
        mu_all=math.sqrt(all_steps.value),
        sequential_epsilon=None if pure is None else sequential(pipeline, target, "pure"),
        sequential_mu=None if gauss is None else sequential(pipeline, target, "gaussian"),
        metric=_metric(pipeline),
        reason=_reason(pipeline, target, steps) if infinite else "",
        steps=steps,
    )


# --------------------------------------------------------------------------------------------------------------- words


def _step_losses(pipeline: Pipeline, sums: Sequence[WorstSum]) -> tuple[StepLoss, ...]:
    """Return every step in its order, with what the worst change makes of it."""
    parts: dict[int, tuple[Part, bool]] = {
        id(part.step): (part, included) for one in sums for part, included in one.parts
    }
    listed = []
    for step in pipeline.steps:
        where = "" if step.partition is None else f"{step.partition}: {step.cell}"
        if id(step) in parts:
            part, included = parts[id(step)]
            loss = part.loss
            if step.times > 1:
                loss = loss * (math.sqrt(step.times) if step.notion == "gaussian" else step.times)
            listed.append(
                StepLoss(
                    step=step.name,
                    notion=step.notion or "none",
                    loss=loss,
                    counted=included,
                    rule=part.rule,
                    part=where,
                )
            )
        else:
            rule = {"outputs": "post-processing (Proposition 4.24)", "public": "reads no data of people"}.get(
                step.reads, ""
            )
            listed.append(StepLoss(step=step.name, notion="none", loss=0.0, counted=False, rule=rule, part=where))
    return tuple(listed)


def _reason(pipeline: Pipeline, target: Granularity, steps: Sequence[StepLoss]) -> str:
    """Return why a total is infinite: the first step that costs infinitely much."""
    bad = next((one for one in steps if math.isinf(one.loss)), None)
    if bad is None:
        return f"no stated loss gives a bound for {target}"
    step = next(one for one in pipeline.steps if one.name == bad.step)
    if step.unbudgeted:
        return f"{step.name} reads data and states no cost"
    if step.partition is not None:
        kind = pipeline.partition(step.partition).kind
        where = "a cell of its own" if step.domain == "own" else "one cell"
        text = f"{step.name} reads {where} of a partition by {kind}, which one change under {target} can change too far"
        stream = pipeline.facts.hidden is None and target.kind in ("stream", "any")
        return f"{text}; it may be finite if the data say what is hidden" if stream else text
    relation, _ = step.losses[0]
    return f"{step.name}, stated under {relation}: {conversion(relation, target, pipeline.facts).why}"


def _metric(pipeline: Pipeline) -> str:
    """Return the metric of the whole as a formula in the metrics of the steps."""
    terms: dict[str, list[float]] = {}
    for step in pipeline.steps:
        if step.losses and step.partition is None:
            relation, budget = step.losses[0]
            square = step.notion == "gaussian"
            name = f"d[{relation}]^2" if square else f"d[{relation}]"
            each = scale_loss(step.sensitivity, budget)
            terms.setdefault(name, []).append(step.times * (each * each if square else each))
    texts = [f"{sum_losses(values):.6g} {name}" for name, values in terms.items()]
    texts += [f"the changed cells of {p.name}" for p in pipeline.partitions]
    return " + ".join(texts)


# --------------------------------------------------------------------------------------------------- claims, guarantees


def guarantee(accounting: Accounting, granularity: Granularity | str, *, reading: Reading | None = None) -> Any:
    """Return a total as a guarantee for ``assess``: its record is the unit of the granularity.

    ``reading`` "all" gives the Gaussian reading of every step, which is smaller for many small pure steps. Where
    nothing follows, the guarantee is one that promises nothing.

    Examples
    --------
    >>> import dpradar as dr
    >>> from dpradar.granularity import Pipeline, Step, account, guarantee
    >>> costs = account(Pipeline(steps=[Step(name="sum", epsilon=0.5, granularity="bounded", times=2)]))
    >>> guarantee(costs, "bounded")
    PureDP(epsilon=1.0, neighbours='replace-one')
    >>> dr.assess(guarantee(costs, "bounded")).rad.value < 0.4622
    True
    """
    relation = Granularity.parse(granularity) if isinstance(granularity, str) else granularity
    if relation.neighbours is None:
        hint = "Give the granularity a unit: which of the two it is for what it protects."
        raise ParameterError("guarantee", "asked about a granularity with a unit", str(relation), hint)
    total = accounting.total(relation)
    if not total.finite:
        return TotalVariation(1.0, neighbours=relation.neighbours)
    if reading == "all":
        return GDP(total.mu_all, neighbours=relation.neighbours)
    parts: list[Any] = []
    if total.epsilon is not None:
        parts.append(PureDP(total.epsilon, neighbours=relation.neighbours))
    if total.mu is not None:
        parts.append(GDP(total.mu, neighbours=relation.neighbours))
    if not parts:
        return PureDP(0.0, neighbours=relation.neighbours)
    return parts[0] if len(parts) == 1 else Composed(parts)


def _follows(claim: Claim, total: Total) -> bool:
    """Say whether a claim follows from the total under its granularity."""
    if not total.finite:
        return False
    if claim.mu is not None:
        return total.mu_all <= claim.mu * _CLOSE
    if claim.epsilon is None:
        return False
    if total.mu is None:
        return (total.epsilon or 0.0) <= claim.epsilon * _CLOSE or (
            claim.delta > 0.0 and _epsilon(GDP(total.mu_all, neighbours="replace-one"), claim.delta) <= claim.epsilon
        )
    if claim.delta == 0.0:
        return total.mu == 0.0 and (total.epsilon or 0.0) <= claim.epsilon * _CLOSE
    parts: list[Any] = [GDP(total.mu, neighbours="replace-one")]
    parts += [] if total.epsilon is None else [PureDP(total.epsilon, neighbours="replace-one")]
    every = (Composed(parts).at(None), GDP(total.mu_all, neighbours="replace-one"))
    return min(_epsilon(one, claim.delta) for one in every) <= claim.epsilon * _CLOSE


def _epsilon(promise_holder: Any, delta: float) -> float:
    promise = promise_holder.privacy("replace-one")
    return math.inf if promise is None else epsilon_at(promise, delta)
