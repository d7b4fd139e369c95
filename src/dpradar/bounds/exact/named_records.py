"""Everything known: name the record where it is likelier than average, or where every guess is right anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Floats, Ints, np
from .window_ends import Ends
from .window_hits import Hits

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...threats.prior import Continuous
    from .likelihoods import Likelihood
    from .step_prior import StepPrior

__all__ = ["named_records"]

Column = tuple[Floats, Floats, Floats, Floats, Floats]


def named_records(prior: StepPrior, law: Continuous, eta: float) -> Callable[[Likelihood, Floats, float], Column]:
    """Return the function that scores the best attack, output by output, under a prior uniform in each coarse cell."""
    same = np.array([law.high - eta, max(law.low + eta, law.high - eta)])  # between them every guess is right

    def score(likelihood: Likelihood, y: Floats, reach: float) -> Column:
        hits = Hits.of(prior, likelihood, y, reach, Ends.on_chords)
        p = hits.total
        row, start, stop = _named_intervals(prior, likelihood, y, p)
        hit, false = np.zeros(y.size), np.zeros(y.size)

        def add(row: Ints, start: Floats, stop: Floats, sign: float) -> None:
            low, high = Ends.on_chords(prior, start), Ends.on_chords(prior, stop)
            hit[:] += sign * np.bincount(row, hits.below(row, high) - hits.below(row, low), y.size)
            false[:] += sign * np.bincount(row, high.cdf - low.cdf, y.size)

        add(row, start, stop, 1.0)
        if same[1] > same[0]:
            add(row, np.clip(start, *same), np.clip(stop, *same), -1.0)
        gain = hit - p * false
        if same[1] > same[0]:
            every = np.arange(y.size)
            add(every, np.full(y.size, same[0]), np.full(y.size, same[1]), 1.0)
        return gain, gain, p, p, hit

    return score


def _named_intervals(prior: StepPrior, likelihood: Likelihood, y: Floats, p: Floats) -> tuple[Ints, Floats, Floats]:
    """Return where the records that are likelier than average begin and end, and for which output (row)."""
    a, b = prior.edges[0], prior.edges[-1]
    least, most = float(prior.coarse_factor.min()), float(prior.coarse_factor.max())
    start, stop = likelihood.above(y, p / most)
    if least == most:
        return np.arange(y.size), np.clip(start, a, b), np.clip(stop, a, b)
    return _named_by_cells(prior, likelihood, y, p, (float(start.min()), float(stop.max())))


def _named_by_cells(
    prior: StepPrior, likelihood: Likelihood, y: Floats, p: Floats, around: tuple[float, float]
) -> tuple[Ints, Floats, Floats]:
    """The same for a renormalised mechanism: the likelihood has a factor of its own in each coarse cell."""
    first = int(np.clip(np.searchsorted(prior.edges, around[0], side="right") - 1, 0, prior.edges.size - 2))
    last = int(np.clip(np.searchsorted(prior.edges, around[1], side="left"), first + 1, prior.edges.size - 1))
    edges = prior.edges[first : last + 1]
    start, stop = likelihood.above(y[:, None], p[:, None] / prior.coarse_factor[first:last])
    start, stop = np.maximum(start, edges[:-1]), np.minimum(stop, edges[1:])
    inside = stop > start
    # Neighbouring cells that are named up to their common edge are one interval.
    contiguous = inside[:, :-1] & inside[:, 1:] & (stop[:, :-1] == edges[1:-1]) & (start[:, 1:] == edges[1:-1])
    begins, ends = inside.copy(), inside.copy()
    begins[:, 1:] &= ~contiguous
    ends[:, :-1] &= ~contiguous
    return np.nonzero(begins)[0], start[begins], stop[ends]
