"""What every local protocol has: two parameters, and what a report says about one of two values."""

from __future__ import annotations

from ...guarantees.approx import EPSILON
from ...guarantees.curves import likelihood_curve
from ...guarantees.pairs import AtomPair, approx_pair
from ...guarantees.privacy import Privacy, Relation
from ...params import Param

__all__ = ["LDP_PARAMS", "M", "report_privacy", "set_parameters"]

M = Param(name="m", integer=True, low=2, what="the number of values a person can have", typical=(2, 5000))
LDP_PARAMS = (M, EPSILON)


def set_parameters(protocol: object) -> None:
    """Check and normalise ``m`` and ``epsilon`` of a frozen protocol object."""
    owner = type(protocol).__name__
    for param in LDP_PARAMS:
        object.__setattr__(protocol, param.name, param.check(owner, getattr(protocol, param.name)))


def report_privacy(
    relation: Relation, source: str, epsilon: float, won: float, gone: float, tv: float
) -> Privacy | None:
    """Return the promise of a report that favours the value over another one, the other over it, or neither.

    ``won`` and ``gone`` are the probabilities of the first two, and won = e^epsilon gone. A local report has no
    add/remove.
    """
    if relation != "replace-one":
        return None
    rest = max(0.0, 1.0 - won - gone)
    curve = likelihood_curve([gone, rest, won], [won, rest, gone])
    pair = (
        AtomPair((-epsilon, 0.0, epsilon), (gone, rest, won), 0.0, epsilon) if epsilon > 0.0 else approx_pair(0.0, 0.0)
    )
    return Privacy(relation=relation, source=source, epsilon=epsilon, curve=curve, tv=tv, pairs=((pair, 1),))
