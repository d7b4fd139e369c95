"""The two parameters every local protocol has."""

from __future__ import annotations

from ...guarantees.approx import EPSILON
from ...params import Param

__all__ = ["LDP_PARAMS", "M", "set_parameters"]

M = Param(name="m", integer=True, low=2, what="the number of values a person can have", typical=(2, 5000))
LDP_PARAMS = (M, EPSILON)


def set_parameters(protocol: object) -> None:
    """Check and normalise ``m`` and ``epsilon`` of a frozen protocol object."""
    owner = type(protocol).__name__
    for param in LDP_PARAMS:
        object.__setattr__(protocol, param.name, param.check(owner, getattr(protocol, param.name)))
