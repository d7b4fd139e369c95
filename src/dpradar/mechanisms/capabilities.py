"""What a release can offer to the theorems. Rules ask for capabilities, never for classes.

A mechanism is a description; ``mechanism.at(prior)`` binds it to the records a prior is about and returns a *release*,
which has some of these capabilities. Everyone else's record is known to the attacker, so a central query is the
target's contribution plus noise.

Samplers are for simulation only (``SIMULATION_ONLY``): they draw with a generator that can be predicted and round in
floating-point arithmetic, so the low bits of a noisy number can give the exact one away (Mironov 2012); ``dpradar lint
--sampler`` refutes them. What is released about people needs a library that was made for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..numerics.lazy_numpy import Floats, np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..guarantees.pairs import Pairs
    from ..guarantees.privacy import Privacy, Relation
    from ..threats import Prior
    from .counts import CountModel
    from .ldp.estimators import FrequencyEstimator
    from .ldp.values_in_report import SetReports

__all__ = [
    "SIMULATION_ONLY",
    "ContinuousModel",
    "DiagonalChannel",
    "FiniteChannel",
    "InclusionChannel",
    "Kernel",
    "LineModel",
    "Mechanism",
    "OneHot",
    "Release",
    "SetLaw",
    "assumptions_of",
]


SIMULATION_ONLY = (
    "dpradar's samplers are for simulation only: their random numbers can be predicted and floating-point noise leaks "
    "through its low bits; a real release needs a library made for it, such as OpenDP, Google's differential-privacy "
    "libraries or Tumult Analytics"
)


class FiniteChannel(Protocol):
    """Finitely many outputs, few enough to list (the caller compares ``outputs`` with what it can afford)."""

    @property
    def inputs(self) -> int:
        """The number of inputs."""

    @property
    def outputs(self) -> int:
        """The number of outputs."""

    def chunks(self, columns: int) -> Iterator[Floats]:
        """Yield the matrix p(output | input), rows = inputs, at most ``columns`` columns at a time."""
        ...


class DiagonalChannel(Protocol):
    """One output per input: the true one with probability ``keep``, each other one with ``other``."""

    @property
    def keep(self) -> float:
        """The probability of the true value."""

    @property
    def other(self) -> float:
        """The probability of each other value."""

    @property
    def difference(self) -> float:
        """Keep - other, without cancellation."""


class InclusionChannel(Protocol):
    """The output is a set of values; p(set | value) is e^epsilon times larger when the value is in the set.

    Given that the true value is in the set (or not), the others are in it exchangeably.
    """

    @property
    def inputs(self) -> int:
        """The number of inputs."""

    @property
    def epsilon(self) -> float:
        """The logarithm of the factor."""

    def included(self, k: int) -> Floats:
        """Return, for i = 1..k, Pr[value i is in the set and 1..i-1 are not | the value is i]."""
        ...

    def later(self, k: int) -> Floats:
        """Return, for i = 1..k, Pr[another value is in the set | i is the first one in it], all values being equal."""
        ...

    def none_of(self, n: int) -> float:
        """Return Pr[none of n values is in the set | the value is one of them]."""
        ...

    def all_of(self, n: int) -> float:
        """Return Pr[all of n values are in the set | the value is one of them]."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SetLaw:
    """A set that is drawn first and reweighted then: p(set | value) is ``held`` or ``missing`` times p(set).

    In the set that is drawn every value is with probability ``rate``: each on its own, or, when ``size`` is given, all
    sets of so many values being equally likely. ``difference`` is held - missing without cancellation.
    """

    inputs: int
    rate: float
    held: float  # the factor where the value is in the set
    missing: float  # the factor where it is not; smaller
    difference: float
    size: int | None = None


