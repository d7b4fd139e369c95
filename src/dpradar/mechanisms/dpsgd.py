"""Differentially private stochastic gradient descent, as a guarantee about the whole training run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from ..guarantees.composition import promise_of_pairs
from ..guarantees.gdp import gaussian_privacy
from ..guarantees.pairs import SampledGaussianPair
from ..params import Param
from .capabilities import Release

if TYPE_CHECKING:
    from ..guarantees.privacy import Privacy, Relation
    from ..threats import Prior

__all__ = ["DPSGD", "NOISE_MULTIPLIER", "SAMPLE_RATE", "STEPS"]

NOISE_MULTIPLIER = Param(
    name="noise_multiplier",
    low=1e-100,  # beyond these its square leaves the range of numbers
    high=1e100,
    what="the standard deviation of the noise divided by the norm that gradients are clipped to",
    typical=(0.5, 10.0),
    more_private="up",
)
SAMPLE_RATE = Param(
    name="sample_rate",
    low=0.0,
    high=1.0,
    low_open=True,
    what="the probability that a record is used in a step (Poisson sampling)",
    typical=(0.001, 1.0),
    more_private="down",
)
POISSON = (
    "Poisson sampling: in each step every record is taken with the sampling rate, independently of the others and of "
    "earlier steps; shuffled batches or batches of a fixed size are not covered"
)
STEPS = Param(
    name="steps", integer=True, low=1, what="the number of training steps", typical=(1, 2000), more_private="down"
)


@dataclass(frozen=True, slots=True)
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

    PARAMS: ClassVar[tuple[Param, ...]] = (NOISE_MULTIPLIER, SAMPLE_RATE, STEPS)

    ORDERED: ClassVar[tuple[str, ...]] = ("noise_multiplier", "sample_rate", "steps")

    noise_multiplier: float
    sample_rate: float
    steps: int

    def __post_init__(self) -> None:
        for param in self.PARAMS:
            object.__setattr__(self, param.name, param.check("DPSGD", getattr(self, param.name)))

    def at(self, prior: Prior | None) -> Release:
        """Return the release; it says nothing about particular records, so the prior does not matter."""
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
