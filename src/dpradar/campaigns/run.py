"""Run a campaign: plan the runs, hand shards to workers, keep what they give, and answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .crew import crew_of
from .office import Line, Office
from .register import begin, campaign_of, question_key
from .status import Results, results
from .store import Store

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from .model import Campaign
    from .office import Progress

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
) -> Results:
    """Run a campaign, or go on with it: what the store has is not computed again.

    Parameters
    ----------
    campaign
        From :func:`dpradar.campaigns.read` or :func:`dpradar.campaigns.parse`.
    store
        The file in which finished shards are kept; made where there is none.
    executor
        Any ``concurrent.futures.Executor``, or ``"dask://host:port"``; fresh processes here unless given. A script that
        leaves it out needs the usual ``if __name__ == "__main__":``.
    workers
        How many shards are computed at a time; one for each processor unless given.
    progress
        Called with the shards done, all shards, and the seconds left (None while nothing is known).
    changed
        Go on although runs of the store are no longer in the campaign; their shards stay there, apart.
    patience
        Seconds to wait for a store that is locked, or a disk that is full.

    Guarantee
    ---------
    The results are those of :func:`dpradar.attack`, :func:`dpradar.audit` and the like with the same seed, number for
    number, whoever computed the shards and however often that was interrupted. A shard is kept completely or not at
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
) -> Results:
    """Go on with the campaign of a store; see :func:`run`.

    Parameters
    ----------
    store
        The file in which finished shards are kept.
    campaign
        The campaign, from :func:`dpradar.campaigns.read`. It must be the one the store was last started with: the same
        runs, and the same contents of every file that they name. May be left out where the campaign names no code and
        no files.
    trust_store
        Follow the text in the store although it names code or files: the code is run.

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
    Store(Path(store), write=False).close()  # a mistyped name makes no new store
    with Store(Path(store), patience=patience) as opened:
        chosen = campaign_of(opened, campaign, trust_store=trust_store)
        return _run(chosen, opened, executor, workers, progress, changed=False, patience=patience)


def _run(
    campaign: Campaign,
    store: Store,
    executor: Executor | str | None,
    workers: int | None,
    progress: Progress | None,
    *,
    changed: bool,
    patience: float,
) -> Results:
    questions = [run.question(campaign.folder) for run in campaign.runs]
    asked = {question_key(question): question for question in questions}  # equal questions have one answer
    with store.writing():
        begin(store, campaign, questions, changed=changed)
        store.forget_failures(asked)
    plans, answers = store.plans(), store.answers()
    lines = {key: Line(one, key, plans.get(key), answered=key in answers) for key, one in asked.items()}
    for line in lines.values():
        line.look(store)
    interrupted = False
    if not all(line.settled for line in lines.values()):
        crew = crew_of(executor, workers)
        try:
            interrupted = Office(store, lines, crew, progress, patience).run()
        finally:
            crew.stop(crew.executor)
    return replace(results(store), interrupted=interrupted)
