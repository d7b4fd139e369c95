"""Who works on a shard: processes that can be told from those that are gone.

A process is named by its number and by the time it was started, as psutil reads them on every system: a number that
was given to another process since is not mistaken for the old one. Where neither can be read (another computer, a
container without /proc), nothing is said about the process, and its leases end when it has not renewed them.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
import uuid
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

__all__ = ["Who", "gone", "this_process"]

_SAME_SECONDS = 2.0  # the start of a process as read twice: the clock of the computer may have been set in between


@dataclass(frozen=True, slots=True)
class Who:
    """A process: where it runs, its number there and when it was started; the token is new for every campaign.

    ``born`` is in seconds since 1970, None where that cannot be read.
    """

    token: str
    host: str
    pid: int
    born: float | None


@cache
def _host() -> str:
    """Return a name for what process numbers are counted in: the computer since its start, or a container in it."""
    parts = [socket.gethostname(), sys.platform]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    except OSError:
        parts.append(f"{uuid.getnode():x}")  # no Linux
    return " ".join(parts)


def _born(pid: int) -> float | None:
    """Return when a process was started; None for one that is not there, or about which nothing can be read."""
    try:
        process = psutil.Process(pid)
        # One that ended and was not yet waited for does nothing more.
        return None if process.status() == psutil.STATUS_ZOMBIE else float(process.create_time())
    except (psutil.Error, OSError):
        return None


def this_process() -> Who:
    """Return this process, as leases name it.

    Examples
    --------
    >>> who = this_process()
    >>> gone(who.host, who.pid, who.born), gone(who.host, who.pid, 1.0), gone("elsewhere", 1, 1.0)
    (False, True, None)
    """
    return Who(secrets.token_hex(8), _host(), os.getpid(), _born(os.getpid()))


def gone(host: str, pid: int, born: float | None) -> bool | None:
    """Return whether a process is gone; None where only its lease can tell: elsewhere, or where nothing can be read."""
    if host != _host() or born is None or _born(os.getpid()) is None:
        return None
    now = _born(pid)
    return now is None or abs(now - born) > _SAME_SECONDS
