"""Continuous priors on an interval: Theorem 4.3 by deterministic quadrature with an error estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..case import Inapplicable
from .risk import ExactRisk

if TYPE_CHECKING:
    from ...mechanisms.capabilities import ContinuousModel
    from ...threats import Threat
    from ...threats.prior import Continuous

__all__ = ["continuous_risk"]

Floats = NDArray[np.float64]
_TOLERANCE = 4e-7
_SIZES = (64, 128, 256, 512, 1024, 2048)
_ENTRIES = 1_000_000
_MISSED = 1e-3


def continuous_risk(model: ContinuousModel, threat: Threat) -> ExactRisk:
    """Return rad and success of the best attackers for a continuous prior, with an estimated error.

    Guarantee
    ---------
    An estimate with an error bar, not a proof: the value moves by less than the interval when the grid is halved; the
    tests check the interval against references. The bound uses the interval's upper end.

    Notes
    -----
    [RAD] Theorem 4.3 with the *prior* disintegrated (the printed version disintegrates Lebesgue measure, which is not a
    probability). The record is written as its quantile, so any prior is uniform on [0, 1] and singular densities do no
    harm; outputs where every likelihood falls by one factor are lumped. Second order in the grid.
    """
    law = threat.finite.interval
    goal = threat.goal
    if law is None:  # pragma: no cover - the rule asks for a continuous prior
        message = "needs a continuous prior"
        raise TypeError(message)
    eta = goal.eta if goal.kind == "within" else 0.0
    if threat.knowledge.kind == "nothing" and eta == 0.0:
        return ExactRisk(rad=(0.0, 0.0), success=(0.0, 0.0), hit=0.0)
    value, error = _refined(model, law, threat.knowledge.kind == "everything", eta)
    rad, success, hit = (float(x) for x in value)
    slack = [float(e) + 1e-9 for e in error]
    return ExactRisk(
        rad=(max(0.0, rad - slack[0]), rad + slack[0]),
        success=(min(max(0.0, success - slack[1]), 1.0), min(1.0, success + slack[1])),
        hit=min(hit, 1.0),
        assumes=("the error of the quadrature is estimated from its last refinement",),
    )


def _refined(model: ContinuousModel, law: Continuous, known: bool, eta: float) -> tuple[Floats, Floats]:  # noqa: FBT001
    """Return (rad, success, hit) and error estimates of the first two, on finer grids until they are small.

    The rule is of second order, so (4 fine - coarse)/3 is better than either; how far that moves from one refinement to
    the next estimates its error. Twice that is charged; a move that is small by luck is caught by the one before.
    """
    plain: list[Floats] = []
    better: list[Floats] = []
    error = np.ones(2)
    for size in _SIZES:
        grid = _Grid.of(model, law, size)
        plain.append(_known(grid, eta) if known else _unknown(grid, eta))
        if len(plain) > 1:
            better.append((4.0 * plain[-1] - plain[-2]) / 3.0)
        if len(better) > 2:
            now, before = np.abs(better[-1] - better[-2]), np.abs(better[-2] - better[-3])
            error = 2.0 * np.maximum(now, before / 8.0)[:2]
            if float(error.max()) <= _TOLERANCE and grid.missed() <= _MISSED:
                return better[-1], error
    if grid.missed() > _MISSED:
        # A grid that does not see the noise finds nothing, on every size alike.
        message = f"needs noise that is not narrower than a {_SIZES[-1]:,}th of the interval"
        raise Inapplicable(message)
    return better[-1], error


@dataclass(frozen=True, slots=True, eq=False)
class _Grid:
    """Records as cells of equal prior probability, outputs as weighted columns."""

    law: Continuous
    quantiles: Floats  # edges in probability
    records: Floats  # cell centres
    outputs: Floats
    weights: Floats  # of the outputs
    model: ContinuousModel

    @classmethod
    def of(cls, model: ContinuousModel, law: Continuous, size: int) -> _Grid:
        quantiles = np.linspace(0.0, 1.0, size + 1)
        records = law.quantile(0.5 * (quantiles[1:] + quantiles[:-1]))
        margin = model.kernel.reach if model.kernel.bends else 0.0
        low, high = max(model.low, law.low - margin), min(model.high, law.high + margin)
        count = size if high <= low else int(size * np.clip((high - low) / (law.high - law.low), 1.0, 4.0))
        edges = np.linspace(low, high, count + 1) if high > low else np.empty(0)
        outputs = 0.5 * (edges[1:] + edges[:-1])
        return cls(law, quantiles, records, outputs, np.diff(edges), model)

    def tables(self) -> list[tuple[Floats, Floats]]:
        """Return (likelihoods, weights): rows = outputs, columns = records; atoms and lumped tails come last."""
        scale = self._scale()
        step = max(1, _ENTRIES // self.records.size)
        parts = []
        for start in range(0, self.outputs.size, step):
            some = slice(start, start + step)
            density = self.model.kernel.density(self.outputs[some, None] - self.records[None, :])
            parts.append((density * scale, self.weights[some]))
        ends = self._ends()
        return [*parts, (ends, np.ones(ends.shape[0]))] if ends.size else parts

    def missed(self) -> float:
        """Return how much of the noise the outputs miss or count twice, on average over the records."""
        total = sum((weight @ likelihood for likelihood, weight in self.tables()), np.zeros(self.records.size))
        return float(np.abs(total - 1.0).mean())

    def _scale(self) -> float | Floats:
        """Return what the density is multiplied with, record by record."""
        if not self.model.renormalised:
            return 1.0
        return np.asarray(1.0 / self.model.kernel.mass(self.model.low - self.records, self.model.high - self.records))

    def _stretches(self) -> Floats:
        """Return the mass between the range of the records and the ends, where all likelihoods fall together."""
        kernel, z = self.model.kernel, self.records
        rows = []
        if self.model.low < self.law.low:
            rows.append(kernel.mass(self.model.low - z, min(self.law.low, self.model.high) - z))
        if self.model.high > self.law.high:
            rows.append(kernel.mass(max(self.law.high, self.model.low) - z, self.model.high - z))
        return np.stack(rows) if rows else np.empty((0, z.size))

    def _ends(self) -> Floats:
        # Clamped mass sits on the ends. Without clamping, a Laplace tail beyond all records is one output: there all
        # likelihoods fall together. A Gaussian grid reaches so far out that nothing is left.
        if self.model.renormalised:
            return self._stretches() * self._scale()
        low, high = max(self.model.low, -np.inf), self.model.high
        if not self.model.clamp:
            low, high = self.law.low, self.law.high
            if self.model.kernel.bends:
                return np.empty((0, self.records.size))
        elif not self.model.kernel.bends:
            return self._clamped_laplace()
        infinite = np.full(self.records.size, np.inf)
        below = self.model.kernel.mass(-infinite, low - self.records)
        return np.stack([below, self.model.kernel.mass(high - self.records, infinite)])

    def _clamped_laplace(self) -> Floats:
        """Return the two ends, and the stretches between the records' range and ends that lie further out."""
        kernel, z = self.model.kernel, self.records
        infinite = np.full(z.size, np.inf)
        rows = [kernel.mass(-infinite, self.model.low - z), kernel.mass(self.model.high - z, infinite)]
        return np.vstack([np.stack(rows), self._stretches()])


