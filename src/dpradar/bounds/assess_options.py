"""What can be said of how a question is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ..guarantees.accuracy import TOLERANCE
from ..options import About

__all__ = ["AssessOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessOptions:
    """Options of an assessment."""

    tolerance: (
        Annotated[
            float,
            TOLERANCE,
            About(
                "the largest gap between the upper and the lower bound on the total variation of a composition, "
                "relative to its size; 0.01 unless given; the bounds hold whatever the value"
            ),
        ]
        | None
    ) = None
