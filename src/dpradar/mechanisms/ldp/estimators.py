"""How the reports of a local protocol are turned into frequencies; each protocol says which of these it uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ...numerics.lazy_numpy import Array, Floats, np
from .drawing import row_chunks

if TYPE_CHECKING:
    from collections.abc import Callable

    from .values_in_report import SetReports

__all__ = ["FrequencyEstimator", "MeanEstimator", "ShareEstimator", "sums_of_sets"]


class FrequencyEstimator(Protocol):
    """Unbiased frequencies from sums over the reports, so that batches can be added up."""

    @property
    def depends_on_value(self) -> bool:
        """Whether reports depend on the value at all; else nothing can be estimated."""

    def sums(self, reports: Array) -> Floats:
        """Return one number per value, summed over the reports."""

    def estimate(self, sums: Floats, count: int) -> tuple[Floats, Floats]:
        """Return the frequencies from the sums over ``count`` reports, and the standard deviation of each."""


@dataclass(frozen=True, slots=True, eq=False)
class ShareEstimator:
    """From the share of reports that hold a value: ``own`` is the probability for the true one, ``other`` for others.

    ``count_containing`` counts the reports that hold each value.

    Examples
    --------
    >>> coin = ShareEstimator(0.75, 0.25, lambda reports: np.bincount(reports, minlength=2))
    >>> frequencies, deviations = coin.estimate(coin.sums(np.array([0, 0, 0, 1])), 4)
    >>> frequencies.tolist()
    [1.0, 0.0]
    """

    own: float
    other: float
    count_containing: Callable[[Array], Array]

    @property
    def depends_on_value(self) -> bool:
        """Whether reports hold the true value more often than others."""
        return self.own > self.other

    def sums(self, reports: Array) -> Floats:
        """Return how many of the reports hold each value."""
        return np.asarray(self.count_containing(reports), dtype=float)

    def estimate(self, sums: Floats, count: int) -> tuple[Floats, Floats]:
        """Return the frequencies and their standard deviations."""
        estimate = (sums / count - self.other) / (self.own - self.other)
        f = np.clip(estimate, 0.0, 1.0)
        variance = f * self.own * (1.0 - self.own) + (1.0 - f) * self.other * (1.0 - self.other)
        return estimate, np.sqrt(variance / count) / (self.own - self.other)


@dataclass(frozen=True, slots=True, eq=False)
class MeanEstimator:
    """From the mean of reports that are noisy one-hot vectors; ``variance`` is that of the noise of a coordinate.

    Examples
    --------
    >>> MeanEstimator(variance=8.0).estimate(np.array([3.0, 1.0]), 4)[0].tolist()
    [0.75, 0.25]
    """

    variance: float

    @property
    def depends_on_value(self) -> bool:
        """A one-hot vector does."""
        return True

    def sums(self, reports: Array) -> Floats:
        """Return the sum of the reports."""
        return np.asarray(reports.sum(axis=0))

    def estimate(self, sums: Floats, count: int) -> tuple[Floats, Floats]:
        """Return the means and their standard deviation."""
        return sums / count, np.full(sums.size, np.sqrt(self.variance / count))


def sums_of_sets(sets: SetReports, reports: Array) -> Floats:
    """Return how many of the reports hold each value, by testing all values."""
    total = np.zeros(sets.inputs)
    for some in row_chunks(reports.shape[0], sets.inputs):
        total += np.count_nonzero(sets.block(reports[some], np.arange(sets.inputs)), axis=0)
    return total
