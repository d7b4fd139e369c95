"""Channels given as a matrix."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import dpradar as dr
from dpradar.bounds.exact.finite import finite_risk

from .local import skewed_prior
from .measure import Case, Peer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .measure import Work

__all__ = ["CASES", "WATCHED"]

_SIZE = 2_000
_ETA = 25.0
_HINT = "pip install --target DIR --no-deps qif, then PYTHONPATH=DIR make bench"


def _matrix(size: int) -> NDArray[np.float64]:
    table = np.random.default_rng(3).random((size, size))
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _distances(size: int) -> NDArray[np.float64]:
    values = np.arange(size, dtype=float)
    return np.abs(values[:, None] - values[None, :])


def _scattered(size: int) -> NDArray[np.float64]:
    """Return a loss whose success sets are as large as those of _ETA but no windows under any order of the values."""
    return np.random.default_rng(4).random((size, size)) * size / 2.0


def _within(size: int, loss: str) -> Work:
    matrix, prior = _matrix(size), skewed_prior(size)
    given: Any = {"absolute": str, "matrix": partial(_distances, size), "scattered": partial(_scattered, size)}[loss]()
    given = given or "absolute" if isinstance(given, str) else given
    return lambda: dr.assess(dr.Channel(matrix), dr.Threat(prior, goal=dr.Goal.within(_ETA, given))).rad.value


def _exact(size: int) -> Work:
    channel, prior = dr.Channel(_matrix(size)), skewed_prior(size)
    return lambda: dr.assess(channel, dr.Threat(prior)).rad.value


def _composed(m: int) -> Work:
    prior = skewed_prior(m)
    return lambda: dr.assess(dr.Composed([dr.GRR(m=m, epsilon=1.0)] * 3), dr.Threat(prior)).rad.value


# --------------------------------------------------------------------------------------- success beside libqif and numpy


def _own_success(matrix: NDArray[np.float64], prior: dr.Prior) -> Work:
    release, cover = dr.Channel(matrix).at(prior), dr.Threat(prior).cover
    return lambda: finite_risk(release.finite, prior, cover).success[1]


def _qif_success(matrix: NDArray[np.float64], prior: dr.Prior) -> Work:
    try:
        from qif.measure import bayes_vuln
    except ImportError as missing:
        raise ImportError(f"libqif is not installed ({_HINT})") from missing
    return lambda: bayes_vuln.posterior(prior.probabilities, matrix)


def _naive_rad(matrix: NDArray[np.float64], prior: dr.Prior, eta: float | None) -> Work:
    """Return Theorem 4.3 as it is written: for each output, the weights of all values, then the best guess."""
    pi = prior.probabilities
    right = None if eta is None else (_distances(pi.size) <= eta).astype(float)

    def work() -> float:
        total = 0.0
        for column in matrix.T:
            weights = pi * (column - pi @ column)
            total += float((weights if right is None else right @ weights).max())
        return total

    return work


def _gap(ours: float, theirs: float) -> float:
    return abs(ours - theirs)


def _grr_matrix(m: int) -> NDArray[np.float64]:
    return np.hstack(list(dr.GRR(m=m, epsilon=2.0).chunks(m)))


def _beside_qif(name: str, what: str, matrix: Any, size: int) -> Case:
    return Case(
        name=name,
        what=what,
        prepare=lambda: _own_success(matrix(), skewed_prior(size)),
        peers=(
            Peer(name="libqif", prepare=lambda: _qif_success(matrix(), skewed_prior(size)), agreement=_gap),
            Peer(name="naive numpy", prepare=lambda: _naive_rad(matrix(), skewed_prior(size), None)),
        ),
    )


def _oue_beside_enumeration(m: int) -> Case:
    mechanism, prior = dr.OUE(m=m, epsilon=1.0), skewed_prior(m)

    def listed() -> Work:
        return _naive_rad(np.hstack(list(mechanism.at(prior).finite.chunks(1 << m))), prior, None)

    return Case(
        name=f"naive.oue{m}",
        what=f"OUE m={m}: assess beside a loop over its 2^{m} listed outputs",
        prepare=lambda: lambda: dr.assess(mechanism, dr.Threat(prior)).rad.value,
        peers=(Peer(name="naive numpy", prepare=listed, agreement=_gap),),
    )


def _within_beside_enumeration(size: int) -> Case:
    prior = skewed_prior(size)
    return Case(
        name=f"naive.within{size}",
        what=f"dense {size} x {size} channel, within {_ETA:g}: assess beside a loop over the outputs",
        prepare=partial(_within, size, "absolute"),
        peers=(Peer(name="naive numpy", prepare=lambda: _naive_rad(_matrix(size), prior, _ETA), agreement=_gap),),
    )


CASES = (
    *(
        Case(
            name=f"dense.{loss}",
            what=f"dense {_SIZE:,} x {_SIZE:,} channel, within, {words}: from the arrays to the answer",
            prepare=partial(_within, _SIZE, loss),
            seconds=1.0,
            megabytes=500.0,
            fresh=True,
        )
        for loss, words in (
            ("absolute", "absolute loss"),
            ("matrix", "the same loss as a matrix"),
            ("scattered", "a matrix that is no distance"),
        )
    ),
    _beside_qif("peer.grr100", "success (with rad and hit) of a 100 x 100 GRR matrix", lambda: _grr_matrix(100), 100),
    _beside_qif(
        "peer.dense2000", "success (with rad and hit) of a dense 2,000 x 2,000 matrix", lambda: _matrix(_SIZE), _SIZE
    ),
    _oue_beside_enumeration(14),
    _within_beside_enumeration(500),
)
WATCHED = (
    Case(name="dense.500", what="dense 500 x 500 channel, exact goal: assess", prepare=partial(_exact, 500)),
    Case(name="composed.3", what="three GRR m=50 together: assess", prepare=partial(_composed, 50)),
)
