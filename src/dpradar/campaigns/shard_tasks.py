"""The tasks of a worker: plan a run, compute some of its shards, or combine them into the answer."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ..errors import DpradarError
from ..numerics.single_thread import one_thread
from .campaign_model import Question, digest_of, versions
from .campaign_tables import ANSWER_ONLY_KEYS
from .sharded_runs import ShardedRun, sharded_run_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ShardPlan", "ShardResult", "ShardTask", "compute_shard"]

PLAN, FINISH = -1, -2  # the steps before the first shard and after the last, as shard numbers


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """How a run is split: ``total`` trials in shards of ``size``; ``digest`` names all that a shard depends on."""

    digest: str
    total: int
    size: int

    def __len__(self) -> int:
        return (self.total + self.size - 1) // self.size

    def trials(self, number: int) -> int:
        """Return the number of trials in a shard.

        Examples
        --------
        >>> plan = ShardPlan("d", total=10, size=4)
        >>> [plan.trials(k) for k in range(len(plan))]
        [4, 4, 2]
        """
        return min(self.size, self.total - number * self.size)


@dataclass(frozen=True, slots=True)
class ShardTask:
    """A task of a run: shards by their numbers, the plan, or the answer from ``parts``."""

    question: Question
    numbers: tuple[int, ...]
    parts: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class ShardResult:
    """The result of a task: a plan, the bytes and seconds of each shard, or the answer; or why there is none.

    Shards that were finished before one failed are included; ``failed`` is the number of that one.
    """

    plan: ShardPlan | None = None
    shards: tuple[tuple[int, bytes, float], ...] = ()
    answer: str | None = None
    failed: int | None = None
    reason: str = ""
    versions: tuple[tuple[str, str], ...] = ()


@lru_cache(maxsize=8)
def _sharded_run(question: Question, contents: tuple[tuple[str, str], ...]) -> ShardedRun:
    return sharded_run_of(question)


def compute_shard(task: ShardTask) -> ShardResult:
    """Run a task; an error is returned, not raised, because not every exception can be pickled."""
    versions_used = tuple(versions().items())
    with one_thread():
        step: Callable[[ShardTask], ShardResult] = {PLAN: _make_plan, FINISH: _make_answer}.get(
            task.numbers[0], _compute_shards
        )
        try:
            outcome = step(task)
        except Exception as error:  # a worker continues, whatever a sampler raises
            outcome = ShardResult(failed=task.numbers[0], reason=_reason(error))
    return ShardResult(outcome.plan, outcome.shards, outcome.answer, outcome.failed, outcome.reason, versions_used)


def _sharded_run_of(question: Question) -> ShardedRun:
    return _sharded_run(question, tuple(question.file_digests().items()))


def _reason(error: Exception) -> str:
    """Return the message; of exceptions from other packages only the type, as they may contain private data."""
    return str(error) if isinstance(error, DpradarError) else f"{type(error).__name__} was raised"


def _make_plan(task: ShardTask) -> ShardResult:
    question = task.question
    run = _sharded_run_of(question)
    options = question.parsed_options()
    answer_only = () if run.single_shard else ANSWER_ONLY_KEYS.get(question.do, ())
    shard_options = {key: value for key, value in options.items() if key not in answer_only}
    key = (question.do, shard_options, question.seed, question.file_digests(), versions(), run.size, run.further_key)
    return ShardResult(plan=ShardPlan(digest_of(*key), run.total, run.size))


def _compute_shards(task: ShardTask) -> ShardResult:
    run = _sharded_run_of(task.question)
    shards: list[tuple[int, bytes, float]] = []
    for number in task.numbers:
        start = time.perf_counter()
        try:
            data = run.compute(number)
        except Exception as error:  # likewise, and the shards before this one are returned
            return ShardResult(shards=tuple(shards), failed=number, reason=_reason(error))
        shards.append((number, data, time.perf_counter() - start))
    return ShardResult(shards=tuple(shards))


def _make_answer(task: ShardTask) -> ShardResult:
    return ShardResult(answer=json.dumps(_sharded_run_of(task.question).finish(task.parts)))
