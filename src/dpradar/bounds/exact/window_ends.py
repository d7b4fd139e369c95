"""Where windows of guesses end, and what a prior with a density of steps has between two ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...numerics.lazy_numpy import Floats, Ints, np

if TYPE_CHECKING:
    from .step_prior import StepPrior

__all__ = ["Ends", "densities", "factors", "halve_intervals"]


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Places where windows end, with what is needed of the prior there."""

    x: Floats
    fine: Ints  # the fine cell
    cdf: Floats
    hits: Floats  # the measure of hits below
    sums: Floats  # for Laplace noise two rows: the densities of an output here that records below and above make

    @classmethod
    def of(cls, prior: StepPrior, x: Floats) -> Ends:
        """Return the ends at some places."""
        cells = prior.fine
        fine = prior.cell(x)
        share = np.clip((x - cells.edges[fine]) / cells.width[fine], 0.0, 1.0)
        # Inside a cell that counts as a point a window ends before or after it.
        share = np.where(prior.points[fine], np.rint(share), share)
        hits = prior.hits[fine] + share * (prior.hits[fine + 1] - prior.hits[fine])
        cdf = cells.cdf[fine] + share * cells.mass[fine]
        return cls(x, fine, cdf, hits, _sums(prior, x, prior.coarse_cell[fine], hits))

    @classmethod
    def on_chords(cls, prior: StepPrior, x: Floats) -> Ends:
        """Return the ends at some places under the prior that is uniform inside each coarse cell."""
        edges, start = prior.edges, prior.coarse
        cell = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, edges.size - 2)
        share = np.clip((x - edges[cell]) / (edges[cell + 1] - edges[cell]), 0.0, 1.0)
        cdf, hits = (
            below[start[cell]] + share * (below[start[cell + 1]] - below[start[cell]])
            for below in (prior.fine.cdf, prior.hits)
        )
        return cls(x, start[cell], cdf, hits, _sums(prior, x, cell, hits))

    def take(self, index: Ints) -> Ends:
        """Return some of them."""
        x, cdf, hits = (a.take(index) for a in (self.x, self.cdf, self.hits))
        return Ends(x, self.fine.take(index), cdf, hits, self.sums.take(index, axis=1))

    def split(self, inner: Ends, last: Ends) -> tuple[Ends, Ends]:
        """Return both ends of the pieces that ``inner`` cuts the ways from here to ``last`` into."""
        n = self.x.size
        rows = [
            np.concatenate([a[:, None], b.reshape(n, -1), c[:, None]], axis=1)
            for a, b, c in zip(self._arrays(), inner._arrays(), last._arrays(), strict=True)
        ]
        return _concatenate_ends([r[:, :-1].ravel() for r in rows]), _concatenate_ends([r[:, 1:].ravel() for r in rows])

    def _arrays(self) -> tuple[Any, ...]:
        return self.x, self.fine, self.cdf, self.hits, *self.sums


def _concatenate_ends(arrays: list[Any]) -> Ends:
    x, fine, cdf, hits, *sums = arrays
    return Ends(x, fine, cdf, hits, np.array(sums).reshape(len(sums), x.size))


def _sums(prior: StepPrior, x: Floats, cell: Ints, hits: Floats) -> Floats:
    return np.empty((0, x.size)) if prior.sums is None else prior.sums.at(x, cell, hits)


def densities(prior: StepPrior, first: Ends, last: Ends) -> tuple[Any, ...]:
    """Return bounds on the density between two ends, on the probability there, and where none hold."""
    moves = last.x > first.x
    i, j = first.fine, last.fine
    unknown = (prior.unknown_before[j + 1] > prior.unknown_before[i]) & moves
    bounded = moves & ~unknown
    least, most = prior.fine.bracket
    if prior.fine.shape == "steps":
        low, high = (np.where(moves, bound, 0.0) for bound in steps_between(least, i, j))
    else:  # where nothing is unknown the density is monotone
        low = np.where(bounded, np.minimum(least[i], least[j]), 0.0)
        high = np.where(bounded, np.maximum(most[i], most[j]), 0.0)
    whole = np.where(moves, prior.fine.cdf[j + 1] - prior.fine.cdf[i], 0.0)
    mass = np.where(unknown, whole, np.minimum(whole, high * (last.x - first.x)))
    return low, high, mass, unknown


def steps_between(density: Floats, i: Ints, j: Ints) -> tuple[Floats, Floats]:
    """Return the least and the largest of density[i .. j] for many ranges."""
    pairs = np.stack([i, j + 1], axis=1).ravel()
    low = np.minimum.reduceat(np.append(density, np.inf), pairs)[::2]
    return low, np.maximum.reduceat(np.append(density, 0.0), pairs)[::2]


def factors(prior: StepPrior, first: Ends, last: Ends) -> tuple[Floats, Floats]:
    """Return bounds on c between two ends: it falls and then rises."""
    i, j = first.fine, last.fine
    least, most = prior.least_factor, prior.most_factor
    across = (i <= prior.lowest) & (prior.lowest <= j)
    return np.where(across, least[prior.lowest], np.minimum(least[i], least[j])), np.maximum(most[i], most[j])


def halve_intervals(prior: StepPrior, first: Ends, last: Ends) -> tuple[Ends, Ends]:
    """Return the halves of intervals: where they begin and where they end."""
    return first.split(Ends.of(prior, first.x + 0.5 * (last.x - first.x)), last)
