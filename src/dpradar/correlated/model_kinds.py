"""What differs between models: how they are described, what is released about them, and what some attacker reaches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..errors import ParameterError
from ..numerics.lazy_numpy import np
from . import markov
from .finite_models import sensitivity
from .gaussian_lower_bound import gaussian_lower
from .leakage_theorems import SumRelease, chain_routes, gaussian_routes, group_route, table_route
from .models import Chain, GaussianGroups, Groups, Joint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .leakage_theorems import Route

__all__ = ["KINDS", "LowerBound", "ModelKind", "ReleaseRequest", "Targets", "release_text"]

Interval = tuple[float, float]
_NARROWEST, _WIDEST = 1e-100, 1e100  # so that quotients and squares are floats
Targets = Interval | Literal["any"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRequest:
    """What the caller said of the release, with what the data say where it was left open."""

    clip: Interval | None = None
    targets: Targets = None
    values: Sequence[float] | None = None
    observed: Interval | None = None


@dataclass(frozen=True, slots=True)
class LowerBound:
    """A leakage that some attacker reaches."""

    value: float
    rule: str
    assumes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelKind:
    """One kind of model. ``group`` is the largest number of records that depend on each other."""

    described: Callable[[Any], str]
    without_model: Callable[[Any], str]
    group: Callable[[Any], int]
    release: Callable[[Any, ReleaseRequest], SumRelease]
    routes: Callable[[Any, SumRelease], list[Route]]
    lower: Callable[[Any, SumRelease, float], LowerBound | None]


def _groups_text(model: Groups | GaussianGroups) -> str:
    return f"groups of at most {model.size} record{'s' if model.size > 1 else ''}"


def _interval(name: str, ends: Interval) -> Interval:
    low, high = (float(x) for x in ends)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ParameterError(f"leakage.{name}", "(low, high) with low below high", f"({low:g}, {high:g})")
    if not _NARROWEST <= high - low <= _WIDEST:
        allowed = f"between {_NARROWEST:g} and {_WIDEST:g} wide"
        raise ParameterError(f"leakage.{name}", allowed, f"({low:g}, {high:g})", "Change the unit.")
    return low, high


def _targets(request: ReleaseRequest, clip: Interval | None) -> Interval:
    if request.targets == "any" or clip is None:
        return (-math.inf, math.inf)
    if isinstance(request.targets, str):
        raise ParameterError("leakage.targets", '"any" or (low, high)', repr(request.targets))
    if request.targets is not None:
        return _interval("targets", request.targets)
    observed = request.observed
    return clip if observed is None else (min(clip[0], observed[0]), max(clip[1], observed[1]))


def _clipped_sum(_: Any, request: ReleaseRequest) -> SumRelease:
    clip = None if request.clip is None else _interval("clip", request.clip)
    return SumRelease(clip=clip, targets=_targets(request, clip))


def _count(model: Chain, request: ReleaseRequest) -> SumRelease:
    if request.values is None:
        return SumRelease()
    numbers = tuple(float(v) for v in request.values)
    if len(numbers) != model.states or not all(map(math.isfinite, numbers)) or max(numbers) == min(numbers):
        allowed = f"{model.states} finite numbers, not all equal"
        raise ParameterError("leakage.values", allowed, f"{len(numbers)} numbers", "One for each state.")
    return SumRelease(values=numbers)


def _gaussian_lower(model: GaussianGroups, release: SumRelease, epsilon: float) -> LowerBound | None:
    if release.clip is None or release.targets is None:
        return None
    targets = release.targets if all(map(math.isfinite, release.targets)) else release.clip
    value = gaussian_lower(model, epsilon, release.clip, targets)
    return LowerBound(value, "one-unknown-record", ("groups are jointly Gaussian with this mean and covariance",))


def _chain_lower(model: Chain, release: SumRelease, epsilon: float) -> LowerBound | None:
    if release.values is None:
        return None
    value = markov.counting_lower(model, epsilon, np.array(release.values))
    assumes = ("a Markov chain with these transition probabilities", "an attacker who knows no record")
    return LowerBound(value, "transfer-matrix", assumes)


def _chain_text(model: Chain) -> str:
    return f"a Markov chain of {model.length:,} records with {model.states} states"


def _table_text(model: Joint) -> str:
    return f"any dependence between {model.records} records, given as a table"


KINDS: dict[type, ModelKind] = {
    Groups: ModelKind(
        described=_groups_text,
        without_model=_groups_text,
        group=lambda model: model.size,
        release=_clipped_sum,
        routes=lambda model, _: [group_route(model.size, model.records)],
        lower=lambda *_: None,
    ),
    GaussianGroups: ModelKind(
        described=lambda model: f"Gaussian {_groups_text(model)}",
        without_model=_groups_text,
        group=lambda model: model.size,
        release=_clipped_sum,
        routes=lambda model, release: [group_route(model.size, model.records), *gaussian_routes(model, release)],
        lower=_gaussian_lower,
    ),
    Chain: ModelKind(
        described=_chain_text,
        without_model=_chain_text,
        group=lambda model: model.length,
        release=_count,
        routes=lambda model, release: [group_route(model.length, model.length), *chain_routes(model, release)],
        lower=_chain_lower,
    ),
    Joint: ModelKind(
        described=_table_text,
        without_model=_table_text,
        group=lambda model: model.records,
        release=lambda model, _: SumRelease(values=(0.0, sensitivity(model.total()))),
        routes=lambda model, _: [group_route(model.records, model.records), table_route(model)],
        lower=lambda *_: None,
    ),
}


def release_text(epsilon: float, release: SumRelease) -> str:
    """Return what is released, in words."""
    if release.span is None or epsilon <= 0.0:
        return f"any mechanism with epsilon {epsilon:g} (replace-one)"
    noise = f"Laplace noise of scale {release.span / epsilon:g} (epsilon {epsilon:g})"
    if release.clip is not None:
        return f"the sum of values clipped to [{release.clip[0]:g}, {release.clip[1]:g}], {noise}"
    count = release.values is not None and set(release.values) == {0.0, 1.0}
    return f"{'a count' if count else 'a sum'} with {noise}"
