"""Histogram encoding: Laplace noise on every coordinate of a one-hot vector, as it is (SHE) or cut at a threshold."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from annotated_types import Ge, Le

from ...errors import MissingExtra, ParameterError
from ...guarantees.composition import promise_of_pairs
from ...guarantees.curves import approx_curve
from ...guarantees.pairs import LaplacePair, Pairs
from ...guarantees.privacy import Privacy, Relation
from ...numerics.lazy_numpy import Floats, Ints, np
from ...options import About, described
from ..capabilities import OneHot, Release
from ..channel import checked_size
from ..cost import frequency_cost
from ..noise.kernels import LaplaceKernel
from .estimators import MeanEstimator
from .parameters import FIRST_QUESTION, Epsilon, Values
from .unary import UnaryChannel

if TYPE_CHECKING:
    from ...threats import Prior

__all__ = ["SHE", "THE"]


@described("she", "Summation with histogram encoding: the noisy vector.", "local", first=FIRST_QUESTION)
class SHE:
    """Summation with histogram encoding: the one-hot vector of the value with Laplace noise of scale 2/eps.

    Notes
    -----
    Dwork, McSherry, Nissim and Smith (2006); the name is from Wang, Blocki, Li and Jha (2017). Success is a
    one-dimensional integral for every prior, and rad follows for a uniform one; see docs/derivations/one-hot.md.

    Examples
    --------
    >>> import dpradar as dr
    >>> round(dr.assess(SHE(m=10, epsilon=2.0), dr.Threat(dr.Prior.uniform(10))).rad.value, 6)
    0.157336
    """

    COUNTED_IN_TABLES: ClassVar[bool] = True
    ORDERED: ClassVar[tuple[str, ...]] = ("epsilon",)

    m: Values
    epsilon: Epsilon

    def check_together(self) -> None:
        """Refuse infinite noise."""
        if self.epsilon == 0.0:
            hint = "With epsilon 0 the noise would be infinite; leave the release out instead."
            raise ParameterError("SHE.epsilon", "a number above 0", "0", hint)

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        checked_size("SHE", self.m, prior)
        return Release(
            name="SHE",
            privacy=self.privacy,
            inputs=self.m,
            one_hot=OneHot(1.0, LaplaceKernel(2.0 / self.epsilon)),
            pair=lambda i, j: self._pairs if i != j else (),
            pair_tv=self._pair_tv,
            sample=self.sample,
            likelihoods=self.likelihoods,
            estimator=MeanEstimator(8.0 / self.epsilon / self.epsilon),
        )

    @property
    def _pairs(self) -> Pairs:
        # Two values differ in two coordinates: 1 against 0 in one, 0 against 1 in the other.
        return ((LaplacePair(self.epsilon / 2.0), 2),)

    def _pair_tv(self, i: int) -> Floats:
        return np.where(np.arange(self.m) == i, 0.0, self._tv)

    @property
    def _tv(self) -> float:
        """The total variation between two values: 1 - e^-c (1 + c/2), c = epsilon/2."""
        half = self.epsilon / 2.0
        return -math.expm1(-half) - 0.5 * half * math.exp(-half)

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise under replace-one, from the two coordinates in which two values differ."""
        if relation != "replace-one":
            return None
        plain = Privacy(
            relation=relation,
            source="SHE",
            epsilon=self.epsilon,
            curve=approx_curve(self.epsilon, 0.0),
            tv=self._tv,
            pairs=self._pairs,
        )
        try:
            tight = promise_of_pairs(self._pairs, relation, "SHE")
        except MissingExtra:
            return plain
        return replace(tight, epsilon=self.epsilon, tv=self._tv)

    def cost(self) -> dict[str, float]:
        """Return the error of an estimated frequency: the mean of the reports is unbiased."""
        return {"frequency_error": math.sqrt(8.0) / self.epsilon}

    def sample(self, inputs: Ints, rng: np.random.Generator) -> Floats:
        """Return one noisy vector per given value; for simulation only."""
        values = np.asarray(inputs, dtype=np.intp)
        noisy = rng.laplace(0.0, 2.0 / self.epsilon, (values.size, self.m))
        noisy[np.arange(values.size), values] += 1.0
        return np.asarray(noisy)

    def likelihoods(self, reports: Any) -> Floats:
        """Return the log-likelihood of every value, one row per report, up to a constant.

        All coordinates above 1, and all below 0, are exactly as likely.
        """
        return np.asarray(np.clip(2.0 * np.asarray(reports) - 1.0, -1.0, 1.0) * (self.epsilon / 2.0))


