"""DP-SGD for many independent runs at once, with what the attacker sees of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..numerics.lazy_numpy import Array, Ints, np
from ..params import Param, as_floats
from .gradient_scores import CLIP, NOISE, RATE, GradientScores
from .stacked_networks import Network

if TYPE_CHECKING:
    from collections.abc import Callable

    from .stacked_networks import Stack

__all__ = ["Candidates", "Runs", "Training", "train"]

STEPS = Param(name="steps", integer=True, low=1, what="the number of steps of a training run", typical=(10, 1000))
LEARNING_RATE = Param(name="learning_rate", low=0.0, low_open=True, what="how far a step goes", typical=(0.01, 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """How a model is trained: DP-SGD as Opacus does it.

    A step adds up the clipped gradients of the records that take part (all of them when ``sample_rate`` is 1), adds
    noise of standard deviation ``noise_multiplier * clip`` to every parameter, divides by the expected number of
    records and moves the parameters by ``learning_rate`` against it.

    Examples
    --------
    >>> from dpradar.learning import Network
    >>> Training(network=Network((784, 10, 10)), steps=100, clip=0.1, noise_multiplier=5.0, learning_rate=1.0).steps
    100
    """

    network: Any  # a Network; train_torch takes others too
    steps: int
    clip: float
    noise_multiplier: float
    learning_rate: float
    sample_rate: float = 1.0

    def __post_init__(self) -> None:
        for param in (STEPS, CLIP, NOISE, LEARNING_RATE, RATE):
            object.__setattr__(self, param.name, param.check("Training", getattr(self, param.name)))


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Known records, and the candidates of which one is the target: features (rows) and classes."""

    known_x: Array
    known_y: Array
    x: Array
    y: Array

    def __post_init__(self) -> None:
        for name in ("known_x", "x"):
            allowed = "a table of finite numbers, with at least one record"
            table = as_floats(f"Candidates.{name}", allowed, getattr(self, name), "").astype(np.float32)
            if table.ndim != 2 or table.shape[0] == 0 or not np.all(np.isfinite(table)):
                raise ParameterError(f"Candidates.{name}", allowed, f"shape {table.shape}")
            # -0 becomes 0: records are compared by their bytes.
            object.__setattr__(self, name, np.ascontiguousarray(table + np.float32(0.0)))
        for name, rows in (("known_y", self.known_x.shape[0]), ("y", self.x.shape[0])):
            classes = np.asarray(getattr(self, name))
            if classes.shape != (rows,) or not np.issubdtype(classes.dtype, np.integer) or classes.min(initial=0) < 0:
                allowed = f"{rows} whole numbers at least 0, one class per record"
                raise ParameterError(f"Candidates.{name}", allowed, f"{classes.dtype} of shape {classes.shape}")
            object.__setattr__(self, name, classes)
        if self.x.shape[0] < 2 or self.x.shape[1] != self.known_x.shape[1]:
            allowed = f"at least 2 records of {self.known_x.shape[1]} features"
            raise ParameterError("Candidates.x", allowed, f"shape {self.x.shape}")
        self._check_disjoint()

    def _check_disjoint(self) -> None:
        rows = {row.tobytes() for row in self.known_x}
        if any(row.tobytes() in rows for row in self.x):
            hint = "The attacker knows the other records; the target must not be one of them."
            raise ParameterError("Candidates", "disjoint from the known records", "a candidate that is known", hint)
        if len({(row.tobytes(), int(c)) for row, c in zip(self.x, self.y, strict=True)}) < self.x.shape[0]:
            raise ParameterError("Candidates", "different from each other", "two equal ones")


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Finished runs: the targets, what the attacker can compute, and the models."""

    targets: Ints
    scores: GradientScores
    models: Stack


def train(
    training: Training,
    data: Candidates,
    targets: Any,
    seeds: list[np.random.SeedSequence],
    *,
    start: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Runs:
    """Train one model for each target and return what an attacker learns from the noisy gradient sums.

    ``targets[r]`` is the candidate that run r was given, ``seeds[r]`` its randomness; ``start`` the seed of the first
    parameters, which all runs share.

    Notes
    -----
    The attacker knows the known records, which of them take part in a step, the parameters before it and the noisy
    sum. Clipping by layer-wise norms: Goodfellow (2015). Work grows with runs x records x parameters; memory with
    runs x records x (largest layer behind the first).

    Examples
    --------
    >>> from dpradar.learning import Network
    >>> rng = np.random.default_rng(1)
    >>> data = Candidates(rng.normal(size=(20, 3)), rng.integers(0, 2, 20), rng.normal(size=(2, 3)), np.array([0, 1]))
    >>> training = Training(network=Network((3, 2)), steps=5, clip=1.0, noise_multiplier=1.0, learning_rate=0.1)
    >>> runs = train(training, data, [0, 1], np.random.SeedSequence(1).spawn(2))
    >>> runs.scores.likelihoods.shape
    (2, 2)
    """
    if not isinstance(training.network, Network):
        hint = "Other networks are trained by dpradar.learning.torch_trainer.train_torch."
        raise ParameterError("Training.network", "a Network", repr(training.network), hint)
    target_indices = np.asarray(targets)
    m = data.x.shape[0]
    numbers = (
        np.issubdtype(target_indices.dtype, np.integer)
        and target_indices.ndim == 1
        and 0 < target_indices.size == len(seeds)
    )
    if not numbers or target_indices.min() < 0 or target_indices.max() >= m:
        allowed = f"one whole number from 0 to {m - 1} and one seed for each run"
        raise ParameterError("train.targets", allowed, f"{target_indices.size} targets and {len(seeds)} seeds")
    largest = int(max(data.known_y.max(), data.y.max()))
    if training.network.sizes[0] != data.x.shape[1] or training.network.sizes[-1] <= largest:
        allowed = f"for {data.x.shape[1]} features and more than {largest} classes"
        raise ParameterError("Training.network", allowed, f"{training.network.sizes}")
    models = training.network.start(target_indices.size, np.random.default_rng(start))
    scores = GradientScores(target_indices.size, m, training.clip, training.noise_multiplier, training.sample_rate)
    rngs = [np.random.default_rng(seed) for seed in seeds]
    for step in range(training.steps):
        _step(training, data, target_indices, models, scores, rngs)
        if progress is not None:
            progress(step + 1, training.steps)
    return Runs(target_indices, scores, models)


def _step(
    training: Training,
    data: Candidates,
    targets: Ints,
    models: Stack,
    scores: GradientScores,
    rngs: list[np.random.Generator],
) -> None:
    runs, each_run = targets.size, np.arange(targets.size)
    dtype = models.weights[0].dtype
    sampled, takes_part = _taking_part(training, data.known_x.shape[0], rngs, dtype)
    others = models.clipped(data.known_x, data.known_y, training.clip)
    weights, biases = models.summed(others, sampled)
    candidates = models.clipped(data.x, data.y, training.clip)
    target_weights = np.zeros((runs, data.x.shape[0]), dtype=dtype)
    target_weights[each_run, targets] = takes_part
    candidate_weights, candidate_biases = models.summed(candidates, target_weights)
    noise_weights, noise_biases = _noise(training, models, rngs)
    # What is left when the known records are taken out: the target's clipped gradient, if it takes part, and noise.
    gram = candidates.products()
    products = gram[each_run, :, targets] * takes_part[:, None] + candidates.against(noise_weights, noise_biases)
    scores.add_products(products, gram)
    expected = training.sample_rate * (data.known_x.shape[0] + 1)
    rate = dtype.type(training.learning_rate / expected)
    for layer in range(len(weights)):
        models.weights[layer] -= rate * (weights[layer] + candidate_weights[layer] + noise_weights[layer])
        models.biases[layer] -= rate * (biases[layer] + candidate_biases[layer] + noise_biases[layer])


def _taking_part(training: Training, records: int, rngs: list[np.random.Generator], dtype: Any) -> tuple[Array, Array]:
    """Return which known records take part in each run, and whether the target does."""
    if training.sample_rate == 1.0:
        return np.ones((len(rngs), records), dtype=dtype), np.ones(len(rngs), dtype=dtype)
    takes_part = np.stack([rng.random(records + 1) < training.sample_rate for rng in rngs]).astype(dtype)
    return takes_part[:, :-1], takes_part[:, -1]


def _noise(training: Training, models: Stack, rngs: list[np.random.Generator]) -> tuple[list[Array], list[Array]]:
    """Return Gaussian noise for every parameter of every run, each from the run's own generator."""
    dtype = models.weights[0].dtype
    size = training.network.parameters
    flat = np.empty((len(rngs), size), dtype=dtype)
    for row, rng in zip(flat, rngs, strict=True):
        rng.standard_normal(out=row, dtype=dtype)
    flat *= dtype.type(training.clip * training.noise_multiplier)
    weights, biases, at = [], [], 0
    for weight, bias in zip(models.weights, models.biases, strict=True):
        weights.append(flat[:, at : at + weight[0].size].reshape(weight.shape))
        at += weight[0].size
        biases.append(flat[:, at : at + bias[0].size].reshape(bias.shape))
        at += bias[0].size
    return weights, biases
