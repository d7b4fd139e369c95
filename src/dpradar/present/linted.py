"""Findings of the linter, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..numerics.rounding import rounded
from .numbers import percent

if TYPE_CHECKING:
    from ..results.lint import LintFinding, LintReport

__all__ = ["explain_lint", "finding_lines", "lint_verdict"]

_WORDS = {"refutes": "REFUTES", "unproven": "NOT SHOWN", "note": "note"}


def lint_verdict(report: LintReport) -> str:
    """Return the verdict in one sentence."""
    what = report.claim or "what the steps state"
    if report.refuted:
        return f"REFUTED: {what} cannot hold."
    if report.unproven:
        return f"NOT SHOWN: {what} does not follow."
    return f"NO FINDING against {what}. This does not prove it: the rules know common mistakes, not all."


def finding_lines(finding: LintFinding) -> list[str]:
    """Return a finding in lines."""
    where = f" in {finding.where}" if finding.where else ""
    lines = [f"{_WORDS[finding.severity]}: {finding.title}{where} [{finding.rule}]", f"  {finding.why}"]
    if finding.witness:
        lines.append(f"  Witness: {finding.witness}.")
    if finding.evidence is not None:
        sure = percent(1.0 - finding.evidence.significance)
        least = rounded(finding.evidence.epsilon_lower, 4, "down")
        lines.append(
            f"  Epsilon is at least {least} (confidence {sure}, an audit of {finding.evidence.trials:,} outputs)."
        )
    lines.append(f"  Fix: {finding.fix}")
    if finding.cites:
        lines.append(f"  See: {'; '.join(finding.cites)}")
    return lines


def explain_lint(report: LintReport) -> str:
    """Return all findings, the worst first."""
    lines = [lint_verdict(report)]
    for finding in report.findings:
        lines += ["", *finding_lines(finding)]
    lines += ["", f"Looked at: {report.subject}. Rules: {', '.join(report.checked)}."]
    lines += [f"Note: {note}." for note in report.notes]
    lines += [f"Repeat it: {report.command}"] if report.command is not None and report.seed is not None else []
    return "\n".join(lines)
