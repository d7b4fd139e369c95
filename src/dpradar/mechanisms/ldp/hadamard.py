"""Hadamard response: report a column of a Hadamard matrix in which the value's row is likely +1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from ...numerics.lazy_numpy import Bools, Floats, Ints, np
from ...numerics.special import expit
from ...options import described
from ..capabilities import Release
from ..channel import checked_size
from ..cost import frequency_cost
from .estimators import ShareEstimator
from .parameters import FIRST_QUESTION, Epsilon, Values, report_privacy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...guarantees.privacy import Privacy, Relation
    from ...threats import Prior

__all__ = ["HadamardResponse"]


@described("hadamard", "Hadamard response.", "local", first=FIRST_QUESTION)
class HadamardResponse:
    """Hadamard response: value z is row z+1 of a Hadamard matrix of order K > m; +1 columns are e^eps times likelier.

    Notes
    -----
    Acharya, Sun and Zhang (2019), with K the smallest power of 2 above m. A report is the number of a column. In the
    order of Sylvester the entry (r, y) is +1 when r and y share an even number of binary ones.

    Examples
    --------
    >>> HadamardResponse(m=100, epsilon=1.0).outputs
    128
    """

    ORDERED: ClassVar[tuple[str, ...]] = ("epsilon",)

    m: Values
    epsilon: Epsilon

    @property
    def inputs(self) -> int:
        """The number of values."""
        return self.m

    @property
    def outputs(self) -> int:
        """The order K of the matrix."""
        return 1 << self.m.bit_length()

    @property
    def keep(self) -> float:
        """The probability of a column in which the value's row is +1."""
        return float(expit(self.epsilon))

    @property
    def other(self) -> float:
        """The probability of a column in which another value's row is +1: rows are orthogonal."""
        return 0.5

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        checked_size("HadamardResponse", self.m, prior)
        return Release(
            name="HadamardResponse",
            privacy=self.privacy,
            inputs=self.m,
            finite=self,
            sets=self,
            sample=self.sample,
            likelihoods=self.likelihoods,
            estimator=ShareEstimator(self.keep, self.other, self._contained),
        )

    def _contained(self, reports: Ints) -> Floats:
        """Return how many of the reports hold each value."""
        signs = _walsh_hadamard(np.bincount(reports, minlength=self.outputs).astype(float))
        return (reports.size + signs[1 : self.m + 1]) / 2.0

    def chunks(self, columns: int) -> Iterator[Floats]:
        """Yield the matrix p(column | value)."""
        high, low = 2.0 * self.keep / self.outputs, 2.0 * float(expit(-self.epsilon)) / self.outputs
        for start in range(0, self.outputs, columns):
            reports = np.arange(start, min(start + columns, self.outputs))
            yield np.where(self.block(reports, np.arange(self.m)).T, high, low)

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise under replace-one: two rows differ in half of the columns."""
        gained, lost = self.keep / 2.0, float(expit(-self.epsilon)) / 2.0
        return report_privacy(
            relation, "HadamardResponse", self.epsilon, gained, lost, math.tanh(self.epsilon / 2.0) / 2
        )

    def cost(self) -> dict[str, float]:
        """Return the error of an estimated frequency."""
        return frequency_cost(self.keep, self.other)

    def sample(self, inputs: Ints, rng: np.random.Generator) -> Ints:
        """Return one column per given value; for simulation only."""
        rows = np.asarray(inputs, dtype=np.intp) + 1
        columns = rng.integers(0, self.outputs, size=rows.size)
        in_set = rng.random(rows.size) < self.keep
        # Flipping a binary digit of the column that the row has too changes the sign, and is one to one.
        wrong = _positive(rows, columns) != in_set
        return np.where(wrong, columns ^ (rows & -rows), columns)

    def holds(self, reports: Any, rows: Ints, values: Ints) -> Bools:
        """Return whether each value's row of the matrix is +1 in the column reported in the row given with it."""
        return _positive(np.asarray(values, dtype=np.intp) + 1, np.asarray(reports)[rows])

    def block(self, reports: Any, values: Ints) -> Bools:
        """Return the matrix (report, value) of +1 entries."""
        return _positive(np.asarray(values, dtype=np.intp)[None, :] + 1, np.asarray(reports)[:, None])

    def likelihoods(self, reports: Any) -> Floats:
        """Return the log-likelihood of every value, one row per report, up to a constant."""
        return np.where(self.block(reports, np.arange(self.m)), self.epsilon, 0.0)


def _walsh_hadamard(values: Floats) -> Floats:
    """Return the product with the Hadamard matrix, in K log K steps."""
    result, width = values.copy(), 1
    while width < result.size:
        pairs = result.reshape(-1, 2, width)
        result = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        width *= 2
    return result


def _positive(rows: Ints, columns: Ints) -> Bools:
    return np.asarray(np.bitwise_count(rows & columns) % 2 == 0)
