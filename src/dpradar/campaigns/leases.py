"""How long the leases of a campaign's shards last, and whether the process that holds them is still alive.

A heartbeat extends all leases of a process. A process is identified by its number and start time, which psutil reads on
every system, so that a number reused by another process is not mistaken for the old one. Where these cannot be read
(another computer, a container without /proc), it is unknown whether the process is alive, and its leases expire unless
they are renewed.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
import time
import uuid
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

__all__ = ["HEARTBEAT_SECONDS", "ProcessIdentity", "holds_leases", "is_dead", "lease_end", "this_process"]

LEASE_SECONDS = 300.0
HEARTBEAT_SECONDS = 15.0  # between two heartbeats of a process, each of which extends its leases
_CLOCK_TOLERANCE = 2.0  # the start of a process as read twice: the clock of the computer may have been set in between


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process: where it runs, its number there and when it was started; the token is new for every campaign.

    ``started_at`` is in seconds since 1970, None where that cannot be read.
    """

    token: str
    host: str
    pid: int
    started_at: float | None


@cache
def _host() -> str:
    """Return a name for the scope of process numbers: this computer since it was started, or a container."""
    parts = [socket.gethostname(), sys.platform]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    except OSError:
        parts.append(f"{uuid.getnode():x}")  # no Linux
    return " ".join(parts)


def _start_time(pid: int) -> float | None:
    """Return when a process was started; None if it does not exist or cannot be read."""
    try:
        process = psutil.Process(pid)
        # A zombie has ended; only its parent has not collected it yet.
        return None if process.status() == psutil.STATUS_ZOMBIE else float(process.create_time())
    except (psutil.Error, OSError):
        return None


def this_process() -> ProcessIdentity:
    """Return this process, as leases name it.

    Examples
    --------
    >>> me = this_process()
    >>> is_dead(me.host, me.pid, me.started_at), is_dead(me.host, me.pid, 1.0), is_dead("elsewhere", 1, 1.0)
    (False, True, None)
    """
    return ProcessIdentity(secrets.token_hex(8), _host(), os.getpid(), _start_time(os.getpid()))


def is_dead(host: str, pid: int, started_at: float | None) -> bool | None:
    """Return whether a process is dead; None where that cannot be read, so that only its lease decides."""
    if host != _host() or started_at is None or _start_time(os.getpid()) is None:
        return None
    current = _start_time(pid)
    return current is None or abs(current - started_at) > _CLOCK_TOLERANCE


def lease_end() -> float:
    """Return when leases expire that are extended now, in seconds since 1970."""
    return time.time() + LEASE_SECONDS


def holds_leases(host: str, pid: int, started_at: float | None, expires: float) -> bool:
    """Return whether a process still holds its leases: while it lives, or where that cannot be read, until they expire.

    Examples
    --------
    >>> holds_leases("elsewhere", 1, 1.0, lease_end()), holds_leases("elsewhere", 1, 1.0, time.time() - 1.0)
    (True, False)
    """
    dead = is_dead(host, pid, started_at)
    return expires >= time.time() if dead is None else not dead
