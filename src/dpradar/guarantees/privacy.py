"""What a mechanism or guarantee promises about one neighbour relation, in the forms the theorems use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from .curves import TradeoffCurve
    from .pairs import Pairs
    from .renyi import RenyiBound

__all__ = ["HasPrivacy", "Privacy", "Relation"]

# "reference": every possible input is compared with one fixed distribution, for instance the noise around the middle
# of the possible contributions. Not a neighbour relation of data sets, but all that a bound on success needs.
Relation = Literal["replace-one", "add-remove", "reference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Privacy:
    """The promise under one relation; every part may be missing, ``source`` says where it comes from.

    ``curve`` holds in both orders of the neighbours, except under "reference", where the false positives are those of
    the reference. ``pairs`` dominate every pair of neighbours, in both orders, and survive adaptive composition.
    """

    relation: Relation
    source: str
    origin: str = ""  # the source without how it was computed, to be quoted in a longer one
    epsilon: float | None = None  # of (epsilon, delta)
    delta: float = 0.0
    curve: TradeoffCurve | None = None
    tv: float | None = None  # total variation, an upper bound
    pairs: Pairs | None = None
    renyi: RenyiBound | None = None
    information: float | None = None  # Kullback-Leibler divergence in nats, where pairs and renyi do not say as much


@runtime_checkable
class HasPrivacy(Protocol):
    """Capability: states its promise under a relation."""

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise under ``relation``, or None when nothing sound can be said."""
        ...
