"""Gaussian differential privacy."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge

from ..options import About, described
from .curves import gaussian_curve
from .neighbours import FIRST_QUESTION, Stated
from .pairs import GaussianPair
from .privacy import Privacy, Relation
from .renyi import RenyiBound

__all__ = ["GDP", "gaussian_privacy"]

Mu = Annotated[
    float,
    Ge(0),
    About(
        "the distance of two unit Gaussians that are as hard to distinguish",
        example="1",
        typical=(0.05, 5.0),
        more_private="down",
    ),
]


def gaussian_privacy(mu: float, relation: Relation, source: str) -> Privacy:
    """Return the promise of a trade-off curve G_mu; it implies mu^2/2-zCDP."""
    curve = gaussian_curve(mu)
    renyi = RenyiBound((), (), rho=0.5 * mu * mu)
    return Privacy(
        relation=relation, source=source, curve=curve, tv=curve.gap(), pairs=((GaussianPair(mu), 1),), renyi=renyi
    )


@described("gdp", "A mu-GDP guarantee.", "guarantee", samples=False, first=FIRST_QUESTION)
class GDP:
    """mu-Gaussian differential privacy under the stated neighbour relation.

    Examples
    --------
    >>> round(GDP(mu=1.0, neighbours="replace-one").privacy("replace-one").tv, 6)
    0.382925
    """

    ORDERED: ClassVar[tuple[str, ...]] = ("mu",)

    mu: Mu
    neighbours: Stated

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise under a relation; add/remove mu is 2 mu under replace-one (group privacy)."""
        if relation == self.neighbours:
            return gaussian_privacy(self.mu, relation, f"GDP, {relation}")
        if relation == "replace-one":
            source = f"GDP, add-remove, read as replace-one by group privacy: mu {2 * self.mu:g}"
            return gaussian_privacy(2.0 * self.mu, relation, source)
        return None
