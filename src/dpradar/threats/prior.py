"""What the attacker believes about the target's record before the release."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import ParameterError
from ..numerics.decimals import Printed
from ..numerics.lazy_numpy import ArrayLike, Floats, np
from ..numerics.number_checks import check_magnitude, check_whole
from ..params import Param, as_floats, shown

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from .counted_prior import Measured

__all__ = ["Continuous", "Prior", "checked_labels", "plain_label"]

_SUM_TOLERANCE = 1e-9
_NAN = float("nan")  # missing values are one category: nan is not equal to itself, but the same object is found again
_FEW_DIGITS, _MIDDLE = 1e-9, 0.5
_STEEP = 64  # floats next to an end of the interval, between which a density without limit has much probability
_JUMP = 1e-3  # of a prior's probability: as much between neighbouring floats is a jump
_EQUAL = 1e-15  # probabilities this close are the same: a few units in the last place of 1/m
_SMALLEST, _HALF = 2, 0.5
_SIZE = Param(
    name="m", integer=True, low=_SMALLEST, high=1e8, what="the number of values a record can take", typical=(2, 200)
)


class Distribution(Protocol):
    """The part of a frozen scipy distribution that a continuous prior needs."""

    def cdf(self, x: Any, /) -> Any:
        """Return Pr[value <= x]."""

    def ppf(self, q: Any, /) -> Any:
        """Return the quantile function at q."""


@dataclass(frozen=True, slots=True)
class Continuous:
    """A distribution restricted to [low, high] and renormalised there.

    ``start`` is the probability below ``low``, or with ``upper`` that above it: near 1 a cdf has no digits left.
    """

    distribution: Any
    low: float
    high: float
    start: float
    inside: float
    upper: bool = False

    @classmethod
    def of(cls, distribution: Any, low: float, high: float) -> Continuous:
        """Return the restricted distribution, or raise where it has no mass there or too few digits."""
        ends = np.array([low, high])
        start, stop = np.asarray(distribution.cdf(ends), dtype=float).tolist()
        upper = start > _MIDDLE and all(callable(getattr(distribution, name, None)) for name in ("sf", "isf"))
        if upper:
            start, stop = np.asarray(distribution.sf(ends), dtype=float).tolist()
        inside = abs(stop - start)
        if not inside > 0.0:
            hint = "Choose an interval that the distribution reaches."
            raise ParameterError("Prior.distribution", f"one with mass on [{low}, {high}]", "none there", hint)
        if start > _MIDDLE and inside < _FEW_DIGITS:
            hint = "Give it sf and isf, as those of scipy.stats have, or restate it on the interval."
            raise ParameterError("Prior.distribution", f"one that is known to some digits above {low}", "too few", hint)
        law = cls(distribution, float(low), float(high), start, inside, upper)
        if law._jumps():
            hint = (
                "Give single values with a probability of their own as a list, with Prior(probabilities, values=...)."
            )
            expected = f"one whose distribution function is continuous on [{low}, {high}]"
            raise ParameterError("Prior.distribution", expected, "a jump", hint)
        return law

    def _jumps(self) -> bool:
        """Whether two neighbouring floats inside the interval have much of the probability between them.

        A density may be so steep next to the ends of the interval; inside, it cannot be distinguished from a jump.
        Where scipy integrates the density there is none.
        """
        if self.is_integrated:
            return False
        below = abs(float(np.diff(self._raw(np.array([np.nextafter(self.low, -np.inf), self.low])))[0]))
        if below > _JUMP * self.inside:
            return True
        first, stop = self.low + _STEEP * np.spacing(abs(self.low)), self.high - _STEEP * np.spacing(abs(self.high))
        edges = np.linspace(self.low, self.high, 65)
        left, right = edges[:-1], edges[1:]
        while left.size:
            heavy = np.abs(self._raw(right) - self._raw(left)) > _JUMP * self.inside
            left, right = left[heavy], right[heavy]
            middle = 0.5 * left + 0.5 * right
            last = (middle <= left) | (middle >= right)
            if np.any(last & (left > first) & (right < stop)):
                return True
            left, right, middle = left[~last], right[~last], middle[~last]
            left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        return False

    @property
    def is_integrated(self) -> bool:
        """Whether the distribution function is scipy's quadrature of a density."""
        family = getattr(self.distribution, "dist", self.distribution)
        return getattr(getattr(type(family), "_cdf", None), "__qualname__", "") == "rv_continuous._cdf"

    def _raw(self, x: Floats) -> Floats:
        return np.asarray((self.distribution.sf if self.upper else self.distribution.cdf)(x), dtype=float)

    def cdf(self, x: Floats) -> Floats:
        """Return the prior probability of [low, x]."""
        at = np.clip(x, self.low, self.high)
        return np.asarray(np.clip(np.abs(self._raw(at) - self.start) / self.inside, 0.0, 1.0))

    def quantile(self, q: Floats) -> Floats:
        """Return the value below which the prior has probability q."""
        if self.upper:
            raw = np.asarray(self.distribution.isf(self.start - q * self.inside), dtype=float)
        else:
            raw = np.asarray(self.distribution.ppf(self.start + q * self.inside), dtype=float)
        return np.asarray(np.clip(raw, self.low, self.high))


