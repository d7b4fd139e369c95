"""What an engine returns."""

from __future__ import annotations

from dataclasses import dataclass

from ..rule import Finding

__all__ = ["ExactRisk"]

_EXACT_WIDTH = 1e-6  # an interval this narrow counts as the exact value; a wider one as an upper bound


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactRisk:
    """Intervals for rad and success (None = not computed), and the hit rate of the rad-optimal attack where known."""

    rad: tuple[float, float] | None = None
    success: tuple[float, float] | None = None
    hit: float | None = None
    assumes: tuple[str, ...] = ()

    def findings(self) -> list[Finding]:
        """Return the findings a rule reports; a value is the upper end of its interval."""
        found = []
        for quantity, interval in (("rad", self.rad), ("success", self.success)):
            if interval is None:
                continue
            low, high = interval
            side = "exact" if high - low <= _EXACT_WIDTH else "upper"
            hit = self.hit if quantity == "rad" else None
            found.append(Finding(quantity=quantity, value=high, side=side, low=low, hit=hit, assumes=self.assumes))  # type: ignore[arg-type]
        return found
