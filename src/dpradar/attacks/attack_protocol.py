"""The interface of an attack on a batch of reports, and its outcome: hits on the target and on other people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ..numerics.lazy_numpy import Bools, Floats, np

__all__ = ["Attack", "BatchOutcome"]


@dataclass(frozen=True, slots=True, eq=False)
class BatchOutcome:
    """For each report: was the attack right for its target, and how likely is it to be right for another person.

    ``others`` is the exact sum over the prior where ``sampled`` is False: Pr[right for an independent target | the
    report]. Else it is 0 or 1, from one independent target per report.
    """

    hits: Bools
    others: Floats
    sampled: bool = False
    constant: bool = False  # ``others`` is one number for every possible report, so it is known, not estimated


class Attack(Protocol):
    """An attack on batches of reports."""

    @property
    def name(self) -> str:
        """What the attack is called in results."""

    def play(self, reports: Any, targets: Any, rng: np.random.Generator) -> BatchOutcome:
        """Attack every report; ``targets`` are the values behind them, of which the attacker sees what it knows."""
        ...
