"""True-positive rates of any attack between neighbours, straight from the trade-off curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import NumericsError
from ..numerics.lazy_numpy import Floats, np
from ..results.tradeoff import FPR, HasRates, SavedRates, bounded_rate

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..guarantees.curves import TradeoffCurve
    from ..guarantees.privacy import Privacy, Relation
    from ..results import Bound
    from .question import Case

__all__ = ["Rates", "least_fnr", "question_relations"]


def question_relations(case: Case) -> tuple[Relation, ...]:
    """Return the relations that worst_gain and the true-positive rate refer to.

    The requested one, the guarantee's own, or else both, of which the worse counts.
    """
    relation = case.neighbours or getattr(case.what, "neighbours", None)
    return (relation,) if relation else ("replace-one", "add-remove")


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Rates of a release, computed when asked for from its trade-off curves alone: it holds no prior and no threat.

    Curves are functions, which cannot be written down; a copy by pickle is the rates on a grid.
    """

    promises: tuple[Promise, ...]
    assumes: tuple[str, ...] = ()

    @classmethod
    def of(cls, case: Case) -> Rates:
        """Return the rates of a case, under the relations that the question is about."""
        try:
            candidates = [case.promise(relation) for relation in question_relations(case)]
        except NumericsError:  # under one relation nothing is known, and that one may be the worse
            return cls(())
        promises = (p for p in candidates if p is not None and (p.curve or p.tv) is not None)
        return cls(tuple(map(_promise, promises)), case.assumes)

    def tpr(self, fpr: float) -> Bound:
        """Return the largest true-positive rate, under the worse relation where none was requested."""
        x = float(FPR.check("tpr", fpr))
        if not self.promises:
            return bounded_rate(1.0, ("no trade-off curve is known for this release: nothing can be said",))
        worst = min(self.promises, key=lambda promise: float(least_fnr(promise, np.array([x]))[0]))
        notes = (worst.source, f"neighbours: {worst.relation}", *self.assumes)
        return bounded_rate(1.0 - float(least_fnr(worst, np.array([x]))[0]), notes)

    def saved(self) -> SavedRates | None:
        """Return the rates on a grid that is fine at both ends."""
        if not self.promises:
            return None
        small = np.concatenate([[0.0], np.geomspace(1e-6, 0.02, 40), [1e-5, 1e-4, 1e-3, 0.01]])
        x = np.unique(np.concatenate([small, np.linspace(0.02, 0.98, 65), [0.05, 0.1], 1.0 - small]).round(12))
        curves = tuple(tuple(least_fnr(promise, x).tolist()) for promise in self.promises)
        relations = sorted({f"neighbours: {promise.relation}" for promise in self.promises})
        return SavedRates(tuple(x.tolist()), curves, (*relations, *self.assumes))

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return _rates_from_dict, (self.saved(),)


@dataclass(frozen=True, slots=True, eq=False)
class Promise:
    """What a release promises under one relation, as far as rates need it."""

    relation: Relation
    source: str
    curve: TradeoffCurve | None
    tv: float | None


def _promise(privacy: Privacy) -> Promise:
    return Promise(privacy.relation, privacy.source, privacy.curve, privacy.tv)


def _rates_from_dict(saved: SavedRates | None) -> HasRates:
    return Rates(()) if saved is None else saved


def least_fnr(promise: Promise | Privacy, x: Floats) -> Floats:
    """Return the least false-negative rates: by the curve, and by the total variation, which may be known better."""
    by_curve = np.zeros_like(x) if promise.curve is None else promise.curve.fnr(x)
    by_tv = 1.0 - x - (1.0 if promise.tv is None else promise.tv)
    return np.asarray(np.clip(np.maximum(by_curve, by_tv), 0.0, 1.0))
