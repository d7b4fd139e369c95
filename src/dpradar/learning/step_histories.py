"""The steps that trainings have released, as accountants list them: (noise multiplier, sample rate, steps)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["History", "most_steps", "steps_by_kind"]

History = tuple[tuple[float, float, int], ...]


def steps_by_kind(history: Iterable[Any]) -> History:
    """Return the steps with the same noise and rate added up.

    Examples
    --------
    >>> steps_by_kind([(1.0, 0.1, 5), (2.0, 0.1, 1), (1.0, 0.1, 2)])
    ((1.0, 0.1, 7), (2.0, 0.1, 1))
    """
    steps: dict[tuple[float, float], int] = {}
    for noise, rate, count in history:
        steps[noise, rate] = steps.get((noise, rate), 0) + int(count)
    return tuple((noise, rate, count) for (noise, rate), count in steps.items())


def most_steps(histories: Iterable[History]) -> History:
    """Return the most steps of each kind in any of the histories, each of which lists a kind once.

    What any of them released is part of it.

    Examples
    --------
    >>> most_steps([((1.0, 0.1, 5),), ((1.0, 0.1, 3), (2.0, 0.1, 1))])
    ((1.0, 0.1, 5), (2.0, 0.1, 1))
    """
    most: dict[tuple[float, float], int] = {}
    for noise, rate, count in (entry for history in histories for entry in history):
        most[noise, rate] = max(most.get((noise, rate), 0), count)
    return tuple((noise, rate, count) for (noise, rate), count in most.items())
