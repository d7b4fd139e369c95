"""What pictures show, in a sentence each, for those who do not see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .numbers import Counts, count_up, crowd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .page import IconWords

__all__ = ["curve_sentence", "icons_sentence", "success_curve_sentence", "sweep_sentence"]


def icons_sentence(counts: Counts, words: IconWords) -> str:
    """Return what an icon array shows, for those who do not see it."""
    if counts.before is None:
        rest = f"the bound does not say about the other {counts.people - counts.added:,}"
        return f"{counts.crowd} squares, one a person: {counts.most}{counts.added:,} {words.extra}; {rest}."
    wrong = counts.people - counts.before - counts.added
    return (
        f"{counts.crowd} squares, one a person: {counts.before:,} {words.anyway}, {counts.most}{counts.added:,} "
        f"{words.extra}, {wrong:,} {words.rest}."
    )


def curve_sentence(name: str, baseline: float, success: float) -> str:
    """Return what the curve of success against the blind guess shows, for those who do not see it."""
    return (
        "Success after the release against success of the blind guess. The diagonal means that nothing is learned. "
        f"The curve{f' of {name}' if name else ''} goes, for example, {success_curve_sentence(baseline, success)}."
    )


def sweep_sentence(parameter: str, lines: Sequence[tuple[str, tuple[float, float], tuple[float, float]]]) -> str:
    """Return what varying a parameter does, for those who do not see it: each line from its first point to its last."""
    changes = "".join(
        f" {name}: from at most {count_up(y, 100)} of 100 at {x:g} to {count_up(last[1], 100)} at {last[0]:g}."
        for name, (x, y), last in lines
    )
    return f"What taking part adds against {parameter}.{changes}"


def success_curve_sentence(baseline: float, success: float) -> str:
    """Return one point of the curve of success against the blind guess.

    Examples
    --------
    >>> success_curve_sentence(0.1, 0.3891)
    'from 10 to at most 39 of 100'
    """
    people = crowd(baseline)
    return f"from {round(baseline * people):,} to at most {count_up(success, people):,} of {people:,}"
