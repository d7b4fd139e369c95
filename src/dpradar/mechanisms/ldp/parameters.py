"""What every local protocol has: two parameters, and what a report says about one of two values."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge

from ...guarantees.curves import likelihood_curve
from ...guarantees.pairs import AtomPair, approx_pair
from ...guarantees.privacy import Privacy, Relation
from ...options import About, number_of

__all__ = ["Epsilon", "M", "Values", "report_privacy"]

Values = Annotated[
    int,
    Ge(2),
    About(
        "the number of values a person can have",
        example="10",
        typical=(2, 5000),
        label="number of values (m)",
        counts_values=True,
    ),
]
M = number_of("m", Values)
FIRST_QUESTION = {"m": "100", "epsilon": "2"}  # of the explorer
Epsilon = Annotated[
    float,
    Ge(0),
    About("the privacy-loss bound of differential privacy", example="1", typical=(0.05, 12.0), more_private="down"),
]


def report_privacy(
    relation: Relation, source: str, epsilon: float, gained: float, lost: float, tv: float
) -> Privacy | None:
    """Return the promise of a report that favours the value over another one, the other over it, or neither.

    ``gained`` and ``lost`` are the probabilities of the first two, and gained = e^epsilon lost. A local report has no
    add/remove.
    """
    if relation != "replace-one":
        return None
    unchanged = max(0.0, 1.0 - gained - lost)
    curve = likelihood_curve([lost, unchanged, gained], [gained, unchanged, lost])
    pair = (
        AtomPair((-epsilon, 0.0, epsilon), (lost, unchanged, gained), 0.0, epsilon)
        if epsilon > 0.0
        else approx_pair(0.0, 0.0)
    )
    return Privacy(relation=relation, source=source, epsilon=epsilon, curve=curve, tv=tv, pairs=((pair, 1),))
