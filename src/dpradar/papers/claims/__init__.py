"""What the sources say in each figure and table, beside our numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .claim import Answer, Claim, Verdict
from .measurement import MEASUREMENT
from .rad import RAD
from .thesis import THESIS
from .unify import UNIFY

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CLAIMS", "Answer", "Claim", "Verdict"]

CLAIMS: Mapping[str, tuple[Claim, ...]] = {**RAD, **UNIFY, **MEASUREMENT, **THESIS}
