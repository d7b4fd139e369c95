"""One number that knows its side, its theorem and its assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge, MinLen

from .field_shapes import Later, RangeOfOwner
from .result_codec import Record, not_decreasing

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["QUANTITIES", "Bound", "Quantity", "Side", "side_of"]

Side = Literal["exact", "upper", "lower"]
Quantity = Literal["rad", "success", "gain", "worst_gain"]
_EXACT = 1e-6  # of the value: a certified interval this narrow counts as the value itself
_End = Annotated[float, Ge(0), RangeOfOwner()]
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
class Bound(Record):
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

    value: _End
    side: Side
    rule: Annotated[str, MinLen(1)]
    cites: tuple[str, ...] = ()
    assumes: tuple[str, ...] = ()
    low: Annotated[_End | None, Later()] = None
    high: Annotated[_End | None, Later()] = None
    neighbours: Annotated[Annotated[str, MinLen(1)] | None, Later()] = None

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield ends of the interval that are on the wrong side of the value."""
        yield from not_decreasing(self, "low", "value", "high")

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"Bound({self.value:.6g} {self.side}, {self.rule})"
