"""Correlated records: all adversaries of a Gaussian group, long chains, listed tables; each beside plain loops."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from dpradar import correlated
from dpradar.correlated import finite_models, gaussian, markov

from .measure import Case, Peer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .measure import Work

__all__ = ["CASES"]

_LENGTH = 17_568
_ACTIVITY = ((0.882412, 0.117588), (0.304706, 0.695294))
_STICKY = ((0.9999, 0.0001), (0.0002, 0.9998))


def _covariance(m: int) -> NDArray[np.float64]:
    factors = np.random.default_rng(m).normal(size=(m, 2 * m))
    return np.asarray(factors @ factors.T)


def _reach(m: int) -> Work:
    S = _covariance(m)
    return lambda: gaussian.reach(S).value


def _loops(m: int) -> Work:
    """Return Lemma 6.10 as it is written: one linear system for each adversary."""
    S = _covariance(m)

    def work() -> float:
        best = 0.0
        for target in range(m):
            others = [j for j in range(m) if j != target]
            for count in range(m):
                for known in combinations(others, count):
                    T = [*known, target]
                    U = [j for j in others if j not in known]
                    last = np.zeros(len(T))
                    last[-1] = 1.0
                    moves = S[np.ix_(U, T)] @ np.linalg.solve(S[np.ix_(T, T)], last)
                    best = max(best, 1.0 + float(np.abs(moves).sum()))
        return best

    return work


def _apart(one: Any, other: Any) -> float:
    return abs(float(one) / float(other) - 1.0)


def _steps(P: Sequence[Sequence[float]]) -> Work:
    chain = correlated.Chain(P, _LENGTH)
    return lambda: markov.steps(chain, 1.0)[1]


def _many_states() -> Work:
    P = np.random.default_rng(0).dirichlet(np.ones(5), 5) + 5.0 * np.eye(5)
    chain = correlated.Chain(P / P.sum(axis=1, keepdims=True), _LENGTH, np.eye(5)[0])
    return lambda: markov.steps(chain, 1.0)[1]


def _transfer() -> Work:
    chain = correlated.Chain(_ACTIVITY, _LENGTH)
    return lambda: markov.counting_lower(chain, 1.0, np.array([0.0, 1.0]))


def _answer() -> Work:
    chain = correlated.Chain(_ACTIVITY, _LENGTH)
    return lambda: correlated.leakage(chain, 10.0, values=(0.0, 1.0)).leakage.value


def _listed(length: int) -> Work:
    joint = correlated.Chain(_ACTIVITY, length).joint()
    return lambda: finite_models.laplace_leakage(joint, joint.total(), 1.0)


def _steps_short(length: int) -> Work:
    chain = correlated.Chain(_ACTIVITY, length)
    return lambda: markov.steps(chain, 1.0)[1]


CASES = (
    Case(
        name="correlated.lemma.m12",
        what="Lemma 6.10 over all adversaries of 12 records",
        prepare=partial(_reach, 12),
        seconds=1.0,
        peers=(
            Peer(name="a linear system each", prepare=partial(_loops, 12), agreement=_apart, faster=10.0, limit=60.0),
        ),
    ),
    Case(
        name="correlated.lemma.m15",
        what="the same for 15 records",
        prepare=partial(_reach, 15),
        level=1,
    ),
    Case(
        name="correlated.transfer",
        what=f"transfer matrices, {_LENGTH:,} records: an attacker who knows nothing",
        prepare=_transfer,
        seconds=1.0,
    ),
    Case(
        name="correlated.steps",
        what=f"chain followed step by step, {_LENGTH:,} records: all attackers",
        prepare=partial(_steps, _ACTIVITY),
        seconds=1.0,
    ),
    Case(
        name="correlated.steps.sticky",
        what=f"the same, states that last 10,000 steps, {_LENGTH:,} records",
        prepare=partial(_steps, _STICKY),
    ),
    Case(
        name="correlated.steps.five",
        what=f"the same, 5 states and a start of its own, {_LENGTH:,} records",
        prepare=_many_states,
        seconds=5.0,
        level=1,
    ),
    Case(
        name="correlated.leakage",
        what="leakage with every theorem and its noise",
        prepare=_answer,
        seconds=1.0,
    ),
    Case(
        name="correlated.steps.n9",
        what="chain of 9 records, step by step",
        prepare=partial(_steps_short, 9),
        peers=(Peer(name="all attackers listed", prepare=partial(_listed, 9), agreement=_apart),),
        level=1,
    ),
)
