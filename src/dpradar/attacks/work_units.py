"""Work split into units with seeds of their own: the same result for any number of workers, with progress."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from ..numerics.lazy_numpy import np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["WorkUnits"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class WorkUnits(Generic[T]):
    """``work(how many, rng)`` on pieces of ``size`` that add up to ``total``.

    Piece k of a stage has the seed (root, stage, k), whichever process runs it, and whatever the total is.

    Examples
    --------
    >>> root = np.random.SeedSequence(1)
    >>> pieces = WorkUnits(lambda n, rng: rng.random(n), 5, 2, root)
    >>> [n for n, _ in pieces.run(workers=2)], len(pieces)
    ([2, 2, 1], 3)
    >>> bool((pieces.piece(1) == list(pieces.run())[1][1]).all())
    True
    """

    work: Callable[[int, np.random.Generator], T]
    total: int
    size: int
    root: np.random.SeedSequence
    stage: int = 0

    def __len__(self) -> int:
        return (self.total + self.size - 1) // self.size

    def count(self, number: int) -> int:
        """Return how many belong to a piece: ``size``, or what is left for the last one."""
        return min(self.size, self.total - number * self.size)

    def piece(self, number: int) -> T:
        """Return the result of one piece."""
        key = (*self.root.spawn_key, self.stage, number)
        seed = np.random.SeedSequence(self.root.entropy, spawn_key=key)
        return self.work(self.count(number), np.random.default_rng(seed))

    def run(self, workers: int = 1) -> Iterator[tuple[int, T]]:
        """Yield (how many, result) of all pieces in order; a few threads work at a time."""
        if workers == 1 or len(self) == 1:
            for number in range(len(self)):
                yield self.count(number), self.piece(number)
            return
        pool = ThreadPoolExecutor(workers)
        try:
            waiting = [pool.submit(self.piece, k) for k in range(min(workers + 1, len(self)))]
            for number in range(len(self)):
                result = waiting.pop(0).result()
                following = number + workers + 1
                if following < len(self):
                    waiting.append(pool.submit(self.piece, following))
                yield self.count(number), result
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
