"""What a worker does: plan a run, compute some of its shards, or make its answer. The same code in every process."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ..errors import DpradarError
from ..numerics.single_thread import one_thread
from .jobs import Job, job_of
from .model import AFTER, Question, digest_of, versions

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Done", "Plan", "Task", "do"]

PLAN, FINISH = -1, -2  # numbers of what is done before the first shard and after the last


@dataclass(frozen=True, slots=True)
class Plan:
    """How a run is cut: ``total`` trials in shards of ``size``; ``digest`` names all that a shard depends on."""

    digest: str
    total: int
    size: int

    def __len__(self) -> int:
        return (self.total + self.size - 1) // self.size

    def trials(self, number: int) -> int:
        """Return how many trials belong to a shard.

        Examples
        --------
        >>> plan = Plan("d", total=10, size=4)
        >>> [plan.trials(k) for k in range(len(plan))]
        [4, 4, 2]
        """
        return min(self.size, self.total - number * self.size)


@dataclass(frozen=True, slots=True)
class Task:
    """Something to do for a run: shards by their numbers, the plan, or the answer from ``parts``."""

    question: Question
    numbers: tuple[int, ...]
    parts: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a task: a plan, the bytes and seconds of each shard, or the answer; or why there is none.

    Shards that were finished before one failed are kept; ``failed`` is the number of that one.
    """

    plan: Plan | None = None
    shards: tuple[tuple[int, bytes, float], ...] = ()
    answer: str | None = None
    failed: int | None = None
    reason: str = ""
    versions: tuple[tuple[str, str], ...] = ()


@lru_cache(maxsize=8)
def _job(question: Question, contents: tuple[tuple[str, str], ...]) -> Job:
    return job_of(question)


def do(task: Task) -> Done:
    """Return what came of a task; an error is told, not raised, because not every exception can be sent."""
    used = tuple(versions().items())
    with one_thread():
        step: Callable[[Task], Done] = {PLAN: _plan, FINISH: _finish}.get(task.numbers[0], _shards)
        try:
            found = step(task)
        except Exception as error:  # a worker lives on, whatever a sampler raises
            found = Done(failed=task.numbers[0], reason=_told(error))
    return Done(found.plan, found.shards, found.answer, found.failed, found.reason, used)


def _prepared(question: Question) -> Job:
    return _job(question, tuple(question.contents().items()))


def _told(error: Exception) -> str:
    """Return the reason; of the exceptions of others only the type, as their texts may hold private data."""
    return str(error) if isinstance(error, DpradarError) else f"{type(error).__name__} was raised"


def _plan(task: Task) -> Done:
    question = task.question
    job = _prepared(question)
    options = question.given()
    after = () if job.whole else AFTER.get(question.do, ())
    about = {key: value for key, value in options.items() if key not in after}
    key = (question.do, about, question.seed, question.contents(), versions(), job.size, job.chosen)
    return Done(plan=Plan(digest_of(*key), job.total, job.size))


def _shards(task: Task) -> Done:
    job = _prepared(task.question)
    found: list[tuple[int, bytes, float]] = []
    for number in task.numbers:
        started = time.perf_counter()
        try:
            data = job.piece(number)
        except Exception as error:  # likewise, and the shards before this one are kept
            return Done(shards=tuple(found), failed=number, reason=_told(error))
        found.append((number, data, time.perf_counter() - started))
    return Done(shards=tuple(found))


def _finish(task: Task) -> Done:
    return Done(answer=json.dumps(_prepared(task.question).finish(task.parts)))
