"""Attacks and audits as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .findings import (
    attack_sentence,
    audit_verdict,
    audit_word,
    epsilon_sentence,
    estimate_text,
    measured_sentences,
    method_sentences,
    reading_sentence,
    witness_sentences,
)

if TYPE_CHECKING:
    from ..results import AttackRun, AuditResult

__all__ = ["explain_attack", "explain_audit"]


def explain_attack(run: AttackRun) -> str:
    """Return what an attack reached, in sentences."""
    lines = [attack_sentence(run)]
    if run.threat is not None:
        lines.append(f"Threat: {run.threat}.")
    lines += measured_sentences(run)
    lines += [f"Note: {note}." for note in run.notes]
    if run.seed is not None:
        lines.append(f"Seed: {run.seed}.")
    return "\n".join(lines)


def explain_audit(result: AuditResult) -> str:
    """Return what an audit found, in sentences."""
    lines = [
        f"{audit_word(result).upper()}: {audit_verdict(result)}",
        epsilon_sentence(result),
        *method_sentences(result),
    ]
    if result.rad is not None:
        lines.append(f"Advantage of the attack (rad): {estimate_text(result.rad)}.")
    if result.witness is not None:
        lines += witness_sentences(result.witness)
    lines += [reading_sentence(reading) for reading in result.readings]
    lines += [f"Note: {note}." for note in result.notes]
    if result.seed is not None:
        lines.append(f"Seed: {result.seed}.")
    if result.command is not None:
        lines.append(f"Repeat it: {result.command}")
    return "\n".join(lines)
