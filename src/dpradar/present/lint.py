"""The page of the linter: what is wrong with a claim, why, and how to fix it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..numerics.rounding import rounded
from .audit import audit_finding
from .citations import bibtex
from .numbers import percent
from .page import Entry, Finding, Listing, Page, Reproduce, Verdict
from .sentences import capital

if TYPE_CHECKING:
    from ..results.lint import LintFinding, LintReport
    from .page import Only, State

__all__ = ["EVIDENCE_TITLE", "lint_finding", "page"]

EVIDENCE_TITLE = "What is wrong, and how to fix it"
_SEVERITIES: dict[str, tuple[str, State]] = {
    "refutes": ("Refutes", "unmet"),
    "unproven": ("Not shown", "open"),
    "note": ("Note", "none"),
}


def page(report: LintReport) -> Page:
    """Return the page of what is wrong with a claim.

    Examples
    --------
    >>> from dpradar.granularity import Claim, Pipeline, Step, lint
    >>> report = page(lint(Pipeline(steps=[Step(name="grid")], claim=Claim(granularity="bounded", epsilon=1.0))))
    >>> report.verdict.word, report.evidence[0].title
    ('Not shown', 'grid: a step reads data and spends no budget [unbudgeted]')
    """
    cites = tuple(cite for finding in report.findings for cite in finding.cites)
    entries = [Entry(term="Looked at", text=report.subject), Entry(term="Rules", text=", ".join(report.checked))]
    entries += [] if report.seed is None else [Entry(term="Seed", text=f"{report.seed}")]
    listings = [Listing(title="BibTeX", text=bibtex(cites, report.version))]
    if report.command is not None:
        only: Only = "document" if report.seed is None else ""  # without random numbers it is the command just given
        listings.insert(0, Listing(title="Repeat it", text=report.command, only=only))
    return Page(
        kind="lint",
        title=f"Check of a claim: {report.subject}",
        verdict=_verdict(report),
        evidence=tuple(lint_finding(finding) for finding in report.findings),
        evidence_title=EVIDENCE_TITLE,
        reproduce=Reproduce(
            entries=(*entries, Entry(term="dpradar", text=report.version, only="document")), listings=tuple(listings)
        ),
        notes=tuple(f"{note}." for note in report.notes),
    )


def _verdict(report: LintReport) -> Verdict:
    claim = capital(report.claim or "what the steps state")
    if report.refuted:
        return Verdict(word="Refuted", state="unmet", text=f"{claim} cannot hold.")
    if report.unproven:
        return Verdict(word="Not shown", state="open", text=f"{claim} does not follow.")
    against = report.claim or "what the steps state"
    proof = "This does not prove it: the rules know common mistakes, not all."
    return Verdict(word="No finding", text=f"No rule contradicts {against}. {proof}")


def lint_finding(finding: LintFinding) -> Finding:
    """Return a broken rule with its reason, a witness, evidence where there is some, and how to fix it."""
    word, state = _SEVERITIES[finding.severity]
    details = [f"Witness: {finding.witness}."] if finding.witness else []
    if finding.evidence is not None:
        confidence = percent(1.0 - finding.evidence.significance)
        lower, outputs = rounded(finding.evidence.epsilon_lower, 4, "down"), f"{finding.evidence.trials:,} outputs"
        details.append(f"Epsilon is at least {lower} (confidence {confidence}, an audit of {outputs}).")
    details.append(f"Fix: {finding.fix}")
    details += [f"See: {'; '.join(finding.cites)}"] if finding.cites else []
    return Finding(
        title=f"{f'{finding.where}: ' if finding.where else ''}{finding.title} [{finding.rule}]",
        text=finding.why,
        state=state,
        word=word,
        details=tuple(details),
        scale=None if finding.evidence is None else audit_finding(finding.evidence).scale,
    )
