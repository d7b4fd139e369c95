"""The largest 0-RAD without knowledge over all DP channels, by linear programs, with certificates on both sides.

After the optimal attack a channel is a matrix P[z][j] = Pr[guess j | input z]; post-processing keeps DP and the RAD, so
the maximum over all channels is the maximum over these: sum_j pi_j (P[j][j] - sum_z pi_z P[z][j]).

Upper certificates use duality with boxes: for multipliers y >= 0 and free l, and variables in [0, 1],
c x <= b y + beq l + sum_i max(0, c_i - (A'y)_i - (Aeq'l)_i). It holds for *any* multipliers, so solver noise cannot
make it wrong beyond the rounding of this sum (1e-14). Lower certificates are exact risks of explicit channels.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from tests.twin import brute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.twin.channels import Matrix

Array = NDArray[np.float64]
Row = dict[int, float]


class Certified(NamedTuple):
    """The optimum the solver reports, an upper bound proved by its multipliers, and its channel."""

    value: float
    upper: float
    channel: Array


def _sparse(rows: Sequence[Row], width: int) -> Any:
    entries = [(i, j, value) for i, row in enumerate(rows) for j, value in row.items()]
    i, j, values = zip(*entries, strict=True)
    return coo_matrix((values, (i, j)), shape=(len(rows), width)).tocsr()


def _maximise(cost: Array, below: Sequence[Row], limits: Array, equal: Sequence[Row]) -> tuple[float, float, Array]:
    """(optimum, certified upper bound, solution) of max cost x, rows of below x <= limits, equal x = 1, 0 <= x <= 1."""
    A, E = _sparse(below, len(cost)), _sparse(equal, len(cost))
    result = linprog(-cost, A_ub=A, b_ub=limits, A_eq=E, b_eq=np.ones(len(equal)), bounds=(0, 1), method="highs")
    y, free = np.maximum(-result.ineqlin.marginals, 0), -result.eqlin.marginals
    rest = np.maximum(cost - A.T @ y - E.T @ free, 0).sum()
    return -float(result.fun), float(limits @ y + free.sum() + rest), result.x


def _objective(pi: Array) -> Array:
    """Coefficient of P[z][j]: pi_j (1[z = j] - pi_z)."""
    return (np.diag(pi) - np.outer(pi, pi)).ravel()


def pure_lp(pi: Sequence[float], epsilon: float) -> Certified:
    """Largest 0-RAD over all epsilon-DP channels, no knowledge."""
    p = np.array(pi, dtype=float)
    m, ratio = len(p), math.exp(epsilon)
    pairs = product(permutations(range(m), 2), range(m))
    below = [{z * m + j: 1.0, other * m + j: -ratio} for (z, other), j in pairs]
    rows = [{z * m + j: 1.0 for j in range(m)} for z in range(m)]
    value, upper, x = _maximise(_objective(p), below, np.zeros(len(below)), rows)
    return Certified(value, upper, x.reshape(m, m))


def approx_lp(pi: Sequence[float], epsilon: float, delta: float) -> Certified:
    """Largest 0-RAD over all (epsilon, delta)-DP channels, no knowledge; m <= 6.

    Slack s >= P[z][j] - e^eps P[z'][j] for each ordered pair and output; the slacks of a pair sum to at most delta.
    """
    p = np.array(pi, dtype=float)
    m, ratio = len(p), math.exp(epsilon)
    pairs, below = list(permutations(range(m), 2)), []
    slack = {(pair, j): m * m + i * m + j for i, pair in enumerate(pairs) for j in range(m)}
    for (pair, j), s in slack.items():
        below.append({pair[0] * m + j: 1.0, pair[1] * m + j: -ratio, s: -1.0})
    below += [{slack[pair, j]: 1.0 for j in range(m)} for pair in pairs]
    limits = np.array([0.0] * len(slack) + [delta] * len(pairs))
    rows = [{z * m + j: 1.0 for j in range(m)} for z in range(m)]
    cost = np.concatenate([_objective(p), np.zeros(len(slack))])
    value, upper, x = _maximise(cost, below, limits, rows)
    return Certified(value, upper, x[: m * m].reshape(m, m))


def rational_channel(P: Array, digits: int = 10**12) -> Matrix:
    """A float channel as fractions with rows that sum to 1 exactly."""
    rows = [[max(Fraction(float(x)).limit_denominator(digits), Fraction(0)) for x in row] for row in P]
    return [[x / sum(row) for x in row] for row in rows]


# GRR on the k likeliest inputs: attains the optimum of `pure_lp`.


def grr_top_k(pi: Sequence[Fraction], expeps: Fraction, k: int) -> Matrix:
    """GRR on the k likeliest inputs; every other input is treated like the k-th. Outputs are the k likeliest inputs."""
    order = sorted(range(len(pi)), key=lambda z: (-pi[z], z))
    place = {z: min(i, k - 1) for i, z in enumerate(order)}
    total = expeps + k - 1
    return [[(expeps if place[z] == j else Fraction(1)) / total for j in range(k)] for z in range(len(pi))]


def grr_top_k_rad(pi: Sequence[Fraction], expeps: Fraction) -> Fraction:
    """Best exact 0-RAD among the channels `grr_top_k`, k = 2..m: a proved lower bound on the largest 0-RAD."""
    m = len(pi)
    a, S = brute.nothing(m), brute.exact(m)
    return max(brute.rad(grr_top_k(pi, expeps, k), pi, a, S) for k in range(2, m + 1))


def _top_k(p: Sequence[Any], expeps: Any, k: int) -> Any:
    """One term of `top_k_formula`, p sorted descending."""
    mass, squares = sum(p[:k]), sum(x * x for x in p[:k])
    return (expeps - 1) / (expeps - 1 + k) * (mass - squares - (1 - mass) * p[k - 1])


def top_k_formula(pi: Sequence[Any], expeps: Any) -> Any:
    """max_k c/(c + k) [pi(S_k) - sum pi^2 - (1 - pi(S_k)) pi_k], c = e^eps - 1, S_k the k likeliest inputs."""
    p = sorted(pi, reverse=True)
    return max(_top_k(p, expeps, k) for k in range(2, len(p) + 1))


def dual_bound(pi: Sequence[float], expeps: float) -> float:
    """Smallest L with c sum_j (a_jz - l_j)_+ <= L for all z and sum l_j <= L, for the multipliers of [1], section 8."""
    p, c, m = np.sort(np.array(pi, dtype=float))[::-1], expeps - 1, len(pi)
    a = np.diag(p) - np.outer(p, p)  # a[j, z] = pi_j (1[z = j] - pi_z)
    value = top_k_formula(list(p), expeps)
    k = next(k for k in range(2, m + 1) if math.isclose(_top_k(list(p), expeps, k), value, rel_tol=1e-14))
    rest = 1 - p[:k].sum()

    def proved(tau: float) -> float:
        multipliers = np.where(np.arange(m) < k, p * (1 - p) - value / c, -p * tau)
        multipliers[k - 1] += (tau - p[k - 1]) * rest
        return max(float(c * np.maximum(a - multipliers[:, None], 0).sum(axis=0).max()), float(multipliers.sum()))

    return min(proved(p[k - 1] + t * (p[k - 2] - p[k - 1])) for t in np.linspace(0, 1, 2001))


# The published bounds.


def tv_bound(epsilon: float, delta: float = 0.0) -> float:
    """(e^eps - 1 + 2 delta) / (e^eps + 1)."""
    return (math.exp(epsilon) - 1 + 2 * delta) / (math.exp(epsilon) + 1)


def _gamma(m: int, epsilon: float, delta: float) -> float:
    """(e^eps - 1 + m delta) / (e^eps + m - 1)."""
    return (math.exp(epsilon) - 1 + m * delta) / (math.exp(epsilon) + m - 1)


def _knapsack(values: Array, caps: Array, budget: float) -> float:
    """Fractional knapsack as a linear program: max values x, 0 <= x <= caps, sum x <= budget."""
    bounds = [(0, cap) for cap in caps]
    return -float(linprog(-values, A_ub=np.ones((1, len(values))), b_ub=[budget], bounds=bounds, method="highs").fun)


def thm_5_5(pi: Sequence[float], epsilon: float, delta: float = 0.0) -> float:
    """Thm 5.5 of [RAD] as a linear program: max sum g_i pi_i, g_i <= A (1 - pi_i), sum g_i <= Gamma."""
    p, m = np.array(pi, dtype=float), len(pi)
    return _knapsack(p, tv_bound(epsilon, delta) * (1 - p), (m - 1) * _gamma(m, epsilon, delta))


def thm_5_5_printed(pi: Sequence[float], epsilon: float, delta: float = 0.0) -> tuple[float, int, float]:
    """(bound, K, R) of Thm 5.5 as printed."""
    p, A, m = sorted(pi, reverse=True), tv_bound(epsilon, delta), len(pi)
    rest, K, bound = (m - 1) * _gamma(m, epsilon, delta), 0, 0.0
    while m > K and rest - A * (1 - p[K]) >= 0:
        rest, bound, K = rest - A * (1 - p[K]), bound + A * p[K] * (1 - p[K]), K + 1
    return bound + (rest * p[K] if m > K else 0.0), K, rest


def thm_7(pi: Sequence[float], epsilon: float, delta: float = 0.0) -> float:
    """Thm 7 of the master's thesis as a linear program: ordered pairs, each at most A, together at most m(m-1)D."""
    m = len(pi)
    weights = np.array([pi[i] * pi[j] for i, j in permutations(range(m), 2)])
    caps = np.full(len(weights), tv_bound(epsilon, delta))
    return _knapsack(weights, caps, m * (m - 1) * _gamma(m, epsilon, delta))


def cor_5_6(m: int, epsilon: float, delta: float = 0.0) -> float:
    """Cor 5.6 (Cor 1 of the master's thesis), uniform prior."""
    return _gamma(m, epsilon, delta) * (m - 1) / m


def thm_4_2(pi: Sequence[float], epsilon: float, delta: float = 0.0) -> float:
    """Thm 4.2 with the total variation that (epsilon, delta)-DP allows."""
    return tv_bound(epsilon, delta) * (1 - math.fsum(p * p for p in pi))


def prop_5_3(pi: Sequence[float], S: brute.Success, epsilon: float, delta: float = 0.0) -> float:
    """Prop 5.3, no knowledge, any goal."""
    kappa = brute.kappas(pi, S)
    growth = math.exp(epsilon) - 1
    first = kappa.plus * growth + delta
    second = ((1 - kappa.minus) * growth + delta) / math.exp(epsilon)
    return min(first, second, thm_4_2(pi, epsilon, delta))


def thm_5_wpes(pi: Sequence[float], epsilon: float, delta: float = 0.0) -> float:
    """Thm 5 restated in the master's thesis (WPES'24), exact goal."""
    m, top, low = len(pi), max(pi), min(pi)
    growth = math.exp(epsilon) - 1
    return min(top * growth + delta * m, top * (m - 1) * growth / (math.exp(epsilon) + 1) + top - low)
