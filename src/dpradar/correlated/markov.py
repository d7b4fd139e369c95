"""Markov chains: what a record tells about its neighbours in time.

Given everything the attacker knows, the unknown records to the right of the target run up to the next known one (or to
the end), those to the left down to the last known one (or to the start), and both runs depend on the target alone.
Each run is a Markov chain read away from the target, so what the target's value changes in it can be followed step by
step (docs/derivations/correlated.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .two_states import SETTLED, STILL, two_state_sides

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .models import Chain

__all__ = ["counting_lower", "gamma", "mixing_time", "row_and_column_ratios", "steps"]

Floats = NDArray[np.float64]
_SLACK = 1e-11  # added to what was computed in logarithms, for rounding
_LEAST_STEPS = 4
_SAME = 1e-15  # a chain that reads the same in both directions
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
    squares, apart = [P], []
    while True:
        apart.append(_spread(squares[-1]))
        if apart[-1] <= distance or 2 ** len(squares) > most:
            break
        squares.append(squares[-1] @ squares[-1])
    if apart[-1] > distance:
        return None
    done, power = 0, np.eye(P.shape[0])  # the distance never grows with time, so powers of two find the place
    for k in reversed(range(len(squares))):
        longer = power @ squares[k]
        if _spread(longer) > distance:
            power, done = longer, done + 2**k
    return done + 1 if _spread(power) > distance else done


def _spread(power: Floats) -> float:
    limit = np.linalg.matrix_power(power, 1 << 40)[0]
    return float(0.5 * np.abs(power - limit).sum(axis=1).max())


@dataclass(frozen=True, slots=True)
class _Steps:
    """Leakage of the target's value through a run of unknown records, by how many records there are on that side.

    ``log_ratio[L, x, y]``: the largest log-ratio of the probability of an output given x to that given y, caused by
    the records on one side, when there are L of them and the attacker knows any of them.
    """

    log_ratio: Floats

    def at(self, count: int) -> Floats:
        """Return the matrix for so many records; sequences that have settled stay as they are."""
        return np.asarray(self.log_ratio[min(count, self.log_ratio.shape[0] - 1)])


def steps(chain: Chain, epsilon: float) -> tuple[float, float]:
    """Leakage of any epsilon-DP mechanism on a chain: an upper bound, and the same before rounding was allowed for.

    Guarantee
    ---------
    No attacker, whatever records are known, gains more than the first number; for two states some epsilon-DP mechanism
    loses at least the second (Laplace noise on a count, where successive states are alike more often than not).

    Assumes
    -------
    The chain of the model, any start; transition probabilities may be 0.
    """
    total = _two(chain, epsilon) if chain.states == 2 else _many(chain, epsilon)
    computed = min(epsilon + max(total, 0.0), chain.length * epsilon)
    slack = _SLACK * (1.0 + computed) + 2.0 * STILL * chain.length  # rounding, and what was taken as settled
    return computed + slack, computed


def _two(chain: Chain, epsilon: float) -> float:
    left, right = two_state_sides(chain, epsilon)
    total = 0.0
    for i in _places(chain.length, max(len(left.up), len(right.up))):
        (up, down), (more_up, more_down) = left.at(i), right.at(chain.length - 1 - i)
        total = max(total, up + more_up, down + more_down)
    return total


def _many(chain: Chain, epsilon: float) -> float:
    right = _run(np.asarray(chain.transitions), chain.length - 1, epsilon)
    left = _left(chain, epsilon, right)
    total = 0.0
    for i in _places(chain.length, max(right.log_ratio.shape[0], left.log_ratio.shape[0])):
        both = left.at(i) + right.at(chain.length - 1 - i)
        np.fill_diagonal(both, 0.0)
        total = max(total, float(both.max()))
    return total


def _places(n: int, settled: int) -> Sequence[int]:
    """Return the targets that can differ: both sides have settled away from the ends."""
    return range(n) if n <= 2 * settled + 1 else [*range(settled), n // 2, *range(n - settled, n)]


def _left(chain: Chain, epsilon: float, right: _Steps) -> _Steps:
    P, w = np.asarray(chain.transitions), np.asarray(chain.initial)
    if not chain.is_stationary:
        return _from_start(P, w, chain.length - 1, epsilon)
    back = _reversed(P, w)
    return right if np.abs(back - P).max() <= _SAME else _run(back, chain.length - 1, epsilon)


def _reversed(P: Floats, w: Floats) -> Floats:
    """Return the chain read backwards; a state that never occurs stays where it is."""
    flow = (w[:, None] * P).T
    occurs = flow.sum(axis=1)
    back = np.eye(P.shape[0])
    back[occurs > 0.0] = flow[occurs > 0.0] / occurs[occurs > 0.0, None]
    return back


def _bent(P: Floats, ahead: Floats) -> tuple[Floats, Floats]:
    """Return one step given what is known further on (Doob's transform), and the probability of that knowledge now.

    ``ahead`` has one row for each piece of knowledge. Rows of states that contradict it are left at 0.
    """
    now = ahead @ P.T
    kernel = P[None] * ahead[:, None, :]
    np.divide(kernel, now[:, :, None], out=kernel, where=now[:, :, None] > 0.0)
    top = now.max(axis=1, keepdims=True)
    return kernel, np.divide(now, top, out=np.zeros_like(now), where=top > 0.0)


def _run(P: Floats, most: int, epsilon: float) -> _Steps:
    """Return the leakage through 0, 1, 2, ... records on one side: the worst knowledge among them, or none.

    The first rows of ``ratios`` and ``ahead`` are for a next known record in each of the states, at the same distance
    as there are records; the last is for no knowledge, where the nearest record is unknown from the start.
    """
    size = P.shape[0]
    rows, best = [np.zeros((size, size))], np.zeros((size, size))
    ratios = np.zeros((size + 1, size, size))
    ahead = np.vstack([np.eye(size), np.ones((1, size))])
    quiet, moved_before = 0, math.inf
    for count in range(1, most + 1):
        kernel, after = _bent(P, ahead)
        fresh = _push(kernel, ratios, epsilon, ahead > 0.0)
        if count == 1:
            fresh[:-1] = 0.0  # a neighbour that is known tells all there is to tell
        moved = max(float(np.abs(fresh - ratios).max()), float(np.abs(after - ahead).max()))
        ratios, ahead = fresh, after
        best = np.maximum(best, ratios[:-1].max(axis=0))
        rows.append(np.maximum(best, ratios[-1]))
        quiet = quiet + 1 if count > 1 and _ends(moved, moved_before) else 0
        moved_before = moved
        if quiet >= _LEAST_STEPS:
            break
    return _Steps(np.array(rows))


def _ends(moved: float, before: float) -> bool:
    """Return whether a sequence whose moves shrink as they did last will move no further."""
    if moved <= STILL:
        return True
    rate = moved / before
    return rate < 1.0 and moved * rate / (1.0 - rate) < SETTLED


def _from_start(P: Floats, w: Floats, most: int, epsilon: float) -> _Steps:
    """As :func:`_run` to the left of the target, for a chain that does not start as it goes on."""
    size = P.shape[0]
    rows, best = [np.zeros((size, size))], np.zeros((size, size))
    ratios = np.zeros((size + 1, size, size))
    laws = np.vstack([np.eye(size), w[None]])  # of the present, given the known record or the start
    for count in range(1, most + 1):
        kernel, seen = np.stack([_reversed(P, law) for law in laws]), laws > 0.0
        laws = laws @ P
        kernel[laws <= 0.0] = 0.0
        ratios = _push(kernel, ratios, epsilon, seen)
        if count == 1:
            ratios[:-1] = 0.0
        best = np.maximum(best, ratios[:-1].max(axis=0))
        rows.append(np.maximum(best, ratios[-1]))
    return _Steps(np.array(rows))


def _push(kernel: Floats, ratio: Floats, epsilon: float, seen: NDArray[np.bool_]) -> Floats:
    """Return the log-ratios one step nearer to the target, for every piece of knowledge (first axis).

    An output's probability as a function of the next state varies by at most e^epsilon times what the records after it
    add: q_y / q_z <= B_yz. The largest (K q)_x / (K q)_x' over all such q is bounded by keeping only what relates q to
    one state, q_z / B_zy <= q_y <= B_yz q_z, or only the largest of all B; within such a box the states that x makes
    likelier than x' take the upper end. The smallest of these bounds is taken; with two states it is exact.
    ``seen`` are the next states that what is known allows; pairs of present states of which one is not allowed (a row
    of zeros) have no ratio: 0.
    """
    size = kernel.shape[1]
    shape = (kernel.shape[0], size, size, size)
    laws = [np.broadcast_to(k, shape) for k in (kernel[:, :, None], kernel[:, None])]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        likelier = np.where(laws[1] > 0.0, laws[0] / laws[1], np.where(laws[0] > 0.0, np.inf, -1.0))
    order = np.argsort(-likelier, axis=-1, kind="stable")
    low, high = _boxes(ratio, epsilon, seen)
    rows = np.arange(kernel.shape[0])[:, None, None, None, None]
    boxes = np.arange(size + 1)[None, None, None, :, None]
    place = order[:, :, :, None, :]
    low, high = low[rows, boxes, place], high[rows, boxes, place]
    both = []
    for law in laws:
        with np.errstate(divide="ignore"):
            weight = np.log(np.take_along_axis(law, order, axis=-1))[:, :, :, None, :]
        top = np.logaddexp.accumulate(weight + high, axis=-1)[..., :-1]
        rest = np.logaddexp.accumulate((weight + low)[..., ::-1], axis=-1)[..., ::-1][..., 1:]
        both.append(np.logaddexp(top, rest))
    with np.errstate(invalid="ignore"):
        found = np.maximum(both[0] - both[1], 0.0).max(axis=-1)
    hubs = np.concatenate([seen, np.ones((seen.shape[0], 1), dtype=bool)], axis=1)
    found = np.where(hubs[:, None, None, :], found, np.inf).min(axis=-1)
    possible = kernel.sum(axis=-1) > 0.0
    return np.where(possible[:, :, None] & possible[:, None, :], found, 0.0)


def _boxes(ratio: Floats, epsilon: float, seen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return logarithms of the ends of every box: one for each state that q is related to, one for the largest B."""
    size = ratio.shape[1]
    spread = np.where(seen[:, :, None] & seen[:, None, :], ratio + epsilon, 0.0)
    spread[:, np.arange(size), np.arange(size)] = 0.0
    widest = spread.max(axis=(1, 2))[:, None]
    low = np.concatenate([-spread, np.zeros((ratio.shape[0], 1, size))], axis=1)
    high = np.concatenate([spread.transpose(0, 2, 1), np.repeat(widest[:, :, None], size, axis=2)], axis=1)
    return low, high


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
        best = max(best, _tilted(chain, tilt))
    return max(best, 0.0)


def _tilted(chain: Chain, tilt: Floats) -> float:
    """Return the largest ln E[prod tilt | x_i] - ln E[prod tilt | x_i'] over records and states."""
    P, w, n = np.asarray(chain.transitions), np.asarray(chain.initial), chain.length
    after = _powers(P * tilt[None, :], np.ones(P.shape[0]), n)[::-1]  # of the records after each one
    past = _powers((P * tilt[:, None]).T, w, n)  # Pr[x_i] times E[tilt of the records before]
    laws = _powers(P.T, w, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(after) + np.log(past) - np.log(laws) + np.log(tilt)  # up to a constant for each record
    log[laws <= 0.0] = np.nan
    return float(np.max(np.nanmax(log, axis=1) - np.nanmin(log, axis=1)))


def _powers(step: Floats, start: Floats, count: int) -> Floats:
    """Return start, step start, step^2 start, ..., each scaled to a largest entry of 1."""
    found = np.empty((count, start.size))
    now = start / start.max()
    for i in range(count):
        found[i] = now
        fresh = step @ now
        fresh = fresh / fresh.max()
        if float(np.abs(fresh - now).max()) <= STILL:
            found[i + 1 :] = fresh
            break
        now = fresh
    return found
