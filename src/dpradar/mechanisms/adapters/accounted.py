"""Several releases about the same person as another library lists them: known by what they promise, not one by one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ...guarantees.composition import compose_promises, composition
from ...guarantees.pairs import Pair, SampledGaussianPair
from ...guarantees.privacy import Privacy, Relation
from ...guarantees.profile import Profile
from ...numerics.lazy_numpy import Floats, np
from ..capabilities import Mechanism, assumptions_of
from ..dpsgd import DPSGD, POISSON

if TYPE_CHECKING:
    from ...guarantees.neighbours import Neighbours

__all__ = ["Accounted", "Sampled", "SampledPair"]

_LARGEST = 700.0
_SHOWN_PARTS = 4


@dataclass(frozen=True, slots=True)
class SampledPair:
    """A pair of which the record is used with probability ``rate``: a mixture of P and Q against Q, or the reverse.

    Notes
    -----
    If P and Q dominate the presence of a record against its absence, the mixture and Q dominate them under Poisson
    sampling (Zhu, Dong and Wang 2022, Theorem 11). Exactly, H_g((1-q)Q + qP || Q) = q H_(1 + (g-1)/q)(P || Q), and
    H_g(Q || (1-q)Q + qP) = (1 - g(1-q)) H_(gq / (1 - g(1-q)))(Q || P) while that factor is positive.

    Examples
    --------
    >>> from dpradar.guarantees.pairs import GaussianPair
    >>> pair, known = SampledPair(GaussianPair(0.5), 0.1), SampledGaussianPair(2.0, 0.1, "with")
    >>> bool(np.allclose(pair.delta(np.array([0.0, 0.1])), known.delta(np.array([0.0, 0.1])), atol=1e-15))
    True
    """

    pair: Pair
    rate: float
    kind: Literal["with", "without"] = "with"

    def delta(self, epsilon: Floats) -> Floats:
        """Return the profile through that of the pair."""
        return self._with(epsilon) if self.kind == "with" else self._without(epsilon)

    def _with(self, epsilon: Floats) -> Floats:
        above = np.expm1(np.minimum(epsilon, _LARGEST)) + self.rate
        inner = np.log(np.where(above > 0.0, above, 1.0)) - math.log(self.rate)
        return np.where(above > 0.0, self.rate * self.pair.delta(inner), -np.expm1(np.minimum(epsilon, 0.0)))

    def _without(self, epsilon: Floats) -> Floats:
        left = -np.expm1(np.minimum(epsilon, _LARGEST) + math.log1p(-self.rate))
        inner = epsilon + math.log(self.rate) - np.log(np.where(left > 0.0, left, 1.0))
        return np.where(left > 0.0, left * self.pair.swapped().delta(inner), 0.0)

    @property
    def span(self) -> tuple[float, float]:
        """The losses of the mixture."""
        low, high = np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + np.array(self.pair.span)).tolist()
        return (low, high) if self.kind == "with" else (-high, -low)

    @property
    def step(self) -> float | None:
        """A mixture leaves every grid."""
        return None

    @property
    def infinite(self) -> float:
        """The absence of the record is part of the mixture, so only the other order can have it."""
        return self.rate * self.pair.infinite if self.kind == "with" else 0.0

    def swapped(self) -> SampledPair:
        """Return the pair of Q against P."""
        return SampledPair(self.pair, self.rate, "without" if self.kind == "with" else "with")


@dataclass(frozen=True, slots=True)
class Sampled:
    """A release that uses every record with probability ``rate`` (Poisson sampling), ``steps`` times."""

    part: Any
    rate: float
    steps: int

    @property
    def assumes(self) -> tuple[str, ...]:
        """What the sampling and the release take for granted."""
        return (POISSON, *assumptions_of(self.part))

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise under add/remove; under replace-one no dominating pair is known to us."""
        inner = _promise(self.part, "add-remove") if relation == "add-remove" else None
        if inner is None or inner.pairs is None or len(inner.pairs) != 1 or inner.pairs[0][1] != 1:
            return None
        epsilon = None
        if inner.epsilon is not None and inner.delta == 0.0:
            epsilon = self.steps * math.log1p(self.rate * math.expm1(min(inner.epsilon, _LARGEST)))
        source = f"Poisson sampling at {self.rate:g}, add-remove"
        return _steps(SampledPair(inner.pairs[0][0], self.rate), self.steps, relation, source, epsilon)


