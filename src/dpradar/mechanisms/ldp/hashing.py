"""Local hashing: report a random hash function and the randomised hash of the value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ...numerics.lazy_numpy import Array, Bools, Floats, Ints, NDArray, np
from ...options import described
from ..capabilities import Release
from ..channel import checked_size
from ..cost import frequency_cost
from ..counts import of_unary
from .drawing import row_chunks
from .estimators import ShareEstimator, sums_of_sets
from .parameters import FIRST_QUESTION, Epsilon, Values
from .unary import UnaryChannel

if TYPE_CHECKING:
    from ...threats import Prior

    Words = NDArray[np.uint64]

__all__ = ["BLH", "OLH", "HashedReports"]

_WIDEST = 1 << 32  # hashed values; reached at epsilon 22, where half of the reports are right anyway
_NARROW = 1 << 16  # up to here 32 bits of a hash are spread over the hashed values with a bias below 2e-5
_BLOCK = 64_000  # hashes worked on at once, which then stay in the cache
_STEP = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio


def _mix_bits(low: Any, high: Any, steps: Any) -> Array:
    """Return well mixed words of a seed in two halves and a value; the shifts and factors of MurmurHash3's last steps.

    Half of the seed enters between the rounds, so that two seeds never give the same function shifted.
    """
    word = steps.dtype.type
    wide = word is np.uint64
    shifts = (33, 29, 32) if wide else (16, 13, 16)
    factors = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53) if wide else (0x85EBCA6B, 0xC2B2AE35)
    z = low + steps
    other = np.empty_like(z)
    for shift, factor, mixed in zip(shifts, (*factors, None), (high, None, None), strict=True):
        np.right_shift(z, word(shift), out=other)
        np.bitwise_xor(z, other, out=z)
        if factor is not None:
            np.multiply(z, word(factor), out=z)
        if mixed is not None:
            np.bitwise_xor(z, mixed, out=z)
    return np.asarray(z)


def _words(seeds: Words, values: Any, g: int) -> Array:
    """Return the hashes as words of 32 bits (64 for a wide range) before they are spread over the range."""
    number = np.asarray(values).astype(np.uint64) + np.uint64(1)
    if g <= _NARROW:
        steps = (number * np.uint64(_STEP) >> np.uint64(32)).astype(np.uint32)
        return _mix_bits(seeds.astype(np.uint32), (seeds >> np.uint64(32)).astype(np.uint32), steps)
    return _mix_bits(seeds, seeds >> np.uint64(7), number * np.uint64(_STEP))


def hash_values(seeds: Words, values: Any, g: int) -> Words:
    """Return the hash in 0..g-1 of each value under the function that its seed names.

    Examples
    --------
    >>> bool((hash_values(np.arange(1000, dtype=np.uint64), np.zeros(1000), 3) < 3).all())
    True
    """
    words = _words(seeds, values, g)
    if g <= _NARROW:
        return np.asarray(words.astype(np.uint64) * np.uint64(g) >> np.uint64(32))
    return np.asarray(((words >> np.uint64(11)).astype(np.float64) * (g * 2.0**-53)).astype(np.uint64))


@dataclass(frozen=True, slots=True)
class HashedReports:
    """Reports of local hashing: rows of (seed of the hash function, hash reported)."""

    inputs: int
    epsilon: float
    g: int
    keep: float  # the probability that the true hash is reported

    @property
    def other(self) -> float:
        """The probability that another value has the hash that is reported."""
        return 1.0 / self.g

    def sample(self, inputs: Ints, rng: np.random.Generator) -> Words:
        """Return one row (seed, hash) per given value; for simulation only."""
        values = np.asarray(inputs).astype(np.uint64)
        seeds = rng.integers(0, (1 << 64) - 1, size=values.size, dtype=np.uint64, endpoint=True)
        reports = np.empty((values.size, 2), dtype=np.uint64)
        reports[:, 0] = seeds
        reports[:, 1] = hash_values(seeds, values, self.g)
        lies = np.flatnonzero(rng.random(values.size) >= self.keep)
        shift = rng.integers(1, self.g, size=lies.size, dtype=np.uint64)
        reports[lies, 1] = (reports[lies, 1] + shift) % np.uint64(self.g)
        return reports

    def holds(self, reports: Any, rows: Ints, values: Ints) -> Bools:
        """Return whether each value has the hash reported in the row given with it."""
        report_rows = np.asarray(reports)[rows]
        return np.asarray(hash_values(report_rows[:, 0], values, self.g) == report_rows[:, 1])

    def block(self, reports: Any, values: Ints) -> Bools:
        """Return the matrix (report, value) of equal hashes."""
        rows, columns = np.asarray(reports), np.asarray(values)[None, :]
        contained = np.empty((rows.shape[0], columns.size), dtype=bool)
        # Words with hash y are those from ceil(y 2^32 / g) to ceil((y + 1) 2^32 / g) - 1: one comparison, no product.
        below = np.uint64(self.g - 1)
        first, after = (((rows[:, 1] + np.uint64(k) << np.uint64(32)) + below) // np.uint64(self.g) for k in (0, 1))
        start, width = first.astype(np.uint32)[:, None], (after - first).astype(np.uint32)[:, None]
        for some in row_chunks(rows.shape[0], columns.size, _BLOCK):
            if self.g > _NARROW:
                contained[some] = hash_values(rows[some, :1], columns, self.g) == rows[some, 1:]
                continue
            words = _words(rows[some, :1], columns, self.g)
            words -= start[some]
            np.less(words, width[some], out=contained[some])
        return contained

    def likelihoods(self, reports: Any) -> Floats:
        """Return the log-likelihood of every value, one row per report, up to a constant."""
        return np.where(self.block(reports, np.arange(self.inputs)), self.epsilon, 0.0)


def _release(name: str, reports: HashedReports) -> Release:
    # Whether value i has the reported hash is a coin of its own: 1/g for others, ``keep`` for the true value. So the
    # set of values with that hash, which is all that a report reveals, is what unary encoding with these coins reports.
    tv = reports.keep * -math.expm1(-reports.epsilon) * (1.0 - 1.0 / reports.g)
    same = UnaryChannel(reports.inputs, reports.epsilon, reports.keep, 1.0 / reports.g, tv, name)
    return Release(
        name=name,
        privacy=same.privacy,
        inputs=reports.inputs,
        inclusion=same,
        set_law=same.set_law,
        finite=same,
        sets=reports,
        sample=reports.sample,
        likelihoods=reports.likelihoods,
        counting=partial(of_unary, same),
        estimator=ShareEstimator(reports.keep, reports.other, partial(sums_of_sets, reports)),
        assumes=("each value's hash is as good as an independent fair draw",),
    )


def _reports(m: int, epsilon: float, g: int) -> HashedReports:
    return HashedReports(m, epsilon, g, 1.0 / (1.0 + (g - 1) * math.exp(-epsilon)))


@described("blh", "Binary local hashing.", "local", first=FIRST_QUESTION)
class BLH:
    """Binary local hashing: one bit of a random hash, kept with probability e^eps/(e^eps+1).

    Notes
    -----
    Bassily and Smith (2015); Wang, Blocki, Li and Jha (2017). A report is a row (seed of the hash function, bit). The
    risk is that of unary encoding with inclusion 1/2 for other values; see docs/derivations/hashing.md.

    Examples
    --------
    >>> round(BLH(m=10, epsilon=2.0).at(None).privacy("replace-one").tv, 6)
    0.380797
    """

    COUNTED_IN_TABLES: ClassVar[bool] = True
    ORDERED: ClassVar[tuple[str, ...]] = ("epsilon",)

    m: Values
    epsilon: Epsilon

    @property
    def g(self) -> int:
        """The number of hashed values."""
        return 2

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        checked_size("BLH", self.m, prior)
        return _release("BLH", _reports(self.m, self.epsilon, self.g))

    def cost(self) -> dict[str, float]:
        """Return the error of an estimated frequency."""
        reports = _reports(self.m, self.epsilon, self.g)
        return frequency_cost(reports.keep, reports.other)


@described("olh", "Optimal local hashing.", "local", first=FIRST_QUESTION)
class OLH:
    """Optimal local hashing: a random hash into g = floor(e^eps + 1) values, then randomised response over them.

    Notes
    -----
    Wang, Blocki, Li and Jha (2017). A report is a row (seed of the hash function, hash). The risk is that of unary
    encoding with inclusion 1/g for other values; see docs/derivations/hashing.md. g is at most 2^32.

    Examples
    --------
    >>> OLH(m=100, epsilon=2.0).g
    8
    """

    COUNTED_IN_TABLES: ClassVar[bool] = True
    REPORTS_DEPEND_ON_EPSILON: ClassVar[bool] = True  # the hashes: read with another epsilon they mean nothing

    m: Values
    epsilon: Epsilon

    @property
    def g(self) -> int:
        """The number of hashed values."""
        return min(math.floor(math.exp(min(self.epsilon, 40.0)) + 1.0), _WIDEST)

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        checked_size("OLH", self.m, prior)
        return _release("OLH", _reports(self.m, self.epsilon, self.g))

    def cost(self) -> dict[str, float]:
        """Return the error of an estimated frequency."""
        reports = _reports(self.m, self.epsilon, self.g)
        return frequency_cost(reports.keep, reports.other)
