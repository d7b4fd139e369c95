"""What the linter found in a claim of differential privacy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .audit import AuditResult
from .checking import checked

__all__ = ["LintFinding", "LintReport"]

SCHEMA = "dpradar/lint/1"
Severity = Literal["refutes", "unproven", "note"]
_FINDING = ("rule", "title", "severity", "where", "why", "witness", "fix", "cites")
_PLAIN = ("version", "subject", "claim", "seed", "command")


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
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

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        plain = {name: getattr(self, name) for name in _FINDING}
        evidence = None if self.evidence is None else self.evidence.to_dict()
        return {**plain, "cites": list(self.cites), "evidence": evidence}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> LintFinding:
        """Return what ``to_dict`` wrote."""
        plain = {name: data[name] for name in _FINDING}
        evidence = None if data["evidence"] is None else AuditResult.from_dict(data["evidence"])
        return cls(**{**plain, "cites": tuple(data["cites"])}, evidence=evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
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

    subject: str
    findings: tuple[LintFinding, ...]
    checked: tuple[str, ...]
    claim: str | None = None
    notes: tuple[str, ...] = ()
    seed: int | None = None
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

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data with a schema key."""
        return {
            "schema": SCHEMA,
            **{name: getattr(self, name) for name in _PLAIN},
            "refuted": self.refuted,
            "unproven": self.unproven,
            "findings": [finding.to_dict() for finding in self.findings],
            "checked": list(self.checked),
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> LintReport:
        """Return what ``to_dict`` wrote."""
        checked(data, SCHEMA)
        return cls(
            **{name: data[name] for name in _PLAIN},
            findings=tuple(LintFinding.from_dict(finding) for finding in data["findings"]),
            checked=tuple(data["checked"]),
            notes=tuple(data["notes"]),
        )

    def save(self, path: str | Path) -> None:
        """Write the report as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")

    def explain(self) -> str:
        """Return the findings in sentences."""
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
        told = "refuted" if self.refuted else "not shown" if self.unproven else "no finding against it"
        return f"LintReport({told}; {', '.join(finding.rule for finding in self.findings) or 'nothing found'})"
