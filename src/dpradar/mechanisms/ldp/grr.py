"""Generalised randomised response."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ...numerics.lazy_numpy import Floats, Ints, np
from ...options import described
from ..capabilities import Release
from ..channel import checked_size
from ..cost import frequency_cost
from ..counts import of_grr
from .estimators import ShareEstimator
from .parameters import FIRST_QUESTION, Epsilon, Values, report_privacy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...guarantees.privacy import Privacy, Relation
    from ...threats import Prior

__all__ = ["GRR"]


@described("grr", "Generalised randomised response.", "local", first=FIRST_QUESTION)
class GRR:
    """Generalised randomised response: report the truth with probability e^eps/(e^eps+m-1), else another value.

    Notes
    -----
    Kairouz, Bonawitz and Ramage (2016). epsilon-LDP; its exact RAD is (p-q)(1-kappa) for every prior when nothing or
    everything is known and the goal is exact ([RAD] Example 4.4).

    Examples
    --------
    >>> round(GRR(m=100, epsilon=2.0).keep, 6)
    0.069453
    """

    COUNTED_IN_TABLES: ClassVar[bool] = True
    ORDERED: ClassVar[tuple[str, ...]] = ("epsilon",)

    m: Values
    epsilon: Epsilon

    @property
    def inputs(self) -> int:
        """The number of values."""
        return self.m

    @property
    def outputs(self) -> int:
        """The number of possible reports."""
        return self.m

    # In e^-eps instead of e^eps, so that any finite epsilon is fine.
    @property
    def keep(self) -> float:
        """The probability of the true value."""
        return 1.0 / (1.0 + (self.m - 1) * math.exp(-self.epsilon))

    @property
    def other(self) -> float:
        """The probability of each other value."""
        return math.exp(-self.epsilon) * self.keep

    @property
    def difference(self) -> float:
        """Keep - other, which is also the total variation."""
        return -math.expm1(-self.epsilon) * self.keep

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        checked_size("GRR", self.m, prior)
        return Release(
            name="GRR",
            privacy=self.privacy,
            inputs=self.m,
            diagonal=self,
            finite=self,
            sample=self.sample,
            likelihoods=self.likelihoods,
            counting=partial(of_grr, self),
            estimator=ShareEstimator(self.keep, self.other, partial(np.bincount, minlength=self.m)),
        )

    def chunks(self, columns: int) -> Iterator[Floats]:
        """Yield the matrix p(report | value)."""
        for start in range(0, self.m, columns):
            block = np.full((self.m, min(columns, self.m - start)), self.other)
            index = np.arange(block.shape[1])
            block[start + index, index] = self.keep
            yield block

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise under replace-one; a local report has no add/remove."""
        return report_privacy(relation, "GRR", self.epsilon, self.keep, self.other, self.difference)

    def cost(self) -> dict[str, float]:
        """Return the error of an estimated frequency."""
        return frequency_cost(self.keep, self.other)

    def sample(self, inputs: Ints, rng: np.random.Generator) -> Ints:
        """Return one report per given value; for simulation only."""
        values = np.asarray(inputs, dtype=np.intp)
        others = rng.integers(0, self.m - 1, size=values.size)
        others += others >= values
        return np.where(rng.random(values.size) < self.keep, values, others)

    def likelihoods(self, reports: Any) -> Floats:
        """Return the log-likelihood of every value, one row per report, up to a constant."""
        rows = np.asarray(reports, dtype=np.intp)
        result = np.zeros((rows.size, self.m))
        result[np.arange(rows.size), rows] = self.epsilon
        return result
