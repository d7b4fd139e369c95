"""Random bits and random subsets in bulk: what the samplers of local protocols spend their time on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["coins", "row_chunks", "subsets"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]
_CHUNK = 4_000_000  # bits worked on at once
_DENSE = 0.1  # the share of members from which taking one out by trial is quick


def row_chunks(rows: int, columns: int, entries: int = _CHUNK) -> Iterator[slice]:
    """Yield slices of at most about ``entries`` entries that cover the rows.

    Examples
    --------
    >>> list(row_chunks(5, 10, entries=20))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, entries // max(columns, 1))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def coins(rng: np.random.Generator, rows: int, columns: int, chance: float) -> Bools:
    """Return independent bits that are 1 with probability ``chance``, to the precision of a double.

    One random byte a bit is compared with the first eight binary digits of the chance; where they are equal, one time
    in 256, the further digits decide.

    Examples
    --------
    >>> bool(abs(coins(np.random.default_rng(1), 100, 1000, 0.3).mean() - 0.3) < 0.01)
    True
    """
    count = rows * columns
    digit = min(int(chance * 256.0), 255)
    rest = chance * 256.0 - digit
    raw = rng.integers(0, (1 << 64) - 1, size=-(-count // 8), dtype=np.uint64, endpoint=True).view(np.uint8)[:count]
    bits = raw < np.uint8(digit)
    if rest > 0.0:
        open_ = np.flatnonzero(raw == np.uint8(digit))
        bits[open_] = rng.random(open_.size) < rest
    return np.asarray(bits.reshape(rows, columns))


def subsets(rng: np.random.Generator, columns: int, size: int, own: Ints, kept: Bools) -> Bools:
    """Return ``size`` members per row: the own column where it is kept, and a uniform choice of the others.

    Independent coins give a uniform subset of about the right size; random others are then put in, or random members
    taken out, one by one, which keeps it uniform.

    Examples
    --------
    >>> sets = subsets(np.random.default_rng(1), 10, 3, np.array([0, 9]), np.array([True, False]))
    >>> sets.sum(axis=1).tolist(), bool(sets[0, 0]), bool(sets[1, 9])
    ([3, 3], True, False)
    """
    rows = own.size
    # Where members are rare one is hard to hit, so rather have too few of them at first.
    typical = size if size >= _DENSE * columns else max(0.0, size - 3.0 * math.sqrt(size))
    bits = coins(rng, rows, columns, typical / columns)
    bits[np.arange(rows), own] = kept
    missing = size - np.count_nonzero(bits, axis=1)
    flat = bits.reshape(-1)
    left = np.flatnonzero(missing)
    while left.size:
        column = rng.integers(0, columns, size=left.size)
        at = left * columns + column
        put = missing[left] > 0
        changed = (flat[at] != put) & (column != own[left])
        flat[at[changed]] = put[changed]
        missing[left] -= np.where(changed, np.where(put, 1, -1), 0)
        left = left[missing[left] != 0]
    return bits
