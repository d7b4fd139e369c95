"""How finely privacy losses are computed: a setting of the question, not of the mechanism."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..params import Param

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["TOLERANCE", "Accuracy", "Usage", "accuracy", "computed_with", "note_grid"]

TOLERANCE = Param(
    name="tolerance",
    low=0.0,
    high=0.5,
    low_open=True,
    what="the largest relative distance between the total variation computed from above and from below",
    typical=(1e-4, 1e-2),
)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """``tolerance`` as above; ``coarseness`` multiplies the grid step and skips the check: to search, not to answer."""

    tolerance: float = 0.01
    coarseness: float | None = None


@dataclass(slots=True)
class Usage:
    """Whether privacy losses were put on a grid at all."""

    grid: bool = False


_USUAL = Accuracy()
_current: ContextVar[Accuracy | None] = ContextVar("accuracy", default=None)
_usage: ContextVar[Usage | None] = ContextVar("usage", default=None)


def note_grid() -> None:
    """Remember that a grid was used."""
    usage = _usage.get()
    if usage is not None:
        usage.grid = True


def accuracy() -> Accuracy:
    """Return the requested accuracy."""
    return _current.get() or _USUAL


@contextmanager
def computed_with(requested: Accuracy) -> Iterator[Usage]:
    """Compute with this accuracy inside the block; what it yields shows afterwards whether that mattered."""
    usage = Usage()
    token, usage_token = _current.set(requested), _usage.set(usage)
    try:
        yield usage
    finally:
        _current.reset(token)
        _usage.reset(usage_token)
