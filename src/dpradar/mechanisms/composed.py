"""Several releases about the same person, seen together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from annotated_types import Ge

from ..errors import MissingExtra, ParameterError
from ..guarantees.composition import compose_promises, composed_tv, concatenate_pairs
from ..guarantees.gdp import gaussian_privacy
from ..guarantees.privacy import HasPrivacy, Privacy, Relation
from ..numerics.lazy_numpy import Floats, Ints, np
from ..options import About, Shape, described
from ..params import shown
from .capabilities import FiniteChannel, Mechanism, Release, assumptions_of
from .counts import CountModel, count_channel
from .query import largest_distance, smallest_radius

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..guarantees.neighbours import Neighbours
    from ..guarantees.pairs import Pairs
    from ..threats import Prior

__all__ = ["Composed", "Repeated"]


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
        columns_of_first = tables[0][:, start : start + step]
        product = (block[:, :, None] * columns_of_first[:, None, :]).reshape(block.shape[0], -1)
        yield from _products(product, tables[1:], columns)


def _composed_privacy(parts: Sequence[tuple[Release, int]], relation: Relation) -> Privacy | None:
    """Return the promise of the parts together, or None when one of them promises nothing."""
    promises = [(part.privacy(relation), times) for part, times in parts]
    available = [(promise, times) for promise, times in promises if promise is not None]
    return compose_promises(available, relation) if len(available) == len(promises) else None


def _gaussian_privacy(vectors: Floats, absent: Floats, relation: Relation) -> Privacy:
    if relation == "replace-one":
        mu = largest_distance(vectors, 2)
    elif relation == "add-remove":
        mu = float(np.sqrt(np.square(vectors - absent).sum(axis=1).max()))
    else:
        mu = smallest_radius(vectors, 2)
    return gaussian_privacy(mu, relation, f"Gaussian noise together, {relation}")


def _composed(parts: tuple[Release, ...], size: int | None) -> Release:
    vectors = [part.vectors for part in parts if part.vectors is not None]
    absent = [part.absent for part in parts if part.absent is not None]
    finite = [part.finite for part in parts if part.finite is not None]
    readers = [part.likelihoods for part in parts if part.likelihoods is not None]
    distances = [part.pair_tv for part in parts if part.pair_tv is not None]
    samplers = [part.sample for part in parts if part.sample is not None]
    exact = [part.pair for part in parts if part.pair is not None]
    stacked = np.hstack(vectors) if len(vectors) == len(parts) else None

    def privacy(relation: Relation) -> Privacy | None:
        if stacked is not None and len(absent) == len(parts):
            return _gaussian_privacy(stacked, np.hstack(absent), relation)
        return _composed_privacy([(part, 1) for part in parts], relation)

    def likelihoods(reports: Any) -> Floats:
        return np.asarray(sum(read(report) for read, report in zip(readers, reports, strict=True)))

    def product_tv(i: int) -> Floats:
        overlap = np.prod([1.0 - distance(i) for distance in distances], axis=0)
        return np.asarray(1.0 - overlap)

    def pair(i: int, j: int) -> Pairs:
        return concatenate_pairs([(one(i, j), 1) for one in exact]) or ()

    def sample(inputs: Ints, rng: np.random.Generator) -> tuple[Any, ...]:
        return tuple(draw(inputs, rng) for draw in samplers)

    return Release(
        name="composition",
        privacy=privacy,
        inputs=size,
        finite=Product(tuple(finite)) if len(finite) == len(parts) else None,
        vectors=stacked,
        absent=np.hstack(absent) if len(absent) == len(parts) else None,
        pair=pair if len(exact) == len(parts) else None,
        pair_tv=_tighter(product_tv, pair if len(exact) == len(parts) else None, size)
        if len(distances) == len(parts)
        else None,
        likelihoods=likelihoods if len(readers) == len(parts) else None,
        sample=sample if len(samplers) == len(parts) else None,
        assumes=tuple(dict.fromkeys(note for part in parts for note in part.assumes)),
    )


def _part(mechanism: Any, prior: Prior | None) -> Release:
    """Return a mechanism's release about the prior, or a guarantee as a release of which nothing more is known."""
    if isinstance(mechanism, Mechanism):
        return mechanism.at(prior)
    return Release(name=repr(mechanism), privacy=mechanism.privacy, assumes=assumptions_of(mechanism))


def _checked_parts(owner: str, mechanisms: object) -> tuple[Any, ...]:
    parts = tuple(mechanisms) if isinstance(mechanisms, Iterable) else ()
    if not parts or not all(isinstance(part, (Mechanism, HasPrivacy)) for part in parts):
        hint = "Such as Composed([Laplace(2.0), ZCDP(0.1, neighbours='add-remove')])."
        raise ParameterError(owner, "a list of mechanisms or guarantees", shown(mechanisms), hint)
    return parts


def common_neighbours(parts: Iterable[Any]) -> Neighbours | None:
    """Return the relation that all guarantees among the parts are stated under, if it is one."""
    relations = {relation for part in parts if (relation := getattr(part, "neighbours", None)) is not None}
    return relations.pop() if len(relations) == 1 else None


