"""Advice on granularities for a stream: what each hides, and what a guarantee under one means under the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import Ge

from ..errors import ParameterError
from .field_shapes import Loss, Whole
from .result_codec import Record, Result

__all__ = ["Advice", "Notice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(Record):
    """One granularity: what it hides, what it does not, and the epsilon that follows for it.

    ``factor`` is by how much epsilon grows, and ``why`` says where it comes from.
    """

    granularity: str
    unit: str
    exposed: str
    factor: Loss
    implied: Loss
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice(Result):
    """What a guarantee of ``epsilon`` under one granularity means for a stream.

    ``most_points`` and ``middle_points`` are the largest and the median number of points of a user. ``mixing_quarter``
    and ``mixing_hundredth`` are the times after which where someone is says little about where they were (total
    variation 1/4 and 1/100), estimated from the stream; None where that was not asked for. They come from the data
    themselves and are not differentially private.

    Examples
    --------
    >>> from dpradar.granularity import advise
    >>> stream = {"ann": {1: "home", 2: "work", 3: "home"}, "bob": {1: "home", 2: "home"}}
    >>> advice = advise(stream, granularity="event", epsilon=0.5, hidden="values")
    >>> advice.row("user:replace-one").implied, Advice.from_dict(advice.to_dict()) == advice
    (1.5, True)
    """

    KIND: ClassVar[str] = "advice"

    granularity: str
    epsilon: Loss
    users: Whole
    points: Whole
    most_points: Whole
    middle_points: Annotated[float, Ge(0)]
    times: Whole
    hidden: str | None
    rows: tuple[Notice, ...]
    mixing_quarter: Loss | None = None
    mixing_hundredth: Loss | None = None
    states: Whole | None = None
    window: Whole | None = None
    notes: tuple[str, ...] = ()
    version: str = ""

    def row(self, granularity: Any) -> Notice:
        """Return the row of a granularity."""
        row = next((one for one in self.rows if one.granularity == str(granularity)), None)
        if row is None:
            granularities = ", ".join(one.granularity for one in self.rows)
            raise ParameterError("Advice.row", f"one of {granularities}", repr(str(granularity)))
        return row
