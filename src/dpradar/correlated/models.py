"""How records depend on each other: groups, Gaussian groups, Markov chains, small finite tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import ParameterError
from ..numerics.lazy_numpy import ArrayLike, Floats, np
from ..params import Param, as_floats

__all__ = ["Chain", "GaussianGroups", "Groups", "Joint"]

_SUM_TOLERANCE = 1e-9
_SYMMETRY = 1e-9
_STATIONARY = 1e-13  # relatively: small probabilities count
_SIZE = Param(
    name="size", integer=True, low=1, what="the largest number of records that depend on each other", typical=(1, 20)
)
_RECORDS = Param(name="records", integer=True, low=1, what="the number of records in all", typical=(1, 10_000))
SMALLEST = 1e-290  # products of probabilities that are smaller lose digits, or are lost
_LENGTH = Param(name="length", integer=True, low=1, what="the number of records in the series", typical=(1, 20_000))


def _distribution(name: str, values: ArrayLike, hint: str) -> Floats:
    array = as_floats(name, "probabilities", values, hint)
    if array.ndim != 1 or array.size < 2 or not np.all(np.isfinite(array)) or np.any(array < 0.0):
        raise ParameterError(name, "at least 2 numbers, none below 0", f"an array of shape {array.shape}", hint)
    if abs(array.sum() - 1.0) > _SUM_TOLERANCE:
        raise ParameterError(name, "numbers that sum to 1 (within 1e-9)", f"a sum of {array.sum():.12g}", hint)
    return _read_only(array / array.sum())


def _read_only(array: Floats) -> Floats:
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of at most ``size`` records; within a group anything may depend on anything, groups are independent.

    Examples
    --------
    >>> Groups(size=3, records=897)
    Groups(size=3, records=897)
    """

    size: int
    records: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", int(_SIZE.check("Groups", self.size)))
        if self.records is not None:
            object.__setattr__(self, "records", int(_RECORDS.check("Groups", self.records)))
            if self.records < self.size:
                hint = "A group is part of the records."
                raise ParameterError("Groups.records", f"at least the size of a group, {self.size}", self.records, hint)


def _covariance(matrix: ArrayLike) -> Floats:
    name, hint = "GaussianGroups.covariances", "Row and column i are record i of a group; variances on the diagonal."
    array = as_floats(name, "a square matrix", matrix, hint)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 1:
        raise ParameterError(name, "square matrices", f"an array of shape {array.shape}", hint)
    diagonal = np.diag(array)
    if not np.all(np.isfinite(array)) or np.any(diagonal <= 0.0):
        raise ParameterError(name, "finite, with variances above 0", "other entries", hint)
    scale = np.sqrt(np.outer(diagonal, diagonal))
    if np.any(np.abs(array - array.T) > _SYMMETRY * scale):
        raise ParameterError(name, "symmetric", "a matrix that is not", hint)
    return _read_only((array + array.T) / 2.0)


@dataclass(frozen=True, slots=True, eq=False)
class GaussianGroups:
    """Groups whose records are jointly Gaussian, each kind of group with its covariance; groups are independent.

    Variances need not be equal. Give one matrix, or one for each kind of group (families with and without children).
    A kind whose records all occur in a larger kind may be left out: the larger one leaks more. ``means`` (as the
    covariances, one list or several) are needed only for bounds from below.

    Examples
    --------
    >>> GaussianGroups([[225.0, 100.0], [100.0, 225.0]])
    GaussianGroups(groups of at most 2)
    """

    covariances: Any
    means: Any = None
    records: int | None = None

    def __post_init__(self) -> None:
        covariances = self.covariances
        several = isinstance(covariances, Sequence) and len(covariances) > 0 and np.ndim(covariances[0]) == 2
        matrices = tuple(_covariance(one) for one in (covariances if several else [covariances]))
        object.__setattr__(self, "covariances", matrices)
        if self.means is not None:
            lists = self.means if several else [self.means]
            hint = "One mean for each record of a group."
            means = tuple(as_floats("GaussianGroups.means", "numbers", one, hint) for one in lists)
            sizes = [one.shape[0] for one in matrices]
            if [one.shape for one in means] != [(size,) for size in sizes]:
                raise ParameterError("GaussianGroups.means", f"lists of {sizes} numbers", "other sizes", hint)
            object.__setattr__(self, "means", means)
        if self.records is not None:
            object.__setattr__(self, "records", int(_RECORDS.check("GaussianGroups", self.records)))

    @property
    def size(self) -> int:
        """The number of records of the largest group."""
        return max(int(one.shape[0]) for one in self.covariances)

    def __repr__(self) -> str:
        return f"GaussianGroups(groups of at most {self.size})"


