"""Differentially private stochastic gradient descent, as a guarantee about the whole training run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Le

from ..guarantees.composition import promise_of_pairs
from ..guarantees.gdp import gaussian_privacy
from ..guarantees.pairs import SampledGaussianPair
from ..options import About, described
from .capabilities import Release

if TYPE_CHECKING:
    from ..guarantees.privacy import Privacy, Relation
    from ..threats import Prior

__all__ = ["DPSGD"]

POISSON = (
    "Poisson sampling: in each step every record is taken with the sampling rate, independently of the others and of "
    "earlier steps; shuffled batches or batches of a fixed size are not covered"
)


@described(
    "dpsgd",
    "A training run with DP-SGD.",
    samples="it describes a training run; docs/how-to/attack-a-model.md attacks a model, docs/how-to/audit-a-model.md "
    "audits one",
    first={"who": "membership"},
)
class DPSGD:
    """DP-SGD: each step takes every record with probability ``sample_rate``, clips, sums and adds Gaussian noise.

    Guarantee
    ---------
    Everything that is released during training, gradients included, seen by someone who knows all other records.
    Add/remove: the record is there or not. Replace-one: the record is another one; its gradients may then point the
    opposite way, which is twice as far.

    Notes
    -----
    The pairs of mixtures of Gaussians that dominate one step are in docs/derivations/dpsgd.md; privacy losses are
    composed with dp-accounting (the extra ``accounting``). With ``sample_rate`` 1 no grid is needed: the run is
    mu-GDP with mu = sqrt(steps) / noise_multiplier under add/remove and twice that under replace-one.

    Examples
    --------
    >>> round(DPSGD(noise_multiplier=10.0, sample_rate=1.0, steps=100).at(None).privacy("add-remove").tv, 6)
    0.382925
    """

    ORDERED: ClassVar[tuple[str, ...]] = ("noise_multiplier", "sample_rate", "steps")

    noise_multiplier: Annotated[
        float,
        Ge(1e-100),  # beyond these its square leaves the range of numbers
        Le(1e100),
        About(
            "the standard deviation of the noise divided by the norm that gradients are clipped to",
            example="2",
            typical=(0.5, 10.0),
            more_private="up",
        ),
    ]
    sample_rate: Annotated[
        float,
        Gt(0),
        Le(1),
        About(
            "the probability that a record is used in a step (Poisson sampling)",
            example="0.01",
            typical=(0.001, 1.0),
            more_private="down",
        ),
    ]
    steps: Annotated[
        int,
        Ge(1),
        About("the number of training steps", example="1000", typical=(1, 2000), more_private="down"),
    ]

    def at(self, prior: Prior | None) -> Release:
        """Return the release; it does not depend on particular records, so the prior does not matter."""
        return Release(name="DPSGD", privacy=self.privacy, assumes=(POISSON,) if self.sample_rate < 1.0 else ())

    def privacy(self, relation: Relation) -> Privacy:
        """Return the promise; "reference" is the training run without the record."""
        apart = 2.0 if relation == "replace-one" else 1.0
        source = f"DP-SGD, {'the record absent' if relation == 'reference' else relation}"
        if self.sample_rate == 1.0:
            return gaussian_privacy(apart * math.sqrt(self.steps) / self.noise_multiplier, relation, source)
        kind: Literal["with", "replace"] = "replace" if relation == "replace-one" else "with"
        pair = SampledGaussianPair(self.noise_multiplier, self.sample_rate, kind)
        return promise_of_pairs(((pair, self.steps),), relation, source)
