"""Subset selection."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Bools, Floats, Ints, np
from ...options import described
from ..capabilities import Release, SetLaw
from ..channel import checked_size
from ..cost import frequency_cost
from ..counts import of_subset
from .drawing import row_chunks, subsets
from .estimators import ShareEstimator, sums_of_sets
from .parameters import FIRST_QUESTION, Epsilon, Values, report_privacy
from .values_in_report import BitReports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...guarantees.privacy import Privacy, Relation
    from ...threats import Prior

__all__ = ["SubsetSelection"]


@described("ss", "Subset selection.", "local", first=FIRST_QUESTION)
class SubsetSelection(BitReports):
    """Subset selection: report a set of ``omega`` values, which holds the true one with probability ``keep``.

    Notes
    -----
    Ye and Barg (2018), with omega = max(1, floor(m/(e^eps+1))).

    Examples
    --------
    >>> SubsetSelection(m=100, epsilon=1.0).omega
    26
    """

    m: Values
    epsilon: Epsilon

    @property
    def omega(self) -> int:
        """The size of the reported set."""
        return max(1, math.floor(self.m * math.exp(-self.epsilon) / (1.0 + math.exp(-self.epsilon))))

    @property
    def keep(self) -> float:
        """The probability that the true value is in the set."""
        return self.omega / (self.omega + (self.m - self.omega) * math.exp(-self.epsilon))

    @property
    def inputs(self) -> int:
        """The number of values."""
        return self.m

    @property
    def outputs(self) -> int:
        """The number of possible reports, C(m, omega)."""
        return math.comb(self.m, self.omega) if self.m <= 64 else 1 << 62

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        checked_size("SubsetSelection", self.m, prior)
        return Release(
            name="SubsetSelection",
            privacy=self.privacy,
            inputs=self.m,
            inclusion=self,
            set_law=self._set_law,
            finite=self,
            sample=self.sample,
            sets=self,
            likelihoods=self.likelihoods,
            counting=partial(of_subset, self),
            estimator=ShareEstimator(self.keep, self.other, partial(sums_of_sets, self)),
        )

    @property
    def _set_law(self) -> SetLaw:
        held, less = self.keep * self.m / self.omega, math.exp(-self.epsilon)
        difference = held * -math.expm1(-self.epsilon)
        rate = self.omega / self.m
        return SetLaw(inputs=self.m, rate=rate, held=held, missing=held * less, difference=difference, size=self.omega)

    def included(self, k: int) -> Floats:
        """Return Pr[value i is in the set and 1..i-1 are not | the value is i]."""
        j = np.arange(1, k)
        factors = np.maximum(self.m - self.omega - j + 1, 0) / (self.m - j)
        return self.keep * np.concatenate([[1.0], np.cumprod(factors)])

    def later(self, k: int) -> Floats:
        """Return Pr[another value is in the set | i is the first one in it]: omega-1 of the m-i that are left."""
        remaining = self.m - np.arange(1, k + 1)
        return np.minimum((self.omega - 1) / np.maximum(remaining, 1), 1.0)

    def none_of(self, n: int) -> float:
        """Return Pr[none of n values is in the set | the value is one of them]."""
        j = np.arange(1, n)
        return float((1.0 - self.keep) * np.prod(np.maximum(self.m - self.omega - j, 0) / (self.m - j)))

    def all_of(self, n: int) -> float:
        """Return Pr[all of n values are in the set | the value is one of them]."""
        j = np.arange(1, n)
        return float(self.keep * np.prod(np.maximum(self.omega - j, 0) / (self.m - j)))

    def chunks(self, columns: int) -> Iterator[Floats]:
        """Yield p(set | value); sets in lexicographic order."""
        inside = self.keep / math.comb(self.m - 1, self.omega - 1)
        outside = (1.0 - self.keep) / math.comb(self.m - 1, self.omega)
        sets = itertools.combinations(range(self.m), self.omega)
        while batch := list(itertools.islice(sets, columns)):
            block = np.full((self.m, len(batch)), outside)
            block[np.array(batch).T, np.arange(len(batch))] = inside
            yield block

    @property
    def difference(self) -> float:
        """The total variation (p m - omega)/(m - 1) between two values, without cancellation."""
        outside = self.m - self.omega
        return self.keep * outside * -math.expm1(-self.epsilon) / (self.m - 1)

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise under replace-one, from whether either of two values is in the set."""
        gained = self.keep * (self.m - self.omega) / (self.m - 1)
        lost = (1.0 - self.keep) * self.omega / (self.m - 1)
        return report_privacy(relation, "SubsetSelection", self.epsilon, gained, lost, self.difference)

    def cost(self) -> dict[str, float]:
        """Return the error of an estimated frequency."""
        return frequency_cost(self.keep, self.other)

    def sample(self, inputs: Ints, rng: np.random.Generator) -> Bools:
        """Return one row of m bits per given value: 1 for the omega members of the set; for simulation only."""
        values = np.asarray(inputs, dtype=np.intp)
        sets = np.empty((values.size, self.m), dtype=bool)
        includes_true = rng.random(values.size) < self.keep
        for some in row_chunks(values.size, self.m):
            sets[some] = subsets(rng, self.m, self.omega, values[some], includes_true[some])
        return sets

    @property
    def other(self) -> float:
        """The probability that another value is in the set."""
        return (self.omega - self.keep) / (self.m - 1)
