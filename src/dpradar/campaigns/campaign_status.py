"""The progress of a campaign and the results of its runs, read from the store without computing anything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .store import Store
from .stored_campaign import load_answer, stored_runs, stored_versions

if TYPE_CHECKING:
    from .shard_tasks import ShardPlan

__all__ = ["CampaignStatus", "RunStatus", "State", "campaign_status", "status"]

State = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """The progress of one run, and its result when it is done.

    ``shards`` is None until the run is planned; ``seconds_left`` are seconds of one worker.
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
        progress_names = ("shards", "shards_done", "trials", "trials_done", "seconds", "seconds_left")
        fields = {name: getattr(self, name) for name in (*names, *progress_names)}
        return {**fields, "result": None if self.result is None else self.result.to_dict()}


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignStatus:
    """All runs of a campaign. ``workers`` are active now, in ``processes`` processes."""

    runs: tuple[RunStatus, ...]
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
    def failed(self) -> tuple[RunStatus, ...]:
        """The runs that failed."""
        return tuple(run for run in self.runs if run.state == "failed")

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds until it is done; None if no process is active or nothing is known yet."""
        remaining = [run.seconds_left for run in self.runs if run.state in ("waiting", "running")]
        estimates = [seconds for seconds in remaining if seconds is not None]
        return sum(estimates) / self.workers if self.workers and len(estimates) == len(remaining) else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data with a schema key."""
        names = ("title", "store", "versions", "workers", "processes", "interrupted", "done", "seconds_left")
        fields = {name: getattr(self, name) for name in names}
        fields["complete"] = self.done
        return {"schema": "dpradar/campaign/1", **fields, "runs": [run.to_dict() for run in self.runs]}


def status(store: str | Path) -> CampaignStatus:
    """Return the progress of the campaign of a store; reads only, also while other processes write.

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
        return campaign_status(opened)


def campaign_status(store: Store) -> CampaignStatus:
    """Return the progress of the campaign of an open store."""
    metadata, plans, answers = store.metadata(), store.plans(), store.answers()
    reasons, processes = store.failures(), store.processes()
    leased = store.leased_keys() if processes else set()
    runs = []
    for row in stored_runs(store):
        key = row["question"]
        plan = plans.get(key)
        answer = answers.get(key)
        leased_now = key in leased or (plan is not None and plan.digest in leased)
        state: State = (
            "done" if answer is not None else "failed" if key in reasons else "running" if leased_now else "waiting"
        )
        runs.append(
            RunStatus(
                **{name: row[name] for name in ("number", "title", "name", "note", "do", "options", "seed")},
                state=state,
                **({} if plan is None else _progress(store, plan)),
                result=None if answer is None else load_answer(store, row, answer),
                reason=reasons.get(key, "") if state == "failed" else "",
            )
        )
    return CampaignStatus(
        runs=tuple(runs),
        title=metadata.get("title", ""),
        store=str(store.path),
        versions=stored_versions(store),
        workers=sum(workers for _, workers in processes),
        processes=len(processes),
    )


def _progress(store: Store, plan: ShardPlan) -> dict[str, Any]:
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