def _checked_probabilities(probabilities: ArrayLike) -> Floats:
    """Return the probabilities as an array that cannot be changed, divided by their sum, which must be near 1."""
    flat = "Give a flat list of numbers."
    array = as_floats("Prior.probabilities", "numbers, one for each value", probabilities, flat)
    if array.ndim != 1:
        raise ParameterError("Prior.probabilities", "one-dimensional", f"an array of shape {array.shape}", flat)
    if array.size < _SMALLEST:
        raise ParameterError(
            "Prior.probabilities",
            "at least 2 numbers",
            f"{array.size}",
            "With a single possible value there is nothing to learn; add the values the target could have instead.",
        )
    if not np.all(np.isfinite(array)) or np.any(array < 0.0):
        raise ParameterError(
            "Prior.probabilities", "finite and at least 0", "a negative, infinite or missing entry", "Check the data."
        )
    total = float(array.sum())
    if abs(total - 1.0) > _SUM_TOLERANCE:
        raise ParameterError(
            "Prior.probabilities",
            "numbers that sum to 1 (within 1e-9)",
            f"a sum of {total:.12g}",
            "Divide them by their sum if they are weights.",
        )
    if not (isinstance(probabilities, np.ndarray) and not probabilities.flags.writeable):
        array /= total  # (what was checked before is left as it is, to the last digit)
    array.setflags(write=False)
    return array


def plain_label(value: Any) -> Any:
    """Return a label so that equal ones are equal: of numpy's numbers Python's, and one nan for all of them.

    Examples
    --------
    >>> plain_label(np.float64("nan")) is plain_label(float("nan"))
    True
    """
    if isinstance(value, tuple):
        return tuple(map(plain_label, value))
    if isinstance(value, np.generic):
        value = Printed(value) if isinstance(value, (np.float32, np.float16)) else value.item()
    return _NAN if isinstance(value, float) and math.isnan(value) else value


def checked_labels(owner: str, labels: Sequence[Any]) -> tuple[Hashable, ...]:
    """Return the labels as a tuple of hashables."""
    hint = "Give a list with one word or number per value."
    try:
        result = tuple(map(plain_label, labels))
        hash(result)
    except TypeError:
        raise ParameterError(owner, "labels such as words or numbers", shown(labels), hint) from None
    return result


