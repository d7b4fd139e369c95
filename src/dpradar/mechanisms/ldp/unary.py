"""Unary encoding: every value is a bit, each bit is randomised on its own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from ...numerics.lazy_numpy import Bools, Floats, Ints, np
from ...numerics.special import expit
from ...options import described
from ..capabilities import Release, SetLaw
from ..channel import checked_size
from ..cost import frequency_cost
from ..counts import of_unary
from .drawing import coins, row_chunks
from .estimators import ShareEstimator, sums_of_sets
from .parameters import FIRST_QUESTION, Epsilon, Values, report_privacy
from .values_in_report import BitReports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...guarantees.privacy import Privacy, Relation
    from ...threats import Prior

__all__ = ["OUE", "SUE", "UnaryChannel"]

_RAREST = 1e-30  # probability of a bit of another value; the engines forget what is below 1e-40


@dataclass(frozen=True, slots=True)
class UnaryChannel(BitReports):
    """Unary encoding with Pr[own bit = 1] = ``own`` and Pr[another bit = 1] = ``other``."""

    inputs: int
    epsilon: float
    own: float
    other: float
    difference: float  # own - other without cancellation
    name: str

    @property
    def outputs(self) -> int:
        """The number of possible reports, 2^m."""
        return 1 << self.inputs

    def included(self, k: int) -> Floats:
        """Return Pr[bit i is the first of 1..i that is set | the value is i]."""
        return np.asarray(self.own * np.exp(np.arange(k) * math.log1p(-self.other)))

    def later(self, k: int) -> Floats:
        """Return Pr[another bit is set]: bits are independent."""
        return np.full(k, self.other)

    def none_of(self, n: int) -> float:
        """Return Pr[none of n bits is set | the value is one of them]."""
        return (1.0 - self.own) * math.exp((n - 1) * math.log1p(-self.other))

    def all_of(self, n: int) -> float:
        """Return Pr[all of n bits are set | the value is one of them]."""
        return self.own * self.other ** (n - 1)

    @property
    def set_law(self) -> SetLaw | None:
        """Return the bits of the others, which the own bit reweights; None where those are too rare for a float."""
        variance = self.other * (1.0 - self.other)
        if variance < _RAREST:
            return None
        return SetLaw(
            inputs=self.inputs,
            rate=self.other,
            held=self.own / self.other,
            missing=(1.0 - self.own) / (1.0 - self.other),
            difference=self.difference / variance,
        )

    def chunks(self, columns: int) -> Iterator[Floats]:
        """Yield p(bits | value); output o has bit j set when o has it in binary."""
        index = np.arange(self.inputs)[:, None]
        for start in range(0, self.outputs, columns):
            reports = np.arange(start, min(start + columns, self.outputs), dtype=np.int64)
            bits = (reports[None, :] >> index) & 1
            background = np.where(bits, self.other, 1.0 - self.other)
            own = np.where(bits, self.own, 1.0 - self.own)
            # All other bits: those before times those after, which divides by nothing.
            ones = np.ones((1, bits.shape[1]))
            before = np.vstack([ones, np.cumprod(background[:-1], axis=0)])
            after = np.vstack([np.cumprod(background[:0:-1], axis=0)[::-1], ones])
            yield before * own * after

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise under replace-one, from the two bits in which two values differ."""
        lost = self.other * (1.0 - self.own)
        gained = self.own * (1.0 - self.other)
        return report_privacy(relation, self.name, self.epsilon, gained, lost, self.difference)

    def sample(self, inputs: Ints, rng: np.random.Generator) -> Bools:
        """Return one row of bits per given value; for simulation only."""
        values = np.asarray(inputs, dtype=np.intp)
        bits = np.empty((values.size, self.inputs), dtype=bool)
        for some in row_chunks(values.size, self.inputs):
            bits[some] = coins(rng, some.stop - some.start, self.inputs, self.other)
        bits[np.arange(values.size), values] = rng.random(values.size) < self.own
        return bits

    def release(self) -> Release:
        """Return what the encoding offers."""
        return Release(
            name=self.name,
            privacy=self.privacy,
            inputs=self.inputs,
            inclusion=self,
            set_law=self.set_law,
            finite=self,
            sample=self.sample,
            sets=self,
            likelihoods=self.likelihoods,
            counting=partial(of_unary, self),
            estimator=ShareEstimator(self.own, self.other, partial(sums_of_sets, self)),
        )


@described("sue", "Symmetric unary encoding.", "local", first=FIRST_QUESTION)
class SUE:
    """Symmetric unary encoding (basic RAPPOR): p = e^(eps/2)/(e^(eps/2)+1), q = 1 - p.

    Examples
    --------
    >>> round(SUE(m=10, epsilon=2.0).at(None).privacy("replace-one").tv, 6)
    0.462117
    """

    COUNTED_IN_TABLES: ClassVar[bool] = True
    ORDERED: ClassVar[tuple[str, ...]] = ("epsilon",)

    m: Values
    epsilon: Epsilon

    def _channel(self) -> UnaryChannel:
        half = self.epsilon / 2.0
        return UnaryChannel(self.m, self.epsilon, float(expit(half)), float(expit(-half)), math.tanh(half / 2.0), "SUE")

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        checked_size("SUE", self.m, prior)
        return self._channel().release()

    def cost(self) -> dict[str, float]:
        """Return the error of an estimated frequency."""
        return frequency_cost(self._channel().own, self._channel().other)


@described("oue", "Optimised unary encoding.", "local", first=FIRST_QUESTION)
class OUE:
    """Optimised unary encoding: p = 1/2, q = 1/(e^eps+1) (Wang, Blocki, Li and Jha 2017).

    Examples
    --------
    >>> round(OUE(m=10, epsilon=2.0).at(None).privacy("replace-one").tv, 6)
    0.380797
    """

    COUNTED_IN_TABLES: ClassVar[bool] = True
    ORDERED: ClassVar[tuple[str, ...]] = ("epsilon",)

    m: Values
    epsilon: Epsilon

    def _channel(self) -> UnaryChannel:
        tv = math.tanh(self.epsilon / 2.0) / 2.0
        return UnaryChannel(self.m, self.epsilon, 0.5, float(expit(-self.epsilon)), tv, "OUE")

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        checked_size("OUE", self.m, prior)
        return self._channel().release()

    def cost(self) -> dict[str, float]:
        """Return the error of an estimated frequency."""
        return frequency_cost(self._channel().own, self._channel().other)
