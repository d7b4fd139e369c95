"""The coordinating process: one transaction a turn, tasks to the crew, and what comes back is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, wait
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import DpradarError, ParameterError
from . import work
from .crew import lost
from .leases import Who, this_process
from .model import versions
from .store import StoreError
from .work import FINISH, PLAN, Done, Plan, Task

if TYPE_CHECKING:
    from concurrent.futures import Future

    from .crew import Crew
    from .model import Question
    from .store import Store

__all__ = ["Line", "Office", "Progress"]

Progress = Callable[[int, int, float | None], None]
Result = tuple["Line", Task, Done]
_BATCH_SECONDS = 0.25  # of work in one task: long beside what sending it costs, short beside a campaign
_MOST_IN_BATCH = 1_000
_TRIES = 3  # of a task whose worker was lost
_LOSSES = 5  # of the whole crew, before anything was done
_TURN_SECONDS = 15.0  # after which a process says that it still works here
_POLL_SECONDS = 0.2  # between looks at what other processes do
_GRACE_SECONDS = 2.0  # for shards that are under way when a campaign is stopped


@dataclass(slots=True, eq=False)
class Line:
    """A run on its way: its plan, its shards, its answer."""

    question: Question
    key: str
    plan: Plan | None
    answered: bool = False
    failed: bool = False
    missing: dict[int, None] = field(default_factory=dict)  # numbers of shards, in order
    made: int = 0
    seconds: float = 0.0

    @property
    def settled(self) -> bool:
        """Whether nothing is left to do."""
        return self.answered or self.failed

    @property
    def each(self) -> float | None:
        """Seconds of a shard, from those made here."""
        return self.seconds / self.made if self.made else None

    def look(self, store: Store) -> None:
        """See what is missing."""
        if self.plan is not None and not self.answered:
            there = store.shards(self.plan)
            self.missing = {number: None for number in range(len(self.plan)) if number not in there}

    def batch(self, workers: int) -> int:
        """Return how many shards to send at once: some work, and in the end something for every worker."""
        if not self.each:
            return 1
        most = max(1, len(self.missing) // (2 * workers))
        return int(max(1, min(_BATCH_SECONDS / self.each, most, _MOST_IN_BATCH)))

    def leases(self, numbers: tuple[int, ...]) -> tuple[str, list[tuple[int, int]]]:
        """Return how the leases of a task are called: shards may belong to several runs, the rest is of this one."""
        if numbers[0] < 0 or self.plan is None:
            return self.key, [(number, 0) for number in numbers]
        return self.plan.digest, [(number, self.plan.trials(number)) for number in numbers]


@dataclass(slots=True, eq=False)
class Office:
    """Runs on their way, the store, and the crew."""

    store: Store
    lines: dict[str, Line]
    crew: Crew
    progress: Progress | None
    patience: float
    who: Who = field(default_factory=this_process)
    running: dict[Future[Done], tuple[Line, Task]] = field(default_factory=dict)
    again: list[tuple[Line, Task]] = field(default_factory=list)  # whose worker was lost
    tries: dict[Task, int] = field(default_factory=dict)  # how often
    losses: int = 0  # of the crew, before anything was done; -1 when something was
    tended: float = 0.0  # when the store was last told that this process is here

    def run(self) -> bool:
        """Work until every run is answered or has failed; return whether it was interrupted."""
        done: list[Result] = []
        try:
            while True:
                self._turn(done)
                done = []
                self._tell()
                if self.running:
                    done = self._wait()
                elif self.again:
                    self._submit(*self.again.pop(0))
                elif all(line.settled for line in self.lines.values()):
                    return False
                else:
                    time.sleep(_POLL_SECONDS)  # others have the rest
        except KeyboardInterrupt:
            with suppress(StoreError):
                self._turn([*done, *self._last()], claim=False)
            return True
        finally:
            with suppress(StoreError), self.store.writing():
                self.store.leave(self.who)

    # What is written, once a turn.

    def _turn(self, done: list[Result], *, claim: bool = True) -> None:
        """Keep what was done and lease what is next, in one transaction, which is tried for a while."""
        until = time.monotonic() + self.patience
        while True:
            try:
                with self.store.writing():
                    for line, task, result in done:
                        self._keep(line, task, result)
                    self._tend()
                    claims = list(self._claims()) if claim and not self.again else []
                break
            except StoreError as error:
                if not error.passing or time.monotonic() >= until:
                    raise _unkept(error, done) from None
                self.tended = 0.0  # that was not written either
                time.sleep(_POLL_SECONDS)
        for line, _, result in done:
            line.made += len(result.shards)
            line.seconds += sum(seconds for _, _, seconds in result.shards)
        for line, task in claims:
            self._submit(line, task)

    def _keep(self, line: Line, task: Task, result: Done) -> None:
        """Write what was done. What is noted of the line holds when this is tried again, too."""
        self.store.release(*line.leases(task.numbers))
        if result.plan is not None:
            self.store.keep_plan(line.key, result.plan)
            line.plan = result.plan
            line.look(self.store)
        if result.shards and line.plan is not None:
            self.store.keep_shards(line.plan, result.shards)
            for number, _, _ in result.shards:
                line.missing.pop(number, None)
        if result.answer is not None:
            self.store.keep_answer(line.key, result.answer)
            line.answered = True
        if result.failed is not None:
            self.store.keep_failure(line.key, result.failed, result.reason)
            line.failed = True

    def _tend(self) -> None:
        """Say that this process is here, and take over from those that are gone."""
        due = time.monotonic() - self.tended > _TURN_SECONDS
        if due:
            self.store.enter(self.who, self.crew.workers)
            self.tended = time.monotonic()
        if due or not self.running:
            self.store.bury()

    # What is next.

    def _claims(self) -> Iterator[tuple[Line, Task]]:
        """Lease and yield tasks while the crew has room: first the plans, then shards, in the order of the runs."""
        room = 2 * self.crew.workers - len(self.running)
        unsettled = [line for line in self.lines.values() if not line.settled]
        for step in (self._plans, self._shards, self._answers):
            for line in unsettled:
                while room > 0 and (task := step(line)) is not None:
                    room -= 1
                    yield line, task

    def _plans(self, line: Line) -> Task | None:
        if line.plan is not None or not self._alone(line, PLAN):
            return None
        made = self.store.plan(line.key)  # by another process
        if made is None:
            return Task(line.question, (PLAN,))
        self.store.release(*line.leases((PLAN,)))
        line.plan = made
        line.look(self.store)
        return None

    def _alone(self, line: Line, step: int) -> bool:
        about, numbers = line.leases((step,))
        return bool(self.store.lease(self.who, about, numbers, 1))

    def _shards(self, line: Line) -> Task | None:
        plan = line.plan
        while plan is not None and line.missing:
            wanted = ((number, plan.trials(number)) for number in line.missing)
            numbers = self.store.lease(self.who, plan.digest, wanted, line.batch(self.crew.workers))
            if not numbers:
                return None
            made = self.store.made_since(plan, numbers)
            left = tuple(number for number in numbers if number not in made)
            for number in made:
                line.missing.pop(number, None)
            if len(left) < len(numbers):
                self.store.release(*line.leases(tuple(number for number in numbers if number in made)))
            if left:
                return Task(line.question, left)
        return None

    def _answers(self, line: Line) -> Task | None:
        if line.plan is None or line.missing or not self._alone(line, FINISH):
            return None
        if self.store.answered(line.key):  # by another process
            self.store.release(*line.leases((FINISH,)))
            line.answered = True
            return None
        return Task(line.question, (FINISH,), self.store.parts(line.plan))

    # Who does it.

    def _submit(self, line: Line, task: Task) -> None:
        try:
            self.running[self.crew.executor.submit(work.do, task)] = (line, task)
        except BrokenExecutor:
            self.again.append((line, task))
            if not self.running:
                self._renew()

    def _wait(self) -> list[Result]:
        """Return what was done meanwhile, and what will not be done."""
        finished, _ = wait(self.running, timeout=_TURN_SECONDS, return_when=FIRST_COMPLETED)
        done: list[Result] = []
        gone: list[tuple[Line, Task]] = []
        broken = False
        for future in finished:
            line, task = self.running.pop(future)
            try:
                done.append((line, task, _checked(future.result())))
            except DpradarError:
                raise
            except (Exception, CancelledError) as error:
                broken |= isinstance(error, BrokenExecutor)
                if lost(error):
                    gone.append((line, task))
                else:
                    told = f"{type(error).__name__} was raised where it was sent. Is dpradar installed there?"
                    done.append((line, task, Done(failed=task.numbers[0], reason=told)))
        if done:
            self.losses = -1
        if broken:  # then nothing of what is under way comes back
            gone += self.running.values()
            self.running.clear()
            self._renew()
        return [*done, *self._lost(gone)]

    def _renew(self) -> None:
        """Have a new crew, some times."""
        if not self.crew.renew():
            hint = "Start it again: what is finished is kept."
            raise ParameterError("campaign.executor", "one whose workers stay", "one that broke", hint)
        self.losses += self.losses >= 0
        if self.losses > _LOSSES:
            hint = (
                "A script that runs a campaign needs the usual `if __name__ == '__main__':`; "
                "or there is too little memory for so many workers."
            )
            raise ParameterError("campaign.workers", "processes that can start", "ones that end at once", hint)

    def _lost(self, gone: list[tuple[Line, Task]]) -> list[Result]:
        """Give tasks whose worker is gone to another, alone; return those that lost too many."""
        done: list[Result] = []
        for line, task in gone:
            tries = self.tries.get(task, 0) + 1
            self.tries[task] = tries
            if tries < _TRIES:
                self.again.append((line, task))
            elif len(task.numbers) > 1:  # one of them is to blame
                self.again += [(line, Task(task.question, (number,))) for number in task.numbers]
            else:
                told = f"{_TRIES} workers ended while they did this. Were they killed, or is there too little memory?"
                done.append((line, task, Done(failed=task.numbers[0], reason=told)))
        failed = {line for line, _, _ in done}
        done += [(line, task, Done()) for line, task in self.again if line in failed]  # gives up their leases
        self.again = [(line, task) for line, task in self.again if line not in failed]
        return done

    def _last(self) -> list[Result]:
        """Return what is done soon; the rest is given up."""
        for future in self.running:
            future.cancel()
        finished, _ = wait(self.running, timeout=_GRACE_SECONDS)
        sound = [future for future in finished if not future.cancelled() and future.exception() is None]
        return [(*self.running[future], future.result()) for future in sound]

    def _tell(self) -> None:
        """Tell how far it is, and how long it will take if shards go on taking what they took."""
        if self.progress is None:
            return
        lines = [line for line in self.lines.values() if not line.failed]
        total = sum(1 if line.plan is None else len(line.plan) for line in lines)
        left = sum(1 if line.plan is None else len(line.missing) for line in lines if not line.answered)
        made, seconds = sum(line.made for line in lines), sum(line.seconds for line in lines)
        known = [(len(line.missing), line.each) for line in lines if not line.answered]
        ahead = sum(count * (seconds / made if each is None else each) for count, each in known) if made else None
        self.progress(total - left, total, None if ahead is None else ahead / self.crew.workers)


def _checked(result: Done) -> Done:
    """Return the result, unless it comes from other versions than those in use here."""
    here, there = versions(), dict(result.versions)
    other = [f"{name} {there.get(name)} (here {here[name]})" for name in here if here[name] != there.get(name)]
    if other:
        hint = "Numbers of different versions are not mixed. Install the same ones everywhere."
        raise ParameterError("the workers", "of the versions in use here", ", ".join(other), hint)
    return result


def _unkept(error: StoreError, done: list[Result]) -> StoreError:
    count = sum(len(result.shards) for _, _, result in done)
    told = f"{count} finished shards were not kept and will be computed again. " if count else ""
    return StoreError(error.path, error.why, f"{error.hint} {told}What was kept before is there.")
