"""Chains with any number of states: what the records on one side of a target add to the leakage, step by step.

The recursion, and why it may end before the series does, is in docs/derivations/correlated.md.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ..errors import NumericsError
from ..numerics.lazy_numpy import Bools, Floats, np
from .convergence import Schedule, change_bound, drift, hilbert_distance
from .models import SMALLEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .models import Chain

__all__ = ["SideBounds", "many_state_sides"]

_SAME = 1e-15  # a chain that reads the same in both directions
_UNIT = 4.0 * sys.float_info.epsilon
_LINEAR = 500.0  # logarithms of numbers that can be added as they are
Step = tuple[Floats, Bools, Floats, Floats]  # kernel, allowed next states, knowledge before and after


@dataclass(frozen=True, slots=True)
class SideBounds:
    """Leakage of the target's value through the records on one side, by how many records there are.

    ``log_ratio[L][x, y]``: no output is more than e^that likelier given x than given y because of the records on this
    side, when there are L of them and the attacker knows any of them. The last matrix holds for all larger L.
    """

    log_ratio: list[Floats]

    def at(self, count: int) -> Floats:
        """Return the matrix for this many records."""
        return self.log_ratio[min(count, len(self.log_ratio) - 1)]


def many_state_sides(chain: Chain, epsilon: float) -> tuple[SideBounds, SideBounds]:
    """Return what the records before and after the target add."""
    P, w = np.asarray(chain.transitions), np.asarray(chain.initial)
    most, factor = chain.length - 1, drift(P, chain.length)
    after = _accumulate(_steps_right(P), most, epsilon, factor)
    if chain.is_stationary and np.abs(_reverse_chain(P, w) - P).max() <= _SAME:
        return after, after
    return _accumulate(_steps_left(P, w), most, epsilon, factor), after


def _accumulate(sequence: Iterator[Step], most: int, epsilon: float, factor: float) -> SideBounds:
    """Return the leakage through 0, 1, 2, ... records: the worst knowledge among them, or none.

    Knowledge comes first in all arrays: a nearest known record in each of the states, as far away as there are
    records, and last no knowledge, where all records are unknown.
    """
    kernel, possible, before, after = next(sequence)
    size = kernel.shape[1]
    ratios = np.zeros(kernel.shape)
    rows, best = [np.zeros((size, size))], np.zeros((size, size))
    schedule = Schedule(epsilon)
    for count in range(1, most + 1):
        if schedule.due(count):
            distance = float(hilbert_distance(before, after).max())  # of the knowledge behind this step and the next
            stays = partial(_is_certified, kernel, possible, ratios, epsilon, factor * distance)
            pad = schedule.certified(count, stays)
            if pad is not None:
                last = np.where(_allowed_pairs(kernel), ratios + pad, 0.0)
                rows.append(np.maximum(np.maximum(best, last[:-1].max(axis=0)), last[-1]))
                break
        ratios = _push(kernel, ratios, epsilon, possible)
        if count == 1:
            ratios[:-1] = 0.0  # a known neighbour carries all the information there is
        best = np.maximum(best, ratios[:-1].max(axis=0))
        rows.append(np.maximum(best, ratios[-1]))
        kernel, possible, before, after = next(sequence)
    return SideBounds(rows)


def _is_certified(kernel: Floats, possible: Bools, ratios: Floats, epsilon: float, distance: float, pad: float) -> bool:
    """Return whether ratios that are larger by ``pad`` bound all later ones: one step brings them back below.

    A step is monotone in the ratios; later kernels differ from this one by e^distance at most.
    """
    larger = np.where(_allowed_pairs(kernel), ratios + pad, 0.0)
    larger[:, np.arange(larger.shape[1]), np.arange(larger.shape[1])] = 0.0
    more = change_bound(distance, epsilon + float(larger.max()))
    return bool(np.all(_push(kernel, larger, epsilon, possible) + more <= ratios + pad))


def _allowed_pairs(kernel: Floats) -> Bools:
    """Return the pairs of present states that what is known allows, without equal ones."""
    possible = kernel.sum(axis=-1) > 0.0
    both = possible[:, :, None] & possible[:, None, :]
    both[:, np.arange(kernel.shape[1]), np.arange(kernel.shape[1])] = False
    return np.asarray(both)


# Steps away from the target, given what is known further on.


def _check_positive(product: Floats, possible: Bools) -> None:
    if np.any(possible & (product < SMALLEST)):
        quantity = "a Markov chain: the probability of what the attacker knows"
        raise NumericsError(quantity, f"numbers above {SMALLEST:g}", "smaller ones")


def _scale_rows(rows: Floats) -> Floats:
    top = rows.max(axis=1, keepdims=True)
    return np.asarray(np.divide(rows, top, out=np.zeros_like(rows), where=top > 0.0))


def _steps_right(P: Floats) -> Iterator[Step]:
    """Yield the steps to the right (Doob's transform): ``knowledge[k, y]`` is Pr[what is known | y], up to a factor."""
    size = P.shape[0]
    knowledge = np.vstack([np.eye(size), np.ones((1, size))])
    while True:
        product = P[None] * knowledge[:, None, :]
        _check_positive(product, (P > 0.0)[None] & (knowledge > 0.0)[:, None, :])
        total = product.sum(axis=-1)
        kernel = np.divide(product, total[:, :, None], out=product, where=total[:, :, None] > 0.0)
        after = _scale_rows(total)
        after[-1] = 1.0  # nothing is known: no rounding
        yield kernel, knowledge > 0.0, knowledge, after
        knowledge = after


def _steps_left(P: Floats, w: Floats) -> Iterator[Step]:
    """Yield the steps to the left: ``laws[k, y]`` is Pr[y | what is known, or the start], up to a factor."""
    laws = np.vstack([np.eye(P.shape[0]), w[None]])
    while True:
        product = P.T[None] * laws[:, None, :]  # present x, record before it y: Pr[y, x]
        _check_positive(product, (P.T > 0.0)[None] & (laws > 0.0)[:, None, :])
        total = product.sum(axis=-1)
        kernel = np.divide(product, total[:, :, None], out=product, where=total[:, :, None] > 0.0)
        after = _scale_rows(total)
        yield kernel, laws > 0.0, laws, after
        laws = after


def _reverse_chain(P: Floats, w: Floats) -> Floats:
    """Return the chain read backwards; a state that never occurs stays where it is."""
    flow = (w[:, None] * P).T
    occurs = flow.sum(axis=1)
    back = np.eye(P.shape[0])
    back[occurs > 0.0] = flow[occurs > 0.0] / occurs[occurs > 0.0, None]
    return back


# One step.


def _push(kernel: Floats, ratio: Floats, epsilon: float, possible: Bools) -> Floats:
    """Return the log-ratios one step nearer to the target, for every piece of knowledge (first axis).

    An output's probability as a function of the next state varies by at most e^epsilon times what the records after it
    add: q_y / q_z <= B_yz. The largest (K q)_x / (K q)_x' over all such q is bounded by keeping only what relates q to
    one state, q_z / B_zy <= q_y <= B_yz q_z, or only the largest of all B; within such a box the states that x makes
    likelier than x' take the upper end. The smallest of these bounds is taken, and rounded up.
    ``possible`` are the next states that what is known allows; pairs of present states of which one is not allowed (a
    row of zeros) have no ratio: 0.
    """
    size = kernel.shape[1]
    shape = (kernel.shape[0], size, size, size)
    laws = [np.broadcast_to(k, shape) for k in (kernel[:, :, None], kernel[:, None])]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        likelier = np.where(laws[1] > 0.0, laws[0] / laws[1], np.where(laws[0] > 0.0, np.inf, -1.0))
    order = np.argsort(-likelier, axis=-1, kind="stable")
    ends = _boxes(ratio, epsilon, possible)
    smallest = float(kernel.min(where=kernel > 0.0, initial=1.0))
    small = float(ends[1].max()) - math.log(smallest) < _LINEAR
    low, high = (np.exp(end) for end in ends) if small else ends
    rows = np.arange(kernel.shape[0])[:, None, None, None, None]
    boxes = np.arange(size + 1)[None, None, None, :, None]
    place = order[:, :, :, None, :]
    low, high = low[rows, boxes, place[..., 1:]], high[rows, boxes, place[..., :-1]]
    corners = _sums if small else _sums_of_logarithms
    sums = [corners(np.take_along_axis(law, order, axis=-1)[:, :, :, None, :], low, high) for law in laws]
    with np.errstate(invalid="ignore"):
        ratios = np.maximum(sums[0] - sums[1], 0.0).max(axis=-1)
    hubs = np.concatenate([possible, np.ones((possible.shape[0], 1), dtype=bool)], axis=1)
    ratios = np.where(hubs[:, None, None, :], ratios, np.inf).min(axis=-1)
    return np.where(_allowed_pairs(kernel), ratios + _UNIT * size * (1.0 + ratios), 0.0)


def _sums(law: Floats, low: Floats, high: Floats) -> Floats:
    """Return ln of the sum with the first 1, 2, ... states at the upper end and the others at the lower."""
    top = np.cumsum(law[..., :-1] * high, axis=-1)
    upper_tail = np.cumsum((law[..., 1:] * low)[..., ::-1], axis=-1)[..., ::-1]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(top + upper_tail))


def _sums_of_logarithms(law: Floats, low: Floats, high: Floats) -> Floats:
    """As :func:`_sums`, for ends of any size, given as logarithms."""
    with np.errstate(divide="ignore"):
        weight = np.log(law)
    top = np.logaddexp.accumulate(weight[..., :-1] + high, axis=-1)
    upper_tail = np.logaddexp.accumulate((weight[..., 1:] + low)[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray(np.logaddexp(top, upper_tail))


def _boxes(ratio: Floats, epsilon: float, possible: Bools) -> tuple[Floats, Floats]:
    """Return logarithms of the ends of every box: one for each state that q is related to, one for the largest B."""
    size = ratio.shape[1]
    spread = np.where(possible[:, :, None] & possible[:, None, :], ratio + epsilon, 0.0)
    spread[:, np.arange(size), np.arange(size)] = 0.0
    widest = spread.max(axis=(1, 2))[:, None]
    low = np.concatenate([-spread, np.zeros((ratio.shape[0], 1, size))], axis=1)
    high = np.concatenate([spread.transpose(0, 2, 1), np.repeat(widest[:, :, None], size, axis=2)], axis=1)
    return low, high
