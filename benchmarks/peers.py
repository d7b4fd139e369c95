"""The same numbers by other means: libqif, and loops that follow Theorem 4.3 as it is written."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import dpradar as dr
from dpradar.theorems import finite_risk

from .dense import ETA, distances, random_channel, within
from .local import skewed_prior
from .measure import Case, Peer

if TYPE_CHECKING:
    from collections.abc import Callable

    from .measure import Work

__all__ = ["CASES"]

Floats = NDArray[np.float64]
_INSTALL = "make bench installs it"


def _engine(matrix: Floats) -> Work:
    prior = skewed_prior(len(matrix))
    release, cover = dr.Channel(matrix).at(prior), dr.Threat(prior).cover
    return lambda: finite_risk(release.finite, prior, cover)


def _libqif(matrix: Floats) -> Work:
    """Return the posterior Bayes vulnerability, which is the success of the best guess."""
    try:
        from qif.measure import bayes_vuln
    except ImportError as missing:
        message = f"libqif is not installed ({_INSTALL})"
        raise ImportError(message) from missing
    pi = skewed_prior(len(matrix)).probabilities
    return lambda: bayes_vuln.posterior(pi, matrix)


def _naive(matrix: Floats, eta: float | None = None) -> Work:
    """Return Theorem 4.3 as a loop: for each output the weights of all values, then the best guess; rad alone."""
    pi = skewed_prior(len(matrix)).probabilities
    right = None if eta is None else (distances(pi.size) <= eta).astype(float)

    def work() -> float:
        total = 0.0
        for column in matrix.T:
            weights = pi * (column - pi @ column)
            total += float((weights if right is None else right @ weights).max())
        return total

    return work


def _same_success(ours: Any, theirs: float) -> float:
    return abs(ours.success[1] - theirs)


def _same_rad(ours: Any, theirs: float) -> float:
    return abs((ours if isinstance(ours, float) else ours.rad[1]) - theirs)


def _grr(m: int) -> Floats:
    return np.hstack(list(dr.GRR(m=m, epsilon=2.0).chunks(m)))


def _success(name: str, what: str, matrix: Callable[[], Floats]) -> Case:
    return Case(
        name=name,
        what=f"rad, success and hit of {what}: engine",
        prepare=lambda: _engine(matrix()),
        peers=(
            Peer(name="libqif (success)", prepare=lambda: _libqif(matrix()), agreement=_same_success),
            Peer(name="naive numpy (rad)", prepare=lambda: _naive(matrix()), agreement=_same_rad),
        ),
    )


def _listed(m: int) -> Case:
    mechanism, prior = dr.OUE(m=m, epsilon=1.0), skewed_prior(m)
    return Case(
        name=f"peer.oue{m}",
        what=f"OUE m={m}, skewed prior: assess",
        prepare=lambda: lambda: dr.assess(mechanism, dr.Threat(prior)).rad.value,
        peers=(
            Peer(
                name=f"naive numpy (rad), 2^{m} outputs",
                prepare=lambda: _naive(np.hstack(list(mechanism.at(prior).finite.chunks(1 << m)))),
                agreement=_same_rad,
            ),
        ),
    )


def _windows(size: int) -> Case:
    return Case(
        name=f"peer.within{size}",
        what=f"dense {size} x {size} channel, within {ETA:g}: assess",
        prepare=partial(within, size, "absolute"),
        peers=(Peer(name="naive numpy (rad)", prepare=lambda: _naive(random_channel(size), ETA), agreement=_same_rad),),
    )


CASES = (
    _success("peer.grr100", "a 100 x 100 GRR matrix", lambda: _grr(100)),
    _success("peer.dense2000", "a dense 2,000 x 2,000 matrix", lambda: random_channel(2_000)),
    _listed(14),
    _windows(500),
)
