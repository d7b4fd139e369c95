"""Reading one theorem's number out of an assessment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpradar.errors import NumericsError

if TYPE_CHECKING:
    from dpradar.results import Assessment, Bound
    from dpradar.results.bound import Quantity

__all__ = ["bound_of", "interval_of"]


def bound_of(assessment: Assessment, quantity: Quantity, rule: str) -> float:
    """Return the number of one rule for a quantity, whether it gave the answer or lost to a tighter one.

    Examples
    --------
    >>> import dpradar as dr
    >>> a = dr.assess(dr.OUE(m=10, epsilon=1.0), dr.Threat(dr.Prior.uniform(10)))
    >>> round(bound_of(a, "rad", "cor-5.6"), 6)
    0.131969
    """
    answer = assessment.bounds[quantity]
    if answer is not None and answer.rule == rule:
        return answer.value
    for other in assessment.others:
        if other.quantity == quantity and other.rule == rule:
            if other.bound is not None:
                return other.bound.value
            raise NumericsError(f"{rule} gave no {quantity} for {assessment.release}: {other.why}")
    raise NumericsError(f"there is no rule {rule} about {quantity}")


def interval_of(bound: Bound | None) -> tuple[float, float]:
    """Return the ends of the interval that holds an exact value; a bound from above only is not good enough here.

    Examples
    --------
    >>> import dpradar as dr
    >>> interval_of(dr.assess(dr.GRR(m=2, epsilon=0.0), dr.Threat(dr.Prior.uniform(2))).rad)
    (0.0, 0.0)
    """
    if bound is None or bound.low is None:
        raise NumericsError(f"a figure needs the exact value; there is only {bound!r}")
    return bound.low, bound.value
