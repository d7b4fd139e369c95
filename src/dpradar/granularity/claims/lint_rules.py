"""What a described pipeline can get wrong: one function for each rule, in one explicit tuple."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..database_facts import domain_warnings
from ..partition_cells import patterns
from .query_sensitivity import query_change
from .rule_texts import make_finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...results.accounting import Accounting
    from ...results.lint import LintFinding, Severity
    from ..neighbour_relation import Granularity
    from ..pipeline import Claim, Pipeline, Step

__all__ = ["RULES", "LintRule"]

_UNITS = ("bounded", "unbounded", "user", "trajectory")  # those under which one trajectory or record changes
_TIGHT = ("laplace", "geometric")  # their epsilon is reached, not only an upper bound
_NOISY = ("laplace", "gaussian")
_SMALL = 1.0 + 1e-9


@dataclass(frozen=True, slots=True)
class LintRule:
    """A rule: its name, and the function that applies it."""

    name: str
    check: Callable[[Pipeline, Accounting], Iterator[LintFinding]]


def _is_pure(claim: Claim | None) -> bool:
    """Whether a claim is epsilon without delta. Without a claim, that of the steps is meant."""
    return claim is None or (claim.epsilon is not None and claim.delta == 0.0)


def _support_severity(claim: Claim | None) -> Severity:
    """Return how a support that differs counts: only a delta can excuse it."""
    return "unproven" if claim is not None and claim.delta > 0.0 else "refutes"


def _steps_on_data(pipeline: Pipeline) -> Iterator[Step]:
    keys = set()
    for step in pipeline.steps:  # a step made for every cell is looked at once
        key = (step.name, step.partition, step.practice)
        if step.reads == "data" and key not in keys:
            keys.add(key)
            yield step


def _present_rows(pipeline: Pipeline, _: Accounting) -> Iterator[LintFinding]:
    example = (
        "two databases, one with a single record x more: x is in the output for one of them, and never for the other"
    )
    for step in _steps_on_data(pipeline):
        if step.practice.noise_on == "present":
            yield make_finding("present-rows", _support_severity(pipeline.claim), where=step.name, witness=example)


def _data_support(pipeline: Pipeline, _: Accounting) -> Iterator[LintFinding]:
    sets = "two neighbours with different locations: no partition of the one set is a partition of the other"
    other = "two neighbours, and an output that is possible for only one of them"
    for step in _steps_on_data(pipeline):
        if step.practice.support == "data":
            example = sets if step.practice.noise == "exponential" else other
            yield make_finding("data-support", _support_severity(pipeline.claim), where=step.name, witness=example)


def _deterministic(pipeline: Pipeline, _: Accounting) -> Iterator[LintFinding]:
    example = "the first two neighbours with different outputs on a chain between databases that have different ones"
    for step in _steps_on_data(pipeline):
        if step.unbudgeted and step.practice.noise == "none":
            yield make_finding("deterministic", "refutes", where=step.name, witness=example)


def _unbudgeted(pipeline: Pipeline, _: Accounting) -> Iterator[LintFinding]:
    for step in _steps_on_data(pipeline):
        if step.unbudgeted and step.practice.noise != "none":
            yield make_finding("unbudgeted", "unproven", where=step.name)


@dataclass(frozen=True, slots=True)
class _ActualLoss:
    """What a step with a known query really costs under a granularity that it states."""

    stated: Granularity
    budget: float  # as stated
    norm: float
    loss: float
    witness: str

    def breaks(self, claim: Claim | None, noise: str | None) -> bool:
        """Whether the cost is reached, not only bounded, and above a pure claim under the same granularity."""
        if claim is None or claim.epsilon is None or claim.delta > 0.0 or noise not in _TIGHT:
            return False
        return claim.relation == self.stated and self.loss > claim.epsilon * _SMALL


def _actual_losses(pipeline: Pipeline, step: Step) -> Iterator[_ActualLoss]:
    """Yield the real cost of a step whose query and assumed sensitivity are known."""
    practice = step.practice
    if practice.query is None or practice.assumed is None or step.notion is None:
        return
    for stated, budget in step.losses:
        if stated.name in _UNITS and stated.neighbours is not None:
            change = query_change(practice.query, stated.neighbours, practice.longest, practice.gram)
            copies = pipeline.facts.trajectories_per_user or 1 if stated.name == "user" else 1
            norm = copies * (change.l2 if step.notion == "gaussian" else change.l1)
            loss = math.inf if practice.assumed == 0.0 else budget * norm / practice.assumed
            yield _ActualLoss(stated, budget, norm, loss, change.witness)


def _sensitivity(pipeline: Pipeline, _: Accounting) -> Iterator[LintFinding]:
    for step in _steps_on_data(pipeline):
        assumed, noise = step.practice.assumed or 0.0, step.practice.noise
        levels = " A sensitivity of 1 is that of one level of a tree: the levels share the budget."
        for real in _actual_losses(pipeline, step):
            if real.norm > assumed * _SMALL:
                yield make_finding(
                    "sensitivity",
                    "refutes" if real.breaks(pipeline.claim, noise) else "unproven",
                    where=step.name,
                    witness=real.witness,
                    assumed=assumed,
                    stated=real.stated,
                    norm=real.norm,
                    name="mu" if step.notion == "gaussian" else "epsilon",
                    loss=real.loss,
                    budget=real.budget,
                    levels=levels if step.practice.query == "prefix-tree" else "",
                )


def _marginal(pipeline: Pipeline, _: Accounting) -> Iterator[LintFinding]:
    claim = pipeline.claim
    if claim is None or claim.epsilon is None or claim.delta > 0.0:
        return
    for step in _steps_on_data(pipeline):
        gaussian = step.notion == "gaussian" or step.practice.noise == "gaussian"
        if gaussian and (step.unbudgeted or any(loss > 0.0 for _, loss in step.losses)):
            yield make_finding(
                "marginal",
                "refutes",
                where=step.name,
                witness="an output far in the tail: its likelihood ratio between two neighbours has no bound",
                reason="Gaussian noise has no finite epsilon without a delta.",
                remedy="Claim (epsilon, delta) or mu, or use Laplace or geometric noise.",
            )
        for real in _actual_losses(pipeline, step):
            if real.norm <= (step.practice.assumed or 0.0) * _SMALL and real.breaks(claim, step.practice.noise):
                yield make_finding(
                    "marginal",
                    "refutes",
                    where=step.name,
                    witness=real.witness,
                    reason=f"This step alone reaches epsilon {real.loss:g}; {claim.epsilon:g} is claimed for all.",
                    remedy="Spend less in this step, or claim what it costs.",
                )


def _float_noise(pipeline: Pipeline, _: Accounting) -> Iterator[LintFinding]:
    claim = pipeline.claim
    example = "0 plus noise can end in bits below 2^-53; 1 plus noise cannot"
    for step in _steps_on_data(pipeline):
        if step.practice.arithmetic == "float" and step.practice.noise in _NOISY:
            strict = _is_pure(claim) and step.practice.noise == "laplace"
            loose: Severity = "note" if claim is not None and claim.delta > 0.0 else "unproven"
            yield make_finding("float-noise", "refutes" if strict else loose, where=step.name, witness=example)


def _parallel(pipeline: Pipeline, _: Accounting) -> Iterator[LintFinding]:
    claim = pipeline.claim
    if claim is None or claim.composition != "parallel":
        return
    for partition in pipeline.partitions:
        steps = [step for step in pipeline.steps if step.partition == partition.name and step.losses]
        changes = patterns(partition, claim.relation, pipeline.facts)
        if len(steps) < 2 or all(one.cells <= 1.0 for one in changes):
            continue
        most = max(one.cells for one in changes)
        yield make_finding(
            "parallel-bounded",
            _parallel_severity(partition.kind, steps, claim),
            where=partition.name,
            witness="one record or point leaves a cell and enters another: both change",
            granularity=claim.granularity,
            count="all cells" if math.isinf(most) else f"{most:g} cells",
            kind=partition.kind,
        )


def _parallel_severity(kind: str, steps: list[Step], claim: Claim) -> Severity:
    """Return "refutes" where two costs are known to be reached together: noisy counts of two cells, replace-one."""
    if kind != "value" or claim.relation.name != "bounded" or claim.epsilon is None or claim.delta > 0.0:
        return "unproven"
    practices = [step.practice for step in steps]
    if any(p.noise not in _TIGHT or p.query != "count" or p.assumed != 1.0 for p in practices):
        return "unproven"
    cells: dict[str, float] = {}
    for step in steps:
        cells[str(step.cell)] = cells.get(str(step.cell), 0.0) + step.times * step.losses[0][1]
    largest = sorted(cells.values())[-2:]
    return "refutes" if len(largest) > 1 and sum(largest) > claim.epsilon * _SMALL else "unproven"


def _disconnected(pipeline: Pipeline, _: Accounting) -> Iterator[LintFinding]:
    for granularity in pipeline.granularities:
        for text in domain_warnings(granularity, pipeline.facts):
            empty = "every mechanism satisfies it" in text
            yield make_finding(
                "disconnected", "unproven" if empty else "note", where=str(granularity), text=f"Under {text}"
            )


def _total(pipeline: Pipeline, accounting: Accounting) -> Iterator[LintFinding]:
    if pipeline.claim is None or accounting.met is not False or accounting.claimed is None:
        return
    if any(step.unbudgeted for step in pipeline.steps):
        return  # reported by the rules about them
    total = accounting.total(accounting.claimed)
    cost = [f"epsilon {total.epsilon:g}"] if total.epsilon is not None else []
    cost += [f"mu {total.mu:g}"] if total.mu is not None else []
    yield make_finding(
        "total",
        "unproven",
        where=accounting.claimed,
        cost=" and ".join(cost),
        granularity=accounting.claimed,
        reason=f" ({total.reason})" if total.reason else "",
        claim=pipeline.claim,
    )


def _exposed(pipeline: Pipeline, _: Accounting) -> Iterator[LintFinding]:
    claim = pipeline.claim
    if claim is not None and claim.relation.kind == "stream":
        relation = claim.relation
        yield make_finding("granularity", "note", where=str(relation), unit=relation.unit, exposed=relation.exposed)


RULES: tuple[LintRule, ...] = (
    LintRule("present-rows", _present_rows),
    LintRule("data-support", _data_support),
    LintRule("deterministic", _deterministic),
    LintRule("unbudgeted", _unbudgeted),
    LintRule("sensitivity", _sensitivity),
    LintRule("marginal", _marginal),
    LintRule("float-noise", _float_noise),
    LintRule("parallel-bounded", _parallel),
    LintRule("disconnected", _disconnected),
    LintRule("total", _total),
    LintRule("granularity", _exposed),
)
