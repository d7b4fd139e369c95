"""The answer of a calibration: how much noise, what it achieves and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from .bound import Side
from .ceiling import Raw
from .description import Description
from .field_shapes import Infinite, Later, Loss, Unsaved, Whole
from .result_codec import SLACK, Record, Result

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Achieved", "Calibration", "Status"]

ACCURACY = Description(kind="accuracy", text="accuracy")  # stands for the threat where a limit is on the error
# met: the least noise; free: met even by the least noise tried; unmet: by no noise; stopped: interrupted, still valid.
Status = Literal["met", "free", "unmet", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Achieved(Record):
    """One limit and what the chosen noise gives: ``margin`` is limit minus value, never negative when met."""

    DERIVED: ClassVar[tuple[str, ...]] = ("margin",)

    quantity: str
    value: Annotated[float, Infinite()]
    limit: float | None
    threat: Description
    rule: str = ""
    side: Side = "upper"
    raw: Annotated[Raw | None, Later()] = None  # what publishing the raw data would give
    # "near-ceiling" where the limit accepts what comes near to it
    acknowledge: Annotated[Literal["", "near-ceiling"], Later()] = ""
    neighbours: Annotated[str, Later()] = ""  # the relation that the value rests on, where it rests on one

    @property
    def limits_accuracy(self) -> bool:
        """Whether the limit is on the error and not on what an attacker reaches."""
        return ACCURACY.text in (self.threat.kind, self.threat.text)  # files of schema 1 have the text only

    @property
    def near_ceiling(self) -> bool:
        """Whether the value cannot be shown to stay below 90 % of what the raw data would give."""
        return self.raw is not None and self.raw.near(self.value)

    @property
    def idle(self) -> bool:
        """Whether publishing the raw data would keep the limit too, so that it does not protect."""
        return self.raw is not None and self.limit is not None and self.raw.keeps(self.limit)

    @property
    def margin(self) -> float | None:
        """How far the value stays below its limit."""
        return None if self.limit is None else self.limit - self.value

    @property
    def label(self) -> str:
        """The limit in words."""
        most = "" if self.limit is None else f" <= {self.limit:g}"
        return f"{self.quantity}{most}, {self.threat}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration(Result):
    """The least noise that meets every limit.

    ``value`` of ``parameter`` is on the safe side (None when no noise meets the limits); ``achieved`` says what it
    gives, ``binding`` which limit decides, ``cost`` what it does to the accuracy; ``mechanism`` is ready to use.

    Examples
    --------
    >>> import dpradar as dr
    >>> c = dr.calibrate(dr.GRR, dr.Limit(dr.Threat(dr.Prior.uniform(100)), rad=0.1), m=100)
    >>> c.parameter, round(c.value, 4), c.status
    ('epsilon', 2.5044, 'met')
    """

    KIND: ClassVar[str] = "calibration"
    DERIVED: ClassVar[tuple[str, ...]] = ("near_ceiling", "complete")

    parameter: str
    value: float | None
    status: Status
    more_private: Literal["up", "down"] | None = (
        None  # "up": more of the parameter is more noise; "down": less of it is
    )
    achieved: tuple[Achieved, ...] = ()
    binding: str | None = None
    cost: dict[str, Loss] = field(default_factory=dict, hash=False)
    reason: str = ""
    tried: Whole = 0
    release: Description | None = None
    mechanism: Annotated[Any, Unsaved()] = field(default=None, compare=False, repr=False)
    assumes: Annotated[tuple[str, ...], Later()] = ()
    version: str = ""

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield limits that are broken by a value that is said to meet them."""
        if (self.value is None) != (self.status == "unmet"):
            yield "status", f"must be 'unmet' where there is no value, and only there; got {self.status}"
        for index, one in enumerate(self.achieved if self.value is not None else (), 1):
            if one.limit is not None and one.value > one.limit + SLACK * abs(one.limit):
                message = f"must be at most its limit {one.limit:g} in a calibration that succeeded"
                yield f"achieved[{index}].value", message

    @property
    def met(self) -> bool:
        """Whether the value meets every limit."""
        return self.value is not None

    @property
    def near_ceiling(self) -> bool:
        """Whether what is achieved cannot be shown to be better than 90 % of publishing the raw data."""
        return any(one.near_ceiling for one in self.achieved)

    @property
    def acknowledged(self) -> bool:
        """Whether every limit that is so near to the raw data accepts that."""
        return all(one.acknowledge for one in self.achieved if one.near_ceiling and one.limit is not None)

    @property
    def complete(self) -> bool:
        """Whether the search was over: an interrupted one may have chosen more noise than is needed."""
        return self.status != "stopped"

    @property
    def exact(self) -> bool:
        """Whether less noise would break the limit that decides; else it may do as well, as only a bound is known."""
        return all(one.side == "exact" or one.limits_accuracy for one in self.achieved if one.label == self.binding)