class Kernel(Protocol):
    """A noise density on the line, and what it promises to the engines.

    Every kernel: symmetric about 0; unimodal, so that the density never rises away from 0; smooth between its
    ``kinks``, where it may bend or jump. ``single_crossing`` and ``bends`` state what further holds; an engine that
    needs a promise that is not made is not used. ``dpradar.plugins.kernel_problems`` compares the promises with the
    density.
    """

    @property
    def unit(self) -> float:
        """The length over which the density changes."""

    @property
    def reach(self) -> float:
        """A distance beyond which less than 1e-18 of the noise lies."""

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where the density is not smooth."""

    def density(self, x: Floats) -> Floats:
        """Return the density at x."""

    def log_density(self, x: Floats) -> Floats:
        """Return the logarithm of the density at x."""

    def mass(self, low: Floats, high: Floats) -> Floats:
        """Return the probability of [low, high], accurate in the tails."""

    @property
    def single_crossing(self) -> bool:
        """Whether two shifted copies of any sizes change places once at most, as log-concave densities do."""

    def meeting(self, gap: float, ahead: float) -> float:
        """Return where a copy of the density at 0, e^ahead times as large, and one at ``gap`` > 0 are equal.

        To the left of it the first is at least as large, to the right the second. Infinite where one of them is as
        large everywhere. Called only when ``single_crossing``.
        """

    @property
    def bends(self) -> bool:
        """Whether a mixture that is 0 or less at both ends of a kink-free cell can be positive inside it."""

    def curvature(self, low: Floats, high: Floats) -> Floats:
        """Return an upper bound on the absolute second derivative over [low, high]; used when ``bends``."""


@dataclass(frozen=True, slots=True, eq=False)
class LineModel:
    """p(output | z) = weights[z] * kernel(output - points[z]) on [low, high]; ``clamp`` puts the rest on the ends."""

    points: Floats
    weights: Floats
    kernel: Kernel
    low: float = -math.inf
    high: float = math.inf
    clamp: bool = False

    def likelihoods(self, reports: Any) -> Floats:
        """Return the log-likelihood of every input, one row per output; a clamped end stands for all beyond it."""
        x = np.asarray(reports, dtype=float)[:, None]
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights) + self.kernel.log_density(x - self.points)
            if self.clamp:
                infinite = np.full(self.points.size, np.inf)
                below = np.log(self.weights * self.kernel.mass(-infinite, self.low - self.points))
                above = np.log(self.weights * self.kernel.mass(self.high - self.points, infinite))
                logs = np.where(x <= self.low, below, np.where(x >= self.high, above, logs))
        return np.asarray(logs)


@dataclass(frozen=True, slots=True, eq=False)
class ContinuousModel:
    """A real-valued release about a real-valued record: kernel around the record, as in LineModel."""

    kernel: Kernel
    low: float = -math.inf
    high: float = math.inf
    clamp: bool = False
    renormalised: bool = False  # the density is divided by its mass on [low, high] (exponential mechanism)


@dataclass(frozen=True, slots=True, eq=False)
class OneHot:
    """Independent noise on every coordinate of a vector that is ``height`` at the input's own coordinate and 0 else."""

    height: float
    kernel: Kernel


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """A mechanism bound to the records of a prior: what it promises and what else it can offer; None = not offered."""

    name: str
    privacy: Callable[[Relation], Privacy | None]
    inputs: int | None = None
    finite: FiniteChannel | None = None
    diagonal: DiagonalChannel | None = None
    inclusion: InclusionChannel | None = None
    set_law: SetLaw | None = None  # the same reports, where the law of what they hold is known
    line: LineModel | None = None
    continuous: ContinuousModel | None = None
    vectors: Floats | None = None  # Gaussian noise of unit variance around one vector per input, moved near 0
    absent: Floats | None = None  # where a record that contributes 0 lies among the vectors, if that is known
    one_hot: OneHot | None = None
    counts: CountModel | None = None
    pair: Callable[[int, int], Pairs] | None = None  # what the release is for two inputs, exactly
    pair_tv: Callable[[int], Floats] | None = None  # total variation between one input and every input, from above
    # One report per input (per record, with a continuous prior): an array, or a tuple of them for a composition. For
    # simulation only, see above.
    sample: Callable[[Any, np.random.Generator], Any] | None = None
    likelihoods: Callable[[Any], Floats] | None = None  # logarithms, of every input, a row per report, up to a constant
    sets: SetReports | None = None  # reports that hold some of the values, read without listing all m of them
    estimator: FrequencyEstimator | None = None  # how often each value occurs among the people who reported
    repeat: Callable[[int], Release] | None = None  # that many independent copies, as one release with the same risk
    counting: Callable[[int], CountModel] | None = None  # the same as counts of the values reported
    assumes: tuple[str, ...] = ()  # what the description itself takes for granted

    def average_pair_tv(self, probabilities: Floats) -> float:
        """Return the average total variation between two inputs that are drawn independently, from above."""
        if self.pair_tv is None:
            return 1.0
        possible = np.flatnonzero(probabilities > 0.0).tolist()
        return sum(float(probabilities[i] * (probabilities @ self.pair_tv(i))) for i in possible)


@runtime_checkable
class Mechanism(Protocol):
    """A description that can be bound to a prior."""

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of ``prior``; None stands for 'whatever the mechanism itself says'."""
        ...


def assumptions_of(what: Any, prior: Prior | None = None) -> tuple[str, ...]:
    """Return what the description of a mechanism, or a guarantee that another library states, takes for granted."""
    described = what.at(prior) if isinstance(what, Mechanism) else what
    notes: tuple[str, ...] = getattr(described, "assumes", ())
    return notes
