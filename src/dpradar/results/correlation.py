"""The answer about correlated records: how much more is lost than under independence, and by which theorem."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .bound import Bound
from .checking import checked

__all__ = ["Check", "Correlation", "Simulated", "Theorem"]

DOUBTED = "taken as given although the data speak against it"  # how such an assumption begins
SCHEMA = "dpradar/correlation/1"
_CHECK = ("name", "holds", "text")
_THEOREM = ("rule", "title", "usable", "why", "claimed", "epsilon", "error", "times")
_SIMULATED = ("runs", "seed", "error", "error_exact", "mape", "mape_exact")
_PLAIN = ("version", "model", "release", "epsilon", "target", "sensitivity", "records", "command")
_LISTS = ("notes", "warnings")
_SAME = 1e-9  # of two theorems that ask for the same noise up to rounding, the first


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One hypothesis about the records: whether it holds, fails, or cannot be told from the data (None).

    Examples
    --------
    >>> Check(name="positive", holds=True, text="all transition probabilities are above 0").word
    'holds'
    """

    name: str
    holds: bool | None
    text: str

    @property
    def word(self) -> str:
        """The state in a word."""
        return {True: "holds", False: "fails", None: "unknown"}[self.holds]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {name: getattr(self, name) for name in _CHECK}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Check:
        """Return what ``to_dict`` wrote."""
        return cls(**{name: data[name] for name in _CHECK})


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem:
    """One theorem: whether it may be used and why, the leakage it gives, and the noise it asks for.

    ``bound`` is None where the theorem may not be used; ``claimed`` is then the number it would give. ``epsilon`` keeps
    the target by this theorem, ``error`` is what 5 of 100 releases then exceed, ``times`` how many times the error of
    independent records that is; None where no noise keeps it.
    """

    rule: str
    title: str
    usable: bool
    why: str
    bound: Bound | None = None
    claimed: float | None = None
    epsilon: float | None = None
    error: float | None = None
    times: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        bound = None if self.bound is None else self.bound.to_dict()
        return {**{name: getattr(self, name) for name in _THEOREM}, "bound": bound}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Theorem:
        """Return what ``to_dict`` wrote."""
        bound = None if data["bound"] is None else Bound.from_dict(data["bound"])
        return cls(**{name: data[name] for name in _THEOREM}, bound=bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What the noise did to the true answer in ``runs`` releases, beside what follows from its law.

    ``error`` is the error that 5 of 100 releases exceed, ``mape`` the mean of |error / truth|, as a share.
    """

    runs: int
    error: float
    error_exact: float
    mape: float | None
    mape_exact: float | None
    seed: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {name: getattr(self, name) for name in _SIMULATED}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Simulated:
        """Return what ``to_dict`` wrote."""
        return cls(**{name: data[name] for name in _SIMULATED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """What a release with ``epsilon`` gives away when records depend on each other.

    ``leakage`` is the tightest bound of a theorem that may be used (the epsilon of Bayesian DP), ``any_dependence`` the
    one that holds whatever the dependence within a group, ``at_least`` what some attacker reaches, where that is known.
    ``theorems`` are all that were asked, with the reason where they may not be used; ``chosen`` is the one that keeps
    ``target`` with the least noise.

    Examples
    --------
    >>> from dpradar import correlated
    >>> r = correlated.leakage(correlated.Groups(size=3), epsilon=1.0)
    >>> r
    Correlation(leakage 3 upper, thm-6.3; groups of at most 3 records)
    >>> Correlation.from_dict(r.to_dict()) == r
    True
    """

    model: str
    release: str
    epsilon: float
    target: float
    leakage: Bound
    any_dependence: Bound
    theorems: tuple[Theorem, ...]
    at_least: Bound | None = None
    checks: tuple[Check, ...] = ()
    sensitivity: float | None = None
    records: int | None = None
    simulated: Simulated | None = None
    notes: tuple[str, ...] = field(default=())
    warnings: tuple[str, ...] = field(default=())
    command: str | None = None
    version: str = ""

    @property
    def chosen(self) -> Theorem | None:
        """The theorem that keeps the target with the least noise; None where none does."""
        able = [
            (one.epsilon, one) for one in self.theorems if one.usable and one.epsilon is not None and one.epsilon > 0.0
        ]
        most = max((epsilon for epsilon, _ in able), default=0.0)
        return next((one for epsilon, one in able if epsilon >= most * (1.0 - _SAME)), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data with a schema key."""
        chosen = self.chosen
        return {
            "schema": SCHEMA,
            **{name: getattr(self, name) for name in _PLAIN},
            "leakage": self.leakage.to_dict(),
            "any_dependence": self.any_dependence.to_dict(),
            "at_least": None if self.at_least is None else self.at_least.to_dict(),
            "chosen": None if chosen is None else chosen.to_dict(),
            "theorems": [one.to_dict() for one in self.theorems],
            "checks": [one.to_dict() for one in self.checks],
            "simulated": None if self.simulated is None else self.simulated.to_dict(),
            **{name: list(getattr(self, name)) for name in _LISTS},
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Correlation:
        """Return what ``to_dict`` wrote."""
        checked(data, SCHEMA)
        lower, simulated = data["at_least"], data["simulated"]
        plain: dict[str, Any] = {name: data[name] for name in _PLAIN} | {name: tuple(data[name]) for name in _LISTS}
        return cls(
            **plain,
            leakage=Bound.from_dict(data["leakage"]),
            any_dependence=Bound.from_dict(data["any_dependence"]),
            at_least=None if lower is None else Bound.from_dict(lower),
            theorems=tuple(Theorem.from_dict(one) for one in data["theorems"]),
            checks=tuple(Check.from_dict(one) for one in data["checks"]),
            simulated=None if simulated is None else Simulated.from_dict(simulated),
        )

    def save(self, path: str | Path) -> None:
        """Write the answer as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")

    def explain(self) -> str:
        """Return the answer in sentences."""
        from ..present.text import explain

        return explain(self)

    def report(self, path: str | Path) -> Path:
        """Write the answer for people, as .html or .md, and return where it is."""
        from ..present.files import save_report

        return save_report(self, path)

    def _repr_html_(self) -> str | None:
        from ..present.notebook import notebook_html

        return notebook_html(self)

    def __repr__(self) -> str:
        return f"Correlation(leakage {self.leakage.value:.6g} {self.leakage.side}, {self.leakage.rule}; {self.model})"