Threshold = Annotated[
    float,
    Ge(0.5),
    Le(1),
    About("the level above which a noisy coordinate is reported, if not the best one", example="0.6", folded=True),
]


@lru_cache(maxsize=256)
def best_threshold(epsilon: float) -> float:
    """Return the threshold in [1/2, 1] with the least variance of estimated frequencies (Wang et al. 2017).

    Examples
    --------
    >>> round(best_threshold(1.0), 3)
    0.619
    """
    from scipy.optimize import minimize_scalar  # slow to import, needed only here

    def log_variance(t: float) -> float:
        own, other = -math.expm1(-epsilon * (1.0 - t) / 2.0), -math.expm1(-epsilon * t / 2.0)
        q = 0.5 * math.exp(-epsilon * t / 2.0)
        return -epsilon * t / 2.0 + math.log1p(-q) - 2.0 * math.log(max(own + other, 1e-300))

    return float(minimize_scalar(log_variance, bounds=(0.5, 1.0), method="bounded", options={"xatol": 1e-10}).x)


@described(
    "the", "Thresholding with histogram encoding: which coordinates exceed a threshold.", "local", first=FIRST_QUESTION
)
class THE:
    """Thresholding with histogram encoding: the coordinates of a noisy one-hot vector that exceed a threshold.

    What is reported is the set of these values, so the release is a unary encoding; what it leaks is less than epsilon.
    Without ``threshold`` the one with the least variance is taken.

    Notes
    -----
    Wang, Blocki, Li and Jha (2017), with noise Lap(2/eps): own coordinate above t with probability
    1 - e^(-eps(1-t)/2)/2, another one with e^(-eps t/2)/2.

    Examples
    --------
    >>> round(THE(m=10, epsilon=2.0).at(None).privacy("replace-one").epsilon, 4)
    1.6357
    """

    COUNTED_IN_TABLES: ClassVar[bool] = True

    m: Values
    epsilon: Epsilon
    threshold: Threshold | None = None

    @property
    def level(self) -> float:
        """The threshold in force: the one given, or the one with the least variance."""
        return best_threshold(self.epsilon) if self.threshold is None else self.threshold

    def _channel(self) -> UnaryChannel:
        level = self.level
        absent_rate = 0.5 * math.exp(-self.epsilon * (1.0 - level) / 2.0)
        other = 0.5 * math.exp(-self.epsilon * level / 2.0)
        difference = -0.5 * (math.expm1(-self.epsilon * (1.0 - level) / 2.0) + math.expm1(-self.epsilon * level / 2.0))
        # log((1 - absent_rate) / absent_rate * (1 - other) / other), where both may be too small for a float
        epsilon = math.log1p(-absent_rate) + math.log1p(-other) + 2.0 * math.log(2.0) + self.epsilon / 2.0
        return UnaryChannel(self.m, max(epsilon, 0.0), 1.0 - absent_rate, other, difference, "THE")

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        checked_size("THE", self.m, prior)
        return self._channel().release()

    def cost(self) -> dict[str, float]:
        """Return the error of an estimated frequency."""
        channel = self._channel()
        return frequency_cost(channel.own, channel.other)

    def __repr__(self) -> str:
        return f"THE(m={self.m!r}, epsilon={self.epsilon!r}, threshold={self.level!r})"
