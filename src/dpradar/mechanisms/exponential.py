"""The exponential mechanism: finite with any utility, or on an interval with utility -|record - output|."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ..errors import ParameterError
from ..guarantees.approx import Epsilon, tv_of_approx
from ..guarantees.curves import approx_curve
from ..guarantees.pairs import approx_pair
from ..guarantees.privacy import Privacy, Relation
from ..numerics.lazy_numpy import Array, ArrayLike, Floats, Ints, np
from ..numerics.number_checks import check_magnitude
from ..options import About, Rows, Span, described
from ..params import as_floats
from .capabilities import ContinuousModel, LineModel, Release
from .channel import MatrixChannel, checked_size
from .noise.kernels import LaplaceKernel

if TYPE_CHECKING:
    from ..threats import Prior

__all__ = ["Exponential"]

_FLAT = 1e-15


@dataclass(frozen=True, slots=True, eq=False)
class IntervalMechanism:
    """Output density proportional to e^(-|record - output| / scale) on [low, high]."""

    kernel: LaplaceKernel
    low: float
    high: float
    epsilon: float
    points: Floats | None = None  # the possible records, when there are finitely many

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return epsilon-DP under replace-one."""
        if relation != "replace-one":
            return None
        return Privacy(
            relation=relation,
            source="exponential mechanism",
            epsilon=self.epsilon,
            curve=approx_curve(self.epsilon, 0.0),
            tv=tv_of_approx(self.epsilon, 0.0),
            pairs=((approx_pair(self.epsilon, 0.0), 1),),
        )

    def release(self) -> Release:
        """Return what the mechanism offers."""
        if self.points is None:
            model = ContinuousModel(self.kernel, self.low, self.high, renormalised=True)
            return Release(name="exponential mechanism", privacy=self.privacy, continuous=model, sample=self.draw)
        mass = self.kernel.mass(self.low - self.points, self.high - self.points)
        line = LineModel(self.points, 1.0 / mass, self.kernel, self.low, self.high)
        return Release(
            name="exponential mechanism",
            privacy=self.privacy,
            inputs=self.points.size,
            line=line,
            sample=self.sample,
            likelihoods=line.likelihoods,
        )

    def sample(self, inputs: Ints, rng: np.random.Generator) -> Floats:
        """Return one output per given input; for simulation only."""
        return self.draw(np.asarray(self.points)[np.asarray(inputs, dtype=np.intp)], rng)

    def draw(self, records: Array, rng: np.random.Generator) -> Floats:
        """Return one output per given record, by inversion."""
        z = np.asarray(records, dtype=float)
        s = self.kernel.scale
        left, right = -np.expm1(-(z - self.low) / s), -np.expm1(-(self.high - z) / s)
        u = rng.random(z.size) * (left + right)
        with np.errstate(divide="ignore", invalid="ignore"):
            below = z + s * np.log1p(-(left - u))
            above = z - s * np.log1p(-(u - left))
        return np.asarray(np.clip(np.where(u < left, below, above), self.low, self.high))


@described("exponential", "The exponential mechanism.", first={"values": "0:100:10"}, eq=False)
class Exponential:
    """The exponential mechanism: Pr[output] proportional to e^(epsilon * utility / (2 sensitivity)).

    Give ``utility`` (a matrix, rows = inputs, columns = outputs), or ``interval=(low, high)`` for utility
    -|record - output| with any output of the interval, or neither for -|difference| of the prior's numeric values.
    The sensitivity is computed from the utilities.

    Notes
    -----
    McSherry and Talwar (2007). epsilon-DP under replace-one; the actual epsilon can be as low as epsilon/2.

    Examples
    --------
    >>> Exponential(epsilon=2.0, interval=(0.0, 1.0))
    Exponential(epsilon=2, interval=(0.0, 1.0))
    """

    epsilon: Epsilon
    utility: (
        Annotated[
            ArrayLike,
            Rows("a matrix of finite numbers, rows = inputs"),
            About(
                "how good each output is for each input, rows = inputs",
                example="utility.csv",
                folded=True,
                private=True,
            ),
        ]
        | None
    ) = None
    interval: (
        Annotated[
            tuple[float, float],
            Span(),
            About(
                "the interval of the outputs; those near the record are likelier, by utility -|record - output|",
                example="0:100",
                label="outputs",
            ),
        ]
        | None
    ) = None

    def check_together(self) -> None:
        """Refuse a utility beside an interval, and one that is no matrix."""
        if self.utility is None:
            return
        if self.interval is not None:
            raise ParameterError("Exponential", "given a utility or an interval", "both", "Leave one of them out.")
        allowed, hint = "a matrix of finite numbers, rows = inputs", "Entry (i, j) is how good output j is for input i."
        matrix = as_floats("Exponential.utility", allowed, self.utility, hint)
        if matrix.ndim != 2 or matrix.shape[0] < 2 or not np.all(np.isfinite(matrix)):
            raise ParameterError("Exponential.utility", allowed, f"an array of shape {matrix.shape}", hint)
        check_magnitude("Exponential.utility", matrix)
        object.__setattr__(self, "utility", matrix)

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        if self.interval is not None:
            return self._on_interval(self.interval, prior)
        if self.utility is not None:
            matrix = np.asarray(self.utility)
            checked_size("Exponential", matrix.shape[0], prior)
        elif prior is None or prior.is_continuous:
            hint = "The utility says how good each output is for each record."
            raise ParameterError(
                "Exponential", "given a utility, an interval or a prior over numbers", "none of them", hint
            )
        else:
            numbers = prior.numbers("Exponential without a utility")
            matrix = -np.abs(numbers[:, None] - numbers[None, :])
        sensitivity = float(np.max(matrix.max(axis=0) - matrix.min(axis=0)))
        logits = matrix * (self.epsilon / (2.0 * sensitivity) if sensitivity > 0.0 else 0.0)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        return MatrixChannel(weights / weights.sum(axis=1, keepdims=True), "exponential mechanism").release()

    def _on_interval(self, interval: tuple[float, float], prior: Prior | None) -> Release:
        low, high = interval
        if not (np.isfinite(low) and np.isfinite(high)):
            hint = "Without ends the utility has no finite sensitivity."
            raise ParameterError("Exponential.interval", "(low, high), both finite", f"{interval}", hint)
        check_magnitude("Exponential.interval", np.array(interval))
        # epsilon 0 is uniform noise, which a kernel of practically infinite scale is to the last digit.
        kernel = LaplaceKernel(2.0 * (high - low) / max(self.epsilon, _FLAT))
        if prior is None or prior.is_continuous:
            law = prior.interval if prior is not None else None
            inside = law is None or (law.low >= low and law.high <= high)
            points = None
        else:
            points = prior.numbers("Exponential on an interval")
            inside = bool(points.min() >= low and points.max() <= high)
        if not inside:
            hint = "The output is a number of the interval, and so is the record."
            raise ParameterError(
                "Exponential.interval", "wide enough for every value of the prior", f"[{low:g}, {high:g}]", hint
            )
        return IntervalMechanism(kernel, low, high, self.epsilon, points).release()

    def __repr__(self) -> str:
        form = f", interval={self.interval}" if self.interval else ""
        return f"Exponential(epsilon={self.epsilon:g}{form})"
