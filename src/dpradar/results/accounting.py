"""What a pipeline costs under each granularity, step by step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from annotated_types import MinLen

from ..errors import ParameterError
from .advice import Advice
from .assessment import Assessment
from .field_shapes import Later, Loss
from .lint import LintFinding
from .result_codec import Record, Result

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Accounting", "StepLoss", "Total"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLoss(Record):
    """One step under one granularity: its loss where it is changed, and whether the worst change counts it.

    ``rule`` names the theorem; ``part`` says which part of the data it reads, where that is not all.
    """

    step: str
    notion: Literal["pure", "gaussian", "none"]
    loss: Loss
    counted: bool
    rule: str
    part: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Total(Record):
    """The whole pipeline under one granularity.

    ``epsilon`` is that of the pure steps and ``mu`` that of the Gaussian ones (None where there are none); both hold
    together. ``mu_all`` covers all steps, the pure ones read as Gaussian. ``sequential_epsilon`` and
    ``sequential_mu`` are what adding up all steps would say, whatever they read; where a domain of one's own breaks a
    step apart that can be too little. ``reason`` says why a number is infinite.
    """

    granularity: str
    unit: str
    notion: Literal["pure", "gaussian", "mixed", "none"]
    epsilon: Loss | None
    mu: Loss | None
    mu_all: Loss
    sequential_epsilon: Loss | None
    sequential_mu: Loss | None
    exposed: str = ""
    metric: str = ""
    reason: str = ""
    steps: tuple[StepLoss, ...] = ()

    @property
    def finite(self) -> bool:
        """Whether anything is promised."""
        return all(math.isfinite(value) for value in (self.epsilon, self.mu) if value is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounting(Result):
    """What a pipeline costs: one total for each granularity, and whether its claim follows.

    ``met`` says whether the claim follows from what is stated of the steps; None without a claim. ``findings`` are what
    the rules of the linter have against it, and with any the claim is not met. A claim that does not follow is refuted
    only if one of them refutes it; else it is not shown. ``advice`` is about a stream, and ``assessment`` says what the
    total of the claim, or the first one, lets someone learn; both only where they were asked for.

    Examples
    --------
    >>> from dpradar.granularity import Pipeline, Step, account
    >>> costs = account(Pipeline(steps=[Step(name="sum", epsilon=0.5, granularity="unbounded", times=2)]))
    >>> costs.total("unbounded").epsilon, Accounting.from_dict(costs.to_dict()) == costs
    (1.0, True)
    """

    KIND: ClassVar[str] = "accounting"
    DERIVED: ClassVar[tuple[str, ...]] = ("refuted",)

    totals: Annotated[tuple[Total, ...], MinLen(1)]
    title: str = ""
    claim: str | None = None
    claimed: str | None = None  # the granularity of the claim
    met: bool | None = None
    warnings: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict, hash=False)
    advice: Advice | None = None
    assessment: Assessment | None = None
    command: str | None = None
    version: str = ""
    findings: Annotated[tuple[LintFinding, ...], Later()] = ()

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield a claim under a granularity that has no total."""
        if self.claimed is not None and self.claimed not in [total.granularity for total in self.totals]:
            message = f"must be the granularity of a total: {self._granularities or 'there is none'}"
            yield "claimed", message

    @property
    def refuted(self) -> bool:
        """Whether a finding shows that the claim, or what the steps state, cannot hold."""
        return any(finding.severity == "refutes" for finding in self.findings)

    def total(self, granularity: Any) -> Total:
        """Return the total under a granularity."""
        total = next((one for one in self.totals if one.granularity == str(granularity)), None)
        if total is None:
            raise ParameterError("Accounting.total", f"one of {self._granularities}", repr(str(granularity)))
        return total

    @property
    def vacuous(self) -> bool:
        """Whether nothing is promised under any granularity that was asked for."""
        return not any(total.finite for total in self.totals)

    @property
    def _granularities(self) -> str:
        return ", ".join(total.granularity for total in self.totals)

    def __repr__(self) -> str:
        outcome = {True: "claim follows", False: "claim not shown", None: "no claim"}[self.met]
        return f"Accounting({'refuted' if self.refuted else outcome}; {self._granularities})"
