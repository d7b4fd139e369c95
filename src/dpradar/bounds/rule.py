"""A rule: one theorem, what it cites and what it assumes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..numerics.rounding import clip_probability
from ..results.bound import Bound, Quantity, Side

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .question import Case

__all__ = ["Finding", "Rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a rule found about one quantity: a value with its side, or an interval that holds the exact value."""

    quantity: Quantity
    value: float
    side: Side = "upper"
    low: float | None = None
    assumes: tuple[str, ...] = ()
    neighbours: str | None = None  # the relation of the promise it rests on, where it rests on one
    hit: float | None = None  # of the attack that attains it, where known
    certified: bool = True  # whether the lower end is proven, not estimated


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One theorem as a function of a case."""

    name: str
    title: str
    cites: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    find: Callable[[Case], Sequence[Finding]]
    engine: bool = False  # computes the exact value; engines are tried in order until one does
    from_below: bool = False  # finds a lower bound only: evidence beside the answer, never the answer
    unless_exact: bool = False  # takes longer than most and is not run where the exact value is known already

    def bounds(self, case: Case) -> list[tuple[Bound, Finding]]:
        """Return the rule's bounds for the case; raises Inapplicable when it has none."""
        return [(self._bound(finding, case.assumes), finding) for finding in self.find(case)]

    def _bound(self, finding: Finding, assumptions: tuple[str, ...]) -> Bound:
        name = f"{self.name} ({finding.quantity})"
        value = clip_probability(min(finding.value, 1.0), name)
        low = None if finding.low is None else min(clip_probability(max(finding.low, 0.0), name), value)
        return Bound(
            value=value,
            side=finding.side,
            rule=self.name,
            cites=self.cites,
            assumes=(*finding.assumes, *assumptions),
            low=low,
            high=None if low is None else value,
            neighbours=finding.neighbours,
        )
