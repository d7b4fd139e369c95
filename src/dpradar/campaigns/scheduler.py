"""The scheduler of a campaign: it leases shards, submits them to the worker pool, and saves the results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, wait
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import DpradarError, ParameterError
from .campaign_model import versions
from .leases import HEARTBEAT_SECONDS, ProcessIdentity, this_process
from .shard_tasks import FINISH, PLAN, ShardPlan, ShardResult, ShardTask, compute_shard
from .store import StoreError
from .worker_pool import is_worker_lost

if TYPE_CHECKING:
    from concurrent.futures import Future

    from .campaign_model import Question
    from .store import Store
    from .worker_pool import WorkerPool

__all__ = ["Progress", "RunState", "Scheduler"]

Progress = Callable[[int, int, float | None], None]
TaskOutcome = tuple["RunState", ShardTask, ShardResult]
_BATCH_SECONDS = 0.25  # of work in one task: long compared with sending it, short compared with a campaign
_MOST_IN_BATCH = 1_000
_MOST_ATTEMPTS = 3  # of a task whose worker was lost
_MOST_POOL_FAILURES = 5  # of the whole pool, before any task was completed
_POLL_SECONDS = 0.2  # between two checks of what other processes do
_STOP_SECONDS = 2.0  # for shards that are under way when a campaign is stopped


@dataclass(slots=True, eq=False)
class RunState:
    """The progress of one run: its plan, its missing shards, whether it is answered or failed."""

    question: Question
    key: str
    plan: ShardPlan | None
    answered: bool = False
    failed: bool = False
    missing: dict[int, None] = field(default_factory=dict)  # numbers of shards, in order
    shards_computed: int = 0
    seconds: float = 0.0

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.answered or self.failed

    @property
    def seconds_per_shard(self) -> float | None:
        """Mean seconds of the shards that this process computed."""
        return self.seconds / self.shards_computed if self.shards_computed else None

    def find_missing_shards(self, store: Store) -> None:
        """Update the numbers of the missing shards."""
        if self.plan is not None and not self.answered:
            stored = store.shards(self.plan)
            self.missing = {number: None for number in range(len(self.plan)) if number not in stored}

    def batch_size(self, workers: int) -> int:
        """Return how many shards to send in one task, such that every worker has some until the end."""
        if not self.seconds_per_shard:
            return 1
        fair_share = max(1, len(self.missing) // (2 * workers))
        return int(max(1, min(_BATCH_SECONDS / self.seconds_per_shard, fair_share, _MOST_IN_BATCH)))

    def lease_keys(self, numbers: tuple[int, ...]) -> tuple[str, list[tuple[int, int]]]:
        """Return the key and numbers of the leases of a task; shards may be shared by several runs."""
        if numbers[0] < 0 or self.plan is None:
            return self.key, [(number, 0) for number in numbers]
        return self.plan.digest, [(number, self.plan.trials(number)) for number in numbers]


@dataclass(slots=True, eq=False)
class Scheduler:
    """Computes the unfinished runs of a store with a pool of workers."""

    store: Store
    runs: dict[str, RunState]
    pool: WorkerPool
    progress: Progress | None
    patience: float
    process: ProcessIdentity = field(default_factory=this_process)
    running: dict[Future[ShardResult], tuple[RunState, ShardTask]] = field(default_factory=dict)
    retries: list[tuple[RunState, ShardTask]] = field(default_factory=list)  # tasks whose worker was lost
    attempts: dict[ShardTask, int] = field(default_factory=dict)  # of tasks that lost their worker
    pool_failures: int = 0  # before any task was completed; -1 afterwards
    last_heartbeat: float = 0.0  # when this process last wrote to the store that it is alive

    def run(self) -> bool:
        """Work until every run is answered or has failed; return whether it was interrupted."""
        outcomes: list[TaskOutcome] = []
        try:
            while True:
                self._save_and_claim(outcomes)
                outcomes = []
                self._report_progress()
                if self.running:
                    outcomes = self._wait()
                elif self.retries:
                    self._submit(*self.retries.pop(0))
                elif all(run.finished for run in self.runs.values()):
                    return False
                else:
                    time.sleep(_POLL_SECONDS)  # other processes hold the remaining leases
        except KeyboardInterrupt:
            with suppress(StoreError):
                self._save_and_claim([*outcomes, *self._collect_before_stop()], lease_more=False)
            return True
        finally:
            with suppress(StoreError), self.store.writing():
                self.store.unregister_process(self.process)

    # Writing results and leases, in one transaction.

    def _save_and_claim(self, outcomes: list[TaskOutcome], *, lease_more: bool = True) -> None:
        """Save results and lease the next tasks, in one transaction, which is retried for ``patience`` seconds."""
        deadline = time.monotonic() + self.patience
        while True:
            try:
                with self.store.writing():
                    for run, task, result in outcomes:
                        self._save(run, task, result)
                    self._send_heartbeat()
                    tasks = list(self._lease_tasks()) if lease_more and not self.retries else []
                break
            except StoreError as error:
                if not error.transient or time.monotonic() >= deadline:
                    raise _unsaved_error(error, outcomes) from None
                self.last_heartbeat = 0.0  # that was not written either
                time.sleep(_POLL_SECONDS)
        for run, _, result in outcomes:
            run.shards_computed += len(result.shards)
            run.seconds += sum(seconds for _, _, seconds in result.shards)
        for run, task in tasks:
            self._submit(run, task)

    def _save(self, run: RunState, task: ShardTask, result: ShardResult) -> None:
        """Save a result. The changes to ``run`` stay valid if the transaction is repeated."""
        self.store.release(*run.lease_keys(task.numbers))
        if result.plan is not None:
            self.store.save_plan(run.key, result.plan)
            run.plan = result.plan
            run.find_missing_shards(self.store)
        if result.shards and run.plan is not None:
            self.store.save_shards(run.plan, result.shards)
            for number, _, _ in result.shards:
                run.missing.pop(number, None)
        if result.answer is not None:
            self.store.save_answer(run.key, result.answer)
            run.answered = True
        if result.failed is not None:
            self.store.save_failure(run.key, result.failed, result.reason)
            run.failed = True

    def _send_heartbeat(self) -> None:
        """Record that this process is alive, and release the leases of dead ones."""
        due = time.monotonic() - self.last_heartbeat > HEARTBEAT_SECONDS
        if due:
            self.store.record_heartbeat(self.process, self.pool.workers)
            self.last_heartbeat = time.monotonic()
        if due or not self.running:
            self.store.release_dead_leases()

    # Choosing the next tasks.

    def _lease_tasks(self) -> Iterator[tuple[RunState, ShardTask]]:
        """Lease and yield tasks while the pool has room: first plans, then shards, then answers."""
        room = 2 * self.pool.workers - len(self.running)
        unfinished = [run for run in self.runs.values() if not run.finished]
        for step in (self._plan_task, self._shard_task, self._answer_task):
            for run in unfinished:
                while room > 0 and (task := step(run)) is not None:
                    room -= 1
                    yield run, task

    def _plan_task(self, run: RunState) -> ShardTask | None:
        if run.plan is not None or not self._lease_step(run, PLAN):
            return None
        plan = self.store.plan(run.key)  # by another process
        if plan is None:
            return ShardTask(run.question, (PLAN,))
        self.store.release(*run.lease_keys((PLAN,)))
        run.plan = plan
        run.find_missing_shards(self.store)
        return None

    def _lease_step(self, run: RunState, step: int) -> bool:
        key, numbers = run.lease_keys((step,))
        return bool(self.store.lease(self.process, key, numbers, 1))

    def _shard_task(self, run: RunState) -> ShardTask | None:
        plan = run.plan
        while plan is not None and run.missing:
            missing = ((number, plan.trials(number)) for number in run.missing)
            numbers = self.store.lease(self.process, plan.digest, missing, run.batch_size(self.pool.workers))
            if not numbers:
                return None
            finished = self.store.finished_shards(plan, numbers)
            remaining = tuple(number for number in numbers if number not in finished)
            for number in finished:
                run.missing.pop(number, None)
            if len(remaining) < len(numbers):
                self.store.release(*run.lease_keys(tuple(number for number in numbers if number in finished)))
            if remaining:
                return ShardTask(run.question, remaining)
        return None

    def _answer_task(self, run: RunState) -> ShardTask | None:
        if run.plan is None or run.missing or not self._lease_step(run, FINISH):
            return None
        if self.store.answered(run.key):  # by another process
            self.store.release(*run.lease_keys((FINISH,)))
            run.answered = True
            return None
        return ShardTask(run.question, (FINISH,), self.store.shard_data(run.plan))

    # Submitting tasks and collecting their results.

    def _submit(self, run: RunState, task: ShardTask) -> None:
        try:
            self.running[self.pool.executor.submit(compute_shard, task)] = (run, task)
        except BrokenExecutor:
            self.retries.append((run, task))
            if not self.running:
                self._renew_pool()

    def _wait(self) -> list[TaskOutcome]:
        """Wait for a task to end; return the results, and the tasks that are given up."""
        finished, _ = wait(self.running, timeout=HEARTBEAT_SECONDS, return_when=FIRST_COMPLETED)
        outcomes: list[TaskOutcome] = []
        lost_tasks: list[tuple[RunState, ShardTask]] = []
        pool_broke = False
        for future in finished:
            run, task = self.running.pop(future)
            try:
                outcomes.append((run, task, _with_same_versions(future.result())))
            except DpradarError:
                raise
            except (Exception, CancelledError) as error:
                pool_broke |= isinstance(error, BrokenExecutor)
                if is_worker_lost(error):
                    lost_tasks.append((run, task))
                else:
                    reason = (
                        f"{type(error).__name__} was raised while sending it to a worker. Is dpradar installed there?"
                    )
                    outcomes.append((run, task, ShardResult(failed=task.numbers[0], reason=reason)))
        if outcomes:
            self.pool_failures = -1
        if pool_broke:  # then no running task will return
            lost_tasks += self.running.values()
            self.running.clear()
            self._renew_pool()
        return [*outcomes, *self._retry_lost_tasks(lost_tasks)]

    def _renew_pool(self) -> None:
        """Replace the executor, up to a limit."""
        if not self.pool.renew():
            hint = "Start the campaign again: finished shards are saved."
            raise ParameterError(
                "campaign.executor", "an executor whose workers keep running", "one whose workers ended", hint
            )
        self.pool_failures += self.pool_failures >= 0
        if self.pool_failures > _MOST_POOL_FAILURES:
            hint = (
                "A script that runs a campaign needs the usual `if __name__ == '__main__':`; "
                "or there is too little memory for this many workers."
            )
            raise ParameterError("campaign.workers", "processes that can start", "processes that ended at once", hint)

    def _retry_lost_tasks(self, lost_tasks: list[tuple[RunState, ShardTask]]) -> list[TaskOutcome]:
        """Schedule tasks that lost their worker again, one at a time; return those that lost too many."""
        outcomes: list[TaskOutcome] = []
        for run, task in lost_tasks:
            attempts = self.attempts.get(task, 0) + 1
            self.attempts[task] = attempts
            if attempts < _MOST_ATTEMPTS:
                self.retries.append((run, task))
            elif len(task.numbers) > 1:  # one of them is to blame
                self.retries += [(run, ShardTask(task.question, (number,))) for number in task.numbers]
            else:
                reason = (
                    f"{_MOST_ATTEMPTS} workers ended while computing this. "
                    "Were they killed, or is there too little memory?"
                )
                outcomes.append((run, task, ShardResult(failed=task.numbers[0], reason=reason)))
        failed = {run for run, _, _ in outcomes}
        outcomes += [(run, task, ShardResult()) for run, task in self.retries if run in failed]  # gives up their leases
        self.retries = [(run, task) for run, task in self.retries if run not in failed]
        return outcomes

    def _collect_before_stop(self) -> list[TaskOutcome]:
        """Return the results that arrive within a few seconds; cancel the other tasks."""
        for future in self.running:
            future.cancel()
        finished, _ = wait(self.running, timeout=_STOP_SECONDS)
        successful = [future for future in finished if not future.cancelled() and future.exception() is None]
        return [(*self.running[future], future.result()) for future in successful]

    def _report_progress(self) -> None:
        """Report the finished shards, all shards, and the estimated remaining seconds."""
        if self.progress is None:
            return
        runs = [run for run in self.runs.values() if not run.failed]
        total = sum(1 if run.plan is None else len(run.plan) for run in runs)
        remaining = sum(1 if run.plan is None else len(run.missing) for run in runs if not run.answered)
        computed, seconds = sum(run.shards_computed for run in runs), sum(run.seconds for run in runs)
        unfinished = [(len(run.missing), run.seconds_per_shard) for run in runs if not run.answered]
        remaining_seconds = (
            sum(count * (seconds / computed if each is None else each) for count, each in unfinished)
            if computed
            else None
        )
        self.progress(
            total - remaining, total, None if remaining_seconds is None else remaining_seconds / self.pool.workers
        )


def _with_same_versions(result: ShardResult) -> ShardResult:
    """Return the result, or raise ParameterError if a worker uses other versions."""
    here, there = versions(), dict(result.versions)
    different = [f"{name} {there.get(name)} (here {here[name]})" for name in here if here[name] != there.get(name)]
    if different:
        hint = "Numbers of different versions are not mixed. Install the same ones everywhere."
        raise ParameterError("the workers", "running the versions in use here", ", ".join(different), hint)
    return result


def _unsaved_error(error: StoreError, outcomes: list[TaskOutcome]) -> StoreError:
    count = sum(len(result.shards) for _, _, result in outcomes)
    lost_shards = f"{count} finished shards were not saved and will be computed again. " if count else ""
    return StoreError(error.path, error.why, f"{error.hint} {lost_shards}Everything saved before is intact.")