def _steps(pair: Pair, steps: int, relation: Relation, source: str, epsilon: float | None = None) -> Privacy:
    """Return the promise of steps that are not composed yet: the pair and what it says of the total variation."""
    tv = -math.expm1(steps * math.log1p(-min(float(pair.delta(np.zeros(1))[0]), 1.0 - 1e-16)))
    return Privacy(relation=relation, source=source, epsilon=epsilon, tv=tv, pairs=((pair, steps),))


def _promise(part: Any, relation: Relation) -> Privacy | None:
    """Return what a part promises; DP-SGD is left to be composed with the other parts at once."""
    if isinstance(part, DPSGD) and part.sample_rate < 1.0:
        kind: Literal["with", "replace"] = "replace" if relation == "replace-one" else "with"
        pair = SampledGaussianPair(part.noise_multiplier, part.sample_rate, kind)
        return _steps(pair, part.steps, relation, f"DP-SGD, {relation}")
    release = part.at(None) if isinstance(part, Mechanism) else part
    promise: Privacy | None = release.privacy(relation)
    return promise


@dataclass(frozen=True, slots=True, repr=False)
class Accounted:
    """What another library has on its books about one person: ``parts`` with how often each was released.

    Made by ``from_dp_accounting`` and ``from_opacus``. The parts are composed by dpradar, whatever the library's own
    accountant would say.

    Notes
    -----
    Dominating pairs compose (Zhu, Dong and Wang 2022, Theorem 10), also when later parts depend on earlier outputs.
    Where a part is known under add/remove only, the whole is read as replace-one by group privacy.

    Examples
    --------
    >>> from dpradar.guarantees import GDP
    >>> both = Accounted("books", ((GDP(3.0, "add-remove"), 1), (GDP(4.0, "add-remove"), 1)), "add-remove")
    >>> both
    Accounted(books: GDP(mu=3.0, neighbours='add-remove') + GDP(mu=4.0, neighbours='add-remove'); add-remove)
    >>> round(both.privacy("add-remove").tv, 6), round(GDP(5.0, "add-remove").privacy("add-remove").tv, 6)
    (0.987581, 0.987581)
    """

    origin: str
    parts: tuple[tuple[Any, int], ...]
    neighbours: Neighbours | None = None
    notes: tuple[str, ...] = ()

    @property
    def assumes(self) -> tuple[str, ...]:
        """What the parts and the library's way to list them take for granted, each once."""
        notes_of_parts = [note for part, _ in self.parts for note in assumptions_of(part)]
        return tuple(dict.fromkeys((*notes_of_parts, *self.notes)))

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise of all parts together, or None when nothing sound can be said."""
        promises = [(_promise(part, relation), times) for part, times in self.parts]
        available = [(promise, times) for promise, times in promises if promise is not None]
        if len(available) < len(promises):
            return self._doubled() if relation == "replace-one" else None
        if len(available) == 1 and available[0][1] == 1 and available[0][0].curve is not None:
            return available[0][0]
        return compose_promises(available, relation)

    def _doubled(self) -> Privacy | None:
        """Return what the whole under add/remove implies under replace-one."""
        whole = self.privacy("add-remove")
        if whole is None or whole.pairs is None:
            return None
        return Profile.of(composition(whole.pairs).delta, "add-remove").privacy("replace-one")

    def __repr__(self) -> str:
        texts = [repr(part) if times == 1 else f"{times} x {part!r}" for part, times in self.parts[:_SHOWN_PARTS]]
        more = len(self.parts) - len(texts)
        relation = f"; {self.neighbours}" if self.neighbours else ""
        return f"Accounted({self.origin}: {' + '.join(texts)}{f' + {more} more' if more else ''}{relation})"
