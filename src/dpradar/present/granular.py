"""Costs of a pipeline and findings of the linter, in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .linted import finding_lines
from .numbers import safe_number
from .sentences import advantage_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..results.accounting import Accounting, StepLoss, Total
    from ..results.advice import Advice

__all__ = ["claim_sentence", "explain_accounting", "explain_advice", "loss_text", "step_rows", "total_row"]

_MOST_STEPS = 40  # rows shown
ASSUMED = "what is stated of the steps is true, and they use independent randomness; later ones may use earlier outputs"


def loss_text(value: float | None) -> str:
    """Return a loss, rounded up.

    Examples
    --------
    >>> loss_text(0.1 + 0.2), loss_text(math.inf), loss_text(None)
    ('0.300001', 'infinite', '')
    """
    if value is None:
        return ""
    if math.isinf(value):
        return "infinite"
    text = safe_number(value, "up")
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def total_text(total: Total) -> str:
    """Return a total in words: epsilon of the pure steps and mu of the Gaussian ones."""
    parts = [f"epsilon {loss_text(total.epsilon)}"] if total.epsilon is not None else []
    parts += [f"mu {loss_text(total.mu)}"] if total.mu is not None else []
    return " and ".join(parts) or "nothing"


def _sequential_text(total: Total) -> str:
    found = [loss_text(value) for value in (total.sequential_epsilon, total.sequential_mu) if value is not None]
    return " and ".join(found)


def claim_sentence(found: Accounting) -> str | None:
    """Return whether the claim follows from what is stated of the steps, and whether a rule refutes it."""
    if found.claim is None or found.claimed is None:
        return "REFUTED: what the steps state cannot hold." if found.refuted else None
    total = found.total(found.claimed)
    if found.refuted:
        return f"CLAIM REFUTED: {found.claim} cannot hold. Adding up what the steps state gives {total_text(total)}."
    if found.met:
        return f"CLAIM FOLLOWS: {found.claim}. The steps cost {total_text(total)} at most."
    because = f" ({total.reason})" if total.reason else ""
    if not because and found.findings:
        titles = "; ".join(dict.fromkeys(finding.title for finding in found.findings))
        return f"CLAIM NOT SHOWN: {found.claim} does not follow ({titles}). The steps state {total_text(total)}."
    return f"CLAIM NOT SHOWN: {found.claim} does not follow. What follows is {total_text(total)}{because}."


def total_row(total: Total) -> tuple[str, str, str, str]:
    """Return a row: granularity, what one change is, the cost, and what adding up all steps would say."""
    return total.granularity, total.unit, total_text(total), _sequential_text(total)


def step_rows(steps: Sequence[StepLoss]) -> list[tuple[str, str, str, str]]:
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


def _lines(rows: list[tuple[str, ...]], headings: tuple[str, ...]) -> list[str]:
    widths = [max(len(row[k]) for row in (headings, *rows)) for k in range(len(headings))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (headings, *rows)
    ]


def _unsound(total: Total) -> bool:
    """Whether adding up all steps would say less than the truth."""
    pairs = ((total.epsilon, total.sequential_epsilon), (total.mu, total.sequential_mu))
    return any(a is not None and b is not None and a > b * (1.0 + 1e-9) for a, b in pairs)


def explain_accounting(found: Accounting) -> str:
    """Return what a pipeline costs, in sentences and two small tables."""
    lines = [found.title] if found.title else []
    claim = claim_sentence(found)
    lines += [claim] if claim else []
    lines += [""] if lines else []
    lines += _lines([total_row(total) for total in found.totals], ("under", "one change is", "cost", "added up"))
    lines += [f"Infinite under {t.granularity}: {t.reason}." for t in found.totals if t.reason]
    lines += [
        f"Under {t.granularity} adding up says too little: a step with a domain of its own loses its promise there."
        for t in found.totals
        if _unsound(t)
    ]
    lines += [f"Not hidden under {t.granularity}: {t.exposed}." for t in found.totals if t.exposed]
    first = found.totals[0]
    rows = step_rows(first.steps)
    lines += ["", f"Steps under {first.granularity}:"]
    lines += _lines(list(rows[:_MOST_STEPS]), ("step", "loss", "counted", "why"))
    if len(rows) > _MOST_STEPS:
        lines.append(f"and {len(rows) - _MOST_STEPS:,} more: --json has them all")
    lines += [""] if found.findings else []
    lines += [line for finding in found.findings for line in finding_lines(finding)[:2]]  # lint has the rest
    lines += ["", *(f"Warning: {text}." for text in found.warnings), f"Assumes: {ASSUMED}."]
    if found.assessment is not None:
        lines += ["", f"What that means for {first.unit}: {advantage_sentence(found.assessment)}"]
    if found.advice is not None:
        lines += ["", explain_advice(found.advice)]
    return "\n".join(lines)


def explain_advice(advice: Advice) -> str:
    """Return what each granularity hides, and what a guarantee implies for it."""
    lines = [
        f"{advice.users:,} users, {advice.points:,} points, at most {advice.most_points:,} of one user "
        f"(median {advice.middle_points:g}), {advice.times:,} times. Given: epsilon {loss_text(advice.epsilon)} under "
        f"{advice.granularity}.",
        "",
    ]
    rows = [(row.granularity, loss_text(row.implied), row.unit) for row in advice.rows]
    lines += _lines(list(rows), ("granularity", "epsilon", "one change is"))
    lines += [f"Infinite under {row.granularity}: {row.why}." for row in advice.rows if math.isinf(row.implied)]
    lines += ["", *(f"Not hidden under {row.granularity}: {row.exposed}." for row in advice.rows if row.exposed)]
    lines += [f"Note: {note}." for note in advice.notes]
    lines.append("Numbers of points and mixing times come from the data and are not differentially private.")
    return "\n".join(lines)
