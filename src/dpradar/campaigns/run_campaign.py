"""Run a campaign: plan the runs, compute shards on workers, save them, and combine them into results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .campaign_status import CampaignStatus, campaign_status
from .scheduler import RunState, Scheduler
from .store import Store
from .stored_campaign import campaign_to_resume, question_key, record_campaign
from .worker_pool import worker_pool_for

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from .campaign_model import Campaign
    from .scheduler import Progress

__all__ = ["resume", "run"]


def run(
    campaign: Campaign,
    store: str | Path,
    *,
    executor: Executor | str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    changed: bool = False,
    patience: float = 30.0,
) -> CampaignStatus:
    """Run a campaign, or continue it: shards in the store are not computed again.

    Parameters
    ----------
    campaign
        From :func:`dpradar.campaigns.read` or :func:`dpradar.campaigns.parse`.
    store
        The file in which finished shards are saved; created if it does not exist.
    executor
        Any ``concurrent.futures.Executor``, or ``"dask://host:port"``; by default new processes on this
        computer. A script that omits it needs the usual ``if __name__ == "__main__":``.
    workers
        Number of shards computed at a time; by default one for each processor.
    progress
        Called with the shards done, all shards, and the estimated remaining seconds (None if unknown).
    changed
        Continue even if the campaign no longer lists some runs of the store; their shards stay in the store.
    patience
        Seconds to wait for a store that is locked, or a disk that is full.

    Guarantee
    ---------
    The results are those of :func:`dpradar.attack`, :func:`dpradar.audit` and the like with the same seed, number for
    number, whoever computed the shards and however often that was interrupted. A shard is saved completely or not at
    all. Another process on the same store takes other shards.

    Examples
    --------
    >>> import tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import dpradar as dr
    >>> from dpradar.campaigns import parse
    >>> campaign = parse('run = [{do = "attack", kind = "grr", m = 4, epsilon = 2.0, trials = 1000, seed = 1}]')
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as threads:
    ...     found = run(campaign, f"{folder}/small.sqlite", executor=threads)
    >>> found.runs[0].result == dr.attack(dr.GRR(4, 2.0), dr.Threat(dr.Prior.uniform(4)), trials=1000, seed=1)
    True
    """
    with Store(Path(store), patience=patience) as opened:
        return _run(campaign, opened, executor, workers, progress, changed=changed, patience=patience)


def resume(
    store: str | Path,
    campaign: Campaign | None = None,
    *,
    trust_store: bool = False,
    executor: Executor | str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    patience: float = 30.0,
) -> CampaignStatus:
    """Continue the campaign of a store; see :func:`run`.

    Parameters
    ----------
    store
        The file in which finished shards are saved.
    campaign
        The campaign, from :func:`dpradar.campaigns.read`. It must be the one the store was last started with: the same
        runs, and the same contents of every file that they name. May be left out where the campaign names no code and
        no files.
    trust_store
        Use the text in the store even if it names code or files: the code is run.

    Guarantee
    ---------
    Without ``trust_store`` no code runs, and no file is opened, because the store names it.

    Examples
    --------
    >>> import tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from dpradar.campaigns import parse, run
    >>> campaign = parse('run = [{do = "assess", kind = "grr", m = 4, epsilon = 2.0}]')
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as thread:
    ...     _ = run(campaign, f"{folder}/small.sqlite", executor=thread)
    ...     resume(f"{folder}/small.sqlite", campaign, executor=thread).done
    True
    """
    Store(Path(store), write=False).close()  # a mistyped name creates no new store
    with Store(Path(store), patience=patience) as opened:
        resumed = campaign_to_resume(opened, campaign, trust_store=trust_store)
        return _run(resumed, opened, executor, workers, progress, changed=False, patience=patience)


def _run(
    campaign: Campaign,
    store: Store,
    executor: Executor | str | None,
    workers: int | None,
    progress: Progress | None,
    *,
    changed: bool,
    patience: float,
) -> CampaignStatus:
    questions = [run.question(campaign.folder) for run in campaign.runs]
    by_key = {question_key(question): question for question in questions}  # equal questions have one answer
    with store.writing():
        record_campaign(store, campaign, questions, changed=changed)
        store.delete_failures(by_key)
    plans, answers = store.plans(), store.answers()
    runs = {key: RunState(question, key, plans.get(key), answered=key in answers) for key, question in by_key.items()}
    for run in runs.values():
        run.find_missing_shards(store)
    interrupted = False
    if not all(run.finished for run in runs.values()):
        pool = worker_pool_for(executor, workers)
        try:
            interrupted = Scheduler(store, runs, pool, progress, patience).run()
        finally:
            pool.stop(pool.executor)
    return replace(campaign_status(store), interrupted=interrupted)
