"""Channels given as a matrix."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import dpradar as dr

from .local import skewed_prior
from .measure import Case

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .measure import Work

__all__ = ["CASES", "ETA", "WATCHED", "distances", "random_channel", "within"]

ETA = 25.0
_SIZE = 2_000
_LOSSES = {
    "absolute": "absolute loss",
    "matrix": "the same loss as a matrix",
    "scattered": "a matrix that is no distance",
}


def random_channel(size: int) -> NDArray[np.float64]:
    """Return a square channel of random rows."""
    table = np.random.default_rng(3).random((size, size))
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def distances(size: int) -> NDArray[np.float64]:
    """Return the absolute differences of 0 .. size-1."""
    values = np.arange(size, dtype=float)
    return np.abs(values[:, None] - values[None, :])


def _loss(kind: str, size: int) -> Any:
    if kind == "absolute":
        return "absolute"
    if kind == "matrix":
        return distances(size)
    # As many guesses are right as with the others, but they are windows under no order of the values.
    return np.random.default_rng(4).random((size, size)) * size / 2.0


def within(size: int, kind: str) -> Work:
    """Return the whole way from the arrays to the answer, within ETA of a kind of loss."""
    matrix, prior, loss = random_channel(size), skewed_prior(size), _loss(kind, size)
    return lambda: dr.assess(dr.Channel(matrix), dr.Threat(prior, goal=dr.Goal.within(ETA, loss))).rad.value


def _exact(size: int) -> Work:
    channel, prior = dr.Channel(random_channel(size)), skewed_prior(size)
    return lambda: dr.assess(channel, dr.Threat(prior)).rad.value


def _composed(m: int) -> Work:
    prior = skewed_prior(m)
    return lambda: dr.assess(dr.Composed([dr.GRR(m=m, epsilon=1.0)] * 3), dr.Threat(prior)).rad.value


CASES = tuple(
    Case(
        name=f"dense.{kind}",
        what=f"dense {_SIZE:,} x {_SIZE:,} channel, within {ETA:g}, {words}: from arrays to answer",
        prepare=partial(within, _SIZE, kind),
        seconds=1.0,
        megabytes=500.0,
        fresh=True,
    )
    for kind, words in _LOSSES.items()
)
WATCHED = (
    Case(name="dense.500", what="dense 500 x 500 channel, exact goal: assess", prepare=partial(_exact, 500)),
    Case(name="composed.3", what="three GRR m=50 together: assess", prepare=partial(_composed, 50)),
)
