"""Noise on the line over finitely many numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import dpradar as dr

from .local import skewed_prior
from .measure import Case

if TYPE_CHECKING:
    from .measure import Work

__all__ = ["CASES", "WATCHED"]

_TOP = 100
_ETAS = np.linspace(0.0, 50.0, 20)


def _truncated(epsilon: float) -> Work:
    mechanism, prior = dr.Laplace(scale=_TOP / epsilon, truncate=(0.0, _TOP)), dr.Prior.uniform(_TOP + 1)

    def work() -> list[float]:
        threats = [dr.Threat(prior, goal=dr.Goal.within(float(eta))) for eta in _ETAS]
        return [dr.assess(mechanism, threat).rad.value for threat in threats]

    return work


def _gaussian(m: int) -> Work:
    mechanism, prior = dr.Gaussian(sigma=20.0), dr.Prior.uniform(m)
    return lambda: dr.assess(mechanism, dr.Threat(prior, goal=dr.Goal.within(5.0))).rad.value


def _everything(m: int) -> Work:
    mechanism, prior = dr.Laplace(scale=m / 10.0), skewed_prior(m)
    return lambda: dr.assess(mechanism, dr.Threat(prior, dr.Knowledge.everything())).rad.value


CASES = tuple(
    Case(
        name=f"laplace.eps{epsilon:g}",
        what=f"truncated Laplace on 0..{_TOP}, scale {_TOP}/{epsilon:g}: {_ETAS.size} values of eta",
        prepare=partial(_truncated, epsilon),
        seconds=1.0,
    )
    for epsilon in (1.0, 10.0, 20.0)
)
WATCHED = (
    *(
        Case(
            name=f"gaussian.{m}",
            what=f"Gaussian noise, sigma 20, on {m:,} numbers, within 5: assess",
            prepare=partial(_gaussian, m),
        )
        for m in (400, 1_000)
    ),
    Case(
        name="laplace.everything",
        what="Laplace noise on 1,000 numbers, skewed prior, everything known: assess",
        prepare=partial(_everything, 1_000),
    ),
)
