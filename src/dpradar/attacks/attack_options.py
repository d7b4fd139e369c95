"""What can be said of an attack that is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Lt

from ..options import About, Choice, number_of

__all__ = ["CONFIDENCE", "LARGEST_SEED", "TRIALS", "AttackOptions", "Maximised", "Seed"]

LARGEST_SEED = 10**38  # results with seeds of more than 127 bits cannot be read back

TRIALS = number_of(
    "trials", Annotated[int, Ge(1), Le(10**12), About("the number of simulated attacks", typical=(1000, 1e6))]
)
CONFIDENCE = number_of(
    "confidence",
    Annotated[
        float, Gt(0), Lt(1), About("the probability that an interval contains the true value", typical=(0.9, 0.999))
    ],
)
Seed = Annotated[int, Ge(0), About("the seed; the same seed gives the same result again")]
Maximised = Annotated[
    Literal["rad", "success"],
    Choice.of("rad", "success", labels=("what taking part adds", "being right")),
    About("what the attacker maximises", label="The attacker maximises", folded=True),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackOptions:
    """Options of an attack; without a seed one is drawn and reported."""

    trials: Annotated[int, TRIALS] = 100_000
    seed: Seed | None = None
    maximise: Maximised = "rad"
    strategy: Annotated[Literal["report", "prior"], About("the attack to run instead of the optimal one")] | None = None
    confidence: Annotated[float, CONFIDENCE] = 0.95
