"""The answer: what someone could learn about one person."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from ..errors import ParameterError
from ..params import shown
from .bound import QUANTITIES, Bound, Quantity
from .ceiling import Rarest, near_ceiling, rules_out_nothing, share_of
from .description import Description
from .field_shapes import Later, NumbersBetween, Share, WrittenAs
from .result_codec import SLACK, Record, Result
from .tradeoff import HasRates, SavedRates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["TOO_MANY", "Assessment", "Discarded"]

_Risk = Annotated[Bound, NumbersBetween(0, 1)]
_LEADING: tuple[Quantity, ...] = ("rad", "success")
_MOST_VALUES = 2**63
TOO_MANY = "too many values"  # how the reason of a rule begins that cannot take so many values


def _is_number(value: object) -> bool:
    """Whether a value is a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return isinstance(value, float) or abs(value) <= sys.float_info.max


@dataclass(frozen=True, slots=True, kw_only=True)
class Discarded(Record):
    """A rule that did not give the answer, and why: not applicable, looser, or failed."""

    quantity: Quantity
    rule: str
    why: str
    bound: _Risk | None = None

    @classmethod
    def rows(cls, rows: Iterable[tuple[Quantity, str, str, Bound | None]]) -> tuple[Self, ...]:
        """Return discarded bounds: of each the quantity, the rule, why it is not used, and its bound if it has one."""
        return tuple(cls(quantity=quantity, rule=rule, why=why, bound=bound) for quantity, rule, why, bound in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment(Result):
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

    KIND: ClassVar[str] = "assessment"
    DERIVED: ClassVar[tuple[str, ...]] = ("share", "near_ceiling")

    release: Description
    threat: Description
    rad: _Risk | None
    success: _Risk | None
    gain: _Risk | None
    worst_gain: _Risk | None
    baseline: Share | None
    hit: Share | None = None
    false_hit: Share | None = None
    ceiling: Annotated[_Risk | None, Later()] = None
    rarest: Annotated[Rarest | None, Later()] = None
    reason: dict[str, str] = field(default_factory=dict, hash=False)
    others: tuple[Discarded, ...] = ()
    prior: dict[str, Any] = field(
        default_factory=dict, hash=False
    )  # size, kappa, how it was counted; never labels or frequencies
    neighbours: Literal["replace-one", "add-remove", "none"] | None = None
    version: str = ""
    rates: Annotated[HasRates | None, WrittenAs(SavedRates), Later()] = field(default=None, compare=False, repr=False)

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield bounds that are absent without a reason, and terms of rad that do not give it."""
        for name in QUANTITIES:
            if self.bounds[name] is None and not self.reason.get(name):
                yield f"reason.{name}", f"is missing: why there is no {name}"
        if (self.hit is None) != (self.false_hit is None):
            yield "false_hit", "must be stated where hit is, and only there"
        elif self.hit is not None and self.false_hit is not None and self.rad is not None:
            difference = max(self.hit - self.rad.value, 0.0)
            if abs(self.false_hit - difference) > SLACK:
                yield "false_hit", f"must be hit minus rad, {difference:g}; got {self.false_hit:g}"
        size = self.prior.get("size")
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= _MOST_VALUES):
            yield "prior.size", f"must be a whole number at least 0; got {shown(size)}"
        for key, largest in (("kappa", 1.0), ("skew", None)):
            value = self.prior.get(key)
            if value is not None and not (_is_number(value) and 0 <= value <= (largest or value)):
                yield (
                    f"prior.{key}",
                    f"must be a number {'from 0 to 1' if largest else 'at least 0'}; got {shown(value)}",
                )

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
        quantities: list[Quantity] = [name for name in _LEADING if self.bounds[name] is not None]
        if self.rad is not None and self.baseline is not None and self.baseline >= 1.0:
            quantities = ["rad"]
        return all(self.vacuous(name) for name in quantities)

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

    def plot(self, ax: Any = None) -> Any:
        """Draw success against the blind guess on matplotlib axes, and return them."""
        from ..present.plot import plot_assessment

        return plot_assessment(self, ax)

    def __repr__(self) -> str:
        parts = [f"{name} {bound.value:.4g} {bound.side}" for name, bound in self.bounds.items() if bound is not None]
        return f"Assessment({', '.join(parts)}; {self.release})"
