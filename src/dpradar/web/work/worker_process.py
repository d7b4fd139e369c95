"""Worker processes, separate from the server, so that they can be limited, monitored and killed.

A worker runs a few named tasks on plain data. It reads no file and runs no code that a request names; if a task takes
too long or too much memory, its worker is killed, and the server continues.
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

__all__ = ["StopRequested", "WorkerMessage", "WorkerProcess"]

_SPAWN = multiprocessing.get_context("spawn")  # the server has threads, which do not survive a fork
_MEMORY_BYTES = 3 * 2**30  # bytes beyond what a worker holds when it starts
_OUT_OF_RANGE = "A number here is too large or too small for the computation. Try a less extreme one."
_REPORT_SECONDS = 0.1  # seconds between two reports of progress


class StopRequested(KeyboardInterrupt):
    """Raised inside a task that is to stop; attacks, audits and searches then return a partial result."""


@dataclass(frozen=True, slots=True)
class WorkerMessage:
    """A message of a worker: ready, progress, done, bad (input), stopped, large (in memory), bug; or ended with it."""

    kind: str
    data: Any = None


class WorkerProcess:
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
        """Start a new process, which sends a message when it is ready."""
        self.end()
        self._pipe, worker_end = _SPAWN.Pipe()
        self._stop = _SPAWN.Event()
        self._process = _SPAWN.Process(
            target=_serve_tasks, args=(worker_end, self._stop), daemon=True, name="dpradar-worker"
        )
        self._process.start()
        worker_end.close()

    def send_task(self, task: str, data: Any) -> None:
        """Send it a task."""
        self._stop.clear()
        with suppress(OSError):  # it has ended: the next ``receive`` reports that
            if self._pipe is not None:
                self._pipe.send((task, data))

    def receive(self, seconds: float) -> WorkerMessage | None:
        """Return its next message, or None if there is none within that time."""
        if self._pipe is None:
            return WorkerMessage("ended")
        try:
            return self._pipe.recv() if self._pipe.poll(seconds) else None
        except (EOFError, OSError):
            return WorkerMessage("ended")

    def stop(self) -> None:
        """Ask the task to end with a partial result; it checks for this between its steps."""
        self._stop.set()

    def end(self) -> None:
        """Kill the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.join()
            process.close()
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.close()


# -------------------------------------------------------------------------------------------------- in the process


def _serve_tasks(pipe: Connection, stop: Event) -> None:
    """Run tasks until the server ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C at the terminal is for the server, which ends its workers
    from .tasks import TASKS

    _limit_memory()
    with suppress(EOFError, OSError):  # the server is gone
        pipe.send(WorkerMessage("ready"))
        while True:
            task, data = pipe.recv()
            pipe.send(_run_task(TASKS, task, data, _reporter(pipe, stop)))


def _run_task(tasks: dict[str, Callable[..., Any]], task: str, data: Any, report: Callable[..., None]) -> WorkerMessage:
    from ...errors import DpradarError

    try:
        return WorkerMessage("done", tasks[task](data, report))
    except DpradarError as error:
        return WorkerMessage("bad", _problem_and_option(error))
    except KeyboardInterrupt:
        return WorkerMessage("stopped")
    except MemoryError:
        return WorkerMessage("large")
    except OverflowError:
        return WorkerMessage("bad", (_OUT_OF_RANGE, ""))
    except Exception as error:  # the process must continue; the message may contain private values
        return WorkerMessage("bug", type(error).__name__)


def _problem_and_option(error: Exception) -> tuple[str, str]:
    """Return what is wrong, and the option that it is about."""
    from ...errors import ParameterError, SpecError

    if isinstance(error, ParameterError):
        return str(error), error.name
    if isinstance(error, SpecError):
        messages = [f"{problem.path} {problem.message}. {problem.hint}".strip() for problem in error.problems]
        return re.sub(r"\brelease\[(\d)\]\.", r"Release \1: ", " ".join(messages)), error.problems[0].path
    return str(error), ""


def _reporter(pipe: Connection, stop: Event) -> Callable[[str, float | None], None]:
    last = 0.0

    def report(text: str, share: float | None = None) -> None:
        nonlocal last
        if stop.is_set():
            raise StopRequested
        now = time.monotonic()
        if now - last >= _REPORT_SECONDS:
            last = now
            with suppress(OSError):
                pipe.send(WorkerMessage("progress", (text, share)))

    return report


def _limit_memory() -> None:
    """Limit the memory of the process; the server warns where the platform does not support that."""
    if not limits_memory():
        return
    import resource

    try:
        current = int(psutil.Process().memory_info().vms)
    except (psutil.Error, OSError):  # without /proc
        current = _MEMORY_BYTES
    limit = current + _MEMORY_BYTES
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or limit <= hard:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
