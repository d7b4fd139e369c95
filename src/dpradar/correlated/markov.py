"""Markov chains: what a record reveals about its neighbours in time.

Given everything the attacker knows, the unknown records to the right of the target run up to the next known one (or to
the end), those to the left down to the last known one (or to the start), and both runs depend on the target alone.
Each run is a Markov chain read away from the target, so what the target's value changes in it can be followed step by
step (docs/derivations/correlated.md).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..errors import NumericsError
from ..numerics.lazy_numpy import Floats, np
from .many_states import many_state_sides
from .models import SMALLEST
from .two_states import two_state_sides

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .models import Chain

__all__ = ["counting_lower", "gamma", "mixing_time", "row_and_column_ratios", "steps"]

_SLACK = 1e-11  # relatively, added to what was computed in logarithms, for rounding,
_UNIT = 2e-15  # and for that of each step
_STILL = 2e-15  # a vector whose entries grow alike up to this, in one step, is taken to keep its direction
TINY = 1e-300  # smaller probabilities count as 0 where one divides by them


def gamma(P: Floats) -> float:
    """Ratio of the largest to the smallest transition probability; infinite where one is 0.

    Examples
    --------
    >>> import numpy as np
    >>> round(gamma(np.array([[0.882412, 0.117588], [0.304706, 0.695294]])), 4)
    7.5043
    """
    low = float(P.min())
    return math.inf if low < TINY else float(P.max()) / low


def row_and_column_ratios(P: Floats) -> tuple[float, float]:
    """Largest ratio of two probabilities within a row, and within a column.

    Examples
    --------
    >>> import numpy as np
    >>> [round(x, 4) for x in row_and_column_ratios(np.array([[0.8, 0.2], [0.5, 0.5]]))]
    [4.0, 2.5]
    """
    if P.min() < TINY:
        return math.inf, math.inf
    rows, columns = P.max(axis=1) / P.min(axis=1), P.max(axis=0) / P.min(axis=0)
    return float(rows.max()), float(columns.max())


def mixing_time(P: Floats, distance: float, most: int = 1_000_000) -> int | None:
    """Steps after which the start is forgotten: every row within ``distance`` of the stationary law (total variation).

    Examples
    --------
    >>> import numpy as np
    >>> mixing_time(np.array([[0.882412, 0.117588], [0.304706, 0.695294]]), 0.25)
    2
    """
    squares, distances = [P], []
    while True:
        distances.append(_distance_to_stationary(squares[-1]))
        if distances[-1] <= distance or 2 ** len(squares) > most:
            break
        squares.append(squares[-1] @ squares[-1])
    if distances[-1] > distance:
        return None
    time, power = 0, np.eye(P.shape[0])  # the distance never grows with time, so powers of two find the place
    for k in reversed(range(len(squares))):
        longer = power @ squares[k]
        if _distance_to_stationary(longer) > distance:
            power, time = longer, time + 2**k
    return time + 1 if _distance_to_stationary(power) > distance else time


def _distance_to_stationary(power: Floats) -> float:
    limit = np.linalg.matrix_power(power, 1 << 40)[0]
    return float(0.5 * np.abs(power - limit).sum(axis=1).max())


def steps(chain: Chain, epsilon: float) -> tuple[float, float]:
    """Leakage of any epsilon-DP mechanism on a chain: an upper bound, and the same before rounding was allowed for.

    Guarantee
    ---------
    No attacker, whatever records are known, gains more than the first number; for two states and a stationary start
    some epsilon-DP mechanism loses at least the second (Laplace noise on a count, where successive states are alike
    more often than not).

    Assumes
    -------
    The chain of the model, any start; transition probabilities may be 0.

    Notes
    -----
    Steps away from the target are followed until it is certain that further ones add next to nothing, which is added
    to the first number.

    Examples
    --------
    >>> from dpradar.correlated import Chain
    >>> above, computed = steps(Chain([[0.9, 0.1], [0.3, 0.7]], 17_568), 1.0)
    >>> round(computed, 6), 0.0 <= above - computed < 1e-9
    (3.773627, True)
    """
    most = chain.length * epsilon
    try:
        total, pad, records = (
            _two_state_leakage(chain, epsilon) if chain.states == 2 else _many_state_leakage(chain, epsilon)
        )
    except NumericsError:  # probabilities too small for floats: what holds for any dependence is left
        return most, most
    computed = min(epsilon + max(total, 0.0), most)
    return computed + pad + (_SLACK + _UNIT * records) * (1.0 + computed), computed


def _two_state_leakage(chain: Chain, epsilon: float) -> tuple[float, float, int]:
    left, right = two_state_sides(chain, epsilon)
    total = 0.0
    for i in _distinct_targets(chain.length, max(len(left.up), len(right.up))):
        (up, down), (more_up, more_down) = left.at(i), right.at(chain.length - 1 - i)
        total = max(total, up + more_up, down + more_down)
    return total, left.pad + right.pad, max(len(left.up), len(right.up))


def _many_state_leakage(chain: Chain, epsilon: float) -> tuple[float, float, int]:
    left, right = many_state_sides(chain, epsilon)
    records = max(len(left.log_ratio), len(right.log_ratio))
    total = 0.0
    for i in _distinct_targets(chain.length, records):
        side_sum = left.at(i) + right.at(chain.length - 1 - i)
        np.fill_diagonal(side_sum, 0.0)
        total = max(total, float(side_sum.max()))
    return total, 0.0, records


def _distinct_targets(n: int, converged: int) -> Sequence[int]:
    """Return the targets that can differ: both sides have converged away from the ends."""
    return range(n) if n <= 2 * converged + 1 else [*range(converged), n // 2, *range(n - converged, n)]


def counting_lower(chain: Chain, epsilon: float, values: Floats) -> float:
    """Leakage of Laplace noise on a sum to an attacker who knows nothing, from outputs far above or far below.

    Guarantee
    ---------
    A lower bound on the leakage of the sum of ``values[state]`` with Laplace noise of scale (largest - smallest) /
    epsilon: outputs beyond every possible sum show ratios of E[e^(+-sum/scale) | state], which transfer matrices give
    for every record in one pass.

    Notes
    -----
    Tightening T4 of our notes, there an estimate; as a lower bound it needs no proof beyond the definition.
    """
    span = float(np.ptp(values))
    if span == 0.0:
        return 0.0
    best = 0.0
    for sign in (1.0, -1.0):
        tilt = np.exp(sign * epsilon * (values - values.max() if sign > 0 else values - values.min()) / span)
        best = max(best, _largest_log_ratio(chain, tilt))
    return max(best * (1.0 - _SLACK) - 8.0 * _STILL * chain.length, 0.0)


def _largest_log_ratio(chain: Chain, tilt: Floats) -> float:
    """Return the largest ln E[prod tilt | x_i] - ln E[prod tilt | x_i'] over records and states."""
    P, w, n = np.asarray(chain.transitions), np.asarray(chain.initial), chain.length
    after = _powers(P * tilt[None, :], np.ones(P.shape[0]), n)[::-1]  # of the records after each one
    past = _powers((P * tilt[:, None]).T, w, n)  # Pr[x_i] times E[tilt of the records before]
    laws = _powers(P.T, w, n)
    sound = (laws > SMALLEST) & (past > SMALLEST) & (after > SMALLEST)  # others are left out: a lower bound
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(after) + np.log(past) - np.log(laws) + np.log(tilt)  # up to a constant for each record
    high, low = np.where(sound, log, -np.inf).max(axis=1), np.where(sound, log, np.inf).min(axis=1)
    return float(np.max(high - low, where=sound.any(axis=1), initial=0.0))


def _powers(step: Floats, start: Floats, count: int) -> Floats:
    """Return start, step start, step^2 start, ..., each scaled to a largest entry of 1.

    Where all entries grow alike, up to a relative error, they do so ever after up to that error for each step: a matrix
    without negative entries keeps the order of vectors (Collatz and Wielandt).
    """
    rows = np.empty((count, start.size))
    current = start / start.max()
    for i in range(count):
        rows[i] = current
        fresh = step @ current
        fresh = fresh / fresh.max()
        if np.all(np.abs(fresh - current) <= _STILL * current):
            rows[i + 1 :] = fresh
            break
        current = fresh
    return rows
