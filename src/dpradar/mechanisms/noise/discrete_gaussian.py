"""Discrete Gaussian noise on whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import Gt

from ...numerics.lazy_numpy import np
from ...options import About, described
from ..query import Contribution
from .lattice_noise import MOST_NOISE, lattice_release
from .noise_options import Norm, Sensitivity, SensitivityRelation, Truncate, check_noise, noise_repr
from .whole_number_laws import DiscreteGaussianLaw

if TYPE_CHECKING:
    from ...threats import Prior
    from ..capabilities import Release

__all__ = ["DiscreteGaussian"]

_MOST_RUNS = 0.95  # of 100 releases 95 stay within the error


@described("discrete-gaussian", "Discrete Gaussian noise.", "noise", first={"values": "0:10"}, eq=False)
class DiscreteGaussian:
    """Discrete Gaussian noise on whole numbers: Pr[noise = k] proportional to e^(-k^2/(2 sigma^2)).

    ``query``, ``truncate``, ``sensitivity`` and ``neighbours`` as for :class:`Laplace`. The sensitivity is that of one
    whole number: one as far away does not stand for a vector, so several numbers are several releases (``Composed``).

    Notes
    -----
    Canonne, Kamath and Steinke (2020).

    Examples
    --------
    >>> DiscreteGaussian(sigma=2.0)
    DiscreteGaussian(sigma=2)
    """

    NORM: ClassVar[Norm] = "L2 norm"  # of a sensitivity

    sigma: Annotated[
        float, Gt(0), About("the standard deviation of the noise", example="3", typical=(0.05, 50.0), more_private="up")
    ]
    query: Contribution = None
    truncate: Truncate | None = None
    sensitivity: Sensitivity | None = None
    neighbours: SensitivityRelation | None = None

    def check_together(self) -> None:
        """Refuse noise beyond the range of floats, and a sensitivity without its relation."""
        check_noise(self, "sigma", MOST_NOISE)

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        return lattice_release(self, DiscreteGaussianLaw(self.sigma), prior)

    def cost(self) -> dict[str, float]:
        """Return the error that at most 5 of 100 released numbers exceed, and the variance."""
        reach = DiscreteGaussianLaw(self.sigma).margin
        k = np.arange(0, reach + 1, dtype=float)
        mass = DiscreteGaussianLaw(self.sigma).pmf(k) * np.where(k > 0, 2.0, 1.0)
        inside = np.cumsum(mass)
        return {"error": float(k[int(np.argmax(inside >= _MOST_RUNS))]), "variance": float(mass @ np.square(k))}

    def __repr__(self) -> str:
        return noise_repr(self, "sigma")
