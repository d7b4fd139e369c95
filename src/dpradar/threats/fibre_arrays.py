"""All fibres of a goal that names cells of a partition, as arrays: a million sparse groups without a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, overload

from ..numerics.lazy_numpy import Array, Floats, Ints, np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .hit_classes import Block

__all__ = ["Blocks", "FibreArrays", "fibre_arrays"]


@dataclass(frozen=True, eq=False)
class FibreArrays:
    """The fibres of two or more members, one after the other; in each the cells, one after the other.

    ``classes`` are the positions where a cell of a fibre begins, ``fibres`` those where a fibre does.
    """

    guesses: int
    members: Ints
    classes: Ints
    fibres: Ints

    @cached_property
    def first(self) -> Ints:
        """The number of the first class of each fibre."""
        return np.searchsorted(self.classes, self.fibres)

    @cached_property
    def sizes(self) -> Ints:
        """The number of members of each fibre."""
        return np.asarray(np.diff(np.r_[self.fibres, self.members.size]))

    @cached_property
    def cells(self) -> Ints:
        """The number of classes of each fibre."""
        return np.asarray(np.diff(np.r_[self.first, self.classes.size]))

    @property
    def misses(self) -> Ints:
        """The number of guesses that are right for no member of each fibre."""
        return self.guesses - self.cells

    def class_of(self, values: Array) -> Array:
        """Return for each member the entry of its class."""
        return np.repeat(values, np.diff(np.r_[self.classes, self.members.size]), axis=0)

    def fibre_of(self, values: Array) -> Array:
        """Return for each member the entry of its fibre."""
        return np.repeat(values, self.sizes, axis=0)

    def sums(self, rows: Floats) -> Floats:
        """Return for each class the sum of the rows of its members."""
        return np.asarray(np.add.reduceat(rows, self.classes, axis=0))

    def totals(self, rows: Array) -> Array:
        """Return for each fibre the sum of the rows of its members."""
        return np.asarray(np.add.reduceat(rows, self.fibres, axis=0))

    def over_classes(self, combine: np.ufunc, values: Array) -> Array:
        """Return for each fibre its classes' entries combined."""
        return np.asarray(combine.reduceat(values, self.first, axis=0))

    def best(self, rows: Floats) -> Floats:
        """Return for each fibre the largest class sum; at least 0 where some guess misses the fibre."""
        top = self.over_classes(np.maximum, self.sums(rows))
        missed = (self.misses > 0).reshape(-1, *([1] * (top.ndim - 1)))
        return np.where(missed, np.maximum(top, 0.0), top)


class Blocks(Sequence["Block"]):
    """The fibres as blocks, each made when it is looked at."""

    def __init__(self, parts: FibreArrays, build: Callable[[Ints, Ints, int], Block]) -> None:
        self._parts = parts
        self._make = build

    def __len__(self) -> int:
        return int(self._parts.fibres.size)

    @overload
    def __getitem__(self, index: int) -> Block: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Block, ...]: ...

    def __getitem__(self, index: int | slice) -> Block | tuple[Block, ...]:
        if isinstance(index, slice):
            return tuple(self._block(i) for i in range(*index.indices(len(self))))
        return self._block(range(len(self))[index])

    def __iter__(self) -> Iterator[Block]:
        return map(self._block, range(len(self)))

    def _block(self, number: int) -> Block:
        parts = self._parts
        start, first = int(parts.fibres[number]), int(parts.first[number])
        size, cells = int(parts.sizes[number]), int(parts.cells[number])
        low = parts.classes[first : first + cells] - start
        return self._make(parts.members[start : start + size], low, parts.guesses)


def fibre_arrays(codes: Ints, cells: Ints, guesses: int) -> tuple[Ints, FibreArrays]:
    """Return the members of the fibres of one, and the other fibres, both in the order of the codes."""
    order = np.lexsort((cells, codes))
    code, cell = codes[order], cells[order]
    new = np.r_[True, code[1:] != code[:-1]]
    alone = new & np.r_[new[1:], True]
    not_alone = ~alone
    members, code, cell = order[not_alone], code[not_alone], cell[not_alone]
    fibre = np.r_[True, code[1:] != code[:-1]] if code.size else np.empty(0, dtype=bool)
    begins = fibre | np.r_[True, cell[1:] != cell[:-1]] if code.size else fibre
    parts = FibreArrays(guesses, members, np.flatnonzero(begins), np.flatnonzero(fibre))
    return order[alone], parts
