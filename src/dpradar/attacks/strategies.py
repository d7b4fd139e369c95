"""Attacks that are not optimal, for comparison: guess the report, the likeliest value, or any function.

A strategy is a function ``(reports, known, rng) -> guesses``: one guess per report, the number of a value of the prior
(-1 for 'no guess'); ``known`` holds what the attacker knows of each target, as a number (the code of its label; all 0
when nothing is known). These are the attacks of Sauer (2025), Part I.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, UnsupportedError
from ..numerics.lazy_numpy import Bools, Floats, Ints, np
from .attack_protocol import Attack, BatchOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..mechanisms.capabilities import Release
    from ..threats import Threat

__all__ = [
    "GuessAttack",
    "as_attack",
    "mode_of_reports",
    "prior_only",
    "report_as_is",
    "report_attack",
    "walk_or_report",
]


_MOST_FIBRES = 64  # kinds of knowledge for which the second term is summed exactly; with more it is sampled


def report_as_is(reports: Any, known: Ints, rng: np.random.Generator) -> Ints:
    """Guess what was reported: Attack 1 (UNI, TRUE) of Sauer (2025).

    Examples
    --------
    >>> report_as_is(np.array([2, 0]), np.zeros(2, dtype=int), np.random.default_rng(1)).tolist()
    [2, 0]
    """
    guesses = np.asarray(reports)
    if guesses.ndim != 1 or not np.issubdtype(guesses.dtype, np.integer):
        message = "'report' needs reports that are values themselves, as those of GRR are"
        raise UnsupportedError(message)
    return guesses


def prior_only(probabilities: Any) -> Any:
    """Return the strategy that always guesses the likeliest value: Attack 2 (PRIOR) of Sauer (2025).

    Examples
    --------
    >>> prior_only([0.2, 0.5, 0.3])(np.zeros(3), np.zeros(3, dtype=int), np.random.default_rng(1)).tolist()
    [1, 1, 1]
    """
    top = int(np.argmax(np.asarray(probabilities, dtype=float)))

    def guess(reports: Any, known: Ints, rng: np.random.Generator) -> Ints:
        return np.full(known.size, top)

    return guess


def mode_of_reports(others: Any, m: int) -> Any:
    """Return the strategy that guesses the most frequent value of the reports: Attack 3 (EST) of Sauer (2025).

    ``others`` are the reports of everyone else, drawn once. The estimated frequency is increasing in the count, so the
    mode of the estimate is the mode of the reports; ties are broken at random.

    Examples
    --------
    >>> guess = mode_of_reports([0, 1, 1, 2, 2], 3)
    >>> guess(np.array([2, 1]), np.zeros(2, dtype=int), np.random.default_rng(1)).tolist()
    [2, 1]
    """
    counts = np.bincount(np.asarray(others, dtype=np.intp), minlength=m)
    top = counts.max()
    leaders, chasers = np.flatnonzero(counts == top), counts == top - 1

    def guess(reports: Any, known: Ints, rng: np.random.Generator) -> Ints:
        reported = np.asarray(reports, dtype=np.intp)
        tied = leaders[rng.integers(0, leaders.size, size=reported.size)]
        # A report for a leader decides; one for a value that is one behind makes that value a leader.
        joins = chasers[reported] & (rng.random(reported.size) * (leaders.size + 1) < 1.0)
        return np.where((counts[reported] == top) | joins, reported, tied)

    return guess


def walk_or_report(transitions: Any, threshold: float = 0.0) -> Any:
    """Return the strategy that believes a report if it can follow the known last place: Attack 4 (CORR), Sauer (2025).

    ``transitions[v, w]`` is the probability to go from v to w (a matrix, or a scipy sparse one); ``known`` is the last
    place. If the report is reached with probability above ``threshold`` it is the guess, else the next place is drawn
    from the row: the fall-back.

    Examples
    --------
    >>> guess = walk_or_report(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> guess(np.array([1, 1]), np.array([0, 1]), np.random.default_rng(1)).tolist()
    [1, 0]
    """
    from scipy import sparse  # slow to import, needed only here

    rows = sparse.csr_array(transitions)
    running = np.cumsum(rows.data)
    before = np.concatenate([[0.0], running])[rows.indptr]

    def guess(reports: Any, known: Ints, rng: np.random.Generator) -> Ints:
        reported = np.asarray(reports, dtype=np.intp)
        chance = np.asarray(rows[known, reported]).ravel()
        # The row's entries lie between two running sums: a uniform point between them falls on the next place.
        start, stop = rows.indptr[known], rows.indptr[known + 1]
        point = before[known] + rng.random(reported.size) * (before[known + 1] - before[known])
        at = np.clip(np.searchsorted(running, point, side="right"), start, np.maximum(stop - 1, start))
        return np.where(chance > threshold, reported, rows.indices[np.minimum(at, rows.indices.size - 1)])

    return guess


@dataclass(frozen=True, eq=False)
class GuessAttack:
    """A strategy as an attack: guesses are judged by the goal, and their value for other targets by the prior."""

    guess: Callable[[Any, Ints, np.random.Generator], Any]
    threat: Threat
    name: str
    constant: bool = False  # whatever is reported, the guess is right for someone else with the same probability

    def play(self, reports: Any, targets: Ints, rng: np.random.Generator) -> BatchOutcome:
        """Attack every report."""
        codes = self.threat.codes
        hits = self._right(self._checked(reports, codes[targets], rng), targets)
        pi, kinds = self.threat.finite.probabilities, np.unique(codes)
        if kinds.size > _MOST_FIBRES:
            running = np.cumsum(pi)
            strangers = np.searchsorted(running, rng.random(targets.size) * running[-1], side="right")
            strangers = np.minimum(strangers, pi.size - 1)
            guesses = self._checked(reports, codes[strangers], rng)
            return BatchOutcome(hits, self._right(guesses, strangers).astype(float), sampled=True)
        others = np.zeros(targets.size)
        for kind in kinds:
            guesses = self._checked(reports, np.full(targets.size, kind), rng)
            others += self._mass(guesses, codes == kind)
        return BatchOutcome(hits, np.minimum(others, 1.0), constant=self.constant)

    def _checked(self, reports: Any, known: Ints, rng: np.random.Generator) -> Ints:
        size = self.threat.finite.size
        allowed = f"one whole number from -1 to {size - 1} per report"
        try:
            guesses = np.asarray(self.guess(reports, known, rng))
        except (TypeError, ValueError) as error:
            hint = f"It raised {type(error).__name__}; it is called as (reports, known, rng)."
            raise ParameterError("strategy", allowed, "an error", hint) from error
        if guesses.shape != known.shape or not np.issubdtype(guesses.dtype, np.integer):
            raise ParameterError("strategy", allowed, f"an array of shape {guesses.shape} and type {guesses.dtype}")
        if guesses.size and (guesses.min() < -1 or guesses.max() >= size):
            raise ParameterError("strategy", allowed, f"{guesses.min()} to {guesses.max()}")
        return guesses.astype(np.intp)

    def _right(self, guesses: Ints, targets: Ints) -> Bools:
        goal, prior = self.threat.goal, self.threat.finite
        valid = guesses >= 0
        cells = goal.partition(prior)
        if cells is not None:
            return np.asarray(valid & (cells[guesses] == cells[targets]))
        return np.asarray(valid & goal.hits(prior)[guesses, targets])

    def _mass(self, guesses: Ints, fibre: Bools) -> Floats:
        """Return the prior mass of the fibre that each guess is right for."""
        goal, prior = self.threat.goal, self.threat.finite
        pi = np.where(fibre, prior.probabilities, 0.0)
        cells = goal.partition(prior)
        masses = (
            np.bincount(cells, weights=pi)[cells]
            if cells is not None
            else np.asarray(goal.hits(prior), dtype=float) @ pi
        )
        return np.where(guesses >= 0, masses[guesses], 0.0)


def report_attack(threat: Threat) -> GuessAttack:
    """Return the attack that guesses what was reported; with a uniform prior and nothing known it is constant."""
    plain = threat.knowledge.kind == "nothing" and threat.goal.kind == "exact"
    return GuessAttack(report_as_is, threat, "report as it is", constant=plain and threat.finite.is_uniform)


def as_attack(strategy: Any, release: Release, threat: Threat) -> Attack:
    """Return the attack that a name, a function or an attack object stands for."""
    if threat.finite.is_continuous:
        message = "strategies work with priors over finitely many values"
        raise UnsupportedError(message)
    if isinstance(strategy, str) and strategy == "report":
        return report_attack(threat)
    if isinstance(strategy, str) and strategy == "prior":
        likeliest, name = prior_only(threat.finite.probabilities), "likeliest value, without the report"
        return GuessAttack(likeliest, threat, name, constant=threat.knowledge.kind == "nothing")
    if hasattr(strategy, "play"):
        attack: Attack = strategy
        return attack
    if callable(strategy):
        return GuessAttack(strategy, threat, getattr(strategy, "__name__", "a strategy"))
    allowed = "None (optimal), 'report', 'prior' or a function (reports, known, rng) -> guesses"
    raise ParameterError("strategy", allowed, repr(strategy), f"It attacks {release.name}.")
