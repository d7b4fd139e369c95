"""What noise costs: how far off the released numbers are."""

from __future__ import annotations

import math
from typing import Any, Protocol, runtime_checkable

__all__ = ["HasCost", "cost_of"]

LOG_20 = math.log(20.0)
NORMAL_95 = 1.959963984540054  # the 97.5 % quantile of a standard normal variable


@runtime_checkable
class HasCost(Protocol):
    """Capability: states the error it adds."""

    def cost(self) -> dict[str, float]:
        """Return named errors: ``error`` is exceeded by a released number in 5 of 100 runs, and its ``variance``.

        Local protocols have ``frequency_error`` instead: the standard deviation of an estimated frequency near 0 from
        a single report; from n reports it is smaller by sqrt(n).
        """
        ...


def cost_of(what: Any) -> dict[str, float]:
    """Return the costs of a mechanism, of the parts of a composition, or nothing where none is known.

    Examples
    --------
    >>> from dpradar.mechanisms import Laplace
    >>> round(cost_of(Laplace(scale=2.0))["error"], 6)
    5.991465
    """
    if isinstance(what, HasCost):
        return what.cost()
    inner = getattr(what, "mechanism", None)
    return {} if inner is None else cost_of(inner)


def frequency_cost(own: float, other: float) -> dict[str, float]:
    """Return the error of the usual unbiased estimate from inclusion probabilities (Wang et al. 2017, Theorem 2)."""
    if own <= other:
        return {"frequency_error": math.inf}
    return {"frequency_error": math.sqrt(other * (1.0 - other)) / (own - other)}
