"""Small networks for many runs at once: forward, backward, and clipped gradients by the layer-wise norm trick.

A layer is a linear map with bias followed by an activation. Parameters of R runs are stacked, so that one matrix
product serves all runs. The gradient of one example with respect to a layer is the outer product of what goes in and
of what comes back, so its norm is the product of two norms, and sums of clipped gradients are products of matrices:
no gradient of a single example is ever made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import ParameterError
from ..numerics.lazy_numpy import Array, np

__all__ = ["Clipped", "Network", "Stack"]

_ACTIVATIONS = ("relu", "elu", "tanh")


@dataclass(frozen=True, slots=True)
class Network:
    """A multilayer perceptron with softmax and cross-entropy: ``sizes`` of input, hidden layers and classes.

    ``Network((784, 10))`` is logistic regression, ``Network((784, 10, 10))`` the model of [RAD] Figures 4 and 5.

    Examples
    --------
    >>> Network((784, 10, 10)).parameters
    7960
    """

    sizes: tuple[int, ...]
    activation: str = "relu"

    def __post_init__(self) -> None:
        listed: Any = self.sizes
        sizes: tuple[Any, ...] = tuple(listed) if isinstance(listed, Iterable) else ()
        if len(sizes) < 2 or any(not isinstance(n, int) or n < 1 for n in sizes):
            hint = "Input, hidden layers, classes: such as (784, 10, 10)."
            raise ParameterError("Network.sizes", "two or more whole numbers above 0", repr(self.sizes), hint)
        if self.activation not in _ACTIVATIONS:
            raise ParameterError("Network.activation", " or ".join(_ACTIVATIONS), repr(self.activation))
        object.__setattr__(self, "sizes", sizes)

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        return sum((a + 1) * b for a, b in zip(self.sizes[:-1], self.sizes[1:], strict=True))

    def start(self, runs: int, rng: np.random.Generator, dtype: Any = "float32") -> Stack:
        """Return fresh parameters, the same for all runs: uniform within 1/sqrt(inputs), as PyTorch does."""
        weights, biases = [], []
        for a, b in zip(self.sizes[:-1], self.sizes[1:], strict=True):
            bound = 1.0 / np.sqrt(a)
            weights.append(np.repeat(rng.uniform(-bound, bound, (1, a, b)).astype(dtype), runs, axis=0))
            biases.append(np.repeat(rng.uniform(-bound, bound, (1, b)).astype(dtype), runs, axis=0))
        return Stack(self, weights, biases)


@dataclass(slots=True, eq=False)
class Clipped:
    """What a backward pass leaves: per layer the inputs and the returning errors, and the clipping factors."""

    inputs: list[Array]  # first layer: (examples, width), shared by all runs; others: (runs, examples, width)
    errors: list[Array]  # (runs, examples, width)
    factors: Array  # (runs, examples)

    def products(self) -> Array:
        """Return <clipped gradient of example i, that of example j> for every run: (runs, examples, examples)."""
        total: Any = 0.0
        for layer_input, error in zip(self.inputs, self.errors, strict=True):
            same_in = layer_input @ np.swapaxes(layer_input, -1, -2) + 1.0  # the bias is one more input, always 1
            total = total + same_in * (error @ np.swapaxes(error, -1, -2))
        return np.asarray(total * self.factors[:, :, None] * self.factors[:, None, :])

    def against(self, weights: list[Array], biases: list[Array]) -> Array:
        """Return <clipped gradient of example i, given vector of parameters> for every run: (runs, examples)."""
        total: Any = 0.0
        for layer_input, error, weight, bias in zip(self.inputs, self.errors, weights, biases, strict=True):
            total = total + ((layer_input @ weight + bias[:, None, :]) * error).sum(axis=2)
        return np.asarray(total * self.factors)


@dataclass(slots=True, eq=False)
class Stack:
    """The parameters of several runs: per layer weights (runs, in, out) and biases (runs, out)."""

    network: Network
    weights: list[Array]
    biases: list[Array]

    @property
    def runs(self) -> int:
        """The number of runs."""
        return int(self.weights[0].shape[0])

    def _through(self, x: Array) -> tuple[list[Array], Array]:
        """Return what goes into each layer, and the scores of the classes."""
        inputs, runs = [x], self.runs
        # One product for all runs: the columns of all first layers side by side.
        first = self.weights[0]
        side = np.ascontiguousarray(first.transpose(1, 0, 2)).reshape(first.shape[1], -1)
        out = (x @ side).reshape(x.shape[0], runs, -1).transpose(1, 0, 2) + self.biases[0][:, None, :]
        for weight, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            hidden = _activate(out, self.network.activation)
            inputs.append(hidden)
            out = hidden @ weight + bias[:, None, :]
        return inputs, out

    def probabilities(self, x: Array) -> Array:
        """Return the class probabilities: (runs, examples, classes)."""
        return _softmax(self._through(np.asarray(x, dtype=self.weights[0].dtype))[1])

    def clipped(self, x: Array, y: Array, clip: float) -> Clipped:
        """Return the gradients of the examples, clipped to the norm, without making them."""
        inputs, scores = self._through(x)
        error = _softmax(scores)
        error[:, np.arange(x.shape[0]), y] -= 1.0
        errors = [error]
        for layer in range(len(self.weights) - 1, 0, -1):
            back = errors[0] @ self.weights[layer].transpose(0, 2, 1)
            errors.insert(0, back * _slope(inputs[layer], self.network.activation))
        squares: Any = 0.0
        for layer_input, error in zip(inputs, errors, strict=True):
            squares = squares + (_square_sums(layer_input) + 1.0) * _square_sums(error)
        norms = np.sqrt(squares)
        factors = np.minimum(1.0, clip / np.maximum(norms, np.finfo(norms.dtype).tiny))
        return Clipped(inputs, errors, factors)

    def summed(self, part: Clipped, weight: Array) -> tuple[list[Array], list[Array]]:
        """Return per layer the sum over the examples of weight x clipped gradient; weight is (runs, examples)."""
        scale = (part.factors * weight)[:, :, None]
        weights, biases = [], []
        for layer, (layer_input, error) in enumerate(zip(part.inputs, part.errors, strict=True)):
            scaled = error * scale
            if layer == 0:
                side = np.ascontiguousarray(scaled.transpose(1, 0, 2)).reshape(scaled.shape[1], -1)
                weights.append((layer_input.T @ side).reshape(layer_input.shape[1], self.runs, -1).transpose(1, 0, 2))
            else:
                weights.append(layer_input.transpose(0, 2, 1) @ scaled)
            biases.append(np.ones(scaled.shape[1], dtype=scaled.dtype) @ scaled)  # a sum, by a matrix product
        return weights, biases


def _activate(x: Array, kind: str) -> Array:
    if kind == "relu":
        return np.maximum(x, 0.0)
    if kind == "elu":
        return np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0)))
    return np.tanh(x)


def _slope(activated: Array, kind: str) -> Array:
    """Return the derivative of the activation, from its value."""
    if kind == "relu":
        return np.asarray(activated > 0.0, dtype=activated.dtype)
    if kind == "elu":
        return np.minimum(activated + 1.0, 1.0)
    return np.asarray(1.0 - np.square(activated))


# Layers are narrow: numpy's reductions along a short last axis take longer than the matrix products, these do not.


def _square_sums(x: Array) -> Array:
    return np.asarray(np.einsum("...i,...i->...", x, x))


def _softmax(scores: Array) -> Array:
    top = scores[..., 0]
    for column in range(1, scores.shape[-1]):
        top = np.maximum(top, scores[..., column])
    shifted = np.exp(scores - top[..., None])
    shifted /= (shifted @ np.ones(scores.shape[-1], dtype=shifted.dtype))[..., None]
    return np.asarray(shifted)
