"""Brute force for correlated records: definitions written out, nothing of dpradar used.

A model is a dictionary {table of records: probability}; a mechanism a function from a table to the likelihoods of its
outputs. Leakage is [GuerraThesis] Definition 2.26: every target i, every set K of known records, every value of what is
known, every pair of values of the target, every output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise, product

import numpy as np
from scipy.optimize import linprog

Table = tuple[int, ...]
Model = Mapping[Table, float]
Mechanism = Callable[[Table], Sequence[float]]

# Models.


def table_of(array: np.ndarray) -> dict[Table, float]:
    """Return an array of probabilities as a model."""
    return {index: float(array[index]) for index in np.ndindex(array.shape)}


def chain(P: Sequence[Sequence[float]], start: Sequence[float], length: int) -> dict[Table, float]:
    """Return all series of a Markov chain with their probabilities."""
    law = {}
    for series in product(range(len(P)), repeat=length):
        probability = start[series[0]]
        for a, b in pairwise(series):
            probability *= P[a][b]
        law[series] = probability
    return law


def stationary(P: Sequence[Sequence[float]]) -> list[float]:
    """Return the law that the chain forgets its start for: the mean of many steps."""
    law = np.full(len(P), 1.0 / len(P))
    matrix = np.array(P)
    for _ in range(60):
        matrix = (matrix + matrix @ matrix) / 2.0  # powers mixed, so that periods do not matter
    mean = law @ matrix
    return [float(x) for x in mean / mean.sum()]


# Mechanisms.


def laplace(query: Callable[[Table], float], scale: float, places: Sequence[float]) -> Mechanism:
    """Return the density of Laplace noise on a query, at the given outputs."""
    return lambda table: [math.exp(-abs(place - query(table)) / scale) for place in places]


def responses(flip: float, length: int) -> Mechanism:
    """Return randomised response on every record: the likelihood of every list of answers."""

    def likelihoods(table: Table) -> list[float]:
        answers = product((0, 1), repeat=length)
        return [
            math.prod(1 - flip if a == x else flip for a, x in zip(answer, table, strict=True)) for answer in answers
        ]

    return likelihoods


# Leakage.


def _adversaries(records: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    for target in range(records):
        others = [j for j in range(records) if j != target]
        for count in range(records):
            for known in combinations(others, count):
                yield target, known


def _conditionals(model: Model, target: int, known: tuple[int, ...]) -> Iterator[dict[int, dict[Table, float]]]:
    """Yield, for every value of what is known, Pr[table | known values, target value] by target value."""
    groups: dict[tuple[int, ...], dict[int, dict[Table, float]]] = {}
    for table, probability in model.items():
        if probability > 0.0:
            key = tuple(table[j] for j in known)
            groups.setdefault(key, {}).setdefault(table[target], {})[table] = probability
    for values in groups.values():
        for tables in values.values():
            total = sum(tables.values())
            for table in tables:
                tables[table] /= total
        yield values


def leakage_of(model: Model, mechanism: Mechanism, target: int, known: tuple[int, ...]) -> float:
    """Return the leakage to one adversary."""
    largest = 0.0
    for values in _conditionals(model, target, known):
        seen = [
            [
                sum(p * mechanism(table)[k] for table, p in tables.items())
                for k in range(len(mechanism(next(iter(tables)))))
            ]
            for tables in values.values()
        ]
        for output in zip(*seen, strict=True):
            if max(output) > 0.0:
                if min(output) == 0.0:
                    return math.inf
                largest = max(largest, math.log(max(output) / min(output)))
    return largest


def leakage(model: Model, mechanism: Mechanism) -> float:
    """Return the leakage over all adversaries (Definition 2.27)."""
    records = len(next(iter(model)))
    cache = {table: mechanism(table) for table in model}
    return max(leakage_of(model, cache.__getitem__, *one) for one in _adversaries(records))


def worst_mechanism(model: Model, epsilon: float) -> float:
    """Return the largest leakage of any epsilon-DP mechanism: a linear program for each adversary and pair of values.

    One output of a mechanism is a function q of the tables with q(x) <= e^epsilon q(y) for tables that differ in one
    record, and every such function belongs to some mechanism (scale it down and add a second output).
    """
    tables = list(model)
    number = {table: k for k, table in enumerate(tables)}
    rows = []
    for table in tables:
        for j in range(len(table)):
            for value in {other[j] for other in tables} - {table[j]}:
                neighbour = (*table[:j], value, *table[j + 1 :])
                row = np.zeros(len(tables))
                row[number[table]], row[number[neighbour]] = 1.0, -math.exp(epsilon)
                rows.append(row)
    A = np.array(rows)
    largest = 0.0
    for target, known in _adversaries(len(tables[0])):
        for values in _conditionals(model, target, known):
            laws = {}
            for value, some in values.items():
                laws[value] = np.zeros(len(tables))
                for table, p in some.items():
                    laws[value][number[table]] = p
            for x, y in product(laws, repeat=2):
                if x != y:
                    program = linprog(
                        -laws[x], A_ub=A, b_ub=np.zeros(len(rows)), A_eq=[laws[y]], b_eq=[1.0], bounds=(0, None),
                        method="highs",
                    )  # fmt: skip
                    assert program.status == 0, program.message
                    largest = max(largest, math.log(-program.fun))
    return largest


def two_state_worst(P: Sequence[Sequence[float]], start: Sequence[float], length: int, epsilon: float) -> float:
    """Return the largest leakage of any epsilon-DP mechanism on a two-state chain, for every attacker: 50 digits.

    Each side of the target is a chain read away from it, up to a known record or the end; the ratio of an output's
    probability given 1 to that given 0 is a Moebius map of the ratio one record further on. No step is left out.
    """
    import mpmath as mp

    with mp.workdps(50):
        T = [[mp.mpf(float(x)) for x in row] for row in P]
        e = mp.exp(mp.mpf(epsilon))

        def side(Q, free):
            high, low, best = [mp.mpf(1)], [mp.mpf(1)], [mp.mpf(1), mp.mpf(1)]
            runs = [[(mp.mpf(1), mp.mpf(0)), 1, 1], [(mp.mpf(0), mp.mpf(1)), 1, 1], [free, 1, 1]]
            for count in range(1, length):
                for k, run in enumerate(runs):
                    (u, v), bottom, top = run
                    zero, one = Q[0][0] * u + Q[0][1] * v, Q[1][0] * u + Q[1][1] * v
                    if zero > 0 and one > 0 and (count > 1 or k == 2):
                        ends = [
                            (Q[1][0] * u + Q[1][1] * v * q) / (Q[0][0] * u + Q[0][1] * v * q) * zero / one
                            for q in (bottom / e, top * e)
                        ]
                        run[1:] = [min(ends), max(ends)]
                    run[0] = (zero / (zero + one), one / (zero + one)) if zero + one > 0 else (zero, one)
                    if k < 2:
                        best = [max(best[0], run[2]), max(best[1], 1 / run[1])]
                high.append(max(best[0], runs[2][2]))
                low.append(max(best[1], 1 / runs[2][1]))
            return high, low

        after = side(T, (mp.mpf(1), mp.mpf(1)))
        before = side([[T[0][0], T[1][0]], [T[0][1], T[1][1]]], tuple(mp.mpf(float(x)) for x in start))
        most = max(max(b[i] * a[length - 1 - i] for b, a in zip(before, after, strict=True)) for i in range(length))
        return float(min(mp.mpf(epsilon) + mp.log(most), length * mp.mpf(epsilon)))


# Gaussian groups.


def coefficients(S: np.ndarray, target: int, known: Sequence[int]) -> np.ndarray:
    """Return how far each unknown record moves with the target, given the known ones (a regression)."""
    T = [*known, target]
    U = [j for j in range(len(S)) if j not in T]
    last = np.zeros(len(T))
    last[-1] = 1.0
    return S[np.ix_(U, T)] @ np.linalg.solve(S[np.ix_(T, T)], last)


def reach(S: np.ndarray, width: float = 1.0, *, capped: bool = False) -> float:
    """Return the largest factor of Lemma 6.10 over all adversaries."""
    best = 0.0
    for target, known in _adversaries(len(S)):
        moves = np.abs(coefficients(S, target, known)) * width
        own = min(width, 1.0) if capped else width
        best = max(best, own + float((np.minimum(moves, 1.0) if capped else moves).sum()))
    return best


def clipped_pair(
    means: Sequence[float], S: np.ndarray, clip: tuple[float, float], scale: float, values: tuple[float, float]
) -> float:
    """Return the leakage about record 0 of two Gaussian records through a clipped sum, record 1 unknown: quadrature.

    The density of the sum at s is the integral over record 1 of its density times that of the noise; on a fine grid of
    s and of record 1 (the atoms at the clip ends apart), for both values of record 0.
    """
    low, high = clip
    beta = S[0, 1] / S[0, 0]
    sd = math.sqrt(S[1, 1] - beta * S[0, 1])
    places = np.linspace(low, high, 4_001)
    step = places[1] - places[0]
    outputs = np.linspace(2 * low - 3 * scale, 2 * high + 3 * scale, 101)
    seen = []
    for value in values:
        mean = means[1] + beta * (value - means[0])
        inner = np.exp(-0.5 * ((places - mean) / sd) ** 2) / (sd * math.sqrt(2 * math.pi)) * step
        inner[[0, -1]] *= 0.5
        tails = [0.5 * math.erfc((mean - low) / sd / math.sqrt(2)), 0.5 * math.erfc((high - mean) / sd / math.sqrt(2))]
        own = min(max(value, low), high)
        density = np.zeros_like(outputs)
        for k, s in enumerate(outputs):
            density[k] = inner @ np.exp(-np.abs(s - own - places) / scale)
            density[k] += tails[0] * math.exp(-abs(s - own - low) / scale)
            density[k] += tails[1] * math.exp(-abs(s - own - high) / scale)
        seen.append(density)
    return float(np.abs(np.log(seen[0] / seen[1])).max())


def clipped_trio(
    means: Sequence[float], S: np.ndarray, clip: tuple[float, float], scale: float, values: tuple[float, float]
) -> float:
    """Return the leakage about record 0 of three Gaussian records through a clipped sum, both others unknown.

    Sums over a grid of the two unknown records, seven standard deviations wide; the error is of the order of its step
    where values are clipped.
    """
    beta = S[1:, 0] / S[0, 0]
    root = np.linalg.cholesky(S[1:, 1:] - np.outer(beta, S[0, 1:]))
    nodes = np.linspace(-7.0, 7.0, 141)
    z = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    weight = np.exp(-0.5 * (z**2).sum(axis=1))
    weight /= weight.sum()
    outputs = np.linspace(3 * clip[0] - 3 * scale, 3 * clip[1] + 3 * scale, 61)
    seen = []
    for value in values:
        others = np.clip(np.asarray(means[1:]) + beta * (value - means[0]) + z @ root.T, *clip).sum(axis=1)
        total = others + min(max(value, clip[0]), clip[1])
        seen.append(np.exp(-np.abs(outputs[:, None] - total[None, :]) / scale) @ weight)
    return float(np.abs(np.log(seen[0] / seen[1])).max())


# The risk of one record.


def risk(
    model: Model, query: Callable[[Table], float], scale: float, target: int, known: Mapping[int, int]
) -> tuple[float, float]:
    """Return RAD and success of the best guess of the target's value, nothing else known: sums over a fine grid."""
    rows: dict[int, dict[float, float]] = {}
    for table, probability in model.items():
        if probability > 0.0 and all(table[j] == value for j, value in known.items()):
            row = rows.setdefault(table[target], {})
            row[query(table)] = row.get(query(table), 0.0) + probability
    total = sum(sum(row.values()) for row in rows.values())
    prior = np.array([sum(row.values()) / total for row in rows.values()])
    places = sorted({place for row in rows.values() for place in row})
    grid = np.linspace(places[0] - 40 * scale, places[-1] + 40 * scale, 100_001)
    step = grid[1] - grid[0]
    density = np.zeros((len(rows), grid.size))
    for i, row in enumerate(rows.values()):
        mass = sum(row.values())
        for place, probability in row.items():
            density[i] += probability / mass * np.exp(-np.abs(grid - place) / scale) / (2 * scale)
    whole = prior @ density
    scores = (density - whole) * prior[:, None]
    return float(scores.max(axis=0).sum() * step), float((density * prior[:, None]).max(axis=0).sum() * step)
