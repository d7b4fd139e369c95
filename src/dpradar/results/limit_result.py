"""A limit beside what is reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge

from .bound import Side
from .ceiling import Raw
from .field_shapes import Infinite, Later
from .result_codec import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LimitResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitResult(Record):
    """A limit and what is reached: met only if the value is known and at most the limit.

    ``at`` is the false-positive rate of a limit on ``tpr``, the delta of one on ``epsilon`` and the number of reports
    of one on ``frequency_error``; ``source`` says where the limit comes from; ``value`` is None where it is not known,
    and ``reason`` says why. ``raw`` is what publishing the raw data would give, and ``acknowledge`` is "near-ceiling"
    where the limit accepts a release that comes near to it.

    Examples
    --------
    >>> LimitResult(quantity="rad", limit=0.1, value=0.0594531, side="exact", met=True).label
    'rad <= 0.1'
    """

    quantity: str
    limit: float
    value: Annotated[float, Infinite()] | None
    met: bool
    side: Side = "upper"
    rule: str = ""
    source: str = ""
    at: Annotated[float, Ge(0)] | None = None
    reason: str = ""
    raw: Annotated[Raw | None, Later()] = None
    acknowledge: Annotated[Literal["", "near-ceiling"], Later()] = ""
    neighbours: Annotated[str, Later()] = ""  # the relation that the value rests on, where it rests on one

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield a limit that is called met although the value is above it, or not known."""
        if self.met and (self.value is None or self.value > self.limit):
            known = "not known" if self.value is None else f"{self.value:g}"
            yield "met", f"must be false where the value is {known} and the limit {self.limit:g}; got true"

    @property
    def idle(self) -> bool:
        """Whether publishing the raw data would keep this limit too, so that it does not protect."""
        return self.raw is not None and self.raw.keeps(self.limit)

    @property
    def near_ceiling(self) -> bool:
        """Whether the value cannot be shown to stay below 90 % of what the raw data would give."""
        return self.raw is not None and self.value is not None and self.raw.near(self.value)

    @property
    def label(self) -> str:
        """The limit as it is written."""
        where = {"tpr": "at fpr", "epsilon": "at delta", "frequency_error": "from reports:"}.get(self.quantity)
        at = "" if self.at is None or where is None else f" {where} {self.at:g}"
        return f"{self.quantity}{at} <= {self.limit:g}"
