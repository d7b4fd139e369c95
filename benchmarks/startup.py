"""How long `import dpradar` takes in a new interpreter."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from .measure import Case

if TYPE_CHECKING:
    from .measure import Work

__all__ = ["CASES"]

_CODE = "import time; start = time.perf_counter(); import dpradar; print(time.perf_counter() - start)"


def _import() -> Work:
    command = [sys.executable, "-c", _CODE]
    return lambda: float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)  # noqa: S603 - this interpreter


CASES = (
    Case(
        name="import",
        what="import dpradar in a new interpreter, files in the cache of the system",
        prepare=_import,
        seconds=0.5,
        self_timed=True,
    ),
)
