"""Who works on a shard: processes that can be told from those that are gone."""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Who", "gone", "this_process"]


@dataclass(frozen=True, slots=True)
class Who:
    """A process: where it runs, its number there and when it was born; the token is new for every campaign it runs."""

    token: str
    host: str
    pid: int
    born: str


@cache
def _host() -> str:
    """Return a name for what process numbers are counted in: the computer since its start, or a container in it."""
    parts = [socket.gethostname()]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    except OSError:
        parts.append("-")  # no Linux
    return " ".join(parts)


def _born(pid: int) -> str:
    """Return when a process was started, in ticks of its computer; nothing where that cannot be told."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    return "" if fields[0] in ("Z", "X") else fields[19]  # one that ended and was not yet buried does nothing more


def this_process() -> Who:
    """Return this process, as leases name it.

    Examples
    --------
    >>> who = this_process()
    >>> gone(who.host, who.pid, who.born), gone(who.host, who.pid, "1"), gone("elsewhere", 1, "1")
    (False, True, None)
    """
    return Who(secrets.token_hex(8), _host(), os.getpid(), _born(os.getpid()))


def gone(host: str, pid: int, born: str) -> bool | None:
    """Return whether a process is gone; None for one of another computer, of which only its lease can tell."""
    if host != _host():
        return None
    if born:
        return _born(pid) != born  # the number may have been given to another one since
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
