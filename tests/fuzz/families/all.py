"""All families by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .answers import FAMILIES as ANSWERS
from .assessing import FAMILIES as ASSESSING
from .calibrating import FAMILIES as CALIBRATING
from .commands import FAMILIES as COMMANDS
from .continuous import FAMILIES as CONTINUOUS
from .files import FAMILIES as FILES
from .promises import FAMILIES as PROMISES
from .requests import FAMILIES as REQUESTS
from .stores import FAMILIES as STORES
from .tables import FAMILIES as TABLES
from .vectors import FAMILIES as VECTORS

if TYPE_CHECKING:
    from ..verdicts import Family

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        *ASSESSING,
        *VECTORS,
        *CONTINUOUS,
        *PROMISES,
        *CALIBRATING,
        *TABLES,
        *FILES,
        *STORES,
        *ANSWERS,
        *COMMANDS,
        *REQUESTS,
    )
}
