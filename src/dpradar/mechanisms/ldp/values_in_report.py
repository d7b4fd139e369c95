"""Reports that stand for a set of values, and how to find which values one holds."""

from __future__ import annotations

from typing import Any, Protocol

from ...numerics.lazy_numpy import Bools, Floats, Ints, np

__all__ = ["BitReports", "SetReports"]


class SetReports(Protocol):
    """Reports (one per row of an array) that hold some of the m values; a value held is e^epsilon times likelier."""

    @property
    def inputs(self) -> int:
        """The number of values, m."""

    @property
    def epsilon(self) -> float:
        """The logarithm of the factor."""

    @property
    def other(self) -> float:
        """The probability that a report holds a value other than the true one."""

    def sample(self, inputs: Ints, rng: np.random.Generator) -> Any:
        """Return one report per given value; for simulation only."""

    def holds(self, reports: Any, rows: Ints, values: Ints) -> Bools:
        """Return whether the reports of the given rows hold the values given with them."""

    def block(self, reports: Any, values: Ints) -> Bools:
        """Return the matrix (report, value) of what the reports hold of the given values."""


class BitReports:
    """Reports that are rows of m bits, one for each value."""

    __slots__ = ()
    epsilon: float

    def holds(self, reports: Any, rows: Ints, values: Ints) -> Bools:
        """Return the bit of each value in the row given with it."""
        return np.asarray(np.asarray(reports)[rows, values], dtype=bool)

    def block(self, reports: Any, values: Ints) -> Bools:
        """Return the bits of the given values, one row per report."""
        return np.asarray(np.asarray(reports)[:, values], dtype=bool)

    def likelihoods(self, reports: Any) -> Floats:
        """Return the log-likelihood of every value, one row per report, up to a constant."""
        return np.where(np.asarray(reports, dtype=bool), self.epsilon, 0.0)
