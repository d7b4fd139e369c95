"""How long a chain remembers: mixing times, and transition matrices counted from streams."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..numerics.lazy_numpy import ArrayLike, Floats, np
from ..params import Param, as_floats

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

__all__ = ["mixing_time", "transitions"]

_TOLERANCE = Param(
    name="tolerance", low=0.0, high=1.0, low_open=True, high_open=True, what="the total variation that still matters"
)
_CLOSE = 1e-9
_MOST_STATES = 2_000


def mixing_time(matrix: ArrayLike, tolerance: float = 0.25) -> float:
    """Return after how many steps a chain is within ``tolerance`` of its stationary law, from wherever it starts.

    Total variation. Infinite for a chain that does not settle: one that falls into parts, or that alternates.

    Notes
    -----
    For two states it is the least t with max(w_0, w_1) |lambda_2|^t <= tolerance.

    Examples
    --------
    >>> activity = [[0.882412, 0.117588], [0.304706, 0.695294]]
    >>> mixing_time(activity), mixing_time(activity, 0.01)
    (2.0, 8.0)
    """
    tolerance = _TOLERANCE.check("mixing_time", tolerance)
    step = _checked_matrix(matrix)
    sizes = np.sort(np.abs(np.linalg.eigvals(step)))[::-1]
    if len(sizes) > 1 and sizes[1] > 1.0 - _CLOSE:
        return math.inf
    stationary = _stationary(step)

    def far(power: Floats) -> float:
        return float(0.5 * np.abs(power - stationary).sum(axis=1).max())

    powers, steps = [step], [1]
    while far(powers[-1]) > tolerance:
        square = powers[-1] @ powers[-1]
        powers.append(square / square.sum(axis=1, keepdims=True))
        steps.append(2 * steps[-1])
    if len(powers) == 1:
        return 1.0
    current, time = powers[-2], steps[-2]  # binary digits from the top, as the distance never grows
    for power, count in zip(powers[-3::-1], steps[-3::-1], strict=True):
        further = current @ power
        if far(further) > tolerance:
            current, time = further, time + count
    return float(time + 1)


def _checked_matrix(matrix: ArrayLike) -> Floats:
    hint = "Row i has the probabilities of the next state after state i."
    array = as_floats("mixing_time.matrix", "a square matrix of probabilities", matrix, hint)
    square = array.ndim == 2 and array.shape[0] == array.shape[1] > 0
    if not square or array.min() < 0.0 or np.abs(array.sum(axis=1) - 1.0).max() > _CLOSE:
        raise ParameterError("mixing_time.matrix", "a square matrix of probabilities", f"shape {array.shape}", hint)
    if len(array) > _MOST_STATES:
        raise ParameterError(
            "mixing_time.matrix", f"of at most {_MOST_STATES:,} states", f"{len(array):,}", "Group them."
        )
    return np.asarray(array / array.sum(axis=1, keepdims=True))


def _stationary(power: Floats) -> Floats:
    count = len(power)
    system = np.vstack([power.T - np.eye(count), np.ones(count)])
    solution, *_ = np.linalg.lstsq(system, np.append(np.zeros(count), 1.0), rcond=None)
    return np.asarray(solution)


def transitions(
    stream: Mapping[Any, Mapping[int, Any]], state: Callable[[Any], Hashable] | None = None
) -> tuple[Floats, tuple[Hashable, ...]]:
    """Return the share of moves between states at successive times, counted over all users, and the states.

    States that nothing is seen to follow are left out, with the moves into them.

    Examples
    --------
    >>> matrix, states = transitions({"ann": {1: "a", 2: "b", 3: "a", 4: "a", 5: "b"}})
    >>> states, matrix.round(3).tolist()
    (('a', 'b'), [[0.333, 0.667], [1.0, 0.0]])
    """
    moves: dict[tuple[Hashable, Hashable], int] = {}
    for row in stream.values():
        for time, value in row.items():
            if time + 1 in row:
                pair = (value, row[time + 1]) if state is None else (state(value), state(row[time + 1]))
                moves[pair] = moves.get(pair, 0) + 1
    states: set[Hashable] = {source for source, _ in moves}
    while True:  # a state that is left with no move goes too
        closed = {source for (source, target) in moves if source in states and target in states}
        if closed == states:
            break
        states = closed
    names = tuple(sorted(states, key=repr))
    place = {name: k for k, name in enumerate(names)}
    table = np.zeros((len(names), len(names)))
    for (source, target), count in moves.items():
        if source in place and target in place:
            table[place[source], place[target]] = count
    return table / table.sum(axis=1, keepdims=True) if names else table, names
