"""Random bits and random subsets in bulk: what the samplers of local protocols spend their time on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Bools, Ints, np

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["coins", "row_chunks", "subsets"]

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
    remainder = chance * 256.0 - digit
    for start in range(0, bits.size, _CACHE):
        chunk = bits[start : start + _CACHE]
        words = -(-chunk.size // 8)
        raw = rng.integers(0, (1 << 64) - 1, size=words, dtype=np.uint64, endpoint=True).view(np.uint8)[: chunk.size]
        np.less(raw, np.uint8(digit), out=chunk)
        if remainder > 0.0:
            open_ = np.flatnonzero(raw == np.uint8(digit))
            chunk[open_] = rng.random(open_.size) < remainder
    return np.asarray(bits.reshape(rows, columns))


def subsets(rng: np.random.Generator, columns: int, size: int, true_values: Ints, includes_true: Bools) -> Bools:
    """Return ``size`` members per row: the own column where it is kept, and a uniform choice of the others.

    Independent coins give a uniform subset of about the right size; random others are then put in, or random members
    taken out, one by one, which keeps it uniform.

    Examples
    --------
    >>> sets = subsets(np.random.default_rng(1), 10, 3, np.array([0, 9]), np.array([True, False]))
    >>> sets.sum(axis=1).tolist(), bool(sets[0, 0]), bool(sets[1, 9])
    ([3, 3], True, False)
    """
    rows = true_values.size
    bits = coins(rng, rows, columns, size / columns)
    bits[np.arange(rows), true_values] = includes_true
    missing = size - np.count_nonzero(bits, axis=1)
    _add_members(rng, bits, missing, true_values)
    surplus = np.flatnonzero(missing < 0)
    bits[surplus] = _remove_members(rng, bits[surplus], -missing[surplus], true_values[surplus])
    return bits


def _add_members(rng: np.random.Generator, bits: Bools, missing: Ints, true_values: Ints) -> None:
    """Put random new members into the rows that miss some; the own column is left as it is."""
    columns = bits.shape[1]
    flat = bits.reshape(-1)
    open_rows = np.flatnonzero(missing > 0)
    while open_rows.size:
        column = rng.integers(0, columns, size=open_rows.size)
        at = open_rows * columns + column
        new = ~flat[at] & (column != true_values[open_rows])
        flat[at[new]] = True
        missing[open_rows[new]] -= 1
        open_rows = open_rows[missing[open_rows] > 0]


def _remove_members(rng: np.random.Generator, bits: Bools, surplus: Ints, true_values: Ints) -> Bools:
    """Return the rows after this many random members of each are removed; the true value's column stays as it is.

    Members are listed, so that one is hit at the first try, also where they are rare.
    """
    rows, columns = bits.shape
    flat, protected = bits.reshape(-1), np.arange(rows) * columns + true_values
    members = np.flatnonzero(flat)
    count = np.count_nonzero(bits, axis=1)
    first = np.cumsum(count) - count
    open_rows = np.arange(rows)
    while open_rows.size:
        at = members[first[open_rows] + (rng.random(open_rows.size) * count[open_rows]).astype(np.intp)]
        removed = flat[at] & (at != protected[open_rows])
        flat[at[removed]] = False
        surplus[open_rows[removed]] -= 1
        open_rows = open_rows[surplus[open_rows] > 0]
    return bits
