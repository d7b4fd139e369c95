"""Attacks and audits in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..numerics.rounding import rounded

if TYPE_CHECKING:
    from ..results import AttackRun, AuditResult, Estimate, Witness

__all__ = ["explain_attack", "explain_audit"]

_KINDS = {"lower": "lower bound", "claim test": "at least, if it is this protocol; not a bound on epsilon"}
_SMALL = 0.01  # numbers below it need more decimals


def _range(estimate: Estimate) -> str:
    digits = 4 if abs(estimate.estimate) >= _SMALL else 7
    middle = rounded(estimate.estimate, digits, "nearest")
    if estimate.low == estimate.high:
        return f"{middle} (exactly)"
    return f"{middle} (between {rounded(estimate.low, digits, 'down')} and {rounded(estimate.high, digits, 'up')})"


def explain_attack(run: AttackRun) -> str:
    """Return what an attack reached, in sentences."""
    people = f"{run.trials:,} targets" if run.release is None else f"{run.trials:,} reports of {run.release}"
    lines = [f"Attack: {run.strategy}, on {people}."]
    if run.threat is not None:
        lines.append(f"Threat: {run.threat}.")
    confidence = f"{100 * run.confidence:.10g} %"
    lines += [
        f"Right about people who took part: {_range(run.success)}.",
        f"Right about people who did not:   {_range(run.false_hit)}.",
        f"What the release adds (rad):      {_range(run.rad)}.",
        f"Each range holds the true number with probability {confidence}.",
    ]
    if run.rad.low <= 0.0 <= run.rad.high:
        lines.append("The advantage could be 0: these trials do not show that the release helped this attack.")
    if run.baseline is not None:
        lines.append(f"The best blind guess is right with probability {run.baseline:.4g}.")
    if run.maximise is None:
        lines.append("Another attacker may do better: this is evidence of a risk, not of its absence.")
    lines += [f"Note: {note}." for note in run.notes]
    if run.seed is not None:
        lines.append(f"Seed: {run.seed}.")
    return "\n".join(lines)


def _epsilon(value: float | None) -> str:
    if value is None:
        return "none"
    return "infinite" if math.isinf(value) else f"{value:.4g}"


def _verdict(result: AuditResult) -> str:
    error = f"{100 * result.significance:.10g} %"
    if result.refuted:
        return f"REFUTED: {result.claim} does not hold (a true claim is refuted in at most {error} of audits)."
    return (
        f"NOT REFUTED: {result.claim}. This does not prove it: other inputs, other events or more outputs may still "
        "show a leak."
    )


def _witness(witness: Witness) -> list[str]:
    lines = [
        f"Witness: {witness.event}.",
        f"  seen {witness.seen_first:,} of {witness.drawn_first:,} times for {witness.first},",
        f"  and {witness.seen_other:,} of {witness.drawn_other:,} times for {witness.other}.",
    ]
    if witness.never:
        lines.append("  If it is impossible there, no epsilon holds.")
    return lines


def explain_audit(result: AuditResult) -> str:
    """Return what an audit found, in sentences."""
    at = f" at delta {result.delta:g}" if result.delta else ""
    confidence = f"{100 * (1 - result.significance):.10g} %"
    lower = rounded(result.epsilon_lower, 4, "down")
    lines = [
        _verdict(result),
        f"Epsilon is at least {lower}{at} (confidence {confidence}, whatever the mechanism is).",
        f"Estimate, not a bound: {_epsilon(result.epsilon_estimate)}.",
        f"Method: {result.method}; {result.trials:,} outputs"
        + (f", {result.looks} looks." if result.looks > 1 else "."),
    ]
    if result.rad is not None:
        lines.append(f"Advantage of the attack (rad): {_range(result.rad)}.")
    if result.witness is not None:
        lines += _witness(result.witness)
    lines += [
        f"Also: {r.method}: epsilon {_epsilon(r.epsilon)} ({_KINDS.get(r.kind, r.kind)}"
        + (f"; {r.note})." if r.note else ").")
        for r in result.readings
    ]
    lines += [f"Note: {note}." for note in result.notes]
    if result.seed is not None:
        lines.append(f"Seed: {result.seed}.")
    if result.command is not None:
        lines.append(f"Repeat it: {result.command}")
    return "\n".join(lines)
