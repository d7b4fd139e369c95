"""How a prior was counted in a table: enough to judge it, nothing that a record could be read from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..numerics.rounding import rounded

__all__ = ["Measured"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Where the frequencies of a prior come from, and how far it may lie from the truth.

    ``distance`` bounds the total variation between this prior and the one it stands for: the share of the rows in
    suppressed cells, and with a ``confidence`` also what the sample and the smoothing may be off. What is assessed
    then holds for every prior that near. ``rounding`` bounds how far the frequencies were moved, in steps of this many
    rows, so that several tables share them; it is 0 for a prior as it was counted.

    Examples
    --------
    >>> Measured(rows=1000, cells=40, rules={"age": "values"})
    Measured(1,000 rows, 40 cells)
    """

    rows: int
    cells: int  # occupied ones that were kept
    rules: dict[str, str] = field(default_factory=dict, hash=False)  # how each column became categories
    missing: tuple[str, ...] = ()  # columns in which some values are missing, a category of its own
    weight: str | None = None  # the column of weights
    effective_rows: float | None = None  # (sum of weights)^2 / sum of squares
    fewest: int = 1  # cells with fewer rows were suppressed
    suppressed: float = 0.0  # the share that they had, rounded up to two digits
    smoothing: str = "none"
    confidence: float | None = None
    distance: float = 0.0
    step: int = 1
    rounding: float = 0.0

    @property
    def further(self) -> float:
        """How far the probabilities may be from the prior that is meant: distance and rounding together."""
        return self.distance + self.rounding

    @property
    def assumption(self) -> str:
        """What the numbers rest on, in words."""
        counting = (
            f"the prior was counted in {self.rows:,} rows, so these numbers tell something about them "
            "and are not themselves differentially private"
        )
        if self.rounding > 0.0:
            counting += f"; they hold for all tables whose counts are the same in steps of {self.step} rows"
        if self.confidence is not None:
            near = f"{rounded(self.distance, 6, 'up')} (total variation) of the true one"
            sure = f"with confidence {100.0 * self.confidence:g} %"
            sampling = "rows drawn independently"
            if self.weight is not None:
                sampling += ", with weights that were fixed before and do not depend on who was drawn"
            return f"{counting}; {sampling}: {sure} it is within {near}"
        if self.distance > 0.0:
            return f"{counting}; leaving out small cells moved it by at most {rounded(self.distance, 6, 'up')}"
        return f"{counting}; the rows are taken for everybody"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "rows": self.rows,
            "cells": self.cells,
            "rules": dict(self.rules),
            "missing": list(self.missing),
            "weight": self.weight,
            "effective_rows": self.effective_rows,
            "fewest": self.fewest,
            "suppressed": self.suppressed,
            "smoothing": self.smoothing,
            "confidence": self.confidence,
            "distance": self.distance,
            "step": self.step,
            "rounding": self.rounding,
        }

    def __repr__(self) -> str:
        near = f", within {rounded(self.distance, 6, 'up')} of the truth" if self.distance else ""
        return f"Measured({self.rows:,} rows, {self.cells:,} cells{near})"
