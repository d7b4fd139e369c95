"""Who computes: fresh processes here, Dask on many machines, or any executor that is given."""

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

__all__ = ["Crew", "crew_of", "lost"]

WORKERS = Param(name="workers", integer=True, low=1, high=100_000, what="how many shards are computed at a time")
_DASK = "dask://"
_SECONDS = 10  # to find a scheduler
_LOST = ("KilledWorker", "FutureCancelledError", "CommClosedError")  # of Dask, which need not be installed


@dataclass(slots=True)
class Crew:
    """An executor, how many it does at a time, how to have a new one where it broke, and how to let it go."""

    executor: Executor
    workers: int
    renewed: Callable[[], Executor] | None
    stop: Callable[[Executor], None]

    def renew(self) -> bool:
        """Replace the executor, if that is ours to do."""
        if self.renewed is None:
            return False
        self.stop(self.executor)
        self.executor = self.renewed()
        return True


def lost(error: BaseException) -> bool:
    """Return whether a task was not done because its worker is gone, so that another may do it."""
    return isinstance(error, (BrokenExecutor, CancelledError)) or type(error).__name__ in _LOST


def crew_of(executor: Any, workers: int | None) -> Crew:
    """Return the crew that was asked for: processes here unless an executor, or ``dask://host:port``, is given."""
    count = None if workers is None else int(WORKERS.check("campaign", workers))
    if isinstance(executor, Executor):
        return Crew(executor, count or os.cpu_count() or 1, None, lambda _: None)
    if isinstance(executor, str):
        return _dask(executor, count)
    if executor is not None:
        hint = "Or 'dask://host:port'."
        raise ParameterError("campaign.executor", "a concurrent.futures.Executor", shown(executor), hint)
    number = count or os.cpu_count() or 1

    def fresh() -> Executor:
        return Workers(number)

    return Crew(fresh(), number, fresh, _end)


def _end(pool: Any) -> None:
    pool.stop()


def _dask(address: str, count: int | None) -> Crew:
    place = address.removeprefix(_DASK)
    if not address.startswith(_DASK) or not place.rpartition(":")[0] or not place.rpartition(":")[2].isdigit():
        hint = "The address that `dask scheduler` prints, with dask:// instead of tcp://."
        raise ParameterError("--executor", "dask://host:port", shown(address), hint)
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("distributed", "cluster") from None
    clients: list[Any] = []

    def fresh() -> Executor:
        try:
            client = Client(f"tcp://{place}", timeout=_SECONDS)  # type: ignore[no-untyped-call]
        except (OSError, TimeoutError) as error:
            hint = f"({type(error).__name__}.) Is it running? `dask scheduler` starts one, `dask worker` its workers."
            raise ParameterError("--executor", "the address of a Dask scheduler that answers", address, hint) from None
        clients.append(client)
        pool: Executor = client.get_executor()  # type: ignore[no-untyped-call]
        return pool

    def stop(_: Executor) -> None:
        while clients:
            clients.pop().close()

    pool = fresh()
    threads = sum(clients[0].nthreads().values())
    if not threads:
        stop(pool)
        raise ParameterError("--executor", "a Dask scheduler with workers", f"{address}, which has none")
    return Crew(pool, count or threads, fresh, stop)
