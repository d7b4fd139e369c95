"""The page of what a pipeline costs: the total under each granularity, the steps, and whether the claim follows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from . import assessment_parts as parts
from .advice import advice_notes, advice_table, loss_text
from .citations import bibtex
from .lint import EVIDENCE_TITLE, lint_finding
from .page import Entry, Listing, Page, Reproduce, Table, Verdict
from .sentences import capital

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..results.accounting import Accounting, StepLoss, Total

__all__ = ["page"]

_MOST_STEPS = 40  # rows shown
_ASSUMED = (
    "What is stated of the steps is true, and they use independent randomness; later ones may use earlier outputs."
)
_NOT_COVERED = "Whether the steps do what is stated of them: lint the pipeline, audit the code"


def page(accounting: Accounting) -> Page:
    """Return the page of what a pipeline costs.

    Examples
    --------
    >>> from dpradar.granularity import Claim, Pipeline, Step, account
    >>> steps = [Step(name="count", epsilon=0.5, granularity="unbounded")]
    >>> costs = page(account(Pipeline(steps=steps, claim=Claim(granularity="unbounded", epsilon=1.0))))
    >>> costs.verdict.word, costs.verdict.state
    ('Claim follows', 'met')
    """
    first, advice, assessment = accounting.totals[0], accounting.advice, accounting.assessment
    tables = [_totals(accounting), _steps(first), *([] if advice is None else [advice_table(advice)])]
    listings = [] if accounting.command is None else [Listing(title="Command", text=accounting.command)]
    return Page(
        kind="accounting",
        title=accounting.title or "What a pipeline costs",
        verdict=replace(_verdict(accounting), more=_remarks(accounting)),
        cards=() if assessment is None else (parts.card_of(assessment, group=first.unit),),
        label=_label(accounting),
        tables=tuple(tables),
        evidence=tuple(replace(lint_finding(finding), only="document") for finding in accounting.findings),
        evidence_title=EVIDENCE_TITLE,
        reproduce=Reproduce(
            entries=(Entry(term="dpradar", text=accounting.version, only="document"),),
            listings=(*listings, Listing(title="BibTeX", text=bibtex(["[GuerraThesis]"], accounting.version))),
        ),
        notes=() if advice is None else tuple(advice_notes(advice)),
    )


def _verdict(accounting: Accounting) -> Verdict:
    """Return whether the claim follows from what is stated of the steps, and whether a rule refutes it."""
    first = accounting.totals[0]
    if accounting.claim is None or accounting.claimed is None:
        if accounting.refuted:
            return Verdict(word="Refuted", state="unmet", text="What the steps state cannot hold.")
        return Verdict(text=f"The steps cost {_total_text(first)} under {first.granularity}.")
    total, claim = accounting.total(accounting.claimed), capital(accounting.claim)
    if accounting.refuted:
        text = f"{claim} cannot hold. Adding up what the steps state gives {_total_text(total)}."
        return Verdict(word="Claim refuted", state="unmet", text=text)
    if accounting.met:
        text = f"{claim} follows: the steps cost {_total_text(total)} at most."
        return Verdict(word="Claim follows", state="met", text=text)
    if not total.reason and accounting.findings:
        titles = "; ".join(dict.fromkeys(finding.title for finding in accounting.findings))
        text = f"{claim} does not follow ({titles}). The steps state {_total_text(total)}."
    else:
        because = f" ({total.reason})" if total.reason else ""
        text = f"{claim} does not follow. What follows is {_total_text(total)}{because}."
    return Verdict(word="Claim not shown", state="open", text=text)


def _total_text(total: Total) -> str:
    """Return a total in words: epsilon of the pure steps and mu of the Gaussian ones."""
    losses = (("epsilon", total.epsilon), ("mu", total.mu))
    return " and ".join(f"{name} {loss_text(value)}" for name, value in losses if value is not None) or "nothing"


def _remarks(accounting: Accounting) -> tuple[str, ...]:
    infinite = [f"Infinite under {total.granularity}: {total.reason}." for total in accounting.totals if total.reason]
    unsound = [
        f"Under {total.granularity} adding up says too little: a step with a domain of its own loses its promise there."
        for total in accounting.totals
        if _unsound(total)
    ]
    return (*infinite, *unsound, *(f"Warning: {text}." for text in accounting.warnings))


def _unsound(total: Total) -> bool:
    """Whether adding up all steps would say less than the truth."""
    pairs = ((total.epsilon, total.sequential_epsilon), (total.mu, total.sequential_mu))
    return any(a is not None and b is not None and a > b * (1.0 + 1e-9) for a, b in pairs)


def _label(accounting: Accounting) -> tuple[Entry, ...]:
    hidden = [
        Entry(term=f"Not hidden under {total.granularity}", text=f"{total.exposed}.")
        for total in accounting.totals
        if total.exposed
    ]
    facts = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in accounting.facts.items())
    entries = [
        Entry(term="One change is", text=accounting.totals[0].unit, only="document"),
        *hidden,
        Entry(term="Limits of the data", text=facts, only="document"),
        Entry(term="Assumes", text=_ASSUMED),
        Entry(term="Not covered", text=_NOT_COVERED, only="document"),
    ]
    return tuple(entry for entry in entries if entry.text)


def _totals(accounting: Accounting) -> Table:
    rows = tuple(
        (total.granularity, total.unit, _total_text(total), _sequential_text(total)) for total in accounting.totals
    )
    headings = ("Under", "One change is", "Cost", "Added up")
    return Table(caption="What the steps cost together", headings=headings, rows=rows)


def _sequential_text(total: Total) -> str:
    losses = (total.sequential_epsilon, total.sequential_mu)
    return " and ".join(loss_text(value) for value in losses if value is not None)


def _steps(total: Total) -> Table:
    rows = _step_rows(total.steps)
    more = f" (the first {_MOST_STEPS} of {len(rows):,}; --json has them all)" if len(rows) > _MOST_STEPS else ""
    return Table(
        caption=f"Steps under {total.granularity}{more}",
        headings=("Step", "Loss", "Counted", "Why"),
        rows=tuple(rows[:_MOST_STEPS]),
    )


def _step_rows(steps: Sequence[StepLoss]) -> list[tuple[str, str, str, str]]:
    """Return a row for each step: name, loss, whether the worst change counts it, and the theorem.

    Steps that are made for many cells and cost the same share a row.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for step in steps:
        free = step.notion == "none" and step.loss == 0.0
        counted = "" if free else "yes" if step.counted else "no"
        place, _, cell = step.part.partition(": ")
        groups.setdefault((step.step, place, loss_text(step.loss), counted, step.rule), []).append(cell)
    rows = []
    for (name, place, loss, counted, rule), cells in groups.items():
        where = cells[0] if len(cells) == 1 else f"{len(cells):,} cells" if place else f"{len(cells):,} times"
        label = f"{name} ({place}: {where})" if place else name if len(cells) == 1 else f"{name} ({where})"
        rows.append((label, loss, counted, rule))
    return rows
