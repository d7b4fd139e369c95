"""Work that takes minutes: one run in a process of its own, which is ended when its time is over."""

from __future__ import annotations

import multiprocessing
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from .measure import Work

__all__ = ["once"]


def _child(prepare: Callable[[], Work], sender: Connection) -> None:
    try:
        work = prepare()
    except ImportError as missing:
        sender.send(missing.msg)
        return
    sender.send(None)
    start = time.perf_counter()
    answer = work()
    sender.send((time.perf_counter() - start, answer))


def once(prepare: Callable[[], Work], limit: float) -> tuple[float, Any] | None:
    """Return the seconds and the answer of one run, or None when ``limit`` seconds after ``prepare`` it still runs.

    ``prepare`` can be pickled, and so can the answer. An ImportError that it raises is raised here.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(prepare, sender))
    process.start()
    sender.close()  # the child's copy is the only one left, so that its end is noticed here
    try:
        missing = receiver.recv()
        if missing is not None:
            raise ImportError(missing)
        return receiver.recv() if receiver.poll(limit) else None
    except EOFError:
        message = f"the process ended with code {process.exitcode} before it had an answer"
        raise RuntimeError(message) from None
    finally:
        process.kill()
        process.join()
