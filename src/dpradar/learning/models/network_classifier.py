"""A small network trained with DP-SGD, as a classifier with ``fit`` and ``predict_proba``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ...attacks.attack_runs import checked_seed
from ...errors import ParameterError
from ...numerics.lazy_numpy import Array, Floats, Ints, np
from ...numerics.single_thread import one_thread
from ...params import Param
from ..gradient_scores import CLIP, RATE
from ..stacked_networks import Network, Stack
from ..trainer import STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["NetworkClassifier"]

_NOISE = Param(
    name="noise_multiplier",
    low=0.0,
    what="the standard deviation of the noise over the clipping norm; 0 for training without privacy",
    typical=(0.5, 5.0),
    more_private="up",
)
_RATE = Param(name="learning_rate", low=0.0, low_open=True, what="how far a step goes", typical=(0.001, 1.0))
_FIRST, _SECOND, _TINY = 0.9, 0.999, 1e-8  # Adam's usual constants
_ROWS = 4_096  # for which probabilities are computed at once


@dataclass(slots=True, eq=False, kw_only=True)
class NetworkClassifier:
    """A multilayer perceptron trained by DP-SGD: each step takes every record with probability ``sample_rate``.

    Clipped gradients are added up, noise of standard deviation ``noise_multiplier * clip`` is added to every
    parameter, and the sum is divided by the expected number of records. ``optimizer`` "sgd" moves the parameters
    against it, "adam" against its running mean: both only use the noisy sums, so privacy is that of
    ``DPSGD(noise_multiplier, sample_rate, steps)``.

    Assumes
    -------
    The number of training records, which the learning rate is divided by, is public.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(500, 2))
    >>> y = np.where(x[:, 0] > 0.0, "yes", "no")
    >>> model = NetworkClassifier(hidden=(8,), steps=200, clip=1.0, noise_multiplier=1.0, learning_rate=0.5, seed=1)
    >>> accuracy = np.mean(model.fit(x, y).predict(x) == y)
    >>> bool(accuracy > 0.9)
    True
    """

    hidden: tuple[int, ...] = (64, 64)
    steps: int = 300
    clip: float = 4.0
    noise_multiplier: float = 1.0
    learning_rate: float = 0.001
    sample_rate: float = 1.0
    optimizer: str = "sgd"
    activation: str = "relu"
    seed: int = 0
    classes_: Array = field(init=False, repr=False, default_factory=lambda: np.empty(0))
    stack_: Stack | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        for param in (STEPS, CLIP, _NOISE, _RATE, RATE):
            setattr(self, param.name, param.check("NetworkClassifier", getattr(self, param.name)))
        if self.optimizer not in ("sgd", "adam"):
            raise ParameterError("NetworkClassifier.optimizer", "sgd or adam", repr(self.optimizer))
        self.seed = checked_seed("NetworkClassifier", self.seed)
        self.hidden = tuple(self.hidden)
        Network((1, *self.hidden, 2), self.activation)  # raises where the sizes or the activation are wrong

    def fit(self, x: Any, y: Any) -> NetworkClassifier:
        """Train on records and their classes, and return self."""
        features, classes, codes = _checked(x, y)
        with one_thread():
            self._train(features, classes, codes, np.arange(codes.size))
        return self

    def _train(self, features: Array, classes: Array, codes: Ints, members: Ints) -> None:
        rng = np.random.default_rng(self.seed)
        stack = Network((features.shape[1], *self.hidden, max(classes.size, 1)), self.activation).start(1, rng)
        n, parameters = members.size, [*stack.weights, *stack.biases]
        moments = [(np.zeros_like(p), np.zeros_like(p)) for p in parameters]
        for step in range(1, self.steps + 1):
            # Poisson sampling: a binomial number of records, and then that many different ones.
            batch = members[rng.choice(n, rng.binomial(n, self.sample_rate), replace=False, shuffle=False)]
            sums = self._summed(stack, features[batch], codes[batch])
            for i, total in enumerate(sums):
                noise = rng.standard_normal(total.shape, dtype=np.float32)
                total += np.float32(self.clip * self.noise_multiplier) * noise  # noqa: PLW2901 (in place)
                parameters[i] -= self._move(total / np.float32(self.sample_rate * n), moments[i], step)
        self.classes_, self.stack_ = classes, stack

    def _summed(self, stack: Stack, x: Array, y: Ints) -> list[Array]:
        if y.size == 0:  # nobody was drawn: a step of noise alone
            return [np.zeros_like(p) for p in (*stack.weights, *stack.biases)]
        weights, biases = stack.summed(stack.clipped(x, y, self.clip), np.ones((1, y.size), dtype=np.float32))
        return [*weights, *biases]

    def _move(self, gradient: Array, moment: tuple[Array, Array], step: int) -> Array:
        if self.optimizer == "sgd":
            return np.asarray(np.float32(self.learning_rate) * gradient)
        mean, square = moment
        mean += np.float32(1.0 - _FIRST) * (gradient - mean)
        square += np.float32(1.0 - _SECOND) * (gradient * gradient - square)
        rate = self.learning_rate * (1.0 - _SECOND**step) ** 0.5 / (1.0 - _FIRST**step)
        return np.asarray(np.float32(rate) * mean / (np.sqrt(square) + np.float32(_TINY)))

    def predict_proba(self, x: Any) -> Floats:
        """Return the probability of each of ``classes_`` for each record: a row for each, none where there is none."""
        if self.stack_ is None:
            raise ParameterError("NetworkClassifier", "fitted first", "a new one", "Call fit(x, y).")
        width = self.stack_.network.sizes[0]
        owner, allowed = (
            "NetworkClassifier.predict_proba x",
            f"a table of finite numbers with {width} columns, as in fit",
        )
        rows = _numbers(owner, allowed, x)
        if rows.shape == (0,):  # an empty list has no width to be wrong
            rows = rows.reshape(0, width)
        if rows.shape[1:] != (width,):
            raise ParameterError(owner, allowed, f"shape {rows.shape}")
        probabilities = np.empty((len(rows), self.classes_.size))
        with one_thread():
            for i in range(0, len(rows), _ROWS):
                probabilities[i : i + _ROWS] = self.stack_.probabilities(rows[i : i + _ROWS])[0]
        return probabilities

    def predict(self, x: Any) -> Array:
        """Return the most probable class of each record."""
        return np.asarray(self.classes_[self.predict_proba(x).argmax(axis=1)])

    def models(self, known_x: Array, known_y: Array, x: Array, y: Array, seeds: Sequence[int]) -> Iterator[Any]:
        """Train one model for each row of ``x``, on the known records and this row, each with its own seed."""
        rows, classes, codes = _checked(np.vstack([known_x, x]), np.append(known_y, y))
        n_known, members = len(known_x), np.arange(len(known_x) + 1)
        for i, seed in enumerate(seeds):
            members[-1] = n_known + i
            fresh = replace(self, seed=int(seed))
            with one_thread():
                fresh._train(rows, classes, codes, members)
            yield fresh


def _checked(x: Any, y: Any) -> tuple[Array, Array, Ints]:
    features, labels = _numbers("NetworkClassifier.fit x", "a table of finite numbers", x), np.asarray(y)
    if features.ndim != 2 or features.shape[0] == 0:
        raise ParameterError("NetworkClassifier.fit x", "a table of finite numbers", f"shape {features.shape}")
    if labels.shape != features.shape[:1]:
        allowed = f"{features.shape[0]} classes, one for each record"
        raise ParameterError("NetworkClassifier.fit y", allowed, f"shape {labels.shape}")
    classes, codes = np.unique(labels, return_inverse=True)
    return features, classes, codes


def _numbers(owner: str, allowed: str, x: Any) -> Array:
    try:
        array = np.array(x, dtype=np.float32, order="C", copy=None)
    except (TypeError, ValueError):
        # Not chained: the error of numpy shows the entry.
        raise ParameterError(owner, allowed, "other entries") from None
    if not np.all(np.isfinite(array)):
        raise ParameterError(owner, allowed, f"nan or infinite ones, in shape {array.shape}")
    return array
