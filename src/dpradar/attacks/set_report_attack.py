"""Attack reports that are sets of values: guess the likeliest value in the set, without listing all sets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..numerics.lazy_numpy import Bools, Floats, Ints, np
from .attack_protocol import BatchOutcome

if TYPE_CHECKING:
    from ..mechanisms.ldp.values_in_report import SetReports

__all__ = ["KnownMember", "LikeliestMember", "MemberOfFibre", "SomeMember", "some_member"]

_ENTRIES = 4_000_000  # of one work array
_WORTH = 50.0  # values held on average from which trying some costs less than listing all
_FIRST = 64  # values looked at first, in order of probability


def some_member(reader: SetReports, reports: Any, rng: np.random.Generator) -> Ints:
    """Return a uniformly random value that each report holds, -1 where it holds none.

    Values are tried at random while that is cheaper than listing: on average it takes the inverse of the share held.

    Examples
    --------
    >>> from dpradar.mechanisms import OUE
    >>> reader = OUE(m=4, epsilon=1.0).at(None).sets
    >>> some_member(reader, np.array([[False, True, False, False], [False] * 4]), np.random.default_rng(1)).tolist()
    [1, -1]
    """
    n, m = len(reports), reader.inputs
    members = np.full(n, -1, dtype=np.intp)
    open_rows = np.arange(n)
    rounds = math.ceil(4.0 / reader.other) if reader.other * m > _WORTH else 0
    for _ in range(rounds):
        if open_rows.size == 0:
            return members
        candidates = rng.integers(0, m, size=open_rows.size)
        contained = reader.holds(reports, open_rows, candidates)
        members[open_rows[contained]] = candidates[contained]
        open_rows = open_rows[~contained]
    values = np.arange(m)
    for start in range(0, open_rows.size, step := max(1, _ENTRIES // m)):
        rows = open_rows[start : start + step]
        contained = reader.block(reports[rows], values)
        count = contained.sum(axis=1)
        some = np.flatnonzero(count)
        # The k-th member of each row: positions are listed row by row, so it is k after the row's first.
        position = np.flatnonzero(contained) % m
        first = np.cumsum(count) - count
        members[rows[some]] = position[first[some] + rng.integers(0, count[some])]
    return members


def first_member(reader: SetReports, reports: Any, order: Ints) -> Ints:
    """Return the first position in ``order`` whose value each report holds; the length of ``order`` where none is."""
    positions = np.full(len(reports), order.size, dtype=np.intp)
    open_rows, start, width = np.arange(len(reports)), 0, _FIRST
    while start < order.size and open_rows.size:
        some = order[start : start + width]
        for begin in range(0, open_rows.size, step := max(1, _ENTRIES // some.size)):
            rows = open_rows[begin : begin + step]
            contained = reader.block(reports[rows], some)
            at = contained.argmax(axis=1)
            is_member = contained[np.arange(rows.size), at]
            positions[rows[is_member]] = start + at[is_member]
        open_rows = open_rows[positions[open_rows] == order.size]
        start, width = start + some.size, 4 * width
    return positions


@dataclass(frozen=True, eq=False)
class SomeMember:
    """Uniform prior, nothing known: any value that the report holds, or any at all when it holds none."""

    reader: SetReports

    @property
    def name(self) -> str:
        """What the attack is called."""
        return "some value of the report"

    def play(self, reports: Any, targets: Ints, rng: np.random.Generator) -> BatchOutcome:
        """Attack every report."""
        m = self.reader.inputs
        guess = some_member(self.reader, reports, rng)
        guess = np.where(guess < 0, rng.integers(0, m, size=guess.size), guess)
        return BatchOutcome(guess == targets, np.full(guess.size, 1.0 / m), constant=True)


@dataclass(frozen=True, eq=False)
class LikeliestMember:
    """Any prior, nothing known: the likeliest value that the report holds, ties at random.

    For success the likeliest value of all is named instead where it is likelier even after the report.
    """

    reader: SetReports
    pi: Floats
    maximise: str

    @property
    def name(self) -> str:
        """What the attack is called."""
        return "likeliest value of the report"

    def play(self, reports: Any, targets: Ints, rng: np.random.Generator) -> BatchOutcome:
        """Attack every report; equally likely values are put into a new random order for each batch."""
        order = np.lexsort((rng.random(self.pi.size), -self.pi))
        place = first_member(self.reader, reports, order)
        none = place == order.size
        guess = order[np.minimum(place, order.size - 1)]
        top = order[0]
        if self.maximise == "success":
            weak = none | (self.pi[guess] * math.exp(min(self.reader.epsilon, 700.0)) < self.pi[top])
            guess = np.where(weak, top, guess)
        else:
            # Nobody who could be the target is held, or everybody: every guess gains 0.
            none |= (self.pi[guess] <= 0.0) | self._all_held(reports)
            guess = np.where(none, rng.integers(0, order.size, size=guess.size), guess)
        return BatchOutcome(guess == targets, self.pi[guess])

    def _all_held(self, reports: Any) -> Bools:
        """Return which reports hold every value that the target could have; few survive the first values."""
        possible = np.flatnonzero(self.pi > 0.0)
        candidates = np.arange(len(reports))
        for value in possible:
            if candidates.size == 0:
                break
            candidates = candidates[self.reader.holds(reports, candidates, np.full(candidates.size, value))]
        contained = np.zeros(len(reports), dtype=bool)
        contained[candidates] = True
        return contained


@dataclass(frozen=True, eq=False)
class KnownMember:
    """The target's value is known: did they take part? Say yes when the report holds it."""

    reader: SetReports
    pi: Floats
    maximise: str

    @property
    def name(self) -> str:
        """What the attack is called."""
        return "is the value in the report"

    def play(self, reports: Any, targets: Ints, rng: np.random.Generator) -> BatchOutcome:
        """Attack every report."""
        n, m = targets.size, self.pi.size
        if self.maximise == "success":  # naming the known value is always right
            return BatchOutcome(np.ones(n, dtype=bool), np.ones(n), constant=True)
        hits, others = np.empty(n, dtype=bool), np.empty(n)
        values, possible = np.arange(m), self.pi > 0.0
        for start in range(0, n, step := max(1, _ENTRIES // m)):
            some = slice(start, min(start + step, n))
            contained = self.reader.block(reports[some], values)
            others[some] = contained @ self.pi
            # All or nobody held: every guess gains 0, so a random one; it is right for a value in 1 of m cases.
            flat = contained[:, possible].all(axis=1) | ~contained[:, possible].any(axis=1)
            chance = rng.random(contained.shape[0]) * m < 1.0
            hits[some] = np.where(flat, chance, contained[np.arange(contained.shape[0]), targets[some]])
            others[some] = np.where(flat, 1.0 / m, others[some])
        return BatchOutcome(hits, np.minimum(others, 1.0))


@dataclass(frozen=True, eq=False)
class MemberOfFibre:
    """A label is known: the likeliest value with this label that the report holds, else someone without the label."""

    reader: SetReports
    pi: Floats
    codes: Ints

    @property
    def name(self) -> str:
        """What the attack is called."""
        return "likeliest value of the report with the known label"

    def play(self, reports: Any, targets: Ints, rng: np.random.Generator) -> BatchOutcome:
        """Attack every report."""
        order = np.lexsort((rng.random(self.pi.size), -self.pi, self.codes))
        codes = self.codes[order]
        starts = np.flatnonzero(np.r_[True, np.diff(codes) != 0])
        fibre = np.searchsorted(codes[starts], self.codes[targets])
        n, m = targets.size, self.pi.size
        hits, others = np.empty(n, dtype=bool), np.empty(n)
        masses, possible = np.append(self.pi[order], 0.0), self.pi > 0.0
        for begin in range(0, n, step := max(1, _ENTRIES // m)):
            some = slice(begin, min(begin + step, n))
            contained = self.reader.block(reports[some], order)
            # The first value held in each fibre; m where none is, which stands for 'not with this label'.
            first = np.minimum.reduceat(np.where(contained, np.arange(m), m), starts, axis=1)
            of_target = first[np.arange(contained.shape[0]), fibre[some]]
            hits[some] = np.append(order, -1)[of_target] == targets[some]
            others[some] = masses[first].sum(axis=1)
            flat = contained[:, possible[order]].all(axis=1) | ~contained[:, possible[order]].any(axis=1)
            guess = rng.integers(0, m, size=contained.shape[0])
            hits[some] = np.where(flat, guess == targets[some], hits[some])
            others[some] = np.where(flat, 1.0 / m, others[some])
        return BatchOutcome(hits, np.minimum(others, 1.0))
