"""The answer about correlated records: how much more is lost than under independence, and by which theorem."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import Ge

from .bound import Bound
from .field_shapes import Loss, Whole
from .result_codec import Record, Result

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Check", "Correlation", "Simulated", "Theorem"]

DOUBTED = "taken as given although the data speak against it"  # how such an assumption begins
_SAME = 1e-9  # of two theorems that ask for the same noise up to rounding, the first


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Record):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem(Record):
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
    claimed: Loss | None = None
    epsilon: Loss | None = None
    error: Loss | None = None
    times: Loss | None = None

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield a bound that is absent although the theorem may be used."""
        if self.usable and self.bound is None:
            yield "bound", "is missing in a theorem that may be used"


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated(Record):
    """What the noise did to the true answer in ``runs`` releases, beside what follows from its law.

    ``error`` is the error that 5 of 100 releases exceed, ``mape`` the mean of |error / truth|, as a share.
    """

    runs: Annotated[int, Ge(1)]
    error: Loss
    error_exact: Loss
    mape: Loss | None
    mape_exact: Loss | None
    seed: Whole | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation(Result):
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

    KIND: ClassVar[str] = "correlation"
    DERIVED: ClassVar[tuple[str, ...]] = ("chosen",)

    model: str
    release: str
    epsilon: Loss
    target: Loss
    leakage: Bound
    any_dependence: Bound
    theorems: tuple[Theorem, ...]
    at_least: Bound | None = None
    checks: tuple[Check, ...] = ()
    sensitivity: Loss | None = None
    records: Whole | None = None
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

    def __repr__(self) -> str:
        return f"Correlation(leakage {self.leakage.value:.6g} {self.leakage.side}, {self.leakage.rule}; {self.model})"
