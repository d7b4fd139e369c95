"""The result of an exact engine."""

from __future__ import annotations

from dataclasses import dataclass

from ...results.bound import side_of
from ..rule import Finding

__all__ = ["ExactRisk", "with_rounding"]

_NEGLIGIBLE = 1e-8  # of the value: rounding that no digit shows


def with_rounding(value: float, error: float) -> tuple[float, float]:
    """Return the value as an interval: a point where what rounding may add is negligible beside it.

    Examples
    --------
    >>> with_rounding(0.25, 1e-13), with_rounding(1e-15, 1e-13)
    ((0.25, 0.25), (0.0, 1.01e-13))
    """
    if error <= _NEGLIGIBLE * value:
        return value, value
    return max(0.0, value - error), value + error


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactRisk:
    """Intervals for rad and success (None = not computed), and the hit rate of the rad-optimal attack where known.

    Where the lower ends are estimated, not ``certified``, the upper ones are never called exact.
    """

    rad: tuple[float, float] | None = None
    success: tuple[float, float] | None = None
    hit: float | None = None
    assumes: tuple[str, ...] = ()
    certified: bool = True

    def findings(self) -> list[Finding]:
        """Return the findings a rule reports; a value is the upper end of its interval."""
        findings = []
        for quantity, interval in (("rad", self.rad), ("success", self.success)):
            if interval is None:
                continue
            low, high = interval
            hit = self.hit if quantity == "rad" else None
            findings.append(
                Finding(
                    quantity=quantity,  # type: ignore[arg-type]
                    value=high,
                    side=side_of(low, high) if self.certified else "upper",
                    low=low,
                    hit=hit,
                    assumes=self.assumes,
                    certified=self.certified,
                )
            )
        return findings
