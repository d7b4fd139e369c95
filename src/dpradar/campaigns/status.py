"""How far a campaign is, and what its runs gave: read from the store, without computing anything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .register import answer_of, runs_of, versions_of
from .store import Store

if TYPE_CHECKING:
    from .work import Plan

__all__ = ["Outcome", "Results", "State", "results", "status"]

State = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One run: how far it is, and its result when it is done.

    ``shards`` is None while nobody has looked how many there are; ``seconds_left`` are seconds of one worker.
    """

    number: int
    title: str
    do: str
    options: dict[str, Any]
    seed: int
    state: State
    name: str = ""
    note: str = ""
    shards: int | None = None
    shards_done: int = 0
    trials: int | None = None
    trials_done: int = 0
    seconds: float = 0.0
    seconds_left: float | None = None
    result: Any = None
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        names = ("number", "title", "name", "note", "do", "options", "seed", "state", "reason")
        more = ("shards", "shards_done", "trials", "trials_done", "seconds", "seconds_left")
        told = {name: getattr(self, name) for name in (*names, *more)}
        return {**told, "result": None if self.result is None else self.result.to_dict()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """All runs of a campaign. ``workers`` work on it now, in ``processes`` processes."""

    runs: tuple[Outcome, ...]
    title: str = ""
    store: str = ""
    versions: dict[str, str]
    workers: int = 0
    processes: int = 0
    interrupted: bool = False

    @property
    def done(self) -> bool:
        """Whether every run has its result."""
        return all(run.state == "done" for run in self.runs)

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """The runs that failed."""
        return tuple(run for run in self.runs if run.state == "failed")

    @property
    def seconds_left(self) -> float | None:
        """Seconds until it is done; None when nobody works on it, or nothing is known yet."""
        left = [run.seconds_left for run in self.runs if run.state in ("waiting", "running")]
        known = [seconds for seconds in left if seconds is not None]
        return sum(known) / self.workers if self.workers and len(known) == len(left) else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data with a schema key."""
        names = ("title", "store", "versions", "workers", "processes", "interrupted", "done", "seconds_left")
        told = {name: getattr(self, name) for name in names}
        told["complete"] = self.done
        return {"schema": "dpradar/campaign/1", **told, "runs": [run.to_dict() for run in self.runs]}


def status(store: str | Path) -> Results:
    """Return how far the campaign of a store is; reads only, while others may write.

    Examples
    --------
    >>> import tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from dpradar.campaigns import parse, run, status
    >>> campaign = parse('run = [{do = "assess", kind = "grr", m = 4, epsilon = 2.0}]')
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as thread:
    ...     _ = run(campaign, f"{folder}/small.sqlite", executor=thread)
    ...     found = status(f"{folder}/small.sqlite")
    >>> found.done, found.runs[0].shards_done, round(found.runs[0].result.rad.value, 4)
    (True, 1, 0.4612)
    """
    with Store(Path(store), write=False) as opened:
        return results(opened)


def results(store: Store) -> Results:
    """Return how far the campaign of an open store is."""
    about, plans, answers = store.about(), store.plans(), store.answers()
    reasons, alive = store.failures(), store.processes()
    leased = store.leased() if alive else set()
    found = []
    for row in runs_of(store):
        key = row["question"]
        plan = plans.get(key)
        answer = answers.get(key)
        busy = key in leased or (plan is not None and plan.digest in leased)
        state: State = (
            "done" if answer is not None else "failed" if key in reasons else "running" if busy else "waiting"
        )
        found.append(
            Outcome(
                **{name: row[name] for name in ("number", "title", "name", "note", "do", "options", "seed")},
                state=state,
                **({} if plan is None else _progress(store, plan)),
                result=None if answer is None else answer_of(store, row, answer),
                reason=reasons.get(key, "") if state == "failed" else "",
            )
        )
    return Results(
        runs=tuple(found),
        title=about.get("title", ""),
        store=str(store.path),
        versions=versions_of(store),
        workers=sum(workers for _, workers in alive),
        processes=len(alive),
    )


def _progress(store: Store, plan: Plan) -> dict[str, Any]:
    shards = store.shards(plan)
    count, seconds = len(shards), sum(shards.values())
    return {
        "shards": len(plan),
        "shards_done": count,
        "trials": plan.total,
        "trials_done": sum(plan.trials(number) for number in shards),
        "seconds": seconds,
        "seconds_left": (len(plan) - count) * seconds / count if count else None,
    }
