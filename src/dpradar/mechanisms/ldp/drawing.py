"""Random bits and random subsets in bulk: what the samplers of local protocols spend their time on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["coins", "row_chunks", "subsets"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]
_CHUNK = 8_000_000  # bits worked on at once
_CACHE = 128_000  # random bytes that stay near the processor


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
    bits = np.empty(rows * columns, dtype=bool)
    digit = min(int(chance * 256.0), 255)
    rest = chance * 256.0 - digit
    for start in range(0, bits.size, _CACHE):
        piece = bits[start : start + _CACHE]
        words = -(-piece.size // 8)
        raw = rng.integers(0, (1 << 64) - 1, size=words, dtype=np.uint64, endpoint=True).view(np.uint8)[: piece.size]
        np.less(raw, np.uint8(digit), out=piece)
        if rest > 0.0:
            open_ = np.flatnonzero(raw == np.uint8(digit))
            piece[open_] = rng.random(open_.size) < rest
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
    bits = coins(rng, rows, columns, size / columns)
    bits[np.arange(rows), own] = kept
    missing = size - np.count_nonzero(bits, axis=1)
    _put_in(rng, bits, missing, own)
    surplus = np.flatnonzero(missing < 0)
    bits[surplus] = _thinned(rng, bits[surplus], -missing[surplus], own[surplus])
    return bits


def _put_in(rng: np.random.Generator, bits: Bools, missing: Ints, own: Ints) -> None:
    """Put random new members into the rows that miss some; the own column is left as it is."""
    columns = bits.shape[1]
    flat = bits.reshape(-1)
    left = np.flatnonzero(missing > 0)
    while left.size:
        column = rng.integers(0, columns, size=left.size)
        at = left * columns + column
        new = ~flat[at] & (column != own[left])
        flat[at[new]] = True
        missing[left[new]] -= 1
        left = left[missing[left] > 0]


def _thinned(rng: np.random.Generator, bits: Bools, surplus: Ints, own: Ints) -> Bools:
    """Return the rows after so many random members of each are taken out; the own column is left as it is.

    Members are listed, so that one is hit at the first try, also where they are rare.
    """
    rows, columns = bits.shape
    flat, kept = bits.reshape(-1), np.arange(rows) * columns + own
    members = np.flatnonzero(flat)
    count = np.count_nonzero(bits, axis=1)
    first = np.cumsum(count) - count
    left = np.arange(rows)
    while left.size:
        at = members[first[left] + (rng.random(left.size) * count[left]).astype(np.intp)]
        gone = flat[at] & (at != kept[left])
        flat[at[gone]] = False
        surplus[left[gone]] -= 1
        left = left[surplus[left] > 0]
    return bits
