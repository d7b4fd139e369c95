"""A guarantee given as a piecewise-linear trade-off curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from ..numerics.lazy_numpy import Floats, np
from ..options import About, Numbers, described
from .curves import TradeoffCurve, piecewise_curve
from .neighbours import FIRST_QUESTION, Stated
from .pairs import AtomPair, finite_pair
from .privacy import Privacy, Relation

__all__ = ["Tradeoff"]


@described("tradeoff", "A trade-off curve through some points.", "guarantee", samples=False, first=FIRST_QUESTION)
class Tradeoff:
    """f-DP with the piecewise-linear f through the given break points; it must hold in both orders of the neighbours.

    The curve used is the largest convex one below the points, with (0, 1) and (1, 0) added.

    Examples
    --------
    >>> t = Tradeoff(fpr=(0.1, 0.4), fnr=(0.4, 0.1), neighbours="replace-one")
    >>> t.privacy("replace-one").tv
    0.5
    """

    # On the command line they would be mistaken for the rates that are asked about.
    fpr: Annotated[
        Sequence[float],
        Numbers(),
        About("the false-positive rates of points of the curve", example="0.1, 0.4", places=("file",)),
    ]
    fnr: Annotated[
        Sequence[float],
        Numbers(),
        About("the false-negative rates at these points", example="0.7, 0.4", places=("file",)),
    ]
    neighbours: Stated

    def check_together(self) -> None:
        """Refuse points that no trade-off curve goes through."""
        piecewise_curve(self.fpr, self.fnr)

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise under a relation; add/remove f is f(1 - f) under replace-one."""
        curve, bends = piecewise_curve(self.fpr, self.fnr), np.array(self.fpr)
        if relation == self.neighbours:
            return _promise(curve, bends, relation, f"trade-off curve, {relation}")
        if relation == "replace-one":
            twice, more = _doubled(curve, self.fpr)
            return _promise(twice, more, relation, "trade-off curve, add-remove, doubled for replace-one")
        return None


def _promise(curve: TradeoffCurve, bends: Floats, relation: Relation, source: str) -> Privacy:
    return Privacy(relation=relation, source=source, curve=curve, tv=curve.gap(), pairs=((_pair(curve, bends), 1),))


def _pair(curve: TradeoffCurve, bends: Floats) -> AtomPair:
    """Return the two distributions whose trade-off is the curve: one outcome for each straight piece."""
    x = np.unique(np.concatenate([[0.0], bends, [1.0]]))
    fnr = curve.fnr(x)
    jump = max(0.0, 1.0 - float(fnr[0]))  # seen under the alternative only
    return finite_pair(np.append(np.maximum(-np.diff(fnr), 0.0), jump), np.append(np.diff(x), 0.0))


def _doubled(curve: TradeoffCurve, breaks: Sequence[float]) -> tuple[TradeoffCurve, Floats]:
    # x -> f(1 - f(x)) is piecewise linear: it bends where f does and where 1 - f(x) is a break point of f.
    x = np.array([0.0, *sorted(breaks), 1.0])
    inner = 1.0 - curve.fnr(x)  # non-decreasing in x, so it can be inverted by interpolation
    bends = np.unique(np.clip(np.concatenate([x, np.interp(x, inner, x)]), 0.0, 1.0))
    return piecewise_curve(bends, curve.fnr(1.0 - curve.fnr(bends))), bends
