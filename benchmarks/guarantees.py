"""What follows from a guarantee alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import dpradar as dr
from dpradar.theorems import pure_black_box

from .local import skewed_prior
from .measure import Case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .measure import Work

__all__ = ["CASES"]

_M = 100_000


def _black_box(epsilon: float) -> Work:
    pi = skewed_prior(_M).probabilities
    return lambda: pure_black_box(pi, epsilon)


def _gap(answers: Sequence[Any]) -> float:
    """Return how far the certificate is above what is attained."""
    return max(answer.proven - answer.attained for answer in answers)


def _assess(epsilon: float) -> Work:
    prior, guarantee = skewed_prior(_M), dr.PureDP(epsilon=epsilon, neighbours="replace-one")
    return lambda: dr.assess(guarantee, dr.Threat(prior)).rad.value


CASES = (
    *(
        Case(
            name=f"blackbox.eps{epsilon:g}",
            what=f"black-box value with certificate, m={_M:,}, epsilon {epsilon:g} (error: proven - attained)",
            prepare=partial(_black_box, epsilon),
            seconds=2.0,
            accuracy=_gap,
            error=1e-9,
        )
        for epsilon in (1.0, 5.0, 12.0)
    ),
    Case(
        name="blackbox.assess",
        what=f"assess PureDP(1) at m={_M:,}: every rule",
        prepare=partial(_assess, 1.0),
        seconds=2.0,
    ),
)
