"""Work in pieces with seeds of their own: the same result for any number of threads, and progress to show."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["in_pieces"]

T = TypeVar("T")


def in_pieces(
    work: Callable[[int, np.random.Generator], T],
    total: int,
    size: int,
    root: np.random.SeedSequence,
    *,
    stage: int = 0,
    workers: int = 1,
) -> Iterator[tuple[int, T]]:
    """Yield (how many, result) of ``work(how many, rng)`` for pieces of ``size`` that add up to ``total``, in order.

    Piece k of a stage has the seed (root, stage, k), whoever does it; a few pieces are under way at a time.

    Examples
    --------
    >>> root = np.random.SeedSequence(1)
    >>> [n for n, _ in in_pieces(lambda n, rng: rng.random(n), 5, 2, root, workers=2)]
    [2, 2, 1]
    """
    sizes = [min(size, total - start) for start in range(0, total, size)]

    def piece(number: int) -> T:
        key = (*root.spawn_key, stage, number)
        return work(sizes[number], np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=key)))

    if workers == 1 or len(sizes) == 1:
        for number, count in enumerate(sizes):
            yield count, piece(number)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        waiting = [pool.submit(piece, k) for k in range(min(workers + 1, len(sizes)))]
        for number, count in enumerate(sizes):
            result = waiting.pop(0).result()
            following = number + workers + 1
            if following < len(sizes):
                waiting.append(pool.submit(piece, following))
            yield count, result
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
