"""Options that several questions about correlated records share."""

from __future__ import annotations

from ..params import Param

__all__ = ["EPSILON", "TARGET"]

EPSILON = Param(
    name="epsilon",
    low=0.0,
    high=500.0,  # beyond, e^epsilon and its inverse leave the range of floats
    what="the epsilon of the release under replace-one, as if records were independent",
    typical=(0.01, 20.0),
    more_private="down",
)
TARGET = Param(
    name="target",
    low=0.0,
    low_open=True,
    high=500.0,
    what="the leakage that is allowed when records depend on each other (epsilon of Bayesian DP)",
    typical=(0.01, 20.0),
    more_private="down",
)