def _transitions(matrix: ArrayLike) -> Floats:
    name, hint = "Chain.transitions", "Row i holds the probabilities of the states after state i."
    array = as_floats(name, "a square matrix", matrix, hint)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 2:
        raise ParameterError(name, "a square matrix with at least 2 states", f"an array of shape {array.shape}", hint)
    if not np.all(np.isfinite(array)) or np.any(array < 0.0):
        raise ParameterError(name, "finite and at least 0", "a negative, infinite or missing entry", hint)
    sums = array.sum(axis=1)
    if np.any(np.abs(sums - 1.0) > _SUM_TOLERANCE):
        worst = int(np.argmax(np.abs(sums - 1.0)))
        raise ParameterError(name, "rows that sum to 1 (within 1e-9)", f"row {worst} with {sums[worst]:.12g}", hint)
    return _read_only(array / sums[:, None])


def _stationary(P: Floats) -> Floats | None:
    """Return the only distribution that one step leaves as it is; None where there are several, or it is not known."""
    n = P.shape[0]
    reachable = np.eye(n, dtype=bool)
    for _ in range(n):
        reachable = reachable | (reachable @ (P > 0.0))
    recurrent = np.array([bool(np.all(reachable[reachable[x], x])) for x in range(n)])  # every way leads back
    states = np.flatnonzero(recurrent)
    if not np.all(reachable[np.ix_(states, states)]):
        return None
    law = np.zeros(n)
    law[states] = _stationary_of_irreducible(P[np.ix_(states, states)])
    return _read_only(law / law.sum()) if law[states].min() >= SMALLEST else None


