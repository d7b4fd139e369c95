"""What a pipeline costs under each granularity, step by step."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..errors import ParameterError
from .advice import Advice
from .assessment import Assessment
from .checking import checked
from .lint import LintFinding

__all__ = ["Accounting", "StepLoss", "Total"]

SCHEMA = "dpradar/accounting/1"
_STEP = ("step", "notion", "loss", "counted", "rule", "part")
_TOTAL = (
    "granularity",
    "unit",
    "exposed",
    "notion",
    "epsilon",
    "mu",
    "mu_all",
    "sequential_epsilon",
    "sequential_mu",
    "metric",
    "reason",
)
_PLAIN = ("version", "title", "claim", "claimed", "met", "command")
_NUMBERS = ("loss", "epsilon", "mu", "mu_all", "sequential_epsilon", "sequential_mu")


def _plain(value: Any) -> Any:
    """Return a number as JSON can hold it."""
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def _read(name: str, value: Any) -> Any:
    return float(value) if name in _NUMBERS and value is not None else value


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLoss:
    """One step under one granularity: its loss where it is changed, and whether the worst change counts it.

    ``rule`` names the theorem; ``part`` says which part of the data it reads, where that is not all.
    """

    step: str
    notion: Literal["pure", "gaussian", "none"]
    loss: float
    counted: bool
    rule: str
    part: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {name: _plain(getattr(self, name)) for name in _STEP}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> StepLoss:
        """Return what ``to_dict`` wrote."""
        return cls(**{name: _read(name, data[name]) for name in _STEP})


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """The whole pipeline under one granularity.

    ``epsilon`` is that of the pure steps and ``mu`` that of the Gaussian ones (None where there are none); both hold
    together. ``mu_all`` covers all steps, the pure ones read as Gaussian. ``sequential_epsilon`` and
    ``sequential_mu`` are what adding up all steps would say, whatever they read; where a domain of one's own breaks a
    step apart that can be too little. ``reason`` says why a number is infinite.
    """

    granularity: str
    unit: str
    notion: Literal["pure", "gaussian", "mixed", "none"]
    epsilon: float | None
    mu: float | None
    mu_all: float
    sequential_epsilon: float | None
    sequential_mu: float | None
    exposed: str = ""
    metric: str = ""
    reason: str = ""
    steps: tuple[StepLoss, ...] = ()

    @property
    def finite(self) -> bool:
        """Whether anything is promised."""
        return all(math.isfinite(value) for value in (self.epsilon, self.mu) if value is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; an infinite number is the text 'inf'."""
        return {**{name: _plain(getattr(self, name)) for name in _TOTAL}, "steps": [s.to_dict() for s in self.steps]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Total:
        """Return what ``to_dict`` wrote."""
        plain = {name: _read(name, data[name]) for name in _TOTAL}
        return cls(**plain, steps=tuple(StepLoss.from_dict(step) for step in data["steps"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounting:
    """What a pipeline costs: one total for each granularity, and whether its claim follows.

    ``met`` says whether the claim follows from what is stated of the steps; None without a claim. ``findings`` are what
    the rules of the linter have against it, and with any the claim is not met. A claim that does not follow is refuted
    only if one of them refutes it; else it is not shown. ``advice`` is about a stream, and ``assessment`` says what the
    total of the claim, or the first one, lets someone learn; both only where they were asked for.

    Examples
    --------
    >>> from dpradar.granularity import Pipeline, Step, account
    >>> found = account(Pipeline(steps=[Step(name="sum", epsilon=0.5, granularity="unbounded", times=2)]))
    >>> found.total("unbounded").epsilon, Accounting.from_dict(found.to_dict()) == found
    (1.0, True)
    """

    totals: tuple[Total, ...]
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
    findings: tuple[LintFinding, ...] = ()

    @property
    def refuted(self) -> bool:
        """Whether a finding shows that the claim, or what the steps state, cannot hold."""
        return any(finding.severity == "refutes" for finding in self.findings)

    def total(self, granularity: Any) -> Total:
        """Return the total under a granularity."""
        found = next((total for total in self.totals if total.granularity == str(granularity)), None)
        if found is None:
            known = ", ".join(total.granularity for total in self.totals)
            raise ParameterError("Accounting.total", f"one of {known}", repr(str(granularity)))
        return found

    @property
    def vacuous(self) -> bool:
        """Whether nothing is promised under any granularity that was asked for."""
        return not any(total.finite for total in self.totals)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data with a schema key."""
        return {
            "schema": SCHEMA,
            **{name: getattr(self, name) for name in _PLAIN},
            "totals": [total.to_dict() for total in self.totals],
            "warnings": list(self.warnings),
            "facts": dict(self.facts),
            "advice": None if self.advice is None else self.advice.to_dict(),
            "assessment": None if self.assessment is None else self.assessment.to_dict(),
            "refuted": self.refuted,
            "findings": [finding.to_dict() for finding in self.findings],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Accounting:
        """Return what ``to_dict`` wrote."""
        checked(data, SCHEMA)
        return cls(
            **{name: data[name] for name in _PLAIN},
            totals=tuple(Total.from_dict(total) for total in data["totals"]),
            warnings=tuple(data["warnings"]),
            facts=dict(data["facts"]),
            advice=None if data["advice"] is None else Advice.from_dict(data["advice"]),
            assessment=None if data["assessment"] is None else Assessment.from_dict(data["assessment"]),
            findings=tuple(LintFinding.from_dict(finding) for finding in data.get("findings", ())),  # older files: none
        )

    def save(self, path: str | Path) -> None:
        """Write the result as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")

    def explain(self) -> str:
        """Return the answer in sentences."""
        from ..present.text import explain

        return explain(self)

    def report(self, path: str | Path) -> Path:
        """Write the result for people, as .html or .md, and return where it is."""
        from ..present.files import save_report

        return save_report(self, path)

    def _repr_html_(self) -> str | None:
        from ..present.notebook import notebook_html

        return notebook_html(self)

    def __repr__(self) -> str:
        told = {True: "claim follows", False: "claim not shown", None: "no claim"}[self.met]
        told = "refuted" if self.refuted else told
        return f"Accounting({told}; {', '.join(total.granularity for total in self.totals)})"
