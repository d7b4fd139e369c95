"""What the linter found in a claim of differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from .audit import AuditResult
from .field_shapes import Whole
from .result_codec import Record, Result

__all__ = ["LintFinding", "LintReport"]

Severity = Literal["refutes", "unproven", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding(Record):
    """One finding: the rule, where it applies, why it matters, what shows it, and how to fix it.

    ``severity``: "refutes" (the claim cannot hold), "unproven" (it does not follow from what is said), "note". For a
    sampler ``evidence`` is the audit that shows it, with its own level of confidence.
    """

    rule: str
    title: str
    severity: Severity
    why: str
    fix: str
    where: str = ""
    witness: str = ""
    cites: tuple[str, ...] = ()
    evidence: AuditResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport(Result):
    """All findings about one pipeline or one implementation; ``checked`` names the rules that were looked at.

    A report without findings proves nothing: the rules know common mistakes, not all.

    Examples
    --------
    >>> from dpradar.granularity import Claim, Pipeline, Practice, Step, lint
    >>> noisy = Step(name="counts", epsilon=1.0, granularity="unbounded", practice=Practice(noise_on="present"))
    >>> report = lint(Pipeline(steps=[noisy], claim=Claim(granularity="unbounded", epsilon=1.0)))
    >>> report.refuted, [finding.rule for finding in report.findings]
    (True, ['present-rows'])
    >>> LintReport.from_dict(report.to_dict()) == report
    True
    """

    KIND: ClassVar[str] = "lint"
    DERIVED: ClassVar[tuple[str, ...]] = ("refuted", "unproven")

    subject: str
    findings: tuple[LintFinding, ...]
    checked: tuple[str, ...]
    claim: str | None = None
    notes: tuple[str, ...] = ()
    seed: Whole | None = None
    command: str | None = None
    version: str = ""

    @property
    def refuted(self) -> bool:
        """Whether a finding shows that the claim cannot hold."""
        return any(finding.severity == "refutes" for finding in self.findings)

    @property
    def unproven(self) -> bool:
        """Whether a finding shows that the claim does not follow."""
        return any(finding.severity == "unproven" for finding in self.findings)

    def __repr__(self) -> str:
        outcome = "refuted" if self.refuted else "not shown" if self.unproven else "no finding against it"
        return f"LintReport({outcome}; {', '.join(finding.rule for finding in self.findings) or 'nothing found'})"
