"""The systems on which dpradar is tested, and what is missing on others."""

from __future__ import annotations

import sys

__all__ = ["limits_memory", "untested_platform_notes"]


def limits_memory() -> bool:
    """Return whether this system keeps to a limit on the memory of a process; others take the limit and ignore it."""
    return not untested_platform_notes()


def untested_platform_notes() -> str:
    """Return what somebody on a system should know on which dpradar is not tested; nothing on Linux.

    Examples
    --------
    >>> untested_platform_notes() if sys.platform == "linux" else ""
    ''
    """
    name: str = sys.platform
    if name == "linux":
        return ""
    return (
        f"dpradar is tested on Linux only, not on {name}. The memory of audited programs and of the workers of "
        "the explorer cannot be limited here."
    )