@dataclass(frozen=True, slots=True)
class Composed:
    """Several mechanisms or guarantees about the same record with independent randomness, all outputs released.

    Later parts may depend on earlier outputs where only the guarantees are used; the exact engines take every part as
    it is given.

    Notes
    -----
    Dominating pairs compose (Zhu, Dong and Wang 2022, Theorem 10), Renyi divergences add up (Mironov 2017).

    Examples
    --------
    >>> from dpradar.mechanisms import GRR
    >>> Composed([GRR(m=3, epsilon=1.0), GRR(m=3, epsilon=0.5)]).at(None).privacy("replace-one").epsilon
    1.5
    """

    mechanisms: Sequence[Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "mechanisms", _checked_parts("Composed.mechanisms", self.mechanisms))

    @property
    def neighbours(self) -> Neighbours | None:
        """The relation that the guarantees among the parts share."""
        return common_neighbours(self.mechanisms)

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        parts = tuple(_part(mechanism, prior) for mechanism in self.mechanisms)
        if len(parts) == 1:
            return parts[0]
        sizes = {part.inputs for part in parts if part.inputs is not None}
        if len(sizes) > 1:
            hint = "All parts are about the same record."
            raise ParameterError("Composed.mechanisms", "about the same number of values", f"{sorted(sizes)}", hint)
        return _composed(parts, sizes.pop() if sizes else None)

    def __repr__(self) -> str:
        return f"Composed({len(self.mechanisms)} releases)"


Times = Annotated[
    int,
    Ge(1),
    About(
        "the number of releases of this kind about the same people",
        example="12",
        typical=(1, 50),
        slider=(1, 1000),
        more_private="down",
        label="how often (times)",
        folded=True,
    ),
]
_MOST_DRAWS = 200  # repetitions that are simulated one by one


@described("repeated", "The same release several times.")
class Repeated:
    """The same mechanism or guarantee ``times`` times on the same record, with independent randomness.

    Gaussian and discrete Gaussian noise and the local protocols are exact: the average, the sum or the counts of the
    reports hold all the information (docs/derivations/repeated.md). The epsilon of a local protocol is that of one
    report; ``assumes`` says what all of them come to, and that the person's value stays the same.

    Examples
    --------
    >>> from dpradar.mechanisms import Gaussian
    >>> round(Repeated(Gaussian(sigma=10.0, query=[0, 1]), 100).at(None).privacy("replace-one").tv, 6)
    0.382925
    """

    ORDERED: ClassVar[tuple[str, ...]] = ("times",)

    mechanism: Annotated[Any, Shape(), About("what is released each time", places=())]
    times: Times

    def check_together(self) -> None:
        """Refuse what is neither a mechanism nor a guarantee."""
        _checked_parts("Repeated.mechanism", [self.mechanism])

    @property
    def neighbours(self) -> Neighbours | None:
        """The relation that the guarantee is stated under."""
        return common_neighbours([self.mechanism])

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        part = _part(self.mechanism, prior)
        if self.times == 1:
            return part
        release = part.repeat(self.times) if part.repeat is not None else _repeated(part, self.times)
        notes = (*part.assumes, *_same_value(self.mechanism, self.times))
        return replace(release, assumes=tuple(dict.fromkeys((*release.assumes, *notes))))

    def __repr__(self) -> str:
        return f"Repeated({self.mechanism!r}, {self.times})"


def _same_value(mechanism: Any, times: int) -> tuple[str, ...]:
    """Return what repeated reports of a local protocol take for granted, with the epsilon of all of them together."""
    if getattr(mechanism, "GROUP", None) != "local":
        return ()
    one = float(mechanism.epsilon)
    total = f"epsilon {one:g} per report, at most {times * one:g} over all {times} reports"
    return (f"the person's value stays the same over all {times} reports; {total}",)


def _repeated(part: Release, times: int) -> Release:
    """Return independent copies of a release of which no shorter description is known."""
    if times <= _MOST_DRAWS and part.likelihoods is not None and part.sample is not None:
        release = _composed((part,) * times, part.inputs)
    else:
        release = Release(name="repetition", privacy=part.privacy, inputs=part.inputs, assumes=part.assumes)

    def privacy(relation: Relation) -> Privacy | None:
        return _composed_privacy([(part, times)], relation)

    pair = part.pair
    many_pairs = None if pair is None else lambda i, j: concatenate_pairs([(pair(i, j), times)]) or ()
    tv = _repeated_tv(part, times)
    tv = None if tv is None else _tighter(tv, many_pairs, part.inputs)
    release = replace(release, privacy=privacy, pair=many_pairs, pair_tv=tv)
    return release if part.counting is None else _with_count_model(release, part.counting(times))


_MOST_COUNTED = 100_000  # repetitions whose counts are kept
_MOST_EXACT_PAIRS = 2_000  # of these the total variation between two values is summed, in times^(3/2) steps


def _with_count_model(release: Release, model: CountModel) -> Release:
    """Add what follows from how often each value was reported, as long as the counts can be listed."""
    if model.times > _MOST_COUNTED:
        return release
    if model.times > _MOST_EXACT_PAIRS:
        return replace(release, counts=model, finite=count_channel(model))
    apart = cache(lambda: model.pair_tv)  # one number for all pairs, computed when first asked for

    def pair_tv(i: int) -> Floats:
        return np.where(np.arange(model.m) == i, 0.0, apart())

    return replace(release, counts=model, finite=count_channel(model), pair_tv=pair_tv)


_MOST_COMPOSED = 12  # inputs whose pairs are composed one by one, some 10 ms each


def _tighter(
    product: Callable[[int], Floats], pair: Callable[[int, int], Pairs] | None, size: int | None
) -> Callable[[int], Floats]:
    """Return total variations by composing the pairs themselves, where there are few of them."""
    if pair is None or size is None or size > _MOST_COMPOSED:
        return product

    def pair_tv(i: int) -> Floats:
        distances = product(i)
        try:
            return np.array([min(bound, composed_tv(pair(i, j))) for j, bound in enumerate(distances.tolist())])
        except MissingExtra:
            return distances

    return pair_tv


def _repeated_tv(part: Release, times: int) -> Callable[[int], Floats] | None:
    one = part.pair_tv
    return None if one is None else lambda i: np.asarray(-np.expm1(times * np.log1p(-np.minimum(one(i), 1.0 - 1e-16))))
