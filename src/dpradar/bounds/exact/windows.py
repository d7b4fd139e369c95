"""Windows of guesses under a prior with a density of steps, and bounds on their probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Floats, np
from .window_ends import Ends, densities, halve_intervals

if TYPE_CHECKING:
    from .step_prior import StepPrior

__all__ = ["Windows", "windows"]

_STEP = 0.35  # of the noise's unit: how far apart the windows are that are looked at first
_ROUNDS = 12
_CHANCE = 1e-6  # by how much the bounds on a window's probability may be apart from those at neighbouring guesses


@dataclass(frozen=True, eq=False)
class Windows:
    """Some guesses, and the two ends of the window of each, cut off at the ends of the prior's interval.

    Between two neighbouring guesses each end moves with the guess, or stays at the end of the interval.
    """

    prior: StepPrior
    guesses: Floats
    low: Ends
    high: Ends

    @cached_property
    def chance(self) -> Floats:
        """The probability of the window of each guess."""
        return self.high.cdf - self.low.cdf

    def least(self, low: Floats, high: Floats) -> Floats:
        """Return bounds on the probabilities of the windows that meet each of some intervals."""
        first = np.clip(np.searchsorted(self.high.x, low, side="left") - 1, 0, self.guesses.size - 2)
        last = np.clip(np.searchsorted(self.low.x, high, side="right"), first + 1, self.guesses.size - 1)
        bound = np.minimum(self.range[0], np.minimum(self.chance[1:], self.chance[:-1]))
        pairs = np.stack([first, last], axis=1).ravel()
        return np.asarray(np.maximum(np.minimum.reduceat(np.append(bound, np.inf), pairs)[::2], 0.0))

    @cached_property
    def range(self) -> tuple[Floats, Floats]:
        """Bounds on the probabilities of all windows between neighbouring guesses."""
        return _chances(self)


def windows(prior: StepPrior, eta: float) -> Windows:
    """Return windows of half-width eta that end on some edges of coarse cells, and those at the ends."""
    edges = prior.edges
    a, b = float(edges[0]), float(edges[-1])
    _, some = np.unique(np.floor((edges - a) / (_STEP * prior.noise.unit)), return_index=True)
    x = np.append(edges[some], b)
    guesses = np.concatenate([x - eta, x + eta, [a, b]])
    low = np.concatenate([x - 2.0 * eta, x, [a - eta, b - eta]])
    high = np.concatenate([x, x + 2.0 * eta, [a + eta, b + eta]])
    allowed = (guesses >= a) & (guesses <= b)
    order = np.flatnonzero(allowed)[np.argsort(guesses[allowed], kind="stable")]
    low, high = (np.maximum.accumulate(np.clip(end[order], a, b)) for end in (low, high))
    return Windows(prior, guesses[order], Ends.of(prior, low), Ends.of(prior, high))


def _chances(windows: Windows) -> tuple[Floats, Floats]:
    """Return bounds on the probabilities of the windows between neighbouring guesses, cutting where they are wide."""
    prior, n = windows.prior, windows.guesses.size
    index_of_step = np.arange(n - 1)
    low, high = ((ends.take(index_of_step), ends.take(index_of_step + 1)) for ends in (windows.low, windows.high))
    least, most = np.full(n - 1, np.inf), np.full(n - 1, -np.inf)
    for round_ in range(_ROUNDS):
        left, right = high[0].cdf - low[0].cdf, high[1].cdf - low[1].cdf
        width = np.maximum(low[1].x - low[0].x, high[1].x - high[0].x)
        (low_min, low_max, low_mass, a), (high_min, high_max, high_mass, b) = (
            densities(prior, *ends) for ends in (low, high)
        )
        smooth = np.where(a | b, np.inf, 0.25 * width * (low_max - low_min + high_max - high_min))
        off = np.minimum(smooth, np.minimum(low_mass, high_mass))
        wide = off > _CHANCE if round_ < _ROUNDS - 1 else np.zeros(off.size, dtype=bool)
        np.minimum.at(least, index_of_step[~wide], (np.minimum(left, right) - off)[~wide])
        np.maximum.at(most, index_of_step[~wide], (np.maximum(left, right) + off)[~wide])
        if not wide.any():
            break
        index = np.flatnonzero(wide)
        index_of_step = np.repeat(index_of_step[index], 2)
        low, high = (halve_intervals(prior, first.take(index), last.take(index)) for first, last in (low, high))
    return least, most
