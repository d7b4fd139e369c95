"""The queue of jobs: which worker computes them, in which order, their progress, and their limits."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .worker_process import WorkerProcess

if TYPE_CHECKING:
    from .worker_process import WorkerMessage

__all__ = ["JobQueue", "QueueFull", "QueueLimits", "QueuedJob", "WorkerGroup"]

# done: there is a result; bad: the question was; stopped: before there was one; late, large: too much work; bug: ours.
State = Literal["waiting", "running", "done", "bad", "stopped", "late", "large", "bug"]
_REUSABLE = ("waiting", "running", "done", "bad")  # in other states the same question is computed again
_STOPPED_SECONDS = 2.0  # seconds for which the page of a job that the user stopped may ask for it again
_STOP_SECONDS = 5.0  # seconds that a task has to end by itself after a stop request
_POLL_SECONDS = 0.25
_PRELOAD_SECONDS = 60.0
_WORKER_ENDED = "The worker process ended, most likely because it ran out of memory."


class QueueFull(Exception):
    """Too many jobs are waiting already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimits:
    """Limits of the server: seconds and processes for quick and for long work, and how many jobs may wait."""

    quick_seconds: float = 8.0
    link_seconds: float = 1.0  # of a quick question that only a link asks
    quick_workers: int = 2
    quick_waiting: int = 256
    long_seconds: float = 600.0
    long_workers: int = 2
    long_waiting: int = 12
    kept_bytes: int = 32_000_000
    kept_jobs: int = 300


@dataclass(eq=False, slots=True)
class QueuedJob:
    """One task and its result; ``key`` is the same for the same question."""

    key: str
    task: str
    data: Any
    seconds: float
    state: State = "waiting"
    text: str = ""
    share: float | None = None
    result: Any = None
    problem: str = ""
    option: str = ""  # that the problem is about
    started_at: float = 0.0
    ended_at: float = 0.0
    stopping: bool = False
    keep_partial: bool = False  # a user who stopped it waits for the partial result
    watchers: int = 0
    finished_event: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def finished(self) -> bool:
        """Whether it has ended."""
        return self.state not in ("waiting", "running")

    @property
    def reusable(self) -> bool:
        """Whether it also answers later requests for the same question."""
        if self.stopping and not self.finished:
            return self.keep_partial
        if self.state == "stopped" and self.keep_partial:
            return time.monotonic() - self.ended_at < _STOPPED_SECONDS
        return self.state in _REUSABLE

    def finish(self, state: State, problem: str = "", option: str = "") -> None:
        """Record how it ended."""
        self.state, self.problem, self.option, self.ended_at = state, problem, option, time.monotonic()
        self.finished_event.set()


class WorkerGroup:
    """Worker processes that share one queue."""

    def __init__(self, workers: int, waiting: int) -> None:
        self.workers = [WorkerProcess() for _ in range(workers)]
        self.capacity = waiting
        self.queue: asyncio.Queue[QueuedJob] = asyncio.Queue()
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="dpradar-worker-group")
        self._tasks: list[asyncio.Task[None]] = []

    def open(self, *, start_now: bool) -> None:
        """Begin to take jobs; ``start_now`` starts the processes before the first job arrives."""
        self._tasks = [asyncio.create_task(self._serve(worker, start_now=start_now)) for worker in self.workers]

    async def close(self) -> None:
        """End everything."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for worker in self.workers:
            worker.end()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def put(self, job: QueuedJob) -> None:
        """Put a job into the queue, or refuse it."""
        if self.queue.qsize() >= self.capacity:
            raise QueueFull
        self.queue.put_nowait(job)

    async def _serve(self, worker: WorkerProcess, *, start_now: bool) -> None:
        if start_now:
            await self._start_worker(worker)
        while True:
            job = await self.queue.get()
            if job.finished:
                continue
            if not (worker.alive or await self._start_worker(worker)):
                job.finish("bug", "a worker does not start")
                continue
            await self._run(worker, job)
            if not worker.alive:
                await self._start_worker(worker)

    async def _start_worker(self, worker: WorkerProcess) -> bool:
        """Start a process and let it load what the first questions need, before a question arrives."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._threads, worker.start)
        end, message = time.monotonic() + _PRELOAD_SECONDS, None
        while message is None and time.monotonic() < end:
            message = await loop.run_in_executor(self._threads, worker.receive, _POLL_SECONDS)
        if message is None or message.kind != "ready":
            worker.end()
            return False
        await self._run(worker, QueuedJob("", "preload", {}, _PRELOAD_SECONDS))
        return True

    async def _run(self, worker: WorkerProcess, job: QueuedJob) -> None:
        loop = asyncio.get_running_loop()
        job.state, job.started_at = "running", time.monotonic()
        await loop.run_in_executor(self._threads, worker.send_task, job.task, job.data)
        stop_requested_at: float | None = None
        while not job.finished:
            message = await loop.run_in_executor(self._threads, worker.receive, _POLL_SECONDS)
            now = time.monotonic()
            if message is not None:
                _apply_message(job, message)
            elif now - job.started_at > job.seconds:
                job.finish("late")
                worker.end()
            elif stop_requested_at is not None and now - stop_requested_at > _STOP_SECONDS:
                job.finish("stopped")
                worker.end()
            if job.stopping and stop_requested_at is None:
                stop_requested_at = now
                worker.stop()


