"""DP-SGD for networks that need PyTorch, such as convolutional ones: one run at a time, the same results as `train`."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra, ParameterError
from ..numerics.lazy_numpy import Array, np
from ..params import shown
from .gradient_scores import GradientScores
from .score_joining import joined_scores
from .stacked_networks import Network
from .torch_layers import LayerSums
from .trainer import Runs, _taking_part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .trainer import Candidates, Training

__all__ = ["ConvNet", "Modules", "first_scores", "need_torch", "one_torch_thread", "train_torch"]

_NUMBERS = 16_000_000  # of gradients of single examples that are kept at once
_UNLIKE = 1e-3  # sums of two clipped gradients may differ by this share of the clipping norm: single precision
_SMALLEST_SIDE = 10  # two convolutions 3 x 3 and two poolings leave one pixel of it


@dataclass(frozen=True, slots=True)
class ConvNet:
    """The convolutional network of [RAD] Figure 5: twice (3 x 3 convolution, ELU, 2 x 2 pooling), then two layers.

    ``shape`` is that of an image: channels, height, width. ``channels`` are those of the convolutions, ``hidden`` the
    width of the layer behind them. Records are rows of numbers, as for :class:`~dpradar.learning.Network`.

    Examples
    --------
    >>> ConvNet().parameters
    225034
    """

    shape: tuple[int, int, int] = (1, 28, 28)
    classes: int = 10
    channels: tuple[int, int] = (32, 64)
    hidden: int = 128

    def __post_init__(self) -> None:
        shape: tuple[Any, ...] = tuple(self.shape)
        layers: tuple[Any, ...] = (*self.channels, self.hidden, self.classes)
        whole = all(isinstance(n, int) and n >= 1 for n in (*shape, *layers))
        if len(shape) != 3 or len(layers) != 4 or not whole or min(shape[1:]) < _SMALLEST_SIDE:
            allowed = f"(channels, height, width) with sides of at least {_SMALLEST_SIDE}, and layers of at least 1"
            raise ParameterError("ConvNet", allowed, repr(self))

    @property
    def inputs(self) -> int:
        """The number of features of a record."""
        return self.shape[0] * self.shape[1] * self.shape[2]

    @property
    def _flat(self) -> int:
        high, wide = (((side - 2) // 2 - 2) // 2 for side in self.shape[1:])
        return self.channels[1] * high * wide

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        one, two = self.channels
        convolutions = (9 * self.shape[0] + 1) * one + (9 * one + 1) * two
        return convolutions + (self._flat + 1) * self.hidden + (self.hidden + 1) * self.classes

    def module(self) -> Any:
        """Return the network as a PyTorch module with fresh parameters."""
        _, nn = _torch()
        one, two = self.channels
        return nn.Sequential(
            nn.Unflatten(1, self.shape),
            *(nn.Conv2d(self.shape[0], one, 3), nn.ELU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(one, two, 3), nn.ELU(), nn.MaxPool2d(2)),
            *(nn.Flatten(), nn.Linear(self._flat, self.hidden), nn.ELU()),
            nn.Linear(self.hidden, self.classes),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Modules:
    """The trained models of several runs."""

    modules: tuple[Any, ...]

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.modules)

    def probabilities(self, x: Array) -> Array:
        """Return the class probabilities: (runs, examples, classes)."""
        torch, _ = _torch()
        rows = torch.as_tensor(np.asarray(x, dtype=np.float32))
        with torch.no_grad():
            return np.stack([torch.softmax(one(rows), dim=1).numpy() for one in self.modules])


def train_torch(
    training: Training,
    data: Candidates,
    targets: Any,
    seeds: list[np.random.SeedSequence],
    *,
    start: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Runs:
    """Train one model for each target, as :func:`~dpradar.learning.train` does, for networks that need PyTorch.

    ``training.network`` is a :class:`ConvNet`, a :class:`~dpradar.learning.Network`, or anything with a method
    ``module()`` that returns a PyTorch module from rows of features to scores of classes. The models of the result are
    :class:`Modules`.

    ``progress`` is called with the number of steps finished and requested, over all runs.

    Notes
    -----
    Linear and convolutional layers have their norms computed layer by layer; other networks the gradients of single
    examples, by ``torch.func.vmap``, a part of the records at a time. Randomness is drawn in the order of the other
    trainer, so for a ``Network`` both give the same numbers, up to rounding. On the CPU.

    Examples
    --------
    >>> from dpradar.learning import Candidates, Training
    >>> data = Candidates(np.eye(4), np.zeros(4, dtype=int), 2.0 * np.eye(4)[:2], np.array([0, 1]))
    >>> training = Training(network=ConvNet(), steps=5, clip=1.0, noise_multiplier=1.0, learning_rate=0.1)
    >>> train_torch(training, data, [0], [np.random.SeedSequence(1)])
    Traceback (most recent call last):
        ...
    dpradar.errors.ParameterError: Candidates.x must be of 784 features, as ConvNet needs; got 4.
    """
    target_indices = np.asarray(targets)
    m = data.x.shape[0]
    numbers = (
        np.issubdtype(target_indices.dtype, np.integer)
        and target_indices.ndim == 1
        and 0 < target_indices.size == len(seeds)
    )
    if not numbers or target_indices.min() < 0 or target_indices.max() >= m:
        allowed = f"one number from 0 to {m - 1} and one seed for each run"
        raise ParameterError("train_torch.targets", allowed, f"{target_indices.size} targets and {len(seeds)} seeds")
    inputs = getattr(training.network, "inputs", data.x.shape[1])
    if inputs != data.x.shape[1]:
        allowed = f"of {inputs} features, as {type(training.network).__name__} needs"
        raise ParameterError("Candidates.x", allowed, f"{data.x.shape[1]}")
    most = int(max(data.known_y.max(initial=0), data.y.max()))
    if getattr(training.network, "classes", most + 1) <= most:
        raise ParameterError("Training.network", f"one for more than {most} classes", shown(training.network))
    modules, parts = [], []
    for run, (target, seed) in enumerate(zip(target_indices.tolist(), seeds, strict=True)):
        job = _TrainingRun(
            training, data, target, np.random.default_rng(seed), _initial_module(training.network, start)
        )
        run_scores = GradientScores(1, m, training.clip, training.noise_multiplier, training.sample_rate)
        for step in range(training.steps):
            job.step(run_scores)
            if progress is not None:
                progress(run * training.steps + step + 1, target_indices.size * training.steps)
        parts.append(run_scores)
        modules.append(job.module)
    models: Any = Modules(tuple(modules))
    return Runs(target_indices, joined_scores(parts), models)


@dataclass(slots=True, eq=False)
class _TrainingRun:
    """One run: its module, its randomness, and a step of DP-SGD."""

    training: Training
    data: Candidates
    target: int
    rng: np.random.Generator
    module: Any
    by_layers: bool | None = None  # whether sums by layers are right for this network: looked at in the first step

    def step(self, scores: GradientScores) -> None:
        torch, _ = _torch()
        training, data = self.training, self.data
        sampled, takes_part = _taking_part(training, data.known_x.shape[0], [self.rng], np.dtype(np.float32))
        parameters = {name: one.detach() for name, one in self.module.named_parameters()}
        gradients = _Gradients(self.module, parameters, training.clip)
        taking = np.flatnonzero(sampled[0])
        layers = LayerSums(self.module, training.clip)
        if self.by_layers is None:
            self.by_layers = layers.fits(data.x) and _agree(layers, gradients, data.x[:2], data.y[:2])
        total = (layers if self.by_layers else gradients).summed(data.known_x[taking], data.known_y[taking])
        candidates = gradients.clipped(data.x, data.y)
        noise = self._noise(parameters)
        gram: Any = sum(part @ part.T for part in (one.flatten(1) for one in candidates.values()))
        inner: Any = sum(one.flatten(1) @ noise[name].flatten() for name, one in candidates.items())
        products = inner + float(takes_part[0]) * gram[self.target]
        scores.add_products(products.numpy()[None], gram.numpy()[None])
        rate = training.learning_rate / (training.sample_rate * (data.known_x.shape[0] + 1))
        with torch.no_grad():
            for name, one in self.module.named_parameters():
                target_part = float(takes_part[0]) * candidates[name][self.target]
                one.sub_(rate * (total[name] + target_part + noise[name]))

    def _noise(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return Gaussian noise; tables are filled column by column, as the other trainer keeps them."""
        torch, _ = _torch()
        flat = np.empty(sum(one.numel() for one in parameters.values()), dtype=np.float32)
        self.rng.standard_normal(out=flat, dtype=np.float32)
        flat *= np.float32(self.training.clip * self.training.noise_multiplier)
        noise, at = {}, 0
        for name, one in parameters.items():
            part = torch.from_numpy(flat[at : at + one.numel()])
            noise[name] = part.reshape(one.shape[1], one.shape[0]).T if one.ndim == 2 else part.reshape(one.shape)
            at += one.numel()
        return noise


