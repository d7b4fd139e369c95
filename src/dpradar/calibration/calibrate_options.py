"""What can be said of a calibration, beside its limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ..options import About, Text
from ..options.tables import options_in

__all__ = ["FREE", "CalibrateOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrateOptions:
    """Options of a calibration."""

    free: (
        Annotated[str, Text("the name of a parameter"), About("the parameter to choose, if there are several")] | None
    ) = None


(FREE,) = options_in(CalibrateOptions)
