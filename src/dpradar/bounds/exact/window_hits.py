"""The hits of windows of records for some outputs, under a prior with a density of steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Floats, Ints, np
from .likelihoods import GaussianNoise, LaplaceNoise

if TYPE_CHECKING:
    from collections.abc import Callable

    from .likelihoods import Likelihood
    from .step_prior import StepPrior
    from .window_ends import Ends

__all__ = ["Hits"]


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Some outputs in rising order, and the hits below the edges of the coarse cells that matter for them."""

    prior: StepPrior
    likelihood: Likelihood
    y: Floats
    first: int  # of the edges of coarse cells that matter
    last: int
    running: Floats  # rows = outputs: hits below each of the edges first .. last (not needed for Laplace noise)
    total: Floats  # p(y)

    @classmethod
    def of(
        cls,
        prior: StepPrior,
        likelihood: Likelihood,
        y: Floats,
        reach: float,
        ends: Callable[[StepPrior, Floats], Ends],
    ) -> Hits:
        """Return the hits for outputs in rising order; records beyond the reach do not matter."""
        x = prior.edges
        first = int(np.clip(np.searchsorted(x, y[0] - reach, side="right") - 1, 0, x.size - 2))
        last = int(np.clip(np.searchsorted(x, y[-1] + reach, side="left"), first + 1, x.size - 1))
        if isinstance(likelihood, LaplaceNoise):
            near = ends(prior, np.clip(y, x[0], x[-1]))
            total = near.sums.sum(axis=0) * np.exp(-np.abs(y - near.x) / likelihood.unit)
            return cls(prior, likelihood, y, first, last, np.empty((0, 0)), total)
        running = np.zeros((y.size, last - first + 1))
        mass = np.diff(prior.coarse_hits[first : last + 1])
        np.cumsum(_averages(likelihood, y, x[first : last + 1]) * mass, axis=1, out=running[:, 1:])
        return cls(prior, likelihood, y, first, last, running, running[:, -1].copy())

    def below(self, row: Ints, ends: Ends) -> Floats:
        """Return the hits below the ends, for the outputs of these rows."""
        if self.running.size == 0:
            return self._laplace(self.y[row], self.total[row], ends.x, ends.sums)
        coarse = self.prior.coarse_cell[ends.fine]
        whole = self.running[row, np.clip(coarse - self.first, 0, self.running.shape[1] - 1)]
        return self._with_part(self.y[row], whole, coarse, ends)

    def table(self, rows: Ints, ends: Ends) -> Floats:
        """Return the hits below all of the ends for each of the rows."""
        if self.running.size == 0:
            return self._laplace(self.y[rows, None], self.total[rows, None], ends.x, ends.sums[:, None, :])
        coarse = self.prior.coarse_cell[ends.fine]
        whole = self.running[rows][:, np.clip(coarse - self.first, 0, self.running.shape[1] - 1)]
        return self._with_part(self.y[rows, None], whole, coarse, ends)

    def _with_part(self, y: Floats, whole: Floats, coarse: Ints, ends: Ends) -> Floats:
        """Add the part of the coarse cell in which a window ends."""
        inside = (coarse >= self.first) & (coarse < self.last)
        start = self.prior.edges[coarse]
        part = self.likelihood.average(y, start, ends.x - start) * (ends.hits - self.prior.coarse_hits[coarse])
        return np.asarray(whole + np.where(inside, part, 0.0))

    def _laplace(self, y: Floats, total: Floats, x: Floats, sums: Floats) -> Floats:
        fallen = np.exp(-np.abs(y - x) / self.prior.noise.unit)
        return np.asarray(np.where(x <= y, sums[0] * fallen, total - sums[1] * fallen))


def _averages(likelihood: Likelihood, y: Floats, edges: Floats) -> Floats:
    """Return the averages of the likelihoods (rows = outputs) over neighbouring cells."""
    if isinstance(likelihood, GaussianNoise):
        return likelihood.averages(y, edges)
    return np.asarray(likelihood.average(y[:, None], edges[None, :-1], np.diff(edges)[None, :]))
