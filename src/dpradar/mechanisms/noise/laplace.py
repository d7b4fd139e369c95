"""Laplace noise on numbers and vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import Gt

from ...options import About, described
from ..cost import LOG_20
from ..query import Contribution
from .continuous_noise import noisy_release
from .kernels import LaplaceKernel
from .noise_options import Norm, Sensitivity, SensitivityRelation, Truncate, check_noise, noise_repr

if TYPE_CHECKING:
    from ...threats import Prior
    from ..capabilities import Release

__all__ = ["Laplace"]


@described("laplace", "Laplace noise.", "noise", first={"values": "0:100", "goal": "within:5"}, eq=False)
class Laplace:
    """Laplace noise of the given scale, independent per coordinate, on the target's contribution.

    ``query`` is one number or vector per value of the prior, or a function of the record (default: the prior's numeric
    values); ``truncate=(low, high)`` clamps the output.

    ``sensitivity`` instead of a query: all that is known is how far the released numbers move, in the L1 norm, and
    ``neighbours`` says when: "add-remove", when one person is added or removed, or "replace-one", when one person's
    data are replaced. It has no default. Questions about two records (``rad``) take twice an add-remove sensitivity;
    a replace-one sensitivity does not cover taking part. A count, or a sum of numbers from 0 to s, moves by at most
    s under either relation: state that under replace-one for the tighter answer about two records.

    Notes
    -----
    Dwork, McSherry, Nissim and Smith (2006). epsilon = (largest L1 distance of two contributions) / scale, replace-one.

    Examples
    --------
    >>> Laplace(scale=5.0)
    Laplace(scale=5)
    >>> noise = Laplace(scale=5.0, sensitivity=1.0, neighbours="add-remove").at(None)
    >>> noise.privacy("add-remove").epsilon, round(noise.privacy("replace-one").epsilon, 6)
    (0.2, 0.4)
    """

    ORDERED: ClassVar[tuple[str, ...]] = ("scale",)
    NORM: ClassVar[Norm] = "L1 norm"  # of a sensitivity

    scale: Annotated[
        float,
        Gt(0),
        About(
            "the scale of the Laplace noise, sensitivity / epsilon",
            example="10",
            typical=(0.05, 50.0),
            more_private="up",
        ),
    ]
    query: Contribution = None
    truncate: Truncate | None = None
    sensitivity: Sensitivity | None = None
    neighbours: SensitivityRelation | None = None

    def check_together(self) -> None:
        """Refuse noise beyond the range of floats, and a sensitivity without its relation."""
        check_noise(self, "scale")

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        return noisy_release(self, LaplaceKernel(self.scale), prior)

    def cost(self) -> dict[str, float]:
        """Return the error that 5 of 100 released numbers exceed, scale ln 20, and the variance 2 scale^2."""
        return {"error": LOG_20 * self.scale, "variance": 2.0 * self.scale * self.scale}

    def __repr__(self) -> str:
        return noise_repr(self, "scale")
