"""Work in several processes, one thread each: small matrix products gain nothing from more threads, processes do."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process
from typing import TYPE_CHECKING, Any, TypeVar

from .single_thread import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future
    from multiprocessing.connection import Connection

__all__ = ["Workers", "in_processes"]

Job = TypeVar("Job")
Result = TypeVar("Result")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_work: Callable[[Any], Any] | None = None  # of this process, when it is a worker


class Workers(ProcessPoolExecutor):
    """An executor of fresh processes with one thread for products of matrices each.

    Workers that lose this process, even when it is killed, end themselves; :meth:`stop` ends them in the middle of
    their work. ``work`` is sent to each once, for ``in_processes``.

    Examples
    --------
    >>> with Workers(2) as pool:
    ...     pool.submit(abs, -3).result()
    3
    """

    def __init__(self, workers: int, work: Callable[[Any], Any] | None = None) -> None:
        context = get_context("spawn")  # a forked process would inherit the thread pools of this one
        # Closed by stop, or by the end of this process: its other end then wakes a thread of every worker.
        self._ends, self._line = context.Pipe(duplex=False)
        super().__init__(workers, context, initializer=_start, initargs=(self._ends, work))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call; the processes that this may start read from the environment to use one thread."""
        with _one_thread_each():
            return super().submit(fn, *args, **kwargs)

    def stop(self) -> None:
        """End the workers now, whatever they are doing."""
        self._line.close()
        self.shutdown(cancel_futures=True)
        self._ends.close()


def in_processes(work: Callable[[Job], Result], jobs: Sequence[Job], workers: int) -> Iterator[tuple[Job, Result]]:
    """Yield every job with its result as they are finished; with one worker in this process and in order.

    Matrix products are on one thread either way (in this process where threadpoolctl is installed), so that their
    rounding does not depend on the number of workers. ``work`` is sent to each process once, the jobs one by one.

    Examples
    --------
    >>> list(in_processes(abs, [1, -2], workers=1))
    [(1, 1), (-2, 2)]
    """
    if workers == 1 or len(jobs) < 2:
        for job in jobs:
            with one_thread():
                result = work(job)
            yield job, result
        return
    pool = Workers(min(workers, len(jobs)), work)
    try:
        running = {pool.submit(_run, job): job for job in jobs}
        while running:
            completed, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in completed:
                yield running.pop(future), future.result()
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _start(line: Connection, work: Callable[[Any], Any] | None) -> None:
    global _work  # noqa: PLW0603 - a worker has one piece of work for all its life
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process stops the others
    threading.Thread(target=_end_with_parent, args=(line,), daemon=True).start()


def _end_with_parent(line: Connection) -> None:
    parent = parent_process()
    connection.wait([line] if parent is None else [line, parent.sentinel])
    os._exit(1)


def _run(job: Any) -> Any:
    if _work is None:
        raise RuntimeError("a worker was not started")
    return _work(job)
