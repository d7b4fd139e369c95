"""What every kind of noise takes: an amount that numbers can hold, a range, and a sensitivity in place of a query."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge

from ...errors import ParameterError
from ...guarantees.neighbours import RELATIONS, Neighbours
from ...options import About, Choice, Span
from ...params import shown
from ...threats.attackers import WITHOUT_PRIOR
from ..capabilities import Release

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...guarantees.privacy import Privacy, Relation

__all__ = ["Norm", "Range", "Sensitivity", "SensitivityRelation", "Truncate", "check_noise", "noise_repr"]
__all__ += ["release_of_sensitivity"]

Range = tuple[float, float] | None
Norm = Literal["L1 norm", "L2 norm"]

_ABOVE_SQRT_2 = math.nextafter(math.sqrt(2.0), 2.0)  # a product with it is not rounded below the true one
_LEAST, _MOST = 1e-100, 1e100  # beyond them squares and cubes leave the range of floats

Truncate = Annotated[
    tuple[float, float],
    Span(),
    About(
        "the range that the output is clamped to: values outside are set to the nearest end, not left out",
        example="0:100",
        label="output is clamped to (truncate)",
        folded=True,
    ),
]
Sensitivity = Annotated[
    float,
    Ge(0),
    About(
        "the largest change of the output that one person can cause (L1 norm; L2 for Gaussian noise), instead of a "
        "query; give neighbours too",
        example="1",
        more_private="down",
        label="one person changes it by (sensitivity)",
        form_help="How far one person moves what is released, in the L1 norm (Gaussian noise: L2).",
        slider=(0.1, 1000.0),
        excludes=("query",),
        attackers=WITHOUT_PRIOR,
    ),
]
SensitivityRelation = Annotated[
    Neighbours,
    Choice.of(*RELATIONS.words, labels=("one person's data are replaced", "one person is added or removed")),
    About(
        "the relation of the sensitivity: one person added or removed, or one person's data replaced",
        example="add-remove",
        label="when (neighbours)",
        form_help="The relation of the sensitivity.",
        attackers=WITHOUT_PRIOR,
        beside="sensitivity",
        of_question=True,
    ),
]
_STATED = "'add-remove' or 'replace-one', stated with the sensitivity (it is never guessed)"
_RELATIONS = (
    "'add-remove': how far the output moves when one person is added or removed; 'replace-one': when one person's data "
    "are replaced by others."
)


def check_noise(noise: Any, amount: str, most: float = _MOST) -> None:
    """Refuse an amount so small or large that numbers overflow, and a sensitivity without its relation."""
    owner, size = type(noise).__name__, getattr(noise, amount)
    if not _LEAST <= size <= most:
        hint = "Release the numbers in another unit, so that noise and numbers are of like size."
        raise ParameterError(f"{owner}.{amount}", f"between {_LEAST:g} and {most:g}", f"{size:g}", hint)
    if noise.sensitivity is None:
        if noise.neighbours is not None:
            hint = "It is the relation of a sensitivity; for worst_gain and rates give it to assess."
            raise ParameterError(f"{owner}.neighbours", "left out without a sensitivity", shown(noise.neighbours), hint)
        return
    if noise.query is not None:
        hint = "The contributions say how far apart they are."
        raise ParameterError(f"{owner}.sensitivity", "left out beside a query", shown(noise.sensitivity), hint)
    if noise.neighbours is None:
        raise ParameterError(f"{owner}.neighbours", _STATED, "nothing", _RELATIONS)


def noise_repr(noise: Any, amount: str) -> str:
    """Return a noise mechanism as text: its amount, in full where it is not short, and what is not as usual."""
    size = getattr(noise, amount)
    short = f"{size:g}"
    names = ("truncate", "sensitivity", "neighbours", "nonnegative")
    values = {name: getattr(noise, name, None) for name in names}
    further = [f", {name}={value!r}" for name, value in values.items() if value is not None and value is not False]
    return f"{type(noise).__name__}({amount}={short if float(short) == size else repr(size)}{''.join(further)})"


def release_of_sensitivity(noise: Any, privacy: Callable[[float, Relation], Privacy]) -> Release:
    """Return noise on numbers of which only the largest change between neighbours under one relation is known.

    ``nonnegative``, of Gaussian noise, whose norm is L2: no contribution has a negative entry.

    Notes
    -----
    Two contributions a and b of norm at most s are at most 2 s apart. Without negative entries |a - b|_2^2 =
    |a|_2^2 + |b|_2^2 - 2 a.b <= 2 s^2; in the L1 norm the factor stays 2, as two cells of a histogram show. How far a
    contribution is from none at all does not follow from how far two of them are apart.

    One number stands for any vector of the same norm. Gaussian noise looks alike in every direction. Under Laplace and
    geometric noise, what a coordinate reveals is how far between its two centres the output lies, and the likelihood
    ratio depends on the sum of these alone. Compared with a single coordinate, the sum has less mass at both ends and
    more at every point between, so its law is smaller in convex order (Karlin and Novikoff 1963).
    """
    sensitivity, neighbours, nonnegative = noise.sensitivity, noise.neighbours, getattr(noise, "nonnegative", False)
    factor = _ABOVE_SQRT_2 if nonnegative else 2.0

    def promise(relation: Relation) -> Privacy | None:
        if relation == neighbours:
            return privacy(sensitivity, relation)
        if neighbours == "replace-one":
            return None
        if relation == "replace-one":
            return privacy(factor * sensitivity, relation)
        absent = privacy(sensitivity, "add-remove")  # every contribution is compared with none at all
        return replace(absent, relation="reference", source=f"{absent.source}, the record absent")

    if neighbours == "replace-one":
        when = "when one person's data are replaced; nothing is known of adding or removing a person"
    else:
        entries = " (no contribution has a negative entry)" if nonnegative else ""
        times = "sqrt(2)" if nonnegative else "2"
        when = f"when one person is added or removed; {times} times that when one person's data are replaced{entries}"
    note = f"stated sensitivity {sensitivity:g} ({noise.NORM}, {neighbours}): the most that the output moves {when}"
    return Release(name="noise", privacy=promise, assumes=(note,))
