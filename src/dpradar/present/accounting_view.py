"""Pages of pipelines: what they cost, and what is wrong with a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import parts
from .citations import bibtex
from .granular import ASSUMED, claim_sentence, loss_text, step_rows, total_row, total_text
from .linted import finding_lines, lint_verdict
from .pages import finding_of
from .view import Entry, Finding, Listing, Page, Reproduce, Table, Verdict

if TYPE_CHECKING:
    from ..results.accounting import Accounting
    from ..results.advice import Advice
    from ..results.lint import LintFinding, LintReport
    from .view import State

__all__ = ["accounting_page", "lint_page"]

_MOST_ROWS = 60
_STATES: dict[str, State] = {"refutes": "unmet", "unproven": "open", "note": "none"}
_NOT_COVERED = "Whether the steps do what is stated of them: lint the pipeline, audit the code"


def accounting_page(found: Accounting) -> Page:
    """Return the page of what a pipeline costs.

    Examples
    --------
    >>> from dpradar.granularity import Claim, Pipeline, Step, account
    >>> steps = [Step(name="count", epsilon=0.5, granularity="unbounded")]
    >>> page = accounting_page(account(Pipeline(steps=steps, claim=Claim(granularity="unbounded", epsilon=1.0))))
    >>> page.verdict.word, page.verdict.state
    ('Claim follows', 'met')
    """
    first, claim = found.totals[0], claim_sentence(found)
    word, state = _judged(found)
    totals = Table(
        caption="What the steps cost together",
        headings=("Under", "One change is", "Cost", "Added up"),
        rows=tuple(total_row(total) for total in found.totals),
    )
    steps = Table(
        caption=f"Steps under {first.granularity}",
        headings=("Step", "Loss", "Counted", "Why"),
        rows=tuple(step_rows(first.steps)[:_MOST_ROWS]),
    )
    label = [Entry(term="One change is", text=first.unit)]
    label += [Entry(term="Not hidden", text=first.exposed)] if first.exposed else []
    label += [Entry(term="Limits of the data", text=_facts(found))] if found.facts else []
    label += [Entry(term="Assumes", text=ASSUMED), Entry(term="Not covered", text=_NOT_COVERED)]
    notes = [f"Infinite under {total.granularity}: {total.reason}." for total in found.totals if total.reason]
    return Page(
        kind="accounting",
        title=found.title or "What a pipeline costs",
        verdict=Verdict(
            text=_plain(claim) if claim else f"The steps cost {total_text(first)} under {first.granularity}.",
            state=state,
            word=word,
            more=(*_against(found), *notes, *(f"Warning: {text}." for text in found.warnings)),
        ),
        cards=() if found.assessment is None else (parts.card_of(found.assessment),),
        label=tuple(label),
        tables=(totals, steps, *(() if found.advice is None else (_advice_table(found.advice),))),
        reproduce=Reproduce(
            entries=(Entry(term="dpradar", text=found.version),), listings=_listings(found.command, found.version)
        ),
        notes=tuple(_advice_notes(found.advice)),
    )


def _plain(sentence: str) -> str:
    """Return a verdict without its first words in capitals, which the page says itself."""
    text = sentence.partition(": ")[2]
    return f"{text[:1].upper()}{text[1:]}"


def _judged(found: Accounting) -> tuple[str, State]:
    if found.refuted:
        return "Refuted" if found.claim is None else "Claim refuted", "unmet"
    if found.met is None:
        return "", "none"
    return ("Claim follows", "met") if found.met else ("Claim not shown", "open")


def _against(found: Accounting) -> list[str]:
    """Return what the rules have against the claim, one sentence each."""
    verbs = {"refutes": "Refutes", "unproven": "Not shown"}
    return [
        f"{verbs[one.severity]}: {one.title}{f' in {one.where}' if one.where else ''}. {one.why}"
        for one in found.findings
    ]


def _facts(found: Accounting) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in found.facts.items())


def _advice_table(advice: Advice) -> Table:
    rows = tuple((row.granularity, loss_text(row.implied), row.unit, row.exposed or "–") for row in advice.rows)
    given = f"epsilon {loss_text(advice.epsilon)} under {advice.granularity}"
    return Table(
        caption=f"What {given} means for this stream",
        headings=("Granularity", "Epsilon", "One change is", "Not hidden"),
        rows=rows,
    )


def _advice_notes(advice: Advice | None) -> list[str]:
    if advice is None:
        return []
    return [
        *(f"{note}." for note in advice.notes),
        "Numbers of points and mixing times are not differentially private.",
    ]


def _listings(command: str | None, version: str, cites: tuple[str, ...] = ("[GuerraThesis]",)) -> tuple[Listing, ...]:
    found = [] if command is None else [Listing(title="Command", text=command)]
    return (*found, Listing(title="Cite as", text=bibtex(cites, version)))


def lint_page(report: LintReport) -> Page:
    """Return the page of what is wrong with a claim.

    Examples
    --------
    >>> from dpradar.granularity import Claim, Pipeline, Step, lint
    >>> page = lint_page(lint(Pipeline(steps=[Step(name="grid")], claim=Claim(granularity="bounded", epsilon=1.0))))
    >>> page.verdict.word, page.evidence[0].title
    ('Not shown', 'grid: a step reads data and spends no budget')
    """
    word, state = ("Refuted", "unmet") if report.refuted else ("Not shown", "open") if report.unproven else ("", "none")
    cites = tuple(cite for finding in report.findings for cite in finding.cites)
    entries = [Entry(term="Looked at", text=report.subject), Entry(term="Rules", text=", ".join(report.checked))]
    entries += [] if report.seed is None else [Entry(term="Seed", text=f"{report.seed}")]
    return Page(
        kind="lint",
        title=f"What is wrong with a claim: {report.subject}",
        verdict=Verdict(text=_plain(lint_verdict(report)) if word else lint_verdict(report), state=state, word=word),  # type: ignore[arg-type]
        evidence=tuple(_finding(finding) for finding in report.findings),
        evidence_title="What is wrong, and what would mend it?",
        reproduce=Reproduce(
            entries=(*entries, Entry(term="dpradar", text=report.version)),
            listings=_listings(report.command, report.version, cites),
        ),
        notes=tuple(f"{note}." for note in report.notes),
    )


def _finding(finding: LintFinding) -> Finding:
    _, *details = (line.strip() for line in finding_lines(finding))
    scale = None if finding.evidence is None else finding_of(finding.evidence).scale
    return Finding(
        title=f"{finding.where}: {finding.title}" if finding.where else finding.title,
        text=details[0],
        state=_STATES[finding.severity],
        details=tuple(details[1:]),
        scale=scale,
    )
