"""Jobs: what is computed for whom, in which order, how far it is, and when it is too much."""

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

from .workers import Worker

if TYPE_CHECKING:
    from .workers import Message

__all__ = ["Busy", "Crew", "Desk", "Job", "Limits"]

# done: there is a result; bad: the question was; stopped: before there was one; late, large: too much work; bug: ours.
State = Literal["waiting", "running", "done", "bad", "stopped", "late", "large", "bug"]
_KEPT = ("waiting", "running", "done", "bad")  # in other states the same question is worked on anew
_LINGER = 2.0  # seconds: the page of a job that was stopped by hand may ask once more before it goes
_GRACE = 5.0  # seconds that a task has to end by itself when it is asked to
_TICK = 0.25
_WARMING = 60.0
_ENDED = "The process that worked on it ended, most likely because it needed more memory than there is."


class Busy(Exception):
    """So much is waiting already that one more would only wait in vain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the server takes on: seconds and processes for quick and for long work, and how much may wait."""

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
class Job:
    """One piece of work and what came of it; ``key`` is the same for the same question."""

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
    began: float = 0.0
    ended: float = 0.0
    stopping: bool = False
    wanted: bool = False  # what it has when it stops: somebody waits for that
    watchers: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def finished(self) -> bool:
        """Whether nothing more happens to it."""
        return self.state not in ("waiting", "running")

    @property
    def kept(self) -> bool:
        """Whether it is the answer to whoever asks the same."""
        if self.stopping and not self.finished:
            return self.wanted
        if self.state == "stopped" and self.wanted:
            return time.monotonic() - self.ended < _LINGER
        return self.state in _KEPT

    def finish(self, state: State, problem: str = "", option: str = "") -> None:
        """Say what came of it."""
        self.state, self.problem, self.option, self.ended = state, problem, option, time.monotonic()
        self.over.set()


class Crew:
    """Some workers and the queue before them."""

    def __init__(self, workers: int, waiting: int) -> None:
        self.workers = [Worker() for _ in range(workers)]
        self.most = waiting
        self.queue: asyncio.Queue[Job] = asyncio.Queue()
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="dpradar-crew")
        self._tasks: list[asyncio.Task[None]] = []

    def open(self, *, early: bool) -> None:
        """Begin to take jobs; ``early`` starts the processes before the first one comes."""
        self._tasks = [asyncio.create_task(self._serve(worker, early=early)) for worker in self.workers]

    async def close(self) -> None:
        """End everything."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for worker in self.workers:
            worker.end()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def take(self, job: Job) -> None:
        """Put a job into the queue, or refuse it."""
        if self.queue.qsize() >= self.most:
            raise Busy
        self.queue.put_nowait(job)

    async def _serve(self, worker: Worker, *, early: bool) -> None:
        if early:
            await self._prepare(worker)
        while True:
            job = await self.queue.get()
            if job.finished:
                continue
            if not (worker.alive or await self._prepare(worker)):
                job.finish("bug", "a worker does not start")
                continue
            await self._run(worker, job)
            if not worker.alive:
                await self._prepare(worker)

    async def _prepare(self, worker: Worker) -> bool:
        """Start a process and let it load what the first questions need: nobody's time is spent on it."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._threads, worker.start)
        end, heard = time.monotonic() + _WARMING, None
        while heard is None and time.monotonic() < end:
            heard = await loop.run_in_executor(self._threads, worker.hear, _TICK)
        if heard is None or heard.kind != "ready":
            worker.end()
            return False
        await self._run(worker, Job("", "warm", {}, _WARMING))
        return True

    async def _run(self, worker: Worker, job: Job) -> None:
        loop = asyncio.get_running_loop()
        job.state, job.began = "running", time.monotonic()
        await loop.run_in_executor(self._threads, worker.order, job.task, job.data)
        asked: float | None = None
        while not job.finished:
            heard = await loop.run_in_executor(self._threads, worker.hear, _TICK)
            now = time.monotonic()
            if heard is not None:
                _noted(job, heard)
            elif now - job.began > job.seconds:
                job.finish("late")
                worker.end()
            elif asked is not None and now - asked > _GRACE:
                job.finish("stopped")
                worker.end()
            if job.stopping and asked is None:
                asked = now
                worker.stop()


