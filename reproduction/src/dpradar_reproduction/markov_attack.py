"""The CORR attack of [SauerThesis] (Attack 4), exactly: believe a report that can follow the known last place.

What is exact: for a record (last place, place now) the report is believed if it is one of the few places the Markov
model leads to, else the guess is drawn from the model. So both terms of RAD are sums over the steps of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy.sparse import csr_array

    from .mobility_data import Records

__all__ = ["Steps", "terms"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Every place that the model allows after the last place of every record, one row each."""

    record: Ints
    place: Ints
    chance: Floats

    @classmethod
    def of(cls, records: Records, transitions: csr_array) -> Steps:
        """Return the steps of the model from the last places of the records."""
        start, stop = transitions.indptr[records.last], transitions.indptr[records.last + 1]
        count = stop - start
        record = np.repeat(np.arange(count.size), count)
        first = np.cumsum(count) - count
        at = np.repeat(start, count) + np.arange(record.size) - first[record]
        return cls(record, transitions.indices[at].astype(np.int64), np.asarray(transitions.data[at]))


def terms(
    records: Records,
    steps: Steps,
    threshold: float,
    *,
    likely: Callable[[Ints, Ints], Floats],
    law: Floats,
    near: Callable[[Ints, Ints], NDArray[np.bool_]],
) -> tuple[float, float]:
    """Return ReRo and its correction, exactly.

    ``likely(v, y)`` is the probability of the report y from place v, ``law`` that of each report from a random target,
    ``near(v, y)`` whether the guess y counts as right for v.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from dpradar_reproduction.mobility_data import Records
    >>> sure = Records(np.array([0, 1]), np.array([1, 0]), np.array([0.5, 0.5]))
    >>> steps = Steps.of(sure, csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])))
    >>> same = lambda v, y: v == y
    >>> terms(sure, steps, 0.0, likely=lambda v, y: np.where(v == y, 0.75, 0.25), law=np.array([0.5, 0.5]), near=same)
    (1.0, 1.0)
    """
    size = records.now.size
    now = records.now[steps.record]
    right = near(now, steps.place)
    fallback = np.bincount(steps.record, steps.chance * right, minlength=size)
    believed = steps.chance > threshold
    successes = []
    for chance in (likely(now, steps.place), law[steps.place]):
        taken = np.where(believed, chance, 0.0)
        hits = np.bincount(steps.record, taken * right, minlength=size)
        rest = 1.0 - np.bincount(steps.record, taken, minlength=size)
        successes.append(float(records.weight @ (hits + rest * fallback)))
    return successes[0], successes[1]
