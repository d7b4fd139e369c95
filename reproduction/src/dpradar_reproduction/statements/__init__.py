"""What the sources say in each figure and table, beside our numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .measurement import MEASUREMENT
from .rad import RAD
from .statement import Answer, Statement, Verdict
from .thesis import THESIS
from .unify import UNIFY

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["STATEMENTS", "Answer", "Statement", "Verdict"]

STATEMENTS: Mapping[str, tuple[Statement, ...]] = {**RAD, **UNIFY, **MEASUREMENT, **THESIS}
