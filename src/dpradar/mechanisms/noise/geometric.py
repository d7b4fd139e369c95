"""Two-sided geometric noise on whole numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import Gt

from ...options import About, described
from ..query import Contribution
from .lattice_noise import MOST_NOISE, lattice_release
from .noise_options import Norm, Sensitivity, SensitivityRelation, Truncate, check_noise, noise_repr
from .whole_number_laws import GeometricLaw

if TYPE_CHECKING:
    from ...threats import Prior
    from ..capabilities import Release

__all__ = ["Geometric"]


@described("geometric", "Two-sided geometric noise.", "noise", first={"values": "0:10"}, eq=False)
class Geometric:
    """Two-sided geometric noise on whole numbers: Pr[noise = k] proportional to e^(-|k|/scale).

    ``query``, ``truncate``, ``sensitivity`` (in the L1 norm) and ``neighbours`` as for :class:`Laplace`.

    Notes
    -----
    Ghosh, Roughgarden and Sundararajan (2009). epsilon = (largest difference of contributions) / scale, replace-one.

    Examples
    --------
    >>> Geometric(scale=2.0)
    Geometric(scale=2)
    """

    ORDERED: ClassVar[tuple[str, ...]] = ("scale",)
    NORM: ClassVar[Norm] = "L1 norm"  # of a sensitivity

    scale: Annotated[
        float,
        Gt(0),
        About("the scale of the noise, sensitivity / epsilon", example="2", typical=(0.05, 50.0), more_private="up"),
    ]
    query: Contribution = None
    truncate: Truncate | None = None
    sensitivity: Sensitivity | None = None
    neighbours: SensitivityRelation | None = None

    def check_together(self) -> None:
        """Refuse noise beyond the range of floats, and a sensitivity without its relation."""
        check_noise(self, "scale", MOST_NOISE)

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        return lattice_release(self, GeometricLaw(self.scale), prior)

    def cost(self) -> dict[str, float]:
        """Return the error that at most 5 of 100 released numbers exceed, and the variance."""
        r = math.exp(-1.0 / self.scale)
        # Pr[|noise| > k] = 2 r^(k+1) / (1 + r)
        far = max(0, math.ceil(-self.scale * math.log(0.05 * (1.0 + r) / 2.0) - 1.0))
        return {"error": float(far), "variance": 2.0 * r / (1.0 - r) ** 2}

    def __repr__(self) -> str:
        return noise_repr(self, "scale")
