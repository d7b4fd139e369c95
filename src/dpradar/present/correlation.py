"""Correlated records in sentences; numbers go to the side that never understates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..numerics.rounding import rounded
from ..results.correlation import DOUBTED
from .numbers import count_up, number, safe_number

if TYPE_CHECKING:
    from ..results.correlation import Correlation, Theorem

__all__ = [
    "calibrated_sentence",
    "epsilon_text",
    "error_text",
    "explain_correlation",
    "guesses",
    "leak_text",
    "leakage_sentence",
    "people_sentence",
    "simulated_sentence",
    "theorem_sentence",
    "without_model_sentence",
]

_PEOPLE = 100
_LARGE = 1000.0  # leakages above are shown in whole numbers


def leak_text(value: float) -> str:
    """Return a leakage, rounded up.

    Examples
    --------
    >>> leak_text(1.46817824), leak_text(17568.0)
    ('1.4682', '17,568')
    """
    return rounded(value, 4, "up") if value < _LARGE else f"{math.ceil(value):,}"


def leakage_sentence(result: Correlation) -> str:
    """Return how much is lost, beside what would be lost if records were independent."""
    bound = result.leakage
    word = "" if bound.side == "exact" else "at most "
    cites = f", {'; '.join(bound.cites)}" if bound.cites else ""
    doubted = any(note.startswith(DOUBTED) for note in bound.assumes)
    doubt = " The model is taken as given, and the data speak against it: see the checks." if doubted else ""
    return (
        f"Leakage: {word}{leak_text(bound.value)}; it would be {result.epsilon:g} if records were independent "
        f"({bound.rule}{cites}).{doubt}"
    )


def without_model_sentence(result: Correlation) -> str | None:
    """Return the bound that needs no model of the dependence, where another one is the answer."""
    free = result.any_dependence
    if free.rule == result.leakage.rule:
        return None
    return f"Whatever the dependence within a group: at most {leak_text(free.value)} ({free.rule})."


def guesses(result: Correlation) -> tuple[int, int]:
    """Return of how many of 100 people a guess between two values is right, with and without the dependence."""
    levels = (result.leakage.value, result.epsilon)
    after, independent = (count_up(1.0 / (1.0 + math.exp(-min(level, 700.0))), _PEOPLE) for level in levels)
    return after, independent


def people_sentence(result: Correlation) -> str:
    """Return the leakage in people: a guess between two values of one record, before and after the release.

    Told two values that are equally likely, the best guess is right with probability at most e^L / (1 + e^L).
    """
    after, independent = guesses(result)
    return (
        f"Told two values of someone's record, a guess is right for 50 of {_PEOPLE}; after this release for at most "
        f"{after} of {_PEOPLE} ({independent} if records were independent)."
    )


def calibrated_sentence(result: Correlation) -> str:
    """Return the noise that keeps the leakage at the target, and what it costs."""
    chosen = result.chosen
    if chosen is None or chosen.epsilon is None:
        return f"No noise keeps the leakage at {result.target:g} by a theorem that may be used here."
    level = epsilon_text(chosen.epsilon)
    told = f"To keep the leakage at {result.target:g}: epsilon {level} ({chosen.rule})"
    if result.sensitivity is None or chosen.error is None:
        return f"{told}."
    scale = safe_number(_snapped(result.sensitivity / chosen.epsilon), "up", 4)
    plain = chosen.error / chosen.times if chosen.times else None
    beside = "" if plain is None else f" ({error_text(plain)} with noise for independent records)"
    return (
        f"{told}, noise of scale {scale}; the answer is then off by less than {error_text(chosen.error)} in 95 of 100 "
        f"releases{beside}."
    )


def _snapped(value: float) -> float:
    return float(f"{value:.10g}")  # so that 174 and a rounding error is not shown as 174.1


def epsilon_text(epsilon: float) -> str:
    """Return a calibrated epsilon, rounded down."""
    return safe_number(_snapped(epsilon), "down", 4)


def error_text(error: float) -> str:
    """Return an error, rounded up."""
    return safe_number(_snapped(error), "up", 5)


def simulated_sentence(result: Correlation) -> str | None:
    """Return what the noise did to the true answer in a simulation."""
    run = result.simulated
    if run is None:
        return None
    share = "" if run.mape is None else f", and by {100 * run.mape:.3g} % of the answer on average"
    seed = "" if run.seed is None else f" (seed {run.seed})"
    return (
        f"In {run.runs:,} simulated releases{seed} the answer was off by less than {run.error:.5g} in 95 of 100{share}."
    )


def theorem_sentence(one: Theorem) -> str:
    """Return one theorem in a line: what it gives, or why it may not be used and what it would claim.

    Examples
    --------
    >>> from dpradar.results.correlation import Theorem
    >>> theorem_sentence(Theorem(rule="thm-6.14", title="", usable=False, why="needs equal variances", claimed=1.4483))
    'thm-6.14            not usable (would claim 1.4483): needs equal variances'
    """
    if one.bound is None:
        claim = "" if one.claimed is None else f" (would claim {one.claimed:.4f})"
        return f"{one.rule:<20}not usable{claim}: {one.why}"
    noise = (
        "no noise keeps the target" if one.epsilon is None else f"target kept by epsilon {epsilon_text(one.epsilon)}"
    )
    if one.times is not None and math.isfinite(one.times):
        noise += f", {safe_number(_snapped(one.times), 'up', 4)} times the error"
    shown = f"{'' if one.bound.side == 'exact' else 'at most '}{leak_text(one.bound.value)}"
    return f"{one.rule:<20}{shown}: {one.title}; {noise}"


def explain_correlation(result: Correlation) -> str:
    """Return the whole answer: what is released about whom, the leakage, people, noise, theorems, checks, assumptions.

    Examples
    --------
    >>> from dpradar import correlated
    >>> told = explain_correlation(correlated.leakage(correlated.Groups(size=3), 1.0, clip=(0, 254)))
    >>> print(told.splitlines()[2])
    Leakage: at most 3.0000; it would be 1 if records were independent (thm-6.3, [GuerraThesis] Theorem 6.3).
    """
    lines = [f"Release: {result.release}", f"Records: {result.model}"]
    told = (
        leakage_sentence(result),
        without_model_sentence(result),
        people_sentence(result),
        calibrated_sentence(result),
        simulated_sentence(result),
    )
    lines += [sentence for sentence in told if sentence]
    lines += ["", "Theorems:", *(f"  {theorem_sentence(one)}" for one in result.theorems)]
    if result.at_least is not None and result.leakage.side != "exact":
        found = result.at_least
        lines.append(f"  {found.rule:<20}{number(found)}: what some attacker reaches under the model")
    if result.checks:
        lines += ["", "Checks:", *(f"  {one.word:<8} {one.name:<20} {one.text}" for one in result.checks)]
    lines += ["", "Assumes: " + "\n         ".join(result.leakage.assumes or ("nothing more",))]
    lines += [f"Note: {note}." for note in result.notes]
    lines += [f"Warning: {warning}." for warning in result.warnings]
    return "\n".join(lines)
