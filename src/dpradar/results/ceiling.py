"""How near a number comes to what the raw data would give, and whether a bound rules anything out at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from annotated_types import Ge

from .bound import Bound
from .field_shapes import NumbersBetween, Share
from .result_codec import Record, not_decreasing

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ACKNOWLEDGE", "NEAR", "Rarest", "Raw", "near_ceiling", "no_worse", "rules_out_nothing", "share_of"]

ACKNOWLEDGE: Final = "near-ceiling"  # what a limit says that accepts such a result
NEAR = 0.9  # of what the raw data give: from here on a release hardly protects
_RULED_OUT = 0.01  # a bound that excludes less than this share of what is possible says almost nothing
_ROUNDING = 1e-9
_EQUAL = 1e-6  # a share this close to 1 is that of the raw data


def share_of(value: float, low: float, high: float) -> float:
    """Return how far ``value`` has come on the way from ``low`` to ``high``, between 0 and 1.

    Where there is no way to go, nothing can be ruled out, and the share is 1.

    Examples
    --------
    >>> share_of(0.015, 0.0, 0.02), share_of(0.99, 0.98, 1.0), share_of(1.0, 1.0, 1.0)
    (0.75, 0.5, 1.0)
    """
    if high - low <= _ROUNDING * max(high, 0.0):
        return 1.0
    return min(max((value - low) / (high - low), 0.0), 1.0)


def near_ceiling(share: float) -> bool:
    """Whether a release with this share of what the raw data give hardly protects: from 90 % on.

    Examples
    --------
    >>> near_ceiling(0.9), near_ceiling(0.89)
    (True, False)
    """
    return share >= NEAR - _ROUNDING


def no_worse(share: float) -> bool:
    """Whether publishing the raw data would do no worse, up to rounding."""
    return share >= 1.0 - _EQUAL


def rules_out_nothing(value: float, low: float, high: float) -> bool:
    """Whether an upper bound excludes less than 1 % of what is possible, which lies between ``low`` and ``high``.

    Examples
    --------
    >>> rules_out_nothing(0.9999, 0.0, 1.0), rules_out_nothing(0.98, 0.0, 1.0), rules_out_nothing(0.0198, 0.0, 0.0198)
    (True, False, True)
    """
    return share_of(value, low, high) > 1.0 - _RULED_OUT


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw(Record):
    """What the raw data give for a quantity that is limited, and what is reached without any release.

    ``most`` is a lower end, so that a share of it is never too small.

    Examples
    --------
    >>> raw = Raw(least=0.0, most=0.0198)
    >>> raw.keeps(0.1), raw.near(0.0197), raw.near(0.01)
    (True, True, False)
    """

    least: Annotated[float, Ge(0)]
    most: Annotated[float, Ge(0)]

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield an upper end below the lower one."""
        yield from not_decreasing(self, "least", "most")

    def keeps(self, limit: float) -> bool:
        """Whether publishing the raw data would, or might, keep a limit: then it does not protect."""
        return self.most <= limit

    def near(self, value: float) -> bool:
        """Whether a value cannot be shown to stay below 90 % of the way to what the raw data give."""
        return near_ceiling(share_of(value, self.least, self.most))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rarest(Record):
    """What a release says about people with the rarest value, which an average over everybody hides.

    ``tpr`` bounds how many of them an attacker finds who wrongly flags the share ``fpr`` of the others; ``odds`` is the
    factor by which the odds of having that value can grow, None where no finite one is known. The value is not named.
    """

    tpr: Annotated[Bound, NumbersBetween(0, 1)]
    fpr: Share = 0.01
    odds: Annotated[float, Ge(0)] | None = None
