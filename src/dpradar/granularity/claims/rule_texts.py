"""The text of each lint rule: title, explanation, suggested fix and references."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...results.lint import LintFinding

if TYPE_CHECKING:
    from ...results.audit import AuditResult
    from ...results.lint import Severity

__all__ = ["TEXTS", "RuleText", "make_finding"]


@dataclass(frozen=True, slots=True)
class RuleText:
    """The words of a rule; ``why`` and ``fix`` may hold places for numbers."""

    title: str
    why: str
    fix: str
    cites: tuple[str, ...]


def make_finding(
    rule: str,
    severity: Severity,
    *,
    where: str = "",
    witness: str = "",
    evidence: AuditResult | None = None,
    **numbers: Any,
) -> LintFinding:
    """Return a finding with the words of its rule."""
    text = TEXTS[rule]
    return LintFinding(
        rule=rule,
        title=text.title,
        severity=severity,
        where=where,
        why=text.why.format(**numbers),
        witness=witness,
        fix=text.fix.format(**numbers),
        cites=text.cites,
        evidence=evidence,
    )


_THESIS = "[GuerraThesis]"
_ROWS_FIX = (
    "Add noise to the counts of all possible rows, also of those that nobody has; or release only counts above a "
    "threshold, and claim (epsilon, delta)."
)
TEXTS: dict[str, RuleText] = {
    "present-rows": RuleText(
        "noise only on rows that are present",
        "A row that nobody has is never released, so a released row proves that someone has it. A private mechanism of "
        "this kind releases nothing at all.",
        _ROWS_FIX,
        (f"{_THESIS} Proposition 3.5",),
    ),
    "data-support": RuleText(
        "which outputs are possible depends on the data",
        "What is possible for one database has to be possible for every other that a chain of neighbours reaches. An "
        "exponential mechanism needs a range that is fixed before the data are seen.",
        "Choose from a public set, such as the cells of a map; or claim a delta at least as large as the probability "
        "of outputs that are impossible for a neighbour.",
        (f"{_THESIS} Proposition 3.6", "[McSherryTalwar2007]"),
    ),
    "support": RuleText(
        "an output that one input never has",
        "What is possible for one input has to be possible for every other that a chain of neighbours reaches.",
        "Make the set of possible outputs the same for all inputs, with noise on all of it.",
        (f"{_THESIS} Proposition 3.6",),
    ),
    "deterministic": RuleText(
        "no randomness",
        "What is computed from data without noise is the same every time. If it is not the same for all databases, two "
        "neighbours are distinguished with certainty: no epsilon, and no delta below 1.",
        "Add noise and state the cost; or do it inside the step that uses it, so that its sensitivity counts there.",
        (f"{_THESIS} Section 3.4",),
    ),
    "unbudgeted": RuleText(
        "a step reads data and spends no budget",
        "A private step inside a pipeline proves nothing about the others: each that reads data needs a budget, also "
        "one that only chooses clusters, a grid or frequencies for later.",
        "State what it costs, make it from outputs of earlier steps (reads = 'outputs'), or from public knowledge "
        "(reads = 'public').",
        (f"{_THESIS} Section 3.4", f"{_THESIS} Theorem 4.26"),
    ),
    "sensitivity": RuleText(
        "noise for a sensitivity that is too small",
        "The noise is scaled to a sensitivity of {assumed:g}, but one change under {stated} moves it by {norm:g}: "
        "{name} is {loss:g}, not {budget:g}.{levels}",
        "Scale the noise to {norm:g}, or limit what one person contributes.",
        (f"{_THESIS} Section 3.4.1",),
    ),
    "marginal": RuleText(
        "one output alone breaks the claim",
        "{reason} Whatever holds for all outputs together holds for each of them alone.",
        "{remedy}",
        (f"{_THESIS} Theorem 4.25", f"{_THESIS} Theorem 4.26"),
    ),
    "float-noise": RuleText(
        "noise in floating-point numbers",
        "A sum of a number and noise, both rounded, can only be one of the numbers that are near enough to it: which "
        "low bits are possible reveals the exact value. The proofs are about real numbers.",
        "Use discrete noise (geometric, discrete Gaussian) with exact arithmetic, or snap and round to a public grid.",
        ("[Mironov2012]", "[CanonneKamathSteinke2020]"),
    ),
    "parallel-bounded": RuleText(
        "parallel composition where several cells change",
        "The cost of cells is their maximum only if one change touches one cell. Under {granularity} it can touch "
        "{count} of a partition by {kind}.",
        "Add up the two largest costs (common domain), divide by index, or claim unbounded DP.",
        (f"{_THESIS} Example 2.16", f"{_THESIS} Corollary 4.12", "[LiLyuSuYang2016]"),
    ),
    "disconnected": RuleText(
        "databases that no chain of neighbours connects",
        "{text}.",
        "Choose a granularity whose neighbours connect the databases that may occur, or say what is not protected.",
        (f"{_THESIS} Example A.5",),
    ),
    "total": RuleText(
        "the steps together cost more than is claimed",
        "What is stated of the steps gives {cost} under {granularity}{reason}. The claim is {claim}.",
        "Spend less in the steps, claim more, or claim it under the granularity that the steps are about.",
        (f"{_THESIS} Theorem 4.1",),
    ),
    "granularity": RuleText(
        "less than a person is protected",
        "One change is {unit}. Not hidden: {exposed}. A change that drags m others along, as the laws of movement "
        "demand, costs m times as much.",
        "Say so where the claim is made; `dpradar account` shows what follows for a whole person.",
        (f"{_THESIS} Section 3.3",),
    ),
    "claim": RuleText(
        "the claim does not hold",
        "An event is likelier for one input than the claim allows.",
        "Check scale and sensitivity of the noise; `dpradar audit` shows more of the event.",
        ("[ClopperPearson1934]",),
    ),
}