def _key(task: str, data: Any) -> str:
    return hashlib.sha256(json.dumps([task, data], sort_keys=True).encode()).hexdigest()[:32]


def _apply_message(job: QueuedJob, message: WorkerMessage) -> None:
    """Update a job with a message of its worker."""
    if message.kind == "progress":
        job.text, job.share = message.data
    elif message.kind == "done":
        job.result = message.data
        job.finish("done")
    elif message.kind == "bad":
        job.finish("bad", *message.data)
    elif message.kind == "bug":
        job.finish("bug", message.data)
    elif message.kind == "stopped":
        job.finish("stopped")
    else:
        job.finish("large", "" if message.kind == "large" else _WORKER_ENDED)


class JobQueue:
    """Submits and finds jobs. The same question is computed once, and recent results are kept."""

    def __init__(self, limits: QueueLimits) -> None:
        self.limits = limits
        self.quick = WorkerGroup(limits.quick_workers, limits.quick_waiting)
        self.long = WorkerGroup(limits.long_workers, limits.long_waiting)
        self._jobs: OrderedDict[str, QueuedJob] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._allowed: OrderedDict[str, None] = OrderedDict()

    def open(self) -> None:
        """Begin to take jobs."""
        self.quick.open(start_now=True)
        self.long.open(start_now=False)

    async def close(self) -> None:
        """End every worker."""
        await asyncio.gather(self.quick.close(), self.long.close())

    def find(self, key: str) -> QueuedJob | None:
        """Return the job with this key, if there is one."""
        return self._jobs.get(key)

    def allow(self, task: str, data: Any) -> None:
        """Allow the next request for this question to start it, even if it takes long: its form was submitted."""
        self._allowed[_key(task, data)] = None
        while len(self._allowed) > self.limits.kept_jobs:
            self._allowed.popitem(last=False)

    def job_for_page(self, task: str, data: Any, *, long: bool, linked: bool) -> QueuedJob | None:
        """Return the job for the question of a page: an earlier one, or a new one if it may be started.

        A link starts no long work, and a link from another site (``linked``) no work at all, unless that was allowed
        before; a quick question of a link has little time. None if the form has to be submitted first.
        """
        key = _key(task, data)
        earlier = self._jobs.get(key)
        if key in self._allowed:
            job = self.submit(task, data, long=long)
            del self._allowed[key]
            return job
        if earlier is not None and earlier.reusable:
            return self.submit(task, data, long=long)
        if earlier is not None and earlier.state in ("late", "large", "bug") and (long or linked):
            return earlier  # how it ended; submitting the form starts it again
        return None if long or linked else self.submit(task, data, seconds=self.limits.link_seconds)

    def submit(self, task: str, data: Any, *, long: bool = False, seconds: float | None = None) -> QueuedJob:
        """Return the job for a question, an earlier one if possible; raises Busy when too many wait."""
        key = _key(task, data)
        earlier = self._jobs.get(key)
        if seconds is None:
            seconds = self.limits.long_seconds if long else self.limits.quick_seconds
        if earlier is not None and earlier.reusable:
            self._jobs.move_to_end(key)
            earlier.seconds = max(earlier.seconds, seconds)
            return earlier
        job = QueuedJob(key, task, data, seconds)
        (self.long if long else self.quick).put(job)
        self._sizes.pop(key, None)
        self._jobs[key] = job
        self._jobs.move_to_end(key)
        self._shrink()
        return job

    async def wait(self, job: QueuedJob, seconds: float) -> None:
        """Wait until a job is finished, or that long."""
        with suppress(TimeoutError):
            await asyncio.wait_for(job.finished_event.wait(), seconds)

    def stop(self, job: QueuedJob, *, keep_partial: bool = False) -> None:
        """Ask a job to end with a partial result; ``wanted``: who asks the same question meanwhile gets that too."""
        job.stopping, job.keep_partial = True, job.keep_partial or keep_partial
        if job.state == "waiting":
            job.finish("stopped")

    def forget(self, job: QueuedJob) -> None:
        """Forget a finished job, so that the same question is computed again."""
        if job.finished and self._jobs.get(job.key) is job:
            del self._jobs[job.key]
            self._sizes.pop(job.key, None)

    def _shrink(self) -> None:
        """Forget the oldest results when they are too many or take too much memory."""
        for key, job in self._jobs.items():
            if job.finished and key not in self._sizes:
                self._sizes[key] = len(json.dumps([job.data, job.result]))
        total_bytes = sum(self._sizes.values())
        for key in [key for key, job in self._jobs.items() if job.finished]:
            if total_bytes <= self.limits.kept_bytes and len(self._jobs) <= self.limits.kept_jobs:
                return
            total_bytes -= self._sizes[key]
            self.forget(self._jobs[key])
