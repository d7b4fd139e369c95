"""Small worlds for the notions of risk: every data set, every mechanism, and the worst of them by linear programming.

A mechanism is a matrix, one row per state (a data set), one column per output. Nothing here knows a theorem: the linear
program finds the (epsilon, delta)-DP mechanism with the largest value of a linear quantity, and `best_response` the
best attack on a given mechanism.
"""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Floats = NDArray[np.float64]
DataSet = tuple[int, ...]
Pairs = list[tuple[int, int]]
Predicate = frozenset[int]


def data_sets(values: int, n: int) -> list[DataSet]:
    """Every data set of n ordered records."""
    return list(product(range(values), repeat=n))


def probability(law: Sequence[float], data: DataSet) -> float:
    """Of a data set of independent records."""
    return math.prod(law[z] for z in data)


def replace_one(states: Sequence[DataSet]) -> Pairs:
    """Ordered pairs of states of one length that differ in one place."""
    return [
        (i, j)
        for i, s in enumerate(states)
        for j, t in enumerate(states)
        if len(s) == len(t) and sum(a != b for a, b in zip(s, t, strict=True)) == 1
    ]


def add_remove(states: Sequence[DataSet]) -> Pairs:
    """Ordered pairs of states of which one is the other without one record."""
    index = {s: i for i, s in enumerate(states)}
    pairs = set()
    for s, i in index.items():
        for k in range(len(s)):
            j = index.get(s[:k] + s[k + 1 :])
            if j is not None:
                pairs |= {(i, j), (j, i)}
    return sorted(pairs)


def predicates(law: Sequence[float], weight: float) -> list[Predicate]:
    """Every set of values of at most this weight."""
    sets = [frozenset(c) for k in range(len(law) + 1) for c in combinations(range(len(law)), k)]
    return [p for p in sets if sum(law[z] for z in p) <= weight + 1e-12]


def isolates(p: Predicate, data: DataSet) -> bool:
    """Whether exactly one record is in the set."""
    return sum(z in p for z in data) == 1


def largest(
    gain: Floats,
    pairs: Pairs,
    epsilon: float,
    delta: float = 0.0,
    fixed: tuple[Floats, float] | None = None,
) -> float:
    """The largest sum of gain * mechanism over all (epsilon, delta)-DP mechanisms; ``fixed`` = (weights, their sum).

    For each ordered pair (i, j), and each output, a variable is at least M[i] - e^epsilon M[j] and at least 0; these
    sum to at most delta.
    """
    states, outputs = gain.shape
    cells, slack = states * outputs, len(pairs) * outputs if delta > 0.0 else 0
    rows, columns, entries, limits = [], [], [], []

    def add(terms: list[tuple[int, float]], limit: float) -> None:
        for column, entry in terms:
            rows.append(len(limits))
            columns.append(column)
            entries.append(entry)
        limits.append(limit)

    for number, (i, j) in enumerate(pairs):
        for o in range(outputs):
            terms = [(i * outputs + o, 1.0), (j * outputs + o, -math.exp(epsilon))]
            add([*terms, (cells + number * outputs + o, -1.0)] if slack else terms, 0.0)
        if slack:
            add([(cells + number * outputs + o, 1.0) for o in range(outputs)], delta)
    size = cells + slack
    above = coo_matrix((entries, (rows, columns)), shape=(len(limits), size)).tocsr()
    sums = np.zeros((states + (fixed is not None), size))
    for i in range(states):
        sums[i, i * outputs : (i + 1) * outputs] = 1.0
    totals = np.ones(states + (fixed is not None))
    if fixed is not None:
        sums[-1, :cells] = fixed[0].ravel()
        totals[-1] = fixed[1]
    cost = np.concatenate([-gain.ravel(), np.zeros(slack)])
    done = linprog(cost, A_ub=above, b_ub=limits, A_eq=sums, b_eq=totals, bounds=(0.0, 1.0), method="highs")
    if done.status == 2:  # no mechanism has that sum
        return -math.inf
    if not done.success:
        raise ArithmeticError(done.message)
    return -float(done.fun)


def best_response(mechanism: Floats, weights: Floats, right: Floats) -> float:
    """Success of the best attack: sum over outputs of the largest sum over states of weight * mechanism * right."""
    return float(sum((right.T @ (weights * mechanism[:, o])).max() for o in range(mechanism.shape[1])))


def trade_off_points(mechanism: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
    """Break points (x, y) of T(M[j], M[i]) for all ordered pairs (i, j): reject the largest ratios first."""
    x, y = [0.0, 1.0], [1.0, 0.0]
    for i, j in pairs:
        p, q = mechanism[i], mechanism[j]
        order = sorted(range(p.size), key=lambda o: -(math.inf if q[o] == 0.0 else p[o] / q[o]))
        x += np.cumsum(q[order]).tolist()
        y += (1.0 - np.cumsum(p[order])).tolist()
    return np.clip(x, 0.0, 1.0), np.clip(y, 0.0, 1.0)


def per_record(channel: Floats, states: Sequence[DataSet]) -> Floats:
    """Every record reported through the channel on its own."""
    reports = list(product(range(channel.shape[1]), repeat=len(states[0])))
    return np.array([[math.prod(channel[z, r] for z, r in zip(s, o, strict=True)) for o in reports] for s in states])


def noisy_count(states: Sequence[DataSet], epsilon: float, reach: int = 12) -> Floats:
    """The number of records with value 0, plus geometric noise, clamped to a range."""
    a = math.exp(-epsilon)
    rows = []
    for s in states:
        middle = sum(z == 0 for z in s)
        row = np.array([(1 - a) / (1 + a) * a ** abs(k - middle) for k in range(-reach, reach + len(s) + 1)])
        row[0] += a ** (middle + reach + 1) / (1 + a)
        row[-1] += a ** (reach + len(s) - middle + 1) / (1 + a)
        rows.append(row)
    return np.array(rows)


def noisy_choice(
    score: Callable[[DataSet, int], float], states: Sequence[DataSet], outputs: int, epsilon: float
) -> Floats:
    """A tiny learner: an output is chosen with probability proportional to e^(epsilon score / 2)."""
    raw = np.exp(0.5 * epsilon * np.array([[score(s, o) for o in range(outputs)] for s in states]))
    return np.asarray(raw / raw.sum(axis=1, keepdims=True))
