"""One question to the rules: a release or a guarantee, and a threat."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..guarantees.privacy import HasPrivacy, Privacy, Relation
from ..mechanisms.capabilities import Mechanism, Release
from ..numerics.lazy_numpy import np
from ..options.entry_points import plugin_notes

if TYPE_CHECKING:
    from ..guarantees.neighbours import Neighbours
    from ..threats import Prior, Threat

__all__ = ["Case", "Inapplicable"]


class Inapplicable(Exception):
    """A rule does not apply; the message says what it would need."""


@dataclass(frozen=True, eq=False)
class Case:
    """A release or guarantee together with a threat, as the rules see it."""

    what: Any
    threat: Threat
    neighbours: Neighbours | None = None
    about: Prior | None = None  # whose records the release is about, where the threat has no prior of its own
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    include_prior: bool = False  # results keep all digits of what describes the prior

    @cached_property
    def release(self) -> Release | None:
        """The mechanism bound to the prior; None for a guarantee."""
        if isinstance(self.what, Mechanism):
            return self.what.at(self.threat.prior if self.about is None else self.about)
        if not isinstance(self.what, HasPrivacy):
            raise ParameterError(
                "assess", "given a mechanism (such as GRR) or a guarantee (such as PureDP) first", repr(self.what)
            )
        return None

    @cached_property
    def assumes(self) -> tuple[str, ...]:
        """What the description itself takes for granted; every number that rests on it says so."""
        notes: tuple[str, ...] = getattr(self.what if self.release is None else self.release, "assumes", ())
        return (*notes, *plugin_notes(self.what))

    @cached_property
    def _promises(self) -> Any:
        source = self.what if self.release is None else self.release
        return cache(source.privacy)

    def promise(self, relation: Relation) -> Privacy | None:
        """Return the promise under a relation, if there is one."""
        promise: Privacy | None = self._promises(relation)
        return promise

    def privacy(self, relation: Relation) -> Privacy:
        """Return the promise under a relation or raise Inapplicable."""
        promise = self.promise(relation)
        if promise is None:
            message = f"nothing is promised under {relation}"
            raise Inapplicable(message)
        return promise

    def promises(self, *relations: Relation) -> list[Privacy]:
        """Return the promises there are under some relations, or raise Inapplicable when there are none."""
        promises = [promise for relation in relations if (promise := self._promises(relation)) is not None]
        if not promises:
            message = f"nothing is promised under {' or '.join(relations)}"
            raise Inapplicable(message)
        return promises

    def about_threat(self, threat: Threat) -> Case:
        """Return the same question about a prior with the same values; what is promised need not be computed again."""
        other = replace(self, threat=threat)
        vars(other).update({name: vars(self)[name] for name in ("release", "_promises") if name in vars(self)})
        return other

    @property
    def prior(self) -> Prior:
        """The prior, or Inapplicable when the threat has none."""
        if self.threat.prior is None:
            message = "needs a prior"
            raise Inapplicable(message)
        return self.threat.prior

    @property
    def finite_prior(self) -> Prior:
        """The prior over finitely many values, or Inapplicable."""
        if self.prior.is_continuous:
            message = "needs a prior over finitely many values"
            raise Inapplicable(message)
        return self.prior

    def need_nothing_known(self) -> None:
        """Raise Inapplicable unless the attacker knows nothing of the target."""
        _ = self.prior
        if self.threat.knowledge.kind != "nothing":
            message = "holds only when nothing is known of the target"
            raise Inapplicable(message)

    def need_exact_goal(self) -> None:
        """Raise Inapplicable unless the goal is the exact value."""
        if self.threat.goal.kind != "exact":
            message = "holds only for the exact goal"
            raise Inapplicable(message)

    def need_uniform(self) -> None:
        """Raise Inapplicable unless the prior is uniform."""
        if not self.finite_prior.is_uniform:
            message = "holds only for a uniform prior"
            raise Inapplicable(message)

    def __hash__(self) -> int:
        return id(self)
