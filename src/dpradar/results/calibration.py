"""The answer of a calibration: how much noise, what it achieves and what it costs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .ceiling import Raw
from .checking import checked

__all__ = ["Achieved", "Calibration", "Status"]

SCHEMA = "dpradar/calibration/1"
# met: the least noise; free: met even by the least noise tried; unmet: by no noise; stopped: interrupted, still valid.
Status = Literal["met", "free", "unmet", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Achieved:
    """One limit and what the chosen noise gives: ``margin`` is limit minus value, never negative when met."""

    quantity: str
    value: float
    limit: float | None
    threat: str
    rule: str = ""
    side: str = "upper"
    raw: Raw | None = None  # what publishing the raw data would give
    acknowledge: str = ""  # "near-ceiling" where the limit accepts what comes near to it
    neighbours: str = ""  # the relation that the value rests on, where it rests on one

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

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        names = ("quantity", "value", "limit", "threat", "rule", "side", "acknowledge", "neighbours")
        raw = None if self.raw is None else self.raw.to_dict()
        return {**{name: getattr(self, name) for name in names}, "margin": self.margin, "raw": raw}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Achieved:
        """Return what ``to_dict`` wrote."""
        plain = {name: data[name] for name in ("quantity", "value", "limit", "threat", "rule", "side")}
        later = {name: data.get(name, "") for name in ("acknowledge", "neighbours")}
        return cls(**plain, raw=Raw.read(data.get("raw")), **later)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
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

    parameter: str
    value: float | None
    status: Status
    more_private: str | None = None  # "up": more of the parameter is more noise; "down": less of it is
    achieved: tuple[Achieved, ...] = ()
    binding: str | None = None
    cost: dict[str, float] = field(default_factory=dict, hash=False)
    reason: str = ""
    tried: int = 0
    release: str | None = None
    mechanism: Any = field(default=None, compare=False, repr=False)
    assumes: tuple[str, ...] = ()
    version: str = ""

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
        return all(
            one.side == "exact" or one.threat == "accuracy" for one in self.achieved if one.label == self.binding
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as plain data with a schema key."""
        plain = {
            n: getattr(self, n)
            for n in ("version", "parameter", "value", "status", "more_private", "binding", "reason", "tried")
        }
        achieved = [one.to_dict() for one in self.achieved]
        plain |= {"assumes": list(self.assumes), "near_ceiling": self.near_ceiling, "complete": self.complete}
        return {"schema": SCHEMA, **plain, "achieved": achieved, "cost": dict(self.cost), "release": self.release}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Calibration:
        """Return what ``to_dict`` wrote; the mechanism itself is not kept."""
        checked(data, SCHEMA)
        names = (
            "version",
            "parameter",
            "value",
            "status",
            "more_private",
            "binding",
            "reason",
            "tried",
            "cost",
            "release",
        )
        achieved = tuple(Achieved.from_dict(one) for one in data["achieved"])
        assumes = tuple(data.get("assumes", ()))  # older files have none
        return cls(achieved=achieved, assumes=assumes, **{name: data[name] for name in names})

    def save(self, path: str | Path) -> None:
        """Write the calibration as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")

    def explain(self) -> str:
        """Return the answer in sentences."""
        from ..present.text import explain

        return explain(self)

    def report(self, path: str | Path) -> Path:
        """Write the calibration for people, as .html or .md, and return where it is."""
        from ..present.files import save_report

        return save_report(self, path)

    def _repr_html_(self) -> str | None:
        from ..present.notebook import notebook_html

        return notebook_html(self)