def _stationary_of_irreducible(P: Floats) -> Floats:
    """Return the stationary law of a chain in which all states lead to each other.

    Grassmann, Taksar and Heyman (1985): states are taken out one by one without a subtraction, so that small
    probabilities keep all their digits.
    """
    A = P.copy()
    n = A.shape[0]
    for k in range(n - 1, 0, -1):
        A[:k, k] /= A[k, :k].sum()
        A[:k, :k] += np.outer(A[:k, k], A[k, :k])
    law = np.ones(n)
    for k in range(1, n):
        law[k] = law[:k] @ A[:k, k]
    return np.asarray(law / law.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """A series of ``length`` records: a finite Markov chain, stationary by default.

    Examples
    --------
    >>> chain = Chain([[0.9, 0.1], [0.3, 0.7]], length=288)
    >>> chain, chain.stationary.round(2).tolist()
    (Chain(2 states, length 288), [0.75, 0.25])
    """

    transitions: Any
    length: int
    initial: Any = None
    stationary: Any = field(init=False, repr=False)
    is_stationary: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        P = _transitions(self.transitions)
        stationary = _stationary(P)
        hint = "The distribution of the first record, one probability for each state."
        if self.initial is None:
            if stationary is None:
                allowed = "given, because several distributions stay as they are, or one that floats cannot hold"
                raise ParameterError("Chain.initial", allowed, "nothing", hint)
            start = stationary
        else:
            start = _distribution("Chain.initial", self.initial, hint)
            if start.size != P.shape[0]:
                raise ParameterError("Chain.initial", f"{P.shape[0]} probabilities", f"{start.size}", hint)
        object.__setattr__(self, "transitions", P)
        object.__setattr__(self, "length", int(_LENGTH.check("Chain", self.length)))
        object.__setattr__(self, "initial", start)
        object.__setattr__(self, "stationary", stationary)
        # The law itself, not one step of it: a chain that moves slowly stays near any start for long.
        stays = stationary is not None and np.all(np.abs(start - stationary) <= _STATIONARY * stationary)
        object.__setattr__(self, "is_stationary", bool(stays))

    @property
    def states(self) -> int:
        """The number of states."""
        return int(self.transitions.shape[0])

    @property
    def records(self) -> int:
        """The number of records."""
        return self.length

    @property
    def smallest(self) -> float:
        """The smallest transition probability."""
        return float(self.transitions.min())

    @property
    def listable(self) -> bool:
        """Whether no series is so unlikely that floats lose it."""
        P, w = np.asarray(self.transitions), np.asarray(self.initial)
        logs = [math.log(float(x[x > 0.0].min())) for x in (w, P)]
        return logs[0] + (self.length - 1) * logs[1] > math.log(SMALLEST)

    def joint(self) -> Joint:
        """Return the table of all series, where it is small enough."""
        if not self.listable:
            hint = "Take a shorter series, or larger probabilities."
            raise ParameterError("Chain.joint", f"series with probabilities above {SMALLEST:g}", "smaller ones", hint)
        return Joint(_joint_of_chain(self.transitions, self.initial, self.length))

    def __repr__(self) -> str:
        return f"Chain({self.states} states, length {self.length})"


MOST_CELLS = 1 << 16  # of a table that is listed


def _joint_of_chain(P: Floats, start: Floats, length: int) -> Floats:
    states = P.shape[0]
    if length * math.log(states) > math.log(MOST_CELLS):
        hint = "Take a shorter series."
        raise ParameterError("Chain.joint", f"at most {MOST_CELLS:,} series", f"{states}^{length}", hint)
    table = start.copy()
    for _ in range(length - 1):
        table = table[..., None] * P
    return np.asarray(table)


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Any dependence between a few records with a few values: ``probabilities[x1, x2, ...]`` of all of them together.

    ``values`` are the numbers that the values of a record stand for in a sum; 0, 1, ... by default.

    Examples
    --------
    >>> Joint([[0.45, 0.05], [0.05, 0.45]])
    Joint(2 records, 2 values)
    """

    probabilities: Any
    values: Any = None

    def __post_init__(self) -> None:
        name, hint = "Joint.probabilities", "One axis for each record, one entry for each value it can take."
        table = as_floats(name, "an array of probabilities", self.probabilities, hint)
        if table.ndim < 1 or min(table.shape) < 2 or table.size > MOST_CELLS:
            allowed = f"an array with one axis of at least 2 values for each record, at most {MOST_CELLS:,} entries"
            raise ParameterError(name, allowed, f"shape {table.shape}", hint)
        flat = _distribution(name, table.ravel(), hint)
        if np.any((flat > 0.0) & (flat < SMALLEST)):
            raise ParameterError(name, f"0 or at least {SMALLEST:g}, each of them", "smaller ones", hint)
        object.__setattr__(self, "probabilities", _read_only(flat.reshape(table.shape).copy()))
        object.__setattr__(self, "values", self._checked_values(table.shape))

    def _checked_values(self, shape: tuple[int, ...]) -> tuple[Floats, ...]:
        hint = "Give one list for all records, or one for each."
        if self.values is None:
            return tuple(np.arange(size, dtype=float) for size in shape)
        several = isinstance(self.values, Sequence) and len(self.values) > 0 and np.ndim(self.values[0]) == 1
        lists = list(self.values) if several else [self.values] * len(shape)
        values = tuple(as_floats("Joint.values", "numbers", one, hint) for one in lists)
        if len(values) != len(shape) or any(one.shape != (size,) for one, size in zip(values, shape, strict=False)):
            raise ParameterError("Joint.values", f"one number for each value, sizes {shape}", "other sizes", hint)
        if not all(np.all(np.isfinite(one)) for one in values):
            raise ParameterError("Joint.values", "finite numbers", "others", hint)
        return values

    @property
    def records(self) -> int:
        """The number of records."""
        return int(self.probabilities.ndim)

    def total(self) -> Floats:
        """Return the sum of the values for every table of records."""
        total = np.zeros(self.probabilities.shape)
        for axis, numbers in enumerate(self.values):
            shape = [1] * total.ndim
            shape[axis] = numbers.size
            total = total + numbers.reshape(shape)
        return total

    def __repr__(self) -> str:
        sizes = sorted(set(self.probabilities.shape))
        values = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        return f"Joint({self.records} records, {values} values)"
