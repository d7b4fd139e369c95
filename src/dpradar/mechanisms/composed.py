"""Several releases about the same person, seen together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..guarantees.approx import tv_of_approx
from ..guarantees.curves import approx_curve
from ..guarantees.gdp import gaussian_privacy
from ..guarantees.privacy import Privacy, Relation
from ..params import shown
from .capabilities import FiniteChannel, Mechanism, Release
from .query import largest_distance, smallest_radius

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..threats import Prior

__all__ = ["Composed"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """Independent finite channels on the same input, as one channel."""

    parts: tuple[FiniteChannel, ...]

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return self.parts[0].inputs

    @property
    def outputs(self) -> int:
        """The number of joint outputs."""
        return math.prod(part.outputs for part in self.parts)

    def chunks(self, columns: int) -> Iterator[Floats]:
        """Yield p(joint output | input)."""
        # The largest part is streamed and only the others are held in memory; the order of outputs means nothing.
        largest, *others = sorted(self.parts, key=lambda part: part.outputs, reverse=True)
        tables = [np.hstack(list(part.chunks(1 << 16))) for part in others]
        for first in largest.chunks(columns):
            yield from _products(first, tables, columns)


def _products(block: Floats, tables: Sequence[Floats], columns: int) -> Iterator[Floats]:
    if not tables:
        yield block
        return
    step = max(1, columns // block.shape[1])
    for start in range(0, tables[0].shape[1], step):
        piece = tables[0][:, start : start + step]
        product = (block[:, :, None] * piece[:, None, :]).reshape(block.shape[0], -1)
        yield from _products(product, tables[1:], columns)


def _composed_privacy(parts: Sequence[Release], relation: Relation) -> Privacy | None:
    """Return the promise of the parts together: epsilons and deltas add up, what stays common multiplies."""
    promises = [promise for part in parts if (promise := part.privacy(relation)) is not None]
    if len(promises) < len(parts):
        return None
    epsilon = sum(math.inf if promise.epsilon is None else promise.epsilon for promise in promises)
    delta = sum(promise.delta for promise in promises)
    known = math.isfinite(epsilon) and delta < 1.0
    tv = 1.0 - math.prod(1.0 - (1.0 if promise.tv is None else promise.tv) for promise in promises)
    tv = min(tv, tv_of_approx(epsilon, delta) if known else 1.0)
    return Privacy(
        relation=relation,
        source="together: " + ", ".join(promise.source for promise in promises),
        epsilon=epsilon if known else None,
        delta=delta if known else 0.0,
        curve=approx_curve(epsilon, delta) if known else approx_curve(0.0, tv),
        tv=tv,
    )


def _gaussian_privacy(vectors: Floats, relation: Relation) -> Privacy:
    if relation == "replace-one":
        mu = largest_distance(vectors, 2)
    elif relation == "add-remove":
        mu = float(np.sqrt(np.square(vectors).sum(axis=1).max()))
    else:
        mu = smallest_radius(vectors, 2)
    return gaussian_privacy(mu, relation, f"Gaussian noise together, {relation}")


def _composed(parts: tuple[Release, ...], size: int | None) -> Release:
    vectors = [part.vectors for part in parts if part.vectors is not None]
    finite = [part.finite for part in parts if part.finite is not None]
    simulated = [part.log_likelihoods for part in parts if part.log_likelihoods is not None]
    distances = [part.pair_tv for part in parts if part.pair_tv is not None]
    samplers = [part.sample for part in parts if part.sample is not None]
    together = np.hstack(vectors) if len(vectors) == len(parts) else None

    def privacy(relation: Relation) -> Privacy | None:
        return _composed_privacy(parts, relation) if together is None else _gaussian_privacy(together, relation)

    def log_likelihoods(inputs: NDArray[np.intp], rng: np.random.Generator) -> Floats:
        return np.asarray(np.sum([draw(inputs, rng) for draw in simulated], axis=0))

    def pair_tv(i: int) -> Floats:
        kept = np.prod([1.0 - distance(i) for distance in distances], axis=0)
        return np.asarray(1.0 - kept)

    def sample(inputs: NDArray[np.intp], rng: np.random.Generator) -> tuple[Any, ...]:
        return tuple(draw(inputs, rng) for draw in samplers)

    return Release(
        name="composition",
        privacy=privacy,
        inputs=size,
        finite=Product(tuple(finite)) if len(finite) == len(parts) else None,
        vectors=together,
        pair_tv=pair_tv if len(distances) == len(parts) else None,
        log_likelihoods=log_likelihoods if len(simulated) == len(parts) else None,
        sample=sample if len(samplers) == len(parts) else None,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Composed:
    """Several mechanisms run on the same record with independent randomness, all outputs released.

    Examples
    --------
    >>> from dpradar.mechanisms import GRR
    >>> Composed([GRR(m=3, epsilon=1.0), GRR(m=3, epsilon=0.5)]).at(None).privacy("replace-one").epsilon
    1.5
    """

    mechanisms: Sequence[Any]

    def __post_init__(self) -> None:
        given: object = self.mechanisms
        parts = tuple(given) if isinstance(given, Iterable) else ()
        if not parts or not all(isinstance(part, Mechanism) for part in parts):
            hint = "Guarantees are not mechanisms: they do not say what is released."
            raise ParameterError("Composed.mechanisms", "a list of mechanisms", shown(self.mechanisms), hint)
        object.__setattr__(self, "mechanisms", parts)

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        parts = tuple(mechanism.at(prior) for mechanism in self.mechanisms)
        if len(parts) == 1:
            return cast("Release", parts[0])
        sizes = {part.inputs for part in parts if part.inputs is not None}
        if len(sizes) > 1:
            hint = "All parts are about the same record."
            raise ParameterError("Composed.mechanisms", "about the same number of values", f"{sorted(sizes)}", hint)
        return _composed(parts, sizes.pop() if sizes else None)

    def __repr__(self) -> str:
        return f"Composed({len(self.mechanisms)} mechanisms)"
