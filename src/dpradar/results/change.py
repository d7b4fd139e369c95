"""A limit beside what is reached, and the smallest change that would meet it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .ceiling import Raw

__all__ = ["Change", "LimitResult"]

_LIMIT = ("quantity", "limit", "value", "side", "met", "rule", "source", "at", "reason")
_LATER = ("acknowledge", "neighbours")  # keys that older files do not have
_CHANGE = ("parameter", "value", "instead_of", "more_private", "reason", "exact")


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitResult:
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
    value: float | None
    met: bool
    side: str = "upper"
    rule: str = ""
    source: str = ""
    at: float | None = None
    reason: str = ""
    raw: Raw | None = None
    acknowledge: str = ""
    neighbours: str = ""  # the relation that the value rests on, where it rests on one

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

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        raw = None if self.raw is None else self.raw.to_dict()
        return {**{name: getattr(self, name) for name in (*_LIMIT, *_LATER)}, "raw": raw}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> LimitResult:
        """Return what ``to_dict`` wrote."""
        later = {name: data[name] for name in _LATER if name in data}
        return cls(**{name: data[name] for name in _LIMIT}, **later, raw=Raw.read(data.get("raw")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The smallest change of one parameter that meets every limit; ``value`` is None where none does.

    ``more_private`` says which way to round the value: "up" where more of the parameter is more noise. Where what
    decides is a bound that is not ``exact``, a smaller change may do as well.

    Examples
    --------
    >>> str(Change(parameter="epsilon", value=1.25, instead_of=2.0, more_private="down"))
    'epsilon 1.25 instead of 2.0'
    """

    parameter: str
    instead_of: float
    value: float | None = None
    more_private: str | None = None
    reason: str = ""
    exact: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {name: getattr(self, name) for name in _CHANGE}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Change:
        """Return what ``to_dict`` wrote."""
        return cls(**{name: data[name] for name in _CHANGE if name in data})  # older files do not say "exact"

    def __str__(self) -> str:
        if self.value is None:
            return self.reason or f"no {self.parameter} meets the limits"
        return f"{self.parameter} {self.value!r} instead of {self.instead_of!r}"
