"""Pure and approximate differential privacy."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

from annotated_types import Ge, Le

from ..options import About, described, number_of
from .curves import approx_curve
from .neighbours import FIRST_QUESTION, Neighbours, Stated
from .pairs import approx_pair
from .privacy import Privacy, Relation

__all__ = ["DELTA", "EPSILON", "ApproxDP", "Delta", "Epsilon", "PureDP", "doubled_approx", "doubled_tv", "tv_of_approx"]

Epsilon = Annotated[
    float,
    Ge(0),
    About("the privacy-loss bound of differential privacy", example="1", typical=(0.05, 12.0), more_private="down"),
]
Delta = Annotated[
    float,
    Ge(0),
    Le(1),
    About(
        "the probability mass outside the epsilon bound",
        example="1e-5",
        typical=(0.0, 0.2),
        slider=(1e-10, 0.1),
        more_private="down",
    ),
]
EPSILON, DELTA = number_of("epsilon", Epsilon), number_of("delta", Delta)


def tv_of_approx(epsilon: float, delta: float) -> float:
    """Return the largest total variation of an (epsilon, delta)-DP pair: (e^eps - 1 + 2 delta)/(e^eps + 1).

    Examples
    --------
    >>> round(tv_of_approx(1.0, 0.1), 6)
    0.515905
    """
    return min(1.0, math.tanh(epsilon / 2.0) + delta * (1.0 - math.tanh(epsilon / 2.0)))


def doubled_approx(epsilon: float, delta: float) -> tuple[float, float]:
    """Return what (epsilon, delta) under add/remove implies under replace-one: (2 eps, (1 + e^eps) delta).

    Notes
    -----
    Group privacy: removing one record and adding another are two add/remove steps (docs/derivations/neighbours.md).
    """
    return 2.0 * epsilon, min(1.0, (1.0 + math.exp(min(epsilon, 700.0))) * delta) if delta > 0.0 else 0.0


def doubled_tv(epsilon: float, delta: float) -> float:
    """Return the total variation that (epsilon, delta) under add/remove allows under replace-one.

    Notes
    -----
    With R the output without the record, f(1 - f(x)) has its largest gap where 1 - f(x) = 1/2, which is 1 - 2 f(1/2),
    and f(1/2) >= e^-eps (1/2 - delta). For delta = 0 two laws that are at least e^-eps R share that much.

    Examples
    --------
    >>> round(doubled_tv(1.0, 0.0), 6), round(tv_of_approx(2.0, 0.0), 6)
    (0.632121, 0.761594)
    """
    return min(tv_of_approx(*doubled_approx(epsilon, delta)), 1.0 - math.exp(-epsilon) * (1.0 - 2.0 * delta), 1.0)


def _promise(relation: Relation, source: str, epsilon: float, delta: float, tv: float) -> Privacy:
    return Privacy(
        relation=relation,
        source=source,
        epsilon=epsilon,
        delta=delta,
        curve=approx_curve(epsilon, delta),
        tv=tv,
        pairs=((approx_pair(epsilon, delta), 1),),
    )


def approx_privacy(
    name: str, epsilon: float, delta: float, neighbours: Neighbours, relation: Relation
) -> Privacy | None:
    """Return the promise of an (epsilon, delta) guarantee under a relation, converted only where that is sound."""
    if relation == neighbours:
        return _promise(relation, f"{name}, {neighbours}", epsilon, delta, tv_of_approx(epsilon, delta))
    if relation == "replace-one" and neighbours == "add-remove":
        eps2, delta2 = doubled_approx(epsilon, delta)
        source = f"{name}, add-remove, read as replace-one by group privacy: epsilon {eps2:g}, delta {delta2:g}"
        return _promise(relation, source, eps2, delta2, doubled_tv(epsilon, delta))
    return None


@described("pure-dp", "An epsilon-DP guarantee.", "guarantee", samples=False)
class PureDP:
    """epsilon-differential privacy under the stated neighbour relation.

    Examples
    --------
    >>> PureDP(epsilon=1.0, neighbours="add-remove").privacy("replace-one").epsilon
    2.0
    """

    ORDERED: ClassVar[tuple[str, ...]] = ("epsilon",)

    epsilon: Epsilon
    neighbours: Stated

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise under a relation."""
        return approx_privacy("pure DP", self.epsilon, 0.0, self.neighbours, relation)


@described("dp", "An (epsilon, delta)-DP guarantee.", "guarantee", samples=False, first=FIRST_QUESTION)
class ApproxDP:
    """(epsilon, delta)-differential privacy under the stated neighbour relation.

    Examples
    --------
    >>> ApproxDP(epsilon=1, delta=1e-5, neighbours="replace-one").privacy("replace-one").delta
    1e-05
    """

    ORDERED: ClassVar[tuple[str, ...]] = ("epsilon", "delta")

    epsilon: Epsilon
    delta: Delta
    neighbours: Stated

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise under a relation."""
        return approx_privacy("(epsilon, delta)-DP", self.epsilon, self.delta, self.neighbours, relation)
