"""All families by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .assessing import FAMILIES as ASSESSING

if TYPE_CHECKING:
    from ..verdicts import Family

FAMILIES: dict[str, Family] = {family.name: family for family in (*ASSESSING,)}
