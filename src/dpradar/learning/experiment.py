"""Many trainings of the same kind, in shards that are kept: a run that was killed goes on where it was."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..errors import ParameterError
from .gradients import GradientScores
from .trainer import train

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from .trainer import Candidates, Training

__all__ = ["experiment"]

_SHARD = 128  # runs trained together; more do not make it faster
_FIELDS = ("targets", "likelihoods", "plain")


@dataclass(frozen=True, slots=True)
class _Shards:
    """Files of finished shards in a folder, named after everything that their numbers depend on."""

    folder: Path | None
    digest: str

    def path(self, number: int) -> Path | None:
        return None if self.folder is None else self.folder / f"{self.digest}-{number:05d}.npz"

    def load(self, number: int) -> dict[str, NDArray[Any]] | None:
        path = self.path(number)
        if path is None or not path.is_file():
            return None
        try:
            with np.load(path) as saved:
                return {name: saved[name] for name in (*_FIELDS, "distances")}
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            return None  # a file that cannot be read is made again

    def save(self, number: int, arrays: dict[str, NDArray[Any]]) -> None:
        path = self.path(number)
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written beside and then renamed, so that a shard is there completely or not at all.
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        Path(name).replace(path)


def _digest(training: Training, data: Candidates, seed: int, shard: int) -> str:
    hasher = hashlib.sha256(f"{__version__} {training!r} {seed} {shard}".encode())
    for table in (data.known_x, data.known_y, data.x, data.y):
        hasher.update(np.ascontiguousarray(table).tobytes())
    return hasher.hexdigest()[:16]


def experiment(
    training: Training,
    data: Candidates,
    runs: int,
    seed: int,
    *,
    keep: Path | None = None,
    shard: int = _SHARD,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[NDArray[np.intp], GradientScores]:
    """Train ``runs`` models, the candidates in turn as targets, and return the targets and what the attacker sees.

    ``keep`` is a folder for finished shards of ``shard`` runs: calling again with the same arguments goes on where it
    was, asking for more runs adds to them, and other settings have files of their own.

    Guarantee
    ---------
    Run k has the seed (seed, k), so the result does not depend on where a run was interrupted. With the same ``shard``
    and libraries it is the same number for number.

    Examples
    --------
    >>> from dpradar.learning import Candidates, Network, Training
    >>> rng = np.random.default_rng(1)
    >>> data = Candidates(rng.normal(size=(20, 3)), rng.integers(0, 2, 20), rng.normal(size=(2, 3)), np.array([0, 1]))
    >>> training = Training(network=Network((3, 2)), steps=5, clip=1.0, noise_multiplier=1.0, learning_rate=0.1)
    >>> targets, scores = experiment(training, data, runs=6, seed=1, shard=4)
    >>> targets.tolist(), scores.runs
    ([0, 1, 0, 1, 0, 1], 6)
    """
    if runs < 1 or shard < 1:
        raise ParameterError("experiment.runs", "a whole number at least 1", f"{runs} runs in shards of {shard}")
    shards = _Shards(keep, _digest(training, data, seed, shard))
    found: list[dict[str, NDArray[Any]]] = []
    apart: list[NDArray[Any]] = []
    for number in range(-(-runs // shard)):
        first, last = number * shard, min((number + 1) * shard, runs)
        arrays = shards.load(number)
        # The last shard of an earlier, shorter experiment may have fewer runs than are asked for now.
        if arrays is None or arrays["targets"].size < last - first:
            arrays = _trained(training, data, range(first, last), seed)
            shards.save(number, arrays)
        found.append({name: arrays[name][: last - first] for name in _FIELDS})
        apart.append(arrays["distances"])
        if progress is not None:
            progress(last, runs)
    joined = {name: np.concatenate([arrays[name] for arrays in found]) for name in _FIELDS}
    scores = GradientScores(runs, data.x.shape[0], training.clip, training.noise_multiplier, training.sample_rate)
    scores.likelihoods, scores.plain, scores.steps = joined["likelihoods"], joined["plain"], training.steps
    scores.distances = np.average(apart, axis=0, weights=[arrays["targets"].size for arrays in found])
    return joined["targets"], scores


def _trained(training: Training, data: Candidates, numbers: range, seed: int) -> dict[str, NDArray[Any]]:
    targets = np.array(numbers) % data.x.shape[0]
    seeds = [np.random.SeedSequence(seed, spawn_key=(k,)) for k in numbers]
    done = train(training, data, targets, seeds, start=seed)
    scores = done.scores
    return {
        "targets": targets,
        "likelihoods": scores.likelihoods,
        "plain": scores.plain,
        "distances": scores.distances,
    }
