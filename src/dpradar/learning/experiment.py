"""Many trainings of the same kind, in shards that are saved: an interrupted run continues where it stopped."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..errors import ParameterError
from ..numerics.lazy_numpy import Array, Ints, np
from ..numerics.worker_processes import in_processes
from ..params import Param, shown
from .gradient_scores import GradientScores
from .stacked_networks import Network
from .torch_trainer import ConvNet, first_scores
from .trainer import train

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .trainer import Candidates, Training

    Arrays = dict[str, Array]

__all__ = ["ExperimentJob", "experiment", "experiment_job"]

_SHARD = 32  # runs trained together: what they need at once still fits into the second cache
_COUNTS = (
    Param(name="runs", integer=True, low=1, what="the number of models to train", typical=(8, 8_000)),
    Param(name="shard", integer=True, low=1, what="the number of models trained together", typical=(8, 128)),
)
_WORKERS = Param(name="workers", integer=True, low=1, what="the number of processes that train models", typical=(1, 8))
_SEED = Param(name="seed", integer=True, low=0, what="the seed, which makes the training reproducible")
_FIELDS = ("targets", "likelihoods", "plain", "distances")
_DAMAGED = (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True, slots=True)
class _Shard:
    """A shard: runs first .. last-1, with the targets in turn."""

    number: int
    turn: Ints
    seed: int
    first: int
    last: int

    @property
    def runs(self) -> int:
        return self.last - self.first

    @property
    def targets(self) -> Ints:
        return self.turn[np.arange(self.first, self.last) % self.turn.size]


@dataclass(frozen=True, slots=True)
class _ShardFiles:
    """Files of finished shards in a folder, named after everything that their numbers depend on."""

    folder: Path | None
    digest: str
    candidates: int

    def path(self, shard: _Shard) -> Path | None:
        return None if self.folder is None else self.folder / f"{self.digest}-{shard.number:05d}-{shard.runs}.npz"

    def load(self, shard: _Shard) -> Arrays | None:
        path = self.path(shard)
        if path is None or not path.is_file():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
                arrays = {name: saved[name] for name in _FIELDS}
        except _DAMAGED:
            return None  # a file that cannot be read is made again
        m = self.candidates
        shapes = {"targets": (shard.runs,), "distances": (m, m)}
        whole = all(arrays[name].shape == shapes.get(name, (shard.runs, m)) for name in _FIELDS)
        return arrays if whole and np.array_equal(arrays["targets"], shard.targets) else None

    def save(self, shard: _Shard, arrays: Arrays) -> None:
        path = self.path(shard)
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written beside and then renamed, so that a shard is there completely or not at all.
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)


@dataclass(frozen=True, slots=True)
class _ShardTrainer:
    """Train the runs of a shard and keep what they gave; sent to the workers."""

    training: Training
    data: Candidates
    shards: _ShardFiles

    def __call__(self, shard: _Shard) -> Arrays:
        targets = shard.targets
        seeds = [np.random.SeedSequence(shard.seed, spawn_key=(k,)) for k in range(shard.first, shard.last)]
        scores = self._train(targets, seeds, shard.seed)
        arrays = {
            "targets": targets,
            "likelihoods": scores.likelihoods,
            "plain": scores.plain,
            "distances": shard.runs * scores.distances,  # a sum, so that shards can be added
        }
        self.shards.save(shard, arrays)
        return arrays

    def _train(self, targets: Ints, seeds: list[np.random.SeedSequence], start: int) -> GradientScores:
        if isinstance(self.training.network, Network):
            return train(self.training, self.data, targets, seeds, start=start).scores
        from .torch_trainer import one_torch_thread, train_torch

        with one_torch_thread():
            return train_torch(self.training, self.data, targets, seeds, start=start).scores


def _digest(training: Training, data: Candidates, order: Ints, seed: int, shard: int) -> str:
    hasher = hashlib.sha256(f"{__version__} {training!r} {seed} {shard}".encode())
    if not isinstance(training.network, (Network, ConvNet)):
        # The name of a user-defined network does not identify it; its initial outputs do.
        hasher.update(first_scores(training.network, data.x, seed).tobytes())
    for table in (data.known_x, data.known_y, data.x, data.y, order):
        hasher.update(f"{table.dtype.str} {table.shape}".encode())
        hasher.update(np.ascontiguousarray(table).tobytes())
    return hasher.hexdigest()[:16]


def experiment(  # noqa: PLR0913 (keywords that stand for themselves)
    training: Training,
    data: Candidates,
    runs: int,
    seed: int,
    *,
    order: Any = None,
    keep: str | Path | None = None,
    shard: int | None = None,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Ints, GradientScores]:
    """Train ``runs`` models, the candidates in turn as targets, and return the targets and what the attacker sees.

    ``order`` are the targets that are taken in turn, when not every candidate once: for a prior (.5, .25, .25) such as
    [0, 1, 0, 2], with a number of runs that 4 divides. A network other than a ``Network`` is trained by PyTorch.

    ``keep`` is a folder for finished shards of ``shard`` runs (32, or 1 where they are not trained together): calling
    again with the same arguments goes on where it was, asking for more runs adds to them, and other settings have files
    of their own.

    ``workers`` processes train shards, each with one thread; a script that asks for more than one needs the usual
    ``if __name__ == "__main__":``.

    Guarantee
    ---------
    Run k has the seed (seed, k), so the result depends neither on where a run was interrupted nor on the number of
    workers. With the same ``shard`` and libraries it is the same number for number.

    Examples
    --------
    >>> from dpradar.learning import Candidates, Network, Training
    >>> rng = np.random.default_rng(1)
    >>> data = Candidates(rng.normal(size=(20, 3)), rng.integers(0, 2, 20), rng.normal(size=(2, 3)), np.array([0, 1]))
    >>> training = Training(network=Network((3, 2)), steps=5, clip=1.0, noise_multiplier=1.0, learning_rate=0.1)
    >>> targets, scores = experiment(training, data, runs=6, seed=1, shard=4)
    >>> targets.tolist(), scores.runs
    ([0, 1, 0, 1, 0, 1], 6)
    >>> experiment(training, data, runs=6, seed=1, order=[0, 0, 1])[0].tolist()
    [0, 0, 1, 0, 0, 1]
    """
    count = int(_WORKERS.check("experiment", workers))
    job = experiment_job(training, data, runs, seed, order=order, shard=shard)
    folder = None if keep is None else Path(keep)
    shards = _ShardFiles(folder, _digest(training, data, job.turn, job.seed, job.size), data.x.shape[0])
    loaded = {candidate_shard.number: shards.load(candidate_shard) for candidate_shard in job.shards}
    finished = {number: arrays for number, arrays in loaded.items() if arrays is not None}
    runs_finished = sum(job.shards[number].runs for number in finished)
    if progress is not None and finished:
        progress(runs_finished, job.runs)
    missing = [candidate_shard for candidate_shard in job.shards if candidate_shard.number not in finished]
    for candidate_shard, arrays in in_processes(_ShardTrainer(training, data, shards), missing, count):
        finished[candidate_shard.number] = arrays
        runs_finished += candidate_shard.runs
        if progress is not None:
            progress(runs_finished, job.runs)
    return job.joined([finished[candidate_shard.number] for candidate_shard in job.shards])


@dataclass(frozen=True, slots=True, eq=False)
class ExperimentJob:
    """Trainings to be made: shards, which anyone may train, and what the attacker sees of all of them."""

    training: Training
    data: Candidates
    turn: Ints
    seed: int
    runs: int
    size: int

    @property
    def shards(self) -> list[_Shard]:
        """The shards; only the last one may be smaller."""
        size, runs = self.size, self.runs
        return [
            _Shard(n, self.turn, self.seed, n * size, min((n + 1) * size, runs))
            for n in range((runs + size - 1) // size)
        ]

    def piece(self, number: int) -> Arrays:
        """Train one shard."""
        first = number * self.size
        job = _Shard(number, self.turn, self.seed, first, min(first + self.size, self.runs))
        return _ShardTrainer(self.training, self.data, _ShardFiles(None, "", 0))(job)

    def joined(self, parts: Sequence[Arrays]) -> tuple[Ints, GradientScores]:
        """Return the targets and what the attacker sees, from all shards in order."""
        training = self.training
        arrays = {name: np.concatenate([part[name] for part in parts]) for name in _FIELDS[:-1]}
        scores = GradientScores(
            self.runs, self.data.x.shape[0], training.clip, training.noise_multiplier, training.sample_rate
        )
        scores.likelihoods, scores.plain, scores.steps = arrays["likelihoods"], arrays["plain"], training.steps
        scores.distances = np.sum([part["distances"] for part in parts], axis=0) / self.runs
        return arrays["targets"], scores


def experiment_job(
    training: Training, data: Candidates, runs: int, seed: int, *, order: Any = None, shard: int | None = None
) -> ExperimentJob:
    """Return what :func:`experiment` with these arguments has to do, cut into shards."""
    size = shard if shard is not None else _SHARD if isinstance(training.network, Network) else 1
    counts = [int(param.check("experiment", value)) for param, value in zip(_COUNTS, (runs, size), strict=True)]
    root_seed = int(_SEED.check("experiment", seed))
    return ExperimentJob(training, data, _checked_order(order, data.x.shape[0]), root_seed, *counts)


def _checked_order(order: Any, candidates: int) -> Ints:
    if order is None:
        return np.arange(candidates, dtype=np.intp)
    targets = np.asarray(order)
    whole = targets.ndim == 1 and targets.size > 0 and np.issubdtype(targets.dtype, np.integer)
    if not whole or targets.min() < 0 or targets.max() >= candidates:
        raise ParameterError("experiment.order", f"numbers from 0 to {candidates - 1}", shown(order))
    return targets.astype(np.intp)
