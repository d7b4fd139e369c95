"""The answer: what someone could learn about one person."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import ParameterError
from .bound import QUANTITIES, Bound, Quantity
from .ceiling import Rarest, near_ceiling, rules_out_nothing, share_of
from .checking import checked
from .tradeoff import HasRates, SavedRates

__all__ = ["TOO_MANY", "Assessment", "Discarded"]

SCHEMA = "dpradar/assessment/1"


_LEADING: tuple[Quantity, ...] = ("rad", "success")
TOO_MANY = "too many values"  # how the reason of a rule begins that cannot take so many


@dataclass(frozen=True, slots=True, kw_only=True)
class Discarded:
    """A rule that did not give the answer, and why: not applicable, looser, or failed."""

    quantity: Quantity
    rule: str
    why: str
    bound: Bound | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        bound = None if self.bound is None else self.bound.to_dict()
        return {"quantity": self.quantity, "rule": self.rule, "why": self.why, "bound": bound}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Discarded:
        """Return what ``to_dict`` wrote."""
        bound = None if data["bound"] is None else Bound.from_dict(data["bound"])
        return cls(quantity=data["quantity"], rule=data["rule"], why=data["why"], bound=bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """Disclosure risk of one release under one threat.

    ``rad``, ``success``, ``gain`` and ``worst_gain`` are bounds (None with a ``reason`` where the question makes no
    sense); ``baseline`` is the best blind guess; ``hit`` and ``false_hit`` are the two terms of rad for the attack that
    maximises it. ``ceiling`` is the rad of publishing the raw data under the same prior, knowledge and goal, ``rarest``
    what is said about people with the rarest value of a skewed prior (both None where there is no prior, or the file is
    older). ``others`` keeps every rule that lost, with the reason.

    Examples
    --------
    >>> import dpradar as dr
    >>> a = dr.assess(dr.GRR(m=10, epsilon=1.0), dr.Threat(dr.Prior.uniform(10)))
    >>> round(a.rad.value, 6), a.rad.side
    (0.131969, 'exact')
    >>> dr.Assessment.from_dict(a.to_dict()) == a
    True
    """

    release: str
    threat: str
    rad: Bound | None
    success: Bound | None
    gain: Bound | None
    worst_gain: Bound | None
    baseline: float | None
    hit: float | None = None
    false_hit: float | None = None
    ceiling: Bound | None = None
    rarest: Rarest | None = None
    reason: dict[str, str] = field(default_factory=dict, hash=False)
    others: tuple[Discarded, ...] = ()
    prior: dict[str, Any] = field(
        default_factory=dict, hash=False
    )  # size, kappa, how it was counted; never labels or frequencies
    neighbours: str | None = None
    version: str = ""
    rates: HasRates | None = field(default=None, compare=False, repr=False)
    prior_id: str | None = field(default=None, compare=False, repr=False)  # a random name, no function of the prior

    @property
    def bounds(self) -> dict[Quantity, Bound | None]:
        """The four bounds by name."""
        return {"rad": self.rad, "success": self.success, "gain": self.gain, "worst_gain": self.worst_gain}

    @property
    def share(self) -> float | None:
        """How much of the ceiling rad reaches at most, between 0 and 1; None where there is no ceiling."""
        if self.rad is None or self.ceiling is None:
            return None
        low = self.ceiling.value if self.ceiling.low is None else self.ceiling.low
        return share_of(self.rad.value, 0.0, low)

    @property
    def near_ceiling(self) -> bool:
        """Whether rad cannot be shown to stay below 90 % of what publishing the raw data would add."""
        return self.share is not None and near_ceiling(self.share)

    def _possible(self, quantity: Quantity) -> tuple[float, float]:
        """Return between which numbers a quantity lies, whatever the release."""
        baseline = self.baseline or 0.0
        if quantity == "rad" and self.ceiling is not None:
            return 0.0, self.ceiling.value
        trivial = [
            one.bound.value
            for one in self.others
            if one.rule == "trivial" and one.quantity == quantity and one.bound is not None
        ]
        most = min(trivial, default=1.0)
        return {"success": (baseline, most), "gain": (0.0, 1.0 - baseline)}.get(quantity, (0.0, most))

    def vacuous(self, quantity: Quantity) -> bool:
        """Whether a bound excludes less than 1 % of what is possible; False where it is exact, or there is none."""
        bound = self.bounds[quantity]
        if quantity == "success" and self.baseline == 1.0:
            return bound is not None  # it is 1 whatever is released
        if bound is None or bound.side == "exact":
            return False
        return bound.rule == "trivial" or rules_out_nothing(bound.value, *self._possible(quantity))

    @property
    def says_nothing(self) -> bool:
        """Whether neither rad nor success, as far as they can say something, excludes 1 % of what is possible.

        Where the blind guess is always right, success says nothing.
        """
        asked: list[Quantity] = [name for name in _LEADING if self.bounds[name] is not None]
        if self.rad is not None and self.baseline is not None and self.baseline >= 1.0:
            asked = ["rad"]
        return all(self.vacuous(name) for name in asked)

    @property
    def left_out(self) -> dict[str, str]:
        """Rules that would know more, and were left out because they cannot take so much: each with the reason."""
        open_ = [name for name, bound in self.bounds.items() if bound is not None and bound.side != "exact"]
        return {one.rule: one.why for one in self.others if one.quantity in open_ and one.why.startswith(TOO_MANY)}

    def tpr(self, fpr: float) -> Bound:
        """Return the largest true-positive rate of any attack between neighbours at this false-positive rate.

        Guarantee
        ---------
        An upper bound, under the relation of the guarantee, the one given to ``assess``, or the worse of
        those about which something is known.

        Notes
        -----
        One minus the trade-off curve (Dong, Roth and Su 2022; [UNIFY] Section 2). After ``load`` it is exact at the
        saved rates and bounded by convexity between them.

        Examples
        --------
        >>> import dpradar as dr
        >>> round(dr.assess(dr.Gaussian(sigma=1.0, query=[0.0, 1.0])).tpr(fpr=0.01).value, 7)
        0.0923622
        """
        if self.rates is None:
            raise ParameterError("tpr", "asked of a release with a trade-off curve", self.release, "None is known.")
        return self.rates.tpr(fpr)

    def to_dict(self) -> dict[str, Any]:
        """Return the assessment as plain data with a schema key."""
        rates = None if self.rates is None else self.rates.saved()
        bounds: dict[str, Any] = {n: None if bound is None else bound.to_dict() for n, bound in self.bounds.items()}
        return {
            "schema": SCHEMA,
            "version": self.version,
            "release": self.release,
            "threat": self.threat,
            **bounds,
            "baseline": self.baseline,
            "hit": self.hit,
            "false_hit": self.false_hit,
            "ceiling": None if self.ceiling is None else self.ceiling.to_dict(),
            "share": self.share,
            "near_ceiling": self.near_ceiling,
            "rarest": None if self.rarest is None else self.rarest.to_dict(),
            "reason": dict(self.reason),
            "prior": dict(self.prior) if self.prior_id is None else {"id": self.prior_id, **self.prior},
            "neighbours": self.neighbours,
            "rates": None if rates is None else rates.to_dict(),
            "others": [other.to_dict() for other in self.others],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Assessment:
        """Return the assessment that ``to_dict`` wrote."""
        checked(data, SCHEMA)
        plain = {key: data[key] for key in ("version", "release", "threat", "baseline", "hit", "false_hit")}
        bounds: dict[str, Any] = {q: None if data[q] is None else Bound.from_dict(data[q]) for q in QUANTITIES}
        others = tuple(Discarded.from_dict(other) for other in data["others"])
        rest = {key: data[key] for key in ("reason", "neighbours")}
        prior = {key: value for key, value in data["prior"].items() if key != "id"}
        saved = data.get("rates")
        rates = None if saved is None else SavedRates.from_dict(saved)
        ceiling, rarest = data.get("ceiling"), data.get("rarest")  # older files have none
        return cls(
            **plain,
            **bounds,
            **rest,
            ceiling=None if ceiling is None else Bound.from_dict(ceiling),
            rarest=None if rarest is None else Rarest.from_dict(rarest),
            prior=prior,
            prior_id=data["prior"].get("id"),
            others=others,
            rates=rates,
        )

    def save(self, path: str | Path) -> None:
        """Write the assessment as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")

    def explain(self) -> str:
        """Return the answer in sentences."""
        from ..present.text import explain

        return explain(self)

    def report(self, path: str | Path) -> Path:
        """Write the assessment for people, as .html or .md, and return where it is."""
        from ..present.files import save_report

        return save_report(self, path)

    def _repr_html_(self) -> str | None:
        from ..present.notebook import notebook_html

        return notebook_html(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw success against the blind guess on matplotlib axes, and return them."""
        from ..present.plot import plot_assessment

        return plot_assessment(self, ax)

    def __repr__(self) -> str:
        parts = [f"{name} {bound.value:.4g} {bound.side}" for name, bound in self.bounds.items() if bound is not None]
        return f"Assessment({', '.join(parts)}; {self.release})"
