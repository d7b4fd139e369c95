"""Processes that compute, apart from the one that talks to browsers: they can be limited, watched and ended.

A worker knows a few named tasks and plain data. It reads no file that is named to it and runs no code that is given
to it; what takes too long or too much memory ends with the worker, and the server goes on.
"""

from __future__ import annotations

import multiprocessing
import re
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psutil

from ...numerics.platform_support import limits_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess
    from multiprocessing.synchronize import Event

__all__ = ["Message", "Stopped", "Worker"]

_SPAWN = multiprocessing.get_context("spawn")  # the server has threads, which do not survive a fork
_MEMORY = 3 * 2**30  # bytes beyond what a worker holds when it starts
_EXTREME = "A number here is too large, or too small, to be computed with. Try one that is less extreme."
_EVERY = 0.1  # seconds between two reports of progress


class Stopped(KeyboardInterrupt):
    """Raised inside a task whose end was asked for; attacks, audits and searches then return what they have."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a worker says: ready, progress, done, bad (input), stopped, large (in memory), bug; or ended with it."""

    kind: str
    data: Any = None


class Worker:
    """One process; it does one task at a time."""

    def __init__(self) -> None:
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None
        self._stop: Event = _SPAWN.Event()

    @property
    def alive(self) -> bool:
        """Whether there is a process."""
        return self._process is not None and self._process.is_alive()

    def start(self) -> None:
        """Start the process anew; it says when it is ready."""
        self.end()
        self._pipe, theirs = _SPAWN.Pipe()
        self._stop = _SPAWN.Event()
        self._process = _SPAWN.Process(target=_live, args=(theirs, self._stop), daemon=True, name="dpradar-worker")
        self._process.start()
        theirs.close()

    def order(self, task: str, data: Any) -> None:
        """Give it a task."""
        self._stop.clear()
        with suppress(OSError):  # it is gone: the next ``hear`` says so
            if self._pipe is not None:
                self._pipe.send((task, data))

    def hear(self, seconds: float) -> Message | None:
        """Return what it says next, or None when it stays silent that long."""
        if self._pipe is None:
            return Message("ended")
        try:
            return self._pipe.recv() if self._pipe.poll(seconds) else None
        except (EOFError, OSError):
            return Message("ended")

    def stop(self) -> None:
        """Ask the task to end with what it has; it looks for this between its pieces."""
        self._stop.set()

    def end(self) -> None:
        """End the process, whatever it does."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.join()
            process.close()
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.close()


# -------------------------------------------------------------------------------------------------- in the process


def _live(pipe: Connection, stop: Event) -> None:
    """Do tasks until the server is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C at the terminal is for the server, which ends its workers
    from .tasks import TASKS

    _limit_memory()
    with suppress(EOFError, OSError):  # the server is gone
        pipe.send(Message("ready"))
        while True:
            task, data = pipe.recv()
            pipe.send(_done(TASKS, task, data, _reporter(pipe, stop)))


def _done(tasks: dict[str, Callable[..., Any]], task: str, data: Any, report: Callable[..., None]) -> Message:
    from ...errors import DpradarError

    try:
        return Message("done", tasks[task](data, report))
    except DpradarError as error:
        return Message("bad", _problem(error))
    except KeyboardInterrupt:
        return Message("stopped")
    except MemoryError:
        return Message("large")
    except OverflowError:
        return Message("bad", (_EXTREME, ""))
    except Exception as error:  # the process must live on; its message may hold private values
        return Message("bug", type(error).__name__)


def _problem(error: Exception) -> tuple[str, str]:
    """Return what is wrong, and the option that it is about."""
    from ...errors import ParameterError, SpecError

    if isinstance(error, ParameterError):
        return str(error), error.name
    if isinstance(error, SpecError):
        told = [f"{one.path} {one.message}. {one.hint}".strip() for one in error.problems]
        return re.sub(r"\brelease\[(\d)\]\.", r"Release \1: ", " ".join(told)), error.problems[0].path
    return str(error), ""


def _reporter(pipe: Connection, stop: Event) -> Callable[[str, float | None], None]:
    last = 0.0

    def report(text: str, share: float | None = None) -> None:
        nonlocal last
        if stop.is_set():
            raise Stopped
        now = time.monotonic()
        if now - last >= _EVERY:
            last = now
            with suppress(OSError):
                pipe.send(Message("progress", (text, share)))

    return report


def _limit_memory() -> None:
    """Let the process have so much more than it holds now; elsewhere than on Linux the server says that it cannot."""
    if not limits_memory():
        return
    import resource

    try:
        held = int(psutil.Process().memory_info().vms)
    except (psutil.Error, OSError):  # without /proc
        held = _MEMORY
    most = held + _MEMORY
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or most <= hard:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
