"""Attack randomised response: guess the reported value, or ignore it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..numerics.lazy_numpy import Floats, Ints, np
from .attack_protocol import BatchOutcome

if TYPE_CHECKING:
    from ..mechanisms.capabilities import DiagonalChannel

__all__ = ["ReportedValue"]


@dataclass(frozen=True, eq=False)
class ReportedValue:
    """Name the reported value where the target could have it, else someone who is not the target (rad).

    For success: name it where that is likelier than the likeliest value with what is known of the target.
    """

    channel: DiagonalChannel
    pi: Floats
    codes: Ints  # what is known of each value
    maximise: str

    @property
    def name(self) -> str:
        """What the attack is called."""
        return "reported value"

    def play(self, reports: Any, targets: Ints, rng: np.random.Generator) -> BatchOutcome:
        """Attack every report."""
        reported = np.asarray(reports, dtype=np.intp)
        if self.maximise == "rad" and self.channel.difference > 0.0:
            unseen = self.pi[reported] <= 0.0  # a report that no target sends: everything ties, so any guess will do
            guess = np.where(unseen, rng.integers(0, self.pi.size, reported.size), reported)
            return BatchOutcome(guess == targets, self.pi[guess], constant=float(np.ptp(self.pi)) == 0.0)
        if self.maximise == "rad":
            guess = rng.integers(0, self.pi.size, reported.size)
            return BatchOutcome(guess == targets, self.pi[guess])
        return self._for_success(reported, targets)

    def _for_success(self, reported: Ints, targets: Ints) -> BatchOutcome:
        fibres, code = np.unique(self.codes, return_inverse=True)
        order = np.lexsort((-self.pi, code))
        top = order[np.searchsorted(code[order], np.arange(fibres.size))]  # the likeliest value of each fibre
        follow_report = self.channel.keep * self.pi > self.channel.other * self.pi[top[code]]
        target_fibre, reported_fibre = code[targets], code[reported]
        guess = np.where((target_fibre == reported_fibre) & follow_report[reported], reported, top[target_fibre])
        # About someone else: the likeliest value of every fibre, except that of the report where it is believed.
        others = self.pi[top].sum() + np.where(
            follow_report[reported], self.pi[reported] - self.pi[top[reported_fibre]], 0.0
        )
        return BatchOutcome(guess == targets, np.minimum(others, 1.0))
