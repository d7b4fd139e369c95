"""Which guesses are right for which values, seen separately by each thing the attacker may know.

The attacker who knows x chooses a guess g and is right for the values of the *fibre* {z : a(z) = x} that lie in the
success set of g. Guesses that are right for the same part of the fibre are one class, counted with multiplicity, so
that nobody needs an m x m matrix where success sets are cells of a partition or windows on the line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ..numerics.lazy_numpy import Array, Bools, Floats, Ints, np
from .fibre_arrays import Blocks, FibreArrays, fibre_arrays

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .goal import Goal
    from .prior import Prior

__all__ = ["Block", "Cover", "cover"]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One fibre: its members and the classes of guesses that are right for some of them."""

    members: Ints
    kind: Literal["singletons", "cells", "windows", "matrix"]
    counts: Ints  # guesses in each class
    misses: int  # guesses that are right for no member
    low: Ints | None = None  # first member (position) of each cell or window
    high: Ints | None = None  # one past the last member of each window
    hits: Bools | None = None

    def sums(self, rows: Floats) -> Floats:
        """Return for each class the sum of the rows of the members it is right for."""
        if self.kind == "singletons":
            return rows
        if self.kind == "cells":
            return np.add.reduceat(rows, np.asarray(self.low), axis=0)
        if self.kind == "windows":
            running = np.zeros((rows.shape[0] + 1, *rows.shape[1:]))
            np.cumsum(rows, axis=0, out=running[1:])
            return np.asarray(running[self.high] - running[self.low])
        return np.asarray(np.asarray(self.hits, dtype=float) @ rows)

    def apart(self, rows: Floats, pairs: tuple[Ints, Ints, Ints]) -> Floats:
        """Return, for (class, class, column), the sum of the rows (>= 0) of members only one of them is right for.

        A class number beyond the last stands for a guess that is right for nobody. For a loss matrix members that
        both are right for count too, which is enough where a bound is wanted.
        """
        first_guess, second_guess, column = pairs
        if self.kind == "windows":
            running = np.zeros((rows.shape[0] + 1, *rows.shape[1:]))
            np.cumsum(rows, axis=0, out=running[1:])
            low, high = np.append(self.low, 0), np.append(self.high, 0)  # type: ignore[arg-type]
            first, last = (
                np.maximum(low[first_guess], low[second_guess]),
                np.minimum(high[first_guess], high[second_guess]),
            )
            both = running[np.maximum(first, last), column] - running[first, column]
            either = running[high[first_guess], column] - running[low[first_guess], column]
            either += running[high[second_guess], column] - running[low[second_guess], column]
            return np.asarray(np.maximum(either - 2.0 * both, 0.0))
        sums = np.vstack([self.sums(rows), np.zeros(rows.shape[1])])
        return np.asarray(sums[first_guess, column] + sums[second_guess, column])

    def right(self, classes: Ints, positions: Ints) -> Bools:
        """Return whether each class is right for the member at the position given with it."""
        if self.kind == "singletons":
            return np.asarray(classes == positions)
        if self.kind == "cells":
            return np.asarray(np.searchsorted(np.asarray(self.low), positions, side="right") - 1 == classes)
        if self.kind == "windows":
            low, high = np.asarray(self.low), np.asarray(self.high)
            return np.asarray((low[classes] <= positions) & (positions < high[classes]))
        return np.asarray(np.asarray(self.hits)[classes, positions])

    def best(self, rows: Floats) -> Floats:
        """Return the largest class sum; at least 0 when some guess misses the whole fibre."""
        if self.counts.size == 0:
            return np.zeros(rows.shape[1:])
        top = self.sums(rows).max(axis=0)
        return np.maximum(top, 0.0) if self.misses else np.asarray(top)

    def worst(self, rows: Floats) -> Floats:
        """Return the smallest class sum; 0 at most when some guess misses the whole fibre."""
        if self.counts.size == 0:
            return np.zeros(rows.shape[1:])
        bottom = self.sums(rows).min(axis=0)
        return np.minimum(bottom, 0.0) if self.misses else np.asarray(bottom)


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """All fibres: those of one member at once (``single``), the others as blocks.

    ``parts`` are the same blocks as arrays, where the goal names cells of a partition.
    """

    guesses: int
    single: Ints
    single_hits: Ints  # guesses that are right for each single member
    blocks: Sequence[Block]
    parts: FibreArrays | None = None

    def best_total(self, rows: Floats) -> Floats:
        """Return the sum over the fibres of the best class sum: the success of the best attacker, column by column."""
        single_rows = rows[self.single]
        never = (self.single_hits == 0).reshape(-1, *([1] * (single_rows.ndim - 1)))
        always = (self.single_hits == self.guesses).reshape(never.shape)
        total = np.where(never, 0.0, np.where(always, single_rows, np.maximum(single_rows, 0.0))).sum(axis=0)
        if self.parts is not None:
            return np.asarray(total + self.parts.best(rows[self.parts.members]).sum(axis=0) if self.blocks else total)
        for block in self.blocks:
            total = total + block.best(rows[block.members])
        return np.asarray(total)

    def is_sure(self, pi: Floats) -> bool:
        """Whether in every fibre some guess is right for all members with mass: success is 1 without a release."""
        carried = (pi > 0.0).astype(float)
        return bool(self.best_total(carried) == carried.sum())

    def is_settled(self, pi: Floats) -> bool:
        """Whether every guess scores 0 whatever is released, so that rad is 0.

        In each fibre all guesses are right for the same members with mass, all or none; in a fibre that holds the
        whole prior, each is right for all or none.
        """
        carried = (pi > 0.0).astype(float)
        if carried.sum() == 1.0:
            return True
        usual = (self.single_hits > 0) & (self.single_hits < self.guesses)
        if np.any(carried[self.single[usual]]):
            return False
        if self.parts is not None and self.blocks:
            member_mass = carried[self.parts.members]
            mass = self.parts.totals(member_mass)
            n_guesses = self.parts.over_classes(np.add, (self.parts.sums(member_mass) > 0.0).astype(np.intp))
            alike = (self.parts.misses == 0) & (self.parts.cells == 1)
            return bool(np.all((mass == 0.0) | ((n_guesses == 1) & (alike | (mass == carried.sum())))))
        return all(_scores_nothing(block, carried[block.members], carried.sum()) for block in self.blocks)

    def masses(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return for each block the sum of its rows, and its best class sum."""
        if self.parts is not None and self.blocks:
            member_rows = rows[self.parts.members]
            return self.parts.totals(member_rows), self.parts.best(member_rows)
        weights = np.array([rows[block.members].sum() for block in self.blocks])
        return weights, np.array([block.best(rows[block.members]) for block in self.blocks])

    def all_blocks(self) -> Iterator[Block]:
        """Yield every fibre as a block, single ones included."""
        for member, hits in zip(self.single.tolist(), self.single_hits.tolist(), strict=True):
            members = np.array([member])
            hit_counts = np.array([hits]) if hits else np.empty(0, dtype=np.intp)
            hit = np.ones((hit_counts.size, 1), dtype=bool)
            yield Block(members, "matrix", hit_counts, self.guesses - hits, hits=hit)
        yield from self.blocks


def _scores_nothing(block: Block, carried: Floats, everyone: float) -> bool:
    """Return whether all guesses are right for all members with mass, or about none (or each, of everyone)."""
    number = carried.sum()
    right = np.append(block.sums(carried), np.zeros(min(block.misses, 1)))
    whole, nothing = right == number, right == 0.0
    return bool(whole.all() or nothing.all() or (number == everyone and np.all(whole | nothing)))


def _fibres(codes: Ints) -> list[Ints]:
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(codes[order]) != 0])
    return np.split(order, starts[1:])


def _cells_block(members: Ints, starts: Ints, guesses: int) -> Block:
    kind: Literal["singletons", "cells"] = "singletons" if starts.size == members.size else "cells"
    return Block(members, kind, np.ones(starts.size, dtype=np.intp), guesses - starts.size, low=starts)


def _windows_block(members: Ints, numbers: Array, guesses: Array, reach: Any) -> Block:
    members = members[np.argsort(numbers[members], kind="stable")]
    member_numbers = numbers[members]
    low = np.searchsorted(member_numbers, guesses - reach, side="left")
    high = np.searchsorted(member_numbers, guesses + reach, side="right")
    pairs, counts = np.unique(np.stack([low, high]), axis=1, return_counts=True)
    empty = pairs[0] >= pairs[1]
    misses = int(counts[empty].sum())
    low, high, counts = pairs[0, ~empty], pairs[1, ~empty], counts[~empty]
    alone = low.size == members.size and bool(np.all(high - low == 1))
    return Block(members, "singletons" if alone else "windows", counts, misses, low=low, high=high)


def _any_guess_block(members: Ints, numbers: Array, reach: Any) -> Block:
    """Return the windows of a guess that may be any number, not only a value of the prior.

    As the guess moves upwards, members enter the window in order and leave it in order. A member enters while those
    not more than twice the reach below it are inside, and leaves while those not more than that above it are.
    """
    members = members[np.argsort(numbers[members], kind="stable")]
    member_numbers, place = numbers[members], np.arange(members.size)
    low = np.concatenate([np.searchsorted(member_numbers, member_numbers - 2 * reach, side="left"), place + 1])
    high = np.concatenate([place + 1, np.searchsorted(member_numbers, member_numbers + 2 * reach, side="right")])
    low, high = np.unique(np.stack([low, high])[:, low < high], axis=1)
    alone = low.size == members.size and bool(np.all(high - low == 1))
    kind: Literal["singletons", "windows"] = "singletons" if alone else "windows"
    return Block(members, kind, np.ones(low.size, dtype=np.intp), 1, low=low, high=high)


def _any_guess(single: Ints, large: Sequence[Ints], numbers: Array, reach: Any) -> Cover:
    """Return the cover for guesses that may be any number; each distinct window is one guess, and some guess misses."""
    blocks = [_any_guess_block(members, numbers, reach) for members in large]
    guesses = 1 + max([1, *(block.counts.size for block in blocks)])
    blocks = [replace(block, misses=guesses - block.counts.size) for block in blocks]
    return Cover(guesses, single, np.ones(single.size, dtype=np.intp), tuple(blocks))


def _matrix_block(members: Ints, hits: Bools) -> Block:
    # Rows as packed bytes in a dictionary: far quicker than sorting rows of a large matrix.
    member_hits = hits[:, members]
    class_of_column: dict[bytes, int] = {}
    classes = np.array(
        [class_of_column.setdefault(row.tobytes(), len(class_of_column)) for row in np.packbits(member_hits, axis=1)],
        dtype=np.intp,
    )
    _, first, counts = np.unique(classes, return_index=True, return_counts=True)
    rows = member_hits[first]
    empty = ~rows.any(axis=1)
    return Block(members, "matrix", counts[~empty], int(counts[empty].sum()), hits=rows[~empty])


def cover(prior: Prior, codes: Ints, goal: Goal, cells: Ints | None = None) -> Cover:
    """Return the cover of the prior's values by the goal's success sets, fibre by fibre of the knowledge codes.

    ``cells`` is ``goal.partition(prior)``, where that is there already.
    """
    cells = goal.partition(prior) if cells is None else cells
    if cells is not None:
        single, parts = fibre_arrays(codes, cells, int(cells.max()) + 1 + prior.is_open)
        hits = np.ones(single.size, dtype=np.intp)
        return Cover(parts.guesses, single, hits, Blocks(parts, _cells_block), parts)
    fibres = _fibres(codes)
    single = np.array([f[0] for f in fibres if f.size == 1], dtype=np.intp)
    large = [f for f in fibres if f.size > 1]
    if goal.is_absolute:
        numbers, reach = goal.windows(prior)
        sorted_numbers = np.sort(numbers)
        if prior.is_open:
            return _any_guess(single, large, numbers, reach)
        single_numbers = numbers[single]
        hits = np.searchsorted(sorted_numbers, single_numbers + reach, side="right") - np.searchsorted(
            sorted_numbers, single_numbers - reach, side="left"
        )
        blocks = tuple(_windows_block(f, numbers, sorted_numbers, reach) for f in large)
        return Cover(prior.size, single, hits, blocks)
    table = goal.hits(prior)
    return Cover(prior.size, single, table[:, single].sum(axis=0), tuple(_matrix_block(f, table) for f in large))
