"""A bound on the total variation distance between neighbours, and nothing else."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge, Le

from ..options import About, described
from .curves import approx_curve
from .neighbours import FIRST_QUESTION, Stated
from .pairs import approx_pair
from .privacy import Privacy, Relation

__all__ = ["TotalVariation"]

Distance = Annotated[
    float,
    Ge(0),
    Le(1),
    About("the total variation distance between neighbours", example="0.1", typical=(0.0, 0.9), more_private="down"),
]


@described("tv", "A bound on the total variation.", "guarantee", samples=False, first=FIRST_QUESTION)
class TotalVariation:
    """Total variation at most ``tv`` between neighbours, that is (0, tv)-DP.

    Examples
    --------
    >>> TotalVariation(tv=0.1, neighbours="add-remove").privacy("replace-one").tv
    0.2
    """

    ORDERED: ClassVar[tuple[str, ...]] = ("tv",)

    tv: Distance
    neighbours: Stated

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise under a relation; add/remove tv is at most 2 tv under replace-one (triangle)."""
        if relation == self.neighbours:
            return _promise(self.tv, relation, f"total variation, {relation}")
        if relation == "replace-one":
            return _promise(min(1.0, 2.0 * self.tv), relation, "total variation, add-remove, doubled for replace-one")
        return None


def _promise(tv: float, relation: Relation, source: str) -> Privacy:
    pairs = ((approx_pair(0.0, tv), 1),)
    return Privacy(
        relation=relation, source=source, epsilon=0.0, delta=tv, curve=approx_curve(0.0, tv), tv=tv, pairs=pairs
    )
