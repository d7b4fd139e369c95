"""True-positive rates at false-positive rates, as they are kept in a saved result."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from ..params import Param
from .bound import Bound
from .field_shapes import Share
from .result_codec import SLACK, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FPR", "HasRates", "SavedRates", "bounded_rate"]

FPR = Param(name="fpr", low=0.0, high=1.0, what="the false-positive rate of the attack", typical=(1e-4, 0.5))
_NAMED = "neighbours: "
_CITES = ("Dong, Roth and Su 2022, Definition 2",)


class HasRates(Protocol):
    """Knows the largest true-positive rate at a false-positive rate."""

    def tpr(self, fpr: float) -> Bound:
        """Return the largest true-positive rate of any test between neighbours."""
        ...

    def saved(self) -> SavedRates | None:
        """Return the rates on a grid, for a file."""
        ...


def bounded_rate(value: float, assumes: tuple[str, ...]) -> Bound:
    """Return a true-positive rate as an upper bound, under the relations that the notes name."""
    named = [note.removeprefix(_NAMED) for note in assumes if note.startswith(_NAMED)]
    return Bound(
        value=min(max(value, 0.0), 1.0),
        side="upper",
        rule="trade-off",
        cites=_CITES,
        assumes=assumes,
        neighbours=" or ".join(named) or None,
    )


@dataclass(frozen=True, slots=True)
class SavedRates(Record):
    """Points of one trade-off curve for each relation; between them convexity bounds each, from the safe side.

    Examples
    --------
    >>> rates = SavedRates(fpr=(0.0, 0.2, 0.6, 1.0), fnr=((1.0, 0.6, 0.2, 0.0),), assumes=("replace-one",))
    >>> rates.tpr(0.2).value, rates.tpr(0.4).value
    (0.4, 0.7)
    """

    fpr: tuple[Share, ...]
    fnr: tuple[tuple[Share, ...], ...]
    assumes: tuple[str, ...]

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield curves that have other points than there are rates, or that rise."""
        if len(self.fpr) < 2 or not self.fnr:
            yield "fpr", "must have two rates or more, and fnr a curve for them"
        if any(a > b for a, b in pairwise(self.fpr)):
            yield "fpr", "must not decrease"
        for index, curve in enumerate(self.fnr, 1):
            if len(curve) != len(self.fpr):
                yield f"fnr[{index}]", f"must have {len(self.fpr)} rates as fpr has; got {len(curve)}"
            elif any(a < b - SLACK for a, b in pairwise(curve)):
                yield f"fnr[{index}]", "must not increase"

    def tpr(self, fpr: float) -> Bound:
        """Return the largest true-positive rate: exact at a saved point, from above between two."""
        x = float(FPR.check("tpr", fpr))
        # The smaller of two convex curves is not convex, so each is read by itself.
        return bounded_rate(1.0 - min(self._fnr(curve, x) for curve in self.fnr), self.assumes)

    def _fnr(self, curve: tuple[float, ...], x: float) -> float:
        i = min(max(bisect_right(self.fpr, x) - 1, 0), len(self.fpr) - 2)
        if x == self.fpr[i]:
            return curve[i]
        # A convex curve lies above its chords, extended: those to the left and to the right of this piece.
        lines = [self._line(curve, j, x) for j in (i - 1, i + 1) if 0 <= j < len(self.fpr) - 1]
        return max([0.0, curve[i + 1], *lines])

    def _line(self, curve: tuple[float, ...], j: int, x: float) -> float:
        run = self.fpr[j + 1] - self.fpr[j]
        slope = (curve[j + 1] - curve[j]) / run if run > 0.0 else -math.inf
        return curve[j] + slope * (x - self.fpr[j])

    def saved(self) -> SavedRates:
        """Return itself."""
        return self