def _key(task: str, data: Any) -> str:
    return hashlib.sha256(json.dumps([task, data], sort_keys=True).encode()).hexdigest()[:32]


def _noted(job: Job, heard: Message) -> None:
    """Write down what a worker says."""
    if heard.kind == "progress":
        job.text, job.share = heard.data
    elif heard.kind == "done":
        job.result = heard.data
        job.finish("done")
    elif heard.kind == "bad":
        job.finish("bad", *heard.data)
    elif heard.kind == "bug":
        job.finish("bug", heard.data)
    elif heard.kind == "stopped":
        job.finish("stopped")
    else:
        job.finish("large", "" if heard.kind == "large" else _ENDED)


class Desk:
    """Where jobs are handed in and looked up. The same question is worked on once; results are kept for a while."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.quick = Crew(limits.quick_workers, limits.quick_waiting)
        self.long = Crew(limits.long_workers, limits.long_waiting)
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._allowed: OrderedDict[str, None] = OrderedDict()

    def open(self) -> None:
        """Begin to take jobs."""
        self.quick.open(early=True)
        self.long.open(early=False)

    async def close(self) -> None:
        """End every worker."""
        await asyncio.gather(self.quick.close(), self.long.close())

    def find(self, key: str) -> Job | None:
        """Return a job that is known."""
        return self._jobs.get(key)

    def allow(self, task: str, data: Any) -> None:
        """Let whoever asks this question next start it, however long it takes: a form was sent for it."""
        self._allowed[_key(task, data)] = None
        while len(self._allowed) > self.limits.kept_jobs:
            self._allowed.popitem(last=False)

    def asked(self, task: str, data: Any, *, long: bool, linked: bool) -> Job | None:
        """Return the job for the question of a page: one that is known, or a new one if it may be started.

        A link starts nothing long, and one of another site (``linked``) nothing at all, unless it was allowed before;
        a quick question of a link has little time. None where a form has to be sent first.
        """
        key = _key(task, data)
        known = self._jobs.get(key)
        if key in self._allowed:
            job = self.ask(task, data, long=long)
            del self._allowed[key]
            return job
        if known is not None and known.kept:
            return self.ask(task, data, long=long)
        if known is not None and known.state in ("late", "large", "bug") and (long or linked):
            return known  # what became of it; a form that is sent again starts it anew
        return None if long or linked else self.ask(task, data, seconds=self.limits.link_seconds)

    def ask(self, task: str, data: Any, *, long: bool = False, seconds: float | None = None) -> Job:
        """Return the job for a question, a new one unless it is known; raises Busy when too many wait."""
        key = _key(task, data)
        known = self._jobs.get(key)
        if seconds is None:
            seconds = self.limits.long_seconds if long else self.limits.quick_seconds
        if known is not None and known.kept:
            self._jobs.move_to_end(key)
            known.seconds = max(known.seconds, seconds)
            return known
        job = Job(key, task, data, seconds)
        (self.long if long else self.quick).take(job)
        self._sizes.pop(key, None)
        self._jobs[key] = job
        self._jobs.move_to_end(key)
        self._shrink()
        return job

    async def wait(self, job: Job, seconds: float) -> None:
        """Wait until a job is finished, or that long."""
        with suppress(TimeoutError):
            await asyncio.wait_for(job.over.wait(), seconds)

    def stop(self, job: Job, *, wanted: bool = False) -> None:
        """Ask a job to end with what it has; ``wanted``: who asks the same question meanwhile gets that too."""
        job.stopping, job.wanted = True, job.wanted or wanted
        if job.state == "waiting":
            job.finish("stopped")

    def forget(self, job: Job) -> None:
        """Forget a finished job, so that the same question is worked on anew."""
        if job.finished and self._jobs.get(job.key) is job:
            del self._jobs[job.key]
            self._sizes.pop(job.key, None)

    def _shrink(self) -> None:
        """Forget the oldest results when they are too many or take too much memory."""
        for key, job in self._jobs.items():
            if job.finished and key not in self._sizes:
                self._sizes[key] = len(json.dumps([job.data, job.result]))
        spent = sum(self._sizes.values())
        for key in [key for key, job in self._jobs.items() if job.finished]:
            if spent <= self.limits.kept_bytes and len(self._jobs) <= self.limits.kept_jobs:
                return
            spent -= self._sizes[key]
            self.forget(self._jobs[key])
