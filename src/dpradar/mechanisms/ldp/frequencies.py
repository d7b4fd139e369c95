"""How often values occur, estimated from the reports of a local protocol."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import ParameterError
from ...numerics.lazy_numpy import Floats, np
from ..capabilities import SIMULATION_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Frequencies", "frequencies"]


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    """Estimated frequencies of the values, and the standard deviation of each estimate.

    Estimates are unbiased, so they can be negative; they are not forced to add up to 1. ``notes`` say which software
    the reports must not come from.
    """

    estimate: Floats
    deviation: Floats
    reports: int
    notes: tuple[str, ...] = (SIMULATION_ONLY,)

    def __repr__(self) -> str:
        notes = "".join(f"; {note}" for note in self.notes)
        return f"Frequencies({self.estimate.size} values from {self.reports:,} reports{notes})"


def frequencies(protocol: Any, reports: Any) -> Frequencies:
    """Return the frequencies of the values among the people who reported, with standard deviations.

    ``reports`` is one batch, as the protocol's sampler makes them, or an iterator of batches (which need not fit into
    memory together). Samplers of this library are for simulation only: people's devices need a library made for
    releases, such as OpenDP, Google's differential-privacy libraries or Tumult Analytics.

    Guarantee
    ---------
    Unbiased. The deviation is exact for the protocol's noise at the frequency estimated (the people are taken as
    given, not as a sample of a population).

    Notes
    -----
    With p, q the probabilities that a report holds the true or another value, (share of reports that hold it - q)/(p-q)
    has the variance (f p(1-p) + (1-f) q(1-q)) / (n (p-q)^2): Wang, Blocki, Li and Jha (2017); for GRR, Theorem 1 of
    Sauer (2025). The means of SHE have the variance 8/(n epsilon^2). Counting costs n m for hashed reports, n m bits
    for unary ones, and K log K for those of Hadamard response.

    Examples
    --------
    >>> import numpy as np, dpradar as dr
    >>> oue, rng = dr.OUE(m=3, epsilon=3.0), np.random.default_rng(1)
    >>> values = np.repeat([0, 1, 2], [5000, 3000, 2000])
    >>> found = frequencies(oue, oue.at(None).sample(values, rng))
    >>> bool((abs(found.estimate - [0.5, 0.3, 0.2]) < 4 * found.deviation).all())
    True
    """
    release = protocol.at(None) if getattr(protocol, "GROUP", None) == "local" else None
    if release is None or release.estimator is None:
        raise ParameterError("protocol", "a local protocol, such as OUE(m=10, epsilon=1.0)", repr(protocol))
    batches: Iterator[Any] = iter([reports]) if isinstance(reports, np.ndarray) else _batches(reports)
    total, count = np.zeros(release.inputs), 0
    for batch in batches:
        array = np.asarray(batch)
        try:
            total += release.estimator.sums(array)
        except (IndexError, TypeError, ValueError) as error:
            hint = f"({type(error).__name__} while reading them.)"
            raise ParameterError("reports", f"reports of {type(protocol).__name__}", "others", hint) from error
        count += array.shape[0]
    if count == 0:
        raise ParameterError("reports", "at least one report", "none")
    if not release.estimator.depends_on_value:
        hint = "With epsilon 0 reports do not depend on the values."
        raise ParameterError(
            type(protocol).__name__, "one whose reports depend on the value", "one that does not", hint
        )
    estimate, deviation = release.estimator.estimate(total, count)
    return Frequencies(estimate, deviation, count)


def _batches(reports: Any) -> Iterator[Any]:
    if not isinstance(reports, Iterable):
        raise ParameterError("reports", "an array of reports, or an iterator of such arrays", type(reports).__name__)
    return iter(reports)
