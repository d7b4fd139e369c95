"""Wrong values for the fields of plain data, put in one at a time."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

MISSING = object()
VALUES = (
    *(None, True, -1, 7, 2**70, 10**400, -0.5, 1e308, math.nan, math.inf, -math.inf),
    *("", "x", "inf", "nan", [], [None], {}, {"a": 1}, MISSING),
)


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where every field is; of long lists the first entries."""
    if isinstance(data, dict):
        fields = list(data.items())
    else:
        fields = list(enumerate(data[:2])) if isinstance(data, list) else []
    for key, value in fields:
        yield (*path, key)
        yield from places(value, (*path, key))


def changed(data: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Return the data with another value in one place, or without it."""
    new = copy.deepcopy(data)
    inside = new
    for key in place[:-1]:
        inside = inside[key]
    if value is MISSING:
        del inside[place[-1]]
    else:
        inside[place[-1]] = value
    return new


def some(data: Any, count: int, seed: int) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield places and wrong values for them: all, or so many that are drawn at random."""
    pairs = [(place, value) for place in places(data) for value in VALUES]
    chosen = np.random.default_rng(seed).permutation(len(pairs))[:count]
    yield from (pairs[k] for k in chosen)