def _unknown(grid: _Grid, eta: float) -> Floats:
    """Return (rad, success, hit) when nothing is known: the best window of width 2 eta, output by output."""
    low, high = grid.law.low, grid.law.high
    if eta >= high - low:
        return np.array([0.0, 1.0, 1.0])
    by_mass = grid.law.quantile(grid.quantiles)
    guesses = np.concatenate(
        [
            np.linspace(low, high, grid.quantiles.size),
            by_mass - eta,
            by_mass + eta,
            [low + eta, high - eta, (low + high) / 2],
        ]
    )
    guesses = np.unique(np.clip(guesses, low, high))
    left, right = grid.law.cdf(guesses - eta), grid.law.cdf(guesses + eta)
    total = np.zeros(3)
    for likelihood, weight in grid.tables():
        running = np.zeros((likelihood.shape[0], grid.quantiles.size))
        np.cumsum(likelihood, axis=1, out=running[:, 1:])
        running /= likelihood.shape[1]
        hits = _at(running, right) - _at(running, left)
        scores = hits - running[:, -1:] * (right - left)
        winner = scores.argmax(axis=1)
        rows = np.arange(winner.size)
        total += np.array([weight @ scores[rows, winner], weight @ hits.max(axis=1), weight @ hits[rows, winner]])
    return total


def _at(running: Floats, mass: Floats) -> Floats:
    """Interpolate the running integral (columns = equal steps of probability) at the given probabilities."""
    place = mass * (running.shape[1] - 1)
    index = np.minimum(place.astype(np.intp), running.shape[1] - 2)
    share = place - index
    return np.asarray(running[:, index] * (1.0 - share) + running[:, index + 1] * share)


def _known(grid: _Grid, eta: float) -> Floats:
    """Return (rad, success, hit) when the record is known: the positive part of w, where some guess can be wrong."""
    # Records within eta of both ends are within eta of every guess: nothing to gain there, and always a hit. The share
    # of each cell that lies outside that middle part, so that a cell on its edge counts in part.
    ends = np.array([grid.law.high - eta, grid.law.low + eta])
    start, stop = grid.law.cdf(ends) if eta > 0.0 and ends[0] < ends[1] else (1.0, 1.0)
    within = np.clip(np.minimum(grid.quantiles[1:], stop) - np.maximum(grid.quantiles[:-1], start), 0.0, None)
    free = 1.0 - np.minimum(within * grid.records.size, 1.0)
    total = np.zeros(3)
    cell = 1.0 / grid.records.size
    for likelihood, weight in grid.tables():
        excess = likelihood - likelihood.mean(axis=1, keepdims=True)
        gained = free * np.maximum(excess, 0.0)
        aimed = np.where(excess > 0.0, likelihood, (1.0 - free) * likelihood)
        total += cell * np.array([weight @ gained.sum(axis=1), 0.0, weight @ aimed.sum(axis=1)])
    total[1] = 1.0
    return total
