"""One number that knows its side, its theorem and its assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["QUANTITIES", "Bound", "Quantity", "Side", "side_of"]

Side = Literal["exact", "upper", "lower"]
Quantity = Literal["rad", "success", "gain", "worst_gain"]
_EXACT = 1e-6  # of the value: a certified interval this narrow counts as the value itself
QUANTITIES: tuple[Quantity, ...] = ("rad", "success", "gain", "worst_gain")


def side_of(low: float, high: float) -> Side:
    """Return what the upper end of a certified interval is: exact if it is narrower than 1e-6 of it, else a bound.

    Examples
    --------
    >>> side_of(0.25, 0.2500001), side_of(0.0, 4e-7), side_of(0.0, 0.0)
    ('exact', 'upper', 'exact')
    """
    return "exact" if high - low <= _EXACT * high else "upper"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A value with its side: exact, an upper bound or a lower bound.

    ``low`` and ``high`` enclose the true value where a computation knows more than one side; ``value`` is then the
    upper end, so that it is safe to compare with a limit. Exact means that they are less than 1e-6 of the value apart;
    a value of 0 is exact only where it is certain. ``neighbours`` is the relation of the promise that the number rests
    on; None where it rests on none, as the exact risk of a mechanism.

    Examples
    --------
    >>> Bound(value=0.25, side="upper", rule="thm-4.2", cites=("[RAD] Theorem 4.2",))
    Bound(0.25 upper, thm-4.2)
    """

    value: float
    side: Side
    rule: str
    cites: tuple[str, ...] = ()
    assumes: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    neighbours: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the bound as plain data."""
        return {
            "value": self.value,
            "side": self.side,
            "rule": self.rule,
            "cites": list(self.cites),
            "assumes": list(self.assumes),
            "low": self.low,
            "high": self.high,
            "neighbours": self.neighbours,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Bound:
        """Return the bound that ``to_dict`` wrote."""
        return cls(**{**data, "cites": tuple(data["cites"]), "assumes": tuple(data["assumes"])})

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"Bound({self.value:.6g} {self.side}, {self.rule})"
