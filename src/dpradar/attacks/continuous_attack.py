"""Continuous priors: posteriors compared on a grid of equally likely records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..numerics.lazy_numpy import Bools, Floats, Ints, np
from .attack_protocol import BatchOutcome

if TYPE_CHECKING:
    from ..mechanisms.capabilities import ContinuousModel
    from ..threats import Threat
    from ..threats.prior import Continuous

__all__ = ["ContinuousAttack"]

_GRID = 2_000  # equally likely records that stand for the prior
_ENTRIES = 2_000_000


@dataclass(frozen=True, eq=False)
class ContinuousAttack:
    """The window of width 2 eta with the best score; or, with the record known, whether the output is evidence for it.

    The grid only decides what is guessed. Whether a guess is right is judged by the record that was drawn, and how
    often it is right for someone else by the prior's own distribution function.
    """

    model: ContinuousModel
    law: Continuous
    threat: Threat
    maximise: str

    @property
    def name(self) -> str:
        """What the attack is called."""
        return "best window by the posterior"

    @property
    def _eta(self) -> float:
        return self.threat.goal.eta if self.threat.goal.kind == "within" else 0.0

    @cached_property
    def _grid(self) -> Floats:
        return np.asarray(self.law.quantile((np.arange(_GRID) + 0.5) / _GRID))

    def _log_density(self, x: Floats, records: Floats) -> Floats:
        """Return the logarithm of p(output | record) for arrays of outputs and records that broadcast."""
        model = self.model
        with np.errstate(divide="ignore"):
            logs = model.kernel.log_density(x - records)
            if model.renormalised:
                logs = logs - np.log(model.kernel.mass(model.low - records, model.high - records))
            if model.clamp:
                far = np.full(records.shape, np.inf)
                below = np.log(model.kernel.mass(-far, model.low - records))
                above = np.log(model.kernel.mass(model.high - records, far))
                logs = np.where(x <= model.low, below, np.where(x >= model.high, above, logs))
        return np.asarray(logs)

    def play(self, reports: Any, targets: Floats, rng: np.random.Generator) -> BatchOutcome:
        """Attack every output; targets are the records drawn."""
        outputs = np.asarray(reports, dtype=float)
        record_known = self.threat.knowledge.kind == "everything"
        n = outputs.size
        hits, others = np.empty(n, dtype=bool), np.empty(n)
        for start in range(0, n, step := max(1, _ENTRIES // _GRID)):
            some = slice(start, min(start + step, n))
            batch = self._known_record if record_known else self._window
            hits[some], others[some] = batch(outputs[some], targets[some], rng)
        return BatchOutcome(hits, others, sampled=record_known)

    def _window(self, outputs: Floats, targets: Floats, rng: np.random.Generator) -> tuple[Bools, Floats]:
        logs = self._log_density(outputs[:, None], self._grid)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        if self.maximise == "rad":
            weights -= 1.0 / _GRID
        running = np.zeros((outputs.size, _GRID + 1))
        np.cumsum(weights, axis=1, out=running[:, 1:])
        guesses, first, last = self._windows
        scores = running[:, last] - running[:, first]
        guess = guesses[scores.argmax(axis=1)]
        eta, law = self._eta, self.law
        return np.abs(guess - targets) <= eta, np.asarray(law.cdf(guess + eta) - law.cdf(guess - eta))

    @cached_property
    def _windows(self) -> tuple[Floats, Ints, Ints]:
        """Guesses in a random order, so that ties fall at random, and the grid records that each is right for."""
        thin = self._grid[::2]
        guesses = np.clip(np.concatenate([thin, thin - self._eta, thin + self._eta]), self.law.low, self.law.high)
        guesses = np.random.default_rng(0).permutation(np.unique(guesses))
        first = np.searchsorted(self._grid, guesses - self._eta, side="left")
        return guesses, first, np.searchsorted(self._grid, guesses + self._eta, side="right")

    def _known_record(self, outputs: Floats, targets: Floats, rng: np.random.Generator) -> tuple[Bools, Floats]:
        """The record is known: name it, or a value far from it, whichever gains; compare with one other record."""
        strangers = np.asarray(self.law.quantile(rng.random(outputs.size)))
        logs = self._log_density(outputs[:, None], self._grid)
        top = logs.max(axis=1)
        average = top + np.log(np.exp(logs - top[:, None]).mean(axis=1))
        right = []
        for records in (targets, strangers):
            of_target = self._log_density(outputs, records)
            forced = np.maximum(records - self.law.low, self.law.high - records) <= self._eta
            right.append((of_target > average) | forced | (self.maximise == "success"))
        return right[0], right[1].astype(float)
