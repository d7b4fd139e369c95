"""Gaussian noise on numbers and vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import Gt

from ...errors import ParameterError
from ...options import About, described
from ...threats.attackers import WITHOUT_PRIOR
from ..cost import NORMAL_95
from ..query import Contribution
from .continuous_noise import noisy_release
from .kernels import GaussianKernel
from .noise_options import Norm, Sensitivity, SensitivityRelation, Truncate, check_noise, noise_repr

if TYPE_CHECKING:
    from ...threats import Prior
    from ..capabilities import Release

__all__ = ["Gaussian"]


@described("gaussian", "Gaussian noise.", "noise", first={"values": "0:100", "goal": "within:5"}, eq=False)
class Gaussian:
    """Gaussian noise of standard deviation sigma, independent per coordinate, on the target's contribution.

    ``query``, ``truncate``, ``sensitivity`` (in the L2 norm) and ``neighbours`` as for :class:`Laplace`.
    ``nonnegative=True`` states that no person's contribution has a negative entry, as in a histogram or a count: two
    records are then at most sqrt(2) times an add-remove sensitivity apart, else twice.

    Notes
    -----
    mu-GDP with mu = (largest L2 distance of two contributions) / sigma, replace-one (Dong, Roth and Su 2022).

    Examples
    --------
    >>> Gaussian(sigma=1.0, query=[0.0, 1.0]).at(None).privacy("replace-one").tv.__round__(6)
    0.382925
    """

    ORDERED: ClassVar[tuple[str, ...]] = ("sigma",)
    NORM: ClassVar[Norm] = "L2 norm"  # of a sensitivity

    sigma: Annotated[
        float,
        Gt(0),
        About("the standard deviation of the noise", example="15", typical=(0.05, 50.0), more_private="up"),
    ]
    query: Contribution = None
    truncate: Truncate | None = None
    sensitivity: Sensitivity | None = None
    neighbours: SensitivityRelation | None = None
    nonnegative: Annotated[
        bool,
        About(
            "whether no contribution has a negative entry, as in a histogram",
            example="true",
            label="A person's contributions are never negative",
            folded=True,
            beside="sensitivity",
            attackers=WITHOUT_PRIOR,
        ),
    ] = False

    def check_together(self) -> None:
        """Refuse noise beyond the range of floats, and a sensitivity without its relation."""
        check_noise(self, "sigma")
        if self.nonnegative and self.neighbours != "add-remove":
            hint = "It says that no contribution has a negative entry, so that two of them are less far apart."
            allowed = "True or False, and True only with a sensitivity under 'add-remove'"
            raise ParameterError("Gaussian.nonnegative", allowed, "True", hint)

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        return noisy_release(self, GaussianKernel(self.sigma), prior)

    def cost(self) -> dict[str, float]:
        """Return the error that 5 of 100 released numbers exceed, and the variance."""
        return {"error": NORMAL_95 * self.sigma, "variance": self.sigma * self.sigma}

    def __repr__(self) -> str:
        return noise_repr(self, "sigma")