@dataclass(slots=True, eq=False)
class _Gradients:
    """Gradients of single examples at given parameters, clipped."""

    module: Any
    parameters: dict[str, Any]
    clip: float

    def clipped(self, x: Array, y: Array) -> dict[str, Any]:
        """Return for each parameter one clipped gradient for each example."""
        torch, nn = _torch()

        def loss(parameters: dict[str, Any], row: Any, label: Any) -> Any:
            out = torch.func.functional_call(self.module, parameters, (row[None],))
            return nn.functional.cross_entropy(out, label[None])

        single = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
        gradients = single(self.parameters, torch.from_numpy(x), torch.from_numpy(np.asarray(y, dtype=np.int64)))
        squares: Any = sum(one.flatten(1).square().sum(dim=1) for one in gradients.values())
        norms = squares.sqrt()
        factors = (self.clip / norms.clamp(min=torch.finfo(norms.dtype).tiny)).clamp(max=1.0)
        return {name: one * factors.reshape(-1, *[1] * (one.ndim - 1)) for name, one in gradients.items()}

    def summed(self, x: Array, y: Array) -> dict[str, Any]:
        """Return for each parameter the sum of the clipped gradients, made for a part of the examples at a time."""
        torch, _ = _torch()
        total = {name: torch.zeros_like(one) for name, one in self.parameters.items()}
        size = max(1, _NUMBERS // sum(one.numel() for one in self.parameters.values()))
        for at in range(0, x.shape[0], size):
            for name, one in self.clipped(x[at : at + size], y[at : at + size]).items():
                total[name] += one.sum(dim=0)
        return total


def _agree(layers: LayerSums, gradients: _Gradients, x: Array, y: Array) -> bool:
    """Return whether both ways to sum give the same: a weight that is used beside its layer is seen by one only."""
    by_layers, by_examples = layers.summed(x, y), gradients.summed(x, y)
    difference = sum(float((by_layers[name] - one).square().sum()) for name, one in by_examples.items())
    return bool(difference**0.5 <= _UNLIKE * gradients.clip)


def _initial_module(network: Any, start: int) -> Any:
    """Return a module with the first parameters, which all runs share."""
    torch, nn = _torch()
    if isinstance(network, Network):
        stack = network.start(1, np.random.default_rng(start))
        activation = {"relu": nn.ReLU, "elu": nn.ELU, "tanh": nn.Tanh}[network.activation]
        parts: list[Any] = []
        for weight, bias in zip(stack.weights, stack.biases, strict=True):
            layer = nn.Linear(weight.shape[1], weight.shape[2])
            with torch.no_grad():
                layer.weight.copy_(torch.from_numpy(weight[0].T.copy()))
                layer.bias.copy_(torch.from_numpy(bias[0]))
            parts += [layer, activation()]
        return nn.Sequential(*parts[:-1])
    if not callable(getattr(network, "module", None)):
        allowed = "a Network, a ConvNet, or an object whose module() returns a PyTorch module"
        raise ParameterError("Training.network", allowed, shown(network))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(start)
        # Channels last in memory: convolutions and above all poolings are quicker on the CPU.
        return network.module().to(memory_format=torch.channels_last)


def first_scores(network: Any, x: Array, start: int) -> Array:
    """Return the scores of the classes that a fresh network gives the records."""
    torch, _ = _torch()
    with torch.no_grad(), one_torch_thread():
        return np.asarray(_initial_module(network, start)(torch.from_numpy(x)).numpy())


def need_torch() -> None:
    """Raise MissingExtra when PyTorch is not installed: before anything is computed that needs it later."""
    _torch()


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let PyTorch work on one thread: what runs beside it is not slowed down, and rounding is the same everywhere."""
    torch, _ = _torch()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _torch() -> tuple[Any, Any]:
    try:
        import torch
        from torch import nn
    except ImportError:
        raise MissingExtra("torch", "torch") from None
    return torch, nn
