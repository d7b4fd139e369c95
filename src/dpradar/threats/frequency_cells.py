"""Frequencies that several tables share, so that what is computed from them does not single out one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..numerics.lazy_numpy import Floats, np

if TYPE_CHECKING:
    from .prior import Prior

__all__ = ["FrequencyCells", "cells_of", "rounded_prior"]

_ROWS = 5  # how many neighbouring counts of a value become one
_FEWEST = 2  # a step of one row rounds nothing
_FURTHEST = 0.005  # how far a prior may be moved, in total variation
_DIGITS = 9  # of a number of rows, which is a quotient times a whole number


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyCells:
    """Between which frequencies those of a table lie, ``middle`` inside, and how far it is from them at most.

    ``distance`` is in total variation and, like the other fields, the same for all tables of these cells.
    """

    step: int  # rows
    low: Floats
    middle: Floats
    high: Floats
    distance: float


def cells_of(probabilities: Floats, rows: int) -> FrequencyCells | None:
    """Return the cells in which the frequencies of a table with this many rows lie; None where none are wide enough.

    Guarantee
    ---------
    Tables without weights in which the first value has any of ``step`` counts share their cells. The prior moves by at
    most ``_FURTHEST`` where every value has more rows than a few steps, and by less than four steps in any case.

    Notes
    -----
    Values are taken in order, and the last one has what is left. A value whose count leaves less than a step for those
    after it is in the last cell, which reaches up to all rows that may be left: so no cell is cut off by the others.
    The total variation is what some values have above their middles. Those before the last cell move by half a step
    each; what is left of the rows for the others differs from the sum of their middles by as much in the other
    direction, so both together are counted once.

    Examples
    --------
    >>> cells = cells_of(np.array([0.873, 0.127]), 1000)
    >>> cells.step, cells.middle.round(4).tolist(), round(cells.distance, 4)
    (5, [0.8725, 0.1275], 0.0025)
    """
    occupied = np.flatnonzero(probabilities > 0.0)
    step = min(_ROWS, int(2.0 * _FURTHEST * rows / max(occupied.size, 1)))
    if occupied.size < _FEWEST or step < _FEWEST:
        return None
    low, middle, high = (np.zeros(probabilities.size) for _ in range(3))
    least = most = remaining = float(rows)  # what is left for the values that follow: its ends, and from the middles
    distance = 0.0
    for position, place in enumerate(occupied[:-1].tolist(), 1):
        following = occupied[position:]
        last = max(0, int((least - following.size) // step) - 1)  # (each value that follows has a row, too)
        number = min(max(0, math.ceil(round(probabilities[place] * rows, _DIGITS) / step) - 1), last)
        low[place], high[place] = number * step, most if number == last else (number + 1) * step
        if number == last:
            # Half of what is left beyond the lower end, and as much for the others together: at worst a single one of
            # these has all of it.
            middle[place] = (low[place] + remaining) / 2.0
            middle[following], high[following] = (remaining - middle[place]) / following.size, most - low[place]
            distance += remaining - low[place] - float(middle[following[0]])
            break
        middle[place] = (low[place] + high[place]) / 2.0
        distance += step / 2.0
        least, most, remaining = least - high[place], most - low[place], remaining - middle[place]
    else:
        end = occupied[-1]
        low[end], middle[end], high[end] = least, remaining, most
    return FrequencyCells(step, low / rows, middle / rows, high / rows, distance / rows)


def rounded_prior(prior: Prior) -> Prior:
    """Return the prior of a table with its frequencies in the middle of their cells, and how far that is."""
    if prior.measured is None or prior.is_continuous:
        return prior
    cells = cells_of(prior.probabilities, prior.measured.rows)
    if cells is None:
        return prior
    return replace(
        prior,
        probabilities=cells.middle,
        measured=replace(prior.measured, step=cells.step, rounding=cells.distance),
    )
