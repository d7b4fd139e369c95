"""The workers of a campaign: new processes on this computer, Dask on many machines, or any executor."""

from __future__ import annotations

import os
from concurrent.futures import BrokenExecutor, CancelledError, Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra, ParameterError
from ..numerics.worker_processes import Workers
from ..params import Param, shown

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["WorkerPool", "is_worker_lost", "worker_pool_for"]

WORKERS = Param(name="workers", integer=True, low=1, high=100_000, what="the number of shards computed at a time")
_DASK = "dask://"
_CONNECT_SECONDS = 10  # to connect to a scheduler
_DASK_LOSSES = ("KilledWorker", "FutureCancelledError", "CommClosedError")  # of Dask, which need not be installed


@dataclass(slots=True)
class WorkerPool:
    """An executor, how many tasks it runs at a time, how to make a new one after a failure, and how to stop it."""

    executor: Executor
    workers: int
    make_executor: Callable[[], Executor] | None
    stop: Callable[[Executor], None]

    def renew(self) -> bool:
        """Replace the executor; return False if the caller supplied it."""
        if self.make_executor is None:
            return False
        self.stop(self.executor)
        self.executor = self.make_executor()
        return True


def is_worker_lost(error: BaseException) -> bool:
    """Return whether a task failed because its worker ended, so that another worker may run it."""
    return isinstance(error, (BrokenExecutor, CancelledError)) or type(error).__name__ in _DASK_LOSSES


def worker_pool_for(executor: Any, workers: int | None) -> WorkerPool:
    """Return the pool for an executor or ``dask://host:port``; new processes on this computer if None."""
    count = None if workers is None else int(WORKERS.check("campaign", workers))
    if isinstance(executor, Executor):
        return WorkerPool(executor, count or os.cpu_count() or 1, None, lambda _: None)
    if isinstance(executor, str):
        return _dask_pool(executor, count)
    if executor is not None:
        hint = "Or 'dask://host:port'."
        raise ParameterError("campaign.executor", "a concurrent.futures.Executor", shown(executor), hint)
    workers_or_cpus = count or os.cpu_count() or 1

    def make_executor() -> Executor:
        return Workers(workers_or_cpus)

    return WorkerPool(make_executor(), workers_or_cpus, make_executor, _stop_workers)


def _stop_workers(pool: Any) -> None:
    pool.stop()


def _dask_pool(address: str, count: int | None) -> WorkerPool:
    host_port = address.removeprefix(_DASK)
    if not address.startswith(_DASK) or not host_port.rpartition(":")[0] or not host_port.rpartition(":")[2].isdigit():
        hint = "The address that `dask scheduler` prints, with dask:// instead of tcp://."
        raise ParameterError("--executor", "dask://host:port", shown(address), hint)
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("distributed", "cluster") from None
    clients: list[Any] = []

    def connect() -> Executor:
        try:
            client = Client(f"tcp://{host_port}", timeout=_CONNECT_SECONDS)  # type: ignore[no-untyped-call]
        except (OSError, TimeoutError) as error:
            hint = f"({type(error).__name__}.) Is it running? `dask scheduler` starts one, `dask worker` its workers."
            raise ParameterError("--executor", "the address of a Dask scheduler that answers", address, hint) from None
        clients.append(client)
        executor: Executor = client.get_executor()  # type: ignore[no-untyped-call]
        return executor

    def stop(_: Executor) -> None:
        while clients:
            clients.pop().close()

    executor = connect()
    threads = sum(clients[0].nthreads().values())
    if not threads:
        stop(executor)
        raise ParameterError("--executor", "a Dask scheduler with workers", f"{address}, which has none")
    return WorkerPool(executor, count or threads, connect, stop)
