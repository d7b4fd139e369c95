"""Attack any release whose likelihoods can be computed: the best guess per fibre, from the posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..numerics.lazy_numpy import Bools, Floats, Ints, np
from .attack_protocol import BatchOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..threats.hit_classes import Block, Cover

__all__ = ["LikeliestValue", "PosteriorAttack"]

_ENTRIES = 2_000_000  # of one work array
_TIE = 1e-12  # scores this close, relative to the largest posterior, are a tie


def number_of_reports(reports: Any) -> int:
    """Return the number of reports of a batch; that of a composition is a tuple of batches."""
    return number_of_reports(reports[0]) if isinstance(reports, tuple) else len(reports)


def slice_reports(reports: Any, rows: slice) -> Any:
    """Return some of the reports."""
    return tuple(slice_reports(part, rows) for part in reports) if isinstance(reports, tuple) else reports[rows]


@dataclass(frozen=True, eq=False)
class LikeliestValue:
    """Uniform prior, nothing known, exact goal: the likeliest value, ties at random."""

    likelihoods: Callable[[Any], Floats]
    inputs: int

    @property
    def name(self) -> str:
        """What the attack is called."""
        return "likeliest value"

    def play(self, reports: Any, targets: Ints, rng: np.random.Generator) -> BatchOutcome:
        """Attack every report."""
        hits = np.empty(targets.size, dtype=bool)
        for start in range(0, targets.size, step := max(1, _ENTRIES // self.inputs)):
            some = slice(start, min(start + step, targets.size))
            logs = self.likelihoods(slice_reports(reports, some))
            top = logs.max(axis=1, keepdims=True)
            with np.errstate(invalid="ignore"):
                near = logs >= top - _TIE
            # The target is named with probability 1 over the number of values that tie with it.
            at_target = near[np.arange(logs.shape[0]), targets[some]]
            hits[some] = at_target & (rng.random(logs.shape[0]) * near.sum(axis=1) < 1.0)
        return BatchOutcome(hits, np.full(targets.size, 1.0 / self.inputs), constant=True)


@dataclass(frozen=True, eq=False)
class PosteriorAttack:
    """Any prior, knowledge and goal: in every fibre the class of guesses with the best score, ties at random."""

    likelihoods: Callable[[Any], Floats]
    pi: Floats
    cover: Cover
    maximise: str

    @property
    def name(self) -> str:
        """What the attack is called."""
        return "best guess by the posterior"

    def play(self, reports: Any, targets: Ints, rng: np.random.Generator) -> BatchOutcome:
        """Attack every report."""
        hits, others = np.zeros(targets.size, dtype=bool), np.zeros(targets.size)
        for start in range(0, targets.size, step := max(1, _ENTRIES // self.pi.size)):
            some = slice(start, min(start + step, targets.size))
            hits[some], others[some] = self._batch(slice_reports(reports, some), targets[some], rng)
        return BatchOutcome(hits, np.clip(others, 0.0, 1.0))

    def _batch(self, reports: Any, targets: Ints, rng: np.random.Generator) -> tuple[Bools, Floats]:
        with np.errstate(divide="ignore"):
            logs = self.likelihoods(reports) + np.log(self.pi)
        logs -= logs.max(axis=1, keepdims=True)
        posterior = np.exp(logs).T
        posterior /= posterior.sum(axis=0)
        tie = _TIE * posterior.max(axis=0)
        scores = posterior - self.pi[:, None] if self.maximise == "rad" else posterior
        hits, others = self._single(scores, tie, targets, rng)
        for block in self.cover.blocks:
            guesses = _choose_guesses(block, scores[block.members], tie, rng)
            position = np.full(self.pi.size, -1)
            position[block.members] = np.arange(block.members.size)
            at = position[targets]
            guessed = (guesses >= 0) & (at >= 0)
            hits[guessed] = block.right(guesses[guessed], at[guessed])
            masses = np.append(block.sums(self.pi[block.members]), 0.0)
            others += masses[guesses]  # -1, a guess that misses the fibre, finds the 0 at the end
        return hits, others

    def _single(self, scores: Floats, tie: Floats, targets: Ints, rng: np.random.Generator) -> tuple[Bools, Floats]:
        """Fibres of one member: name it, or anyone else, whichever gains."""
        single, share = self.cover.single, (self.cover.single_hits / self.cover.guesses)[:, None]
        member_scores = scores[single]
        # For success naming the member never hurts, however unlikely it has become.
        near = tie if self.maximise == "rad" else 0.0
        guessed = np.where(np.abs(member_scores) <= near, rng.random(member_scores.shape) < share, member_scores > 0.0)
        guessed = (guessed & (share > 0.0)) | (share == 1.0)
        others = self.pi[single] @ guessed
        place = np.full(self.pi.size, -1)
        place[single] = np.arange(single.size)
        at = place[targets]
        hits = np.zeros(targets.size, dtype=bool)
        in_fibre = at >= 0
        hits[in_fibre] = guessed[at[in_fibre], np.flatnonzero(in_fibre)]
        return hits, others


def _choose_guesses(block: Block, scores: Floats, tie: Floats, rng: np.random.Generator) -> Ints:
    """Return the class with the best score for each column, -1 for a guess that is right for nobody of the fibre."""
    columns = scores.shape[1]
    if block.counts.size == 0:
        return np.full(columns, -1)
    sums = block.sums(scores)
    best = sums.max(axis=0)
    guesses = sums.argmax(axis=0)
    if block.misses:
        guesses = np.where(best < -tie, -1, guesses)
        best = np.maximum(best, 0.0)
    near = sums >= best - tie
    missing = np.where((best <= tie) & (block.misses > 0), block.misses, 0)
    doubtful = np.flatnonzero((near.sum(axis=0) > 1) | (missing > 0))
    if doubtful.size:
        weights = near[:, doubtful] * block.counts[:, None].astype(float)
        running = np.cumsum(weights, axis=0)
        point = rng.random(doubtful.size) * (running[-1] + missing[doubtful])
        tie_index = (running <= point).sum(axis=0)
        guesses[doubtful] = np.where(tie_index < block.counts.size, tie_index, -1)
    return np.asarray(guesses)
