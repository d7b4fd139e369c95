"""Apply the rules to a described pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._version import __version__
from ...results.lint import LintReport
from ..pipeline_accounting import account_costs
from .lint_rules import RULES

if TYPE_CHECKING:
    from ...results.accounting import Accounting
    from ...results.lint import LintFinding
    from ..pipeline import Pipeline

__all__ = ["findings_of", "lint"]

_ORDER = {"refutes": 0, "unproven": 1, "note": 2}


def findings_of(pipeline: Pipeline, cost: Accounting) -> tuple[LintFinding, ...]:
    """Return what the rules have against a pipeline of that cost, the worst first."""
    findings = [finding for rule in RULES for finding in rule.check(pipeline, cost)]
    return tuple(sorted(findings, key=lambda finding: _ORDER[finding.severity]))


def lint(pipeline: Pipeline) -> LintReport:
    """Return what is wrong with the claim of a pipeline, as it is described.

    Guarantee
    ---------
    A finding that "refutes" shows that the claim is false if the description is right. One that is "unproven" shows
    that it does not follow. No finding shows nothing.

    Notes
    -----
    Doctoral thesis, Chapters 3 and 4 (docs/derivations/granularity.md).

    Examples
    --------
    >>> from dpradar.granularity import Claim, Pipeline, Practice, Step, lint
    >>> clusters = Step(name="clusters", practice=Practice(noise="none"))
    >>> counts = Step(name="counts", epsilon=1.0, granularity="unbounded")
    >>> report = lint(Pipeline(steps=[clusters, counts], claim=Claim(granularity="unbounded", epsilon=1.0)))
    >>> [(finding.rule, finding.severity) for finding in report.findings]
    [('deterministic', 'refutes')]
    """
    return LintReport(
        subject=pipeline.title or f"a pipeline of {len(pipeline.steps)} steps",
        claim=None if pipeline.claim is None else str(pipeline.claim),
        findings=findings_of(pipeline, account_costs(pipeline)),
        checked=tuple(rule.name for rule in RULES),
        version=__version__,
    )