def _distinct(values: Sequence[Any]) -> tuple[Any, ...]:
    result = checked_labels("Prior.values", values)
    if len(set(result)) != len(result):
        raise ParameterError(
            "Prior.values", "distinct", "a value that stands twice", "Add up the probabilities of equal values."
        )
    return result


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Prior:
    """A distribution over the records the target may have.

    Use :meth:`uniform`, :meth:`of`, :meth:`records` or :meth:`continuous`; ``Prior(probabilities, values)`` is
    :meth:`of`. The other records of the data set are known to the attacker, so the prior is about one record only.

    Examples
    --------
    >>> Prior.of([0.5, 0.3, 0.2], values=["never", "sometimes", "daily"])
    Prior(3 values, largest probability 0.5)
    >>> Prior.records({"age": [30, 30, 40], "ill": ["no", "yes", "no"]}, weights=[5, 1, 4]).size
    3
    """

    probabilities: Floats
    values: tuple[Any, ...] | None = None
    columns: Mapping[str, tuple[Any, ...]] | None = None
    interval: Continuous | None = field(default=None)
    measured: Measured | None = field(default=None)  # how it was counted, where it comes from a table
    # Names the prior in results. It is drawn at random: any function of the prior, also a salted one whose salt is
    # stored, is found by trying the priors that are possible.

    def __post_init__(self) -> None:
        if self.interval is not None:
            return
        array = _checked_probabilities(self.probabilities)
        object.__setattr__(self, "probabilities", array)
        if self.values is None:
            return
        if self.columns is None:
            object.__setattr__(self, "values", _distinct(self.values))
        if len(self.values) != array.size:
            hint = "Give as many values as probabilities."
            raise ParameterError(
                "Prior.values", f"{array.size} values, one for each probability", f"{len(self.values)}", hint
            )

    @classmethod
    def uniform(cls, m: int, values: Sequence[Any] | None = None) -> Prior:
        """Return the uniform prior over ``m`` values (named 0 .. m-1 unless ``values`` are given).

        Examples
        --------
        >>> Prior.uniform(4).collision
        0.25
        """
        size = int(_SIZE.check("Prior.uniform", m))
        return cls.of(np.full(size, 1.0 / size), values)

    @classmethod
    def of(cls, probabilities: ArrayLike, values: Sequence[Any] | None = None) -> Prior:
        """Return the prior with the given probabilities, for values that are numbers or any labels.

        Without ``values`` they are the numbers 0 .. m-1.

        Examples
        --------
        >>> Prior.of([0.9, 0.1]).size
        2
        """
        return cls(probabilities, values)  # type: ignore[arg-type]

    @classmethod
    def records(cls, columns: Mapping[str, Sequence[Any]], weights: ArrayLike | None = None) -> Prior:
        """Return the prior over records of several columns; equal records are merged, weights are normalised.

        Labels and queries given "one per value" refer to the merged records, in order of first appearance.

        Examples
        --------
        >>> p = Prior.records({"sex": ["f", "m", "f"], "ill": [1, 0, 1]})
        >>> p.size, p.probabilities.round(3).tolist()
        (2, [0.667, 0.333])
        """
        try:
            given = dict(columns)
        except (TypeError, ValueError):
            hint = "Such as {'age': [30, 40], 'ill': [0, 1]}."
            raise ParameterError("Prior.records", "a table of columns by name", shown(columns), hint) from None
        table = {str(name): checked_labels("Prior.records", column) for name, column in given.items()}
        lengths = {len(column) for column in table.values()}
        if not table or len(lengths) != 1:
            hint = "Every column has one entry per record."
            raise ParameterError(
                "Prior.records", "one or more columns of equal length", f"lengths {sorted(lengths)}", hint
            )
        rows = list(zip(*table.values(), strict=True))
        allowed, hint = f"{len(rows)} finite numbers >= 0, not all 0", "Give one weight, such as a count, per record."
        raw = np.ones(len(rows)) if weights is None else as_floats("Prior.weights", allowed, weights, hint)
        if raw.shape != (len(rows),) or not np.all(np.isfinite(raw)) or np.any(raw < 0.0) or not np.any(raw > 0.0):
            raise ParameterError("Prior.weights", allowed, "something else", hint)
        # In units of the largest power of two, so that no sum of weights overflows or vanishes.
        raw = np.ldexp(raw, -int(np.frexp(raw.max())[1]))
        merged: dict[tuple[Any, ...], float] = {}
        for row, weight in zip(rows, raw.tolist(), strict=True):
            merged[row] = merged.get(row, 0.0) + weight
        if len(merged) < _SMALLEST:
            hint = "With a single possible record there is nothing to learn; add the records the target could have."
            raise ParameterError("Prior.records", "at least 2 different records", f"{len(merged)}", hint)
        distinct_records = list(zip(*merged, strict=True))
        shares = np.array(list(merged.values())) / raw.sum()
        return cls(shares, tuple(merged), dict(zip(table, distinct_records, strict=True)))

    @classmethod
    def continuous(cls, distribution: Distribution, low: float, high: float) -> Prior:
        """Return a continuous prior: ``distribution`` (for instance from scipy.stats), restricted to [low, high].

        Examples
        --------
        >>> from scipy.stats import uniform
        >>> Prior.continuous(uniform(), 0.0, 1.0)
        Prior(continuous on [0, 1])
        """
        hint = "They are the ends of the interval the record lies in."
        bounds = as_floats("Prior.continuous", "given finite low < high", [low, high], hint)
        if not np.all(np.isfinite(bounds)) or not bounds[0] < bounds[1]:
            raise ParameterError("Prior.continuous", "given finite low < high", f"low={low!r}, high={high!r}", hint)
        check_magnitude("Prior.continuous", bounds)
        if not (callable(getattr(distribution, "cdf", None)) and callable(getattr(distribution, "ppf", None))):
            raise ParameterError(
                "Prior.distribution", "an object with cdf and ppf", shown(distribution), "Use a frozen scipy.stats one."
            )
        return cls(np.empty(0), interval=Continuous.of(distribution, float(low), float(high)))

    @property
    def is_continuous(self) -> bool:
        """Whether the prior has a density instead of probabilities."""
        return self.interval is not None

    @property
    def size(self) -> int:
        """The number of values; 0 for a continuous prior."""
        return self.probabilities.size

    @property
    def collision(self) -> float:
        """kappa_pi = Pr[two independent draws agree]; 0 for a continuous prior."""
        return float(np.dot(self.probabilities, self.probabilities))

    @property
    def disagreement(self) -> float:
        """1 - kappa_pi = Pr[two independent draws differ], to all digits also where one value is almost certain.

        Examples
        --------
        >>> Prior.of([1.0 - 1e-12, 1e-12]).disagreement
        1.999999999998e-12
        """
        if self.collision <= _HALF:
            return 1.0 - self.collision
        others, top = 1.0 - self.probabilities, int(np.argmax(self.probabilities))
        others[top] = np.delete(self.probabilities, top).sum()
        return float(self.probabilities @ others)

    @property
    def is_uniform(self) -> bool:
        """Whether every value has the same probability."""
        return self.size > 0 and float(np.ptp(self.probabilities)) <= _EQUAL

    @property
    def is_open(self) -> bool:
        """Whether there may be values that are not listed, which a guess may name: the prior is near the true one."""
        return self.measured is not None and self.measured.distance > 0.0

    def numbers(self, purpose: str) -> Floats:
        """Return the numeric values, or raise an error that names the ``purpose`` they are needed for."""
        values, array = self._numbers(purpose)
        check_whole("Prior.values", values, array)
        check_magnitude("Prior.values", array)
        return array

    def exact_numbers(self, purpose: str) -> Sequence[Any]:
        """Return the numeric values as they were given, or raise as :meth:`numbers`; nothing is rounded to floats."""
        return self._numbers(purpose)[0]

    def _numbers(self, purpose: str) -> tuple[Sequence[Any], Floats]:
        values = self.values
        if values is None:
            return range(self.size), np.arange(self.size, dtype=float)
        if self.columns is not None:
            if len(self.columns) > 1:
                raise ParameterError(
                    "Prior",
                    f"of numeric values for {purpose}",
                    f"records of {len(self.columns)} columns",
                    "Give the mechanism a query= (one number or vector per record, or a function of the record).",
                )
            values = next(iter(self.columns.values()))
        try:
            array = np.array(values, dtype=float)
        except (TypeError, ValueError, OverflowError):
            array = np.full(len(values), np.nan)
        if not np.all(np.isfinite(array)):
            raise ParameterError(
                "Prior",
                f"of finite numeric values for {purpose}",
                "labels that are not numbers",
                "Give values=[numbers], or the mechanism a query=.",
            )
        return values, array

    def record(self, index: int) -> Any:
        """Return one value as a user's function sees it: a dict for records, else the value itself."""
        if self.columns is not None:
            return {name: column[index] for name, column in self.columns.items()}
        return index if self.values is None else self.values[index]

    @property
    def digest(self) -> str:
        """A hash of the content, to distinguish priors in memory; in no result, as the prior could be found from it."""
        hasher = hashlib.sha256(self.probabilities.tobytes())
        hasher.update(repr(self.values).encode())
        if self.interval is not None:
            grid = self.interval.cdf(np.linspace(self.interval.low, self.interval.high, 33))
            hasher.update(grid.tobytes() + repr((self.interval.low, self.interval.high)).encode())
        return hasher.hexdigest()[:16]

    def __repr__(self) -> str:
        if self.interval is not None:
            return f"Prior(continuous on [{self.interval.low:g}, {self.interval.high:g}])"
        if self.measured is not None:  # a frequency of confidential records is not shown
            return f"Prior({self.size} values counted in a table)"
        return f"Prior({self.size} values, largest probability {self.probabilities.max():.4g})"
