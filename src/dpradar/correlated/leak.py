"""``leakage``: what a release gives away when records depend on each other; ``calibrate``: the noise for a limit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from .._version import __version__
from ..errors import InconsistentEvidence, ParameterError, UnsupportedError
from ..results import Bound
from ..results.correlation import Check, Correlation, Theorem
from . import markov
from .models import Chain, GaussianGroups, Groups, Joint
from .parameters import EPSILON, TARGET
from .tails import gaussian_lower
from .theorems import OURS, Release, Route, error_of, routes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .fitting import Fit

__all__ = ["calibrate", "leakage"]

Model = Groups | GaussianGroups | Chain | Joint
Targets = tuple[float, float] | Literal["any"] | None
_AGREE = 1e-9
_LOW_TAIL = 0.05


def leakage(
    what: Model | Fit,
    epsilon: float,
    *,
    target: float | None = None,
    clip: tuple[float, float] | None = None,
    targets: Targets = None,
    values: Sequence[float] | None = None,
) -> Correlation:
    """Return what a release with this epsilon gives away about a record when records depend on each other.

    Guarantee
    ---------
    ``leakage`` is at least the leakage of Bayesian differential privacy: whatever records the attacker knows, no output
    is more than e^leakage times likelier under one value of the target's record than under another.

    Assumes
    -------
    A release that is epsilon-DP under replace-one, and records that depend on each other as the model says; every
    bound names what it assumes.

    Parameters
    ----------
    what
        A model, or what :func:`fit` found in data.
    epsilon
        Of the release, as if records were independent.
    target
        The leakage that is allowed; ``epsilon`` by default. Every theorem says which epsilon keeps it.
    clip
        Values are clipped to this interval before they are summed, and Laplace noise of scale (high - low) / epsilon is
        added. Needed for Gaussian groups.
    targets
        The values of a record that an attacker tells apart: an interval, or "any". By default the clip interval, made
        wide enough for all records of the data. The theorems about Gaussian groups need an interval.
    values
        For a chain: the numbers that states stand for in a sum with Laplace noise; (0, 1) is a count. Without them
        the answer holds for every epsilon-DP mechanism.

    Examples
    --------
    >>> from dpradar import correlated
    >>> family = correlated.GaussianGroups([[225.0, 101.25], [101.25, 225.0]])
    >>> r = correlated.leakage(family, epsilon=1.0, clip=(40.0, 160.0))
    >>> round(r.leakage.value, 4), r.leakage.rule, r.any_dependence.value
    (1.45, 'lemma-6.10', 2.0)
    """
    model, checks, notes, warnings = _parts(what)
    level = EPSILON.check("leakage", epsilon)
    goal = TARGET.check("leakage", level if target is None else target) if target is not None or level > 0.0 else level
    release = _release(what, model, clip, targets, values)
    found = _doubted(routes(model, release), what)
    theorems = tuple(_theorem(route, level, goal, release) for route in found)
    usable = [one.bound for one in theorems if one.usable and one.bound is not None]
    close = min(bound.value for bound in usable) * (1.0 + _AGREE)
    best = min((bound for bound in usable if bound.value <= close), key=lambda bound: bound.side != "exact")
    sure = any(route.usable and not route.model_free for route in found) or isinstance(model, Groups)
    lower = _lower(model, release, level, best) if sure else None
    result = Correlation(
        model=_described(model if sure else _unmodelled(model)),
        release=_released(level, release),
        epsilon=level,
        target=goal,
        leakage=best,
        any_dependence=usable[0],
        at_least=lower,
        theorems=theorems,
        checks=checks,
        sensitivity=release.span,
        records=model.records,
        notes=notes,
        warnings=warnings,
        version=__version__,
    )
    return replace(result, warnings=(*warnings, *_no_free_lunch(result, model)))


def calibrate(
    what: Model | Fit,
    target: float,
    *,
    clip: tuple[float, float] | None = None,
    targets: Targets = None,
    values: Sequence[float] | None = None,
) -> Correlation:
    """Return the release with the least noise whose leakage is at most the target, by the best theorem.

    Guarantee
    ---------
    ``epsilon`` of the answer keeps ``leakage`` at or below the target.

    Examples
    --------
    >>> from dpradar import correlated
    >>> c = correlated.calibrate(correlated.Groups(size=3), 1.0)
    >>> round(c.epsilon, 4), c.leakage.value <= 1.0
    (0.3333, True)
    """
    asked = leakage(what, TARGET.check("calibrate", target), target=target, clip=clip, targets=targets, values=values)
    chosen = asked.chosen
    if chosen is None or chosen.epsilon is None:
        raise UnsupportedError(f"no theorem that may be used keeps the leakage at {target:g}.")
    epsilon = chosen.epsilon
    for _ in range(8):  # a product of rounded numbers may stray above the target by a unit in the last place
        found = leakage(what, epsilon, target=target, clip=clip, targets=targets, values=values)
        if found.leakage.value <= target:
            return found
        epsilon *= 1.0 - 1e-12
    raise InconsistentEvidence(
        f"epsilon {epsilon!r} should keep the leakage at {target!r} and gives {found.leakage!r}."
    )


def _parts(what: Model | Fit) -> tuple[Model, tuple[Check, ...], tuple[str, ...], tuple[str, ...]]:
    if isinstance(what, Groups | GaussianGroups | Chain | Joint):
        return what, (), (), ()
    model = getattr(what, "model", None)
    if model is None:
        allowed = "given Groups, GaussianGroups, Chain, Joint, or what fit() returned"
        raise ParameterError("leakage", allowed, type(what).__name__)
    return model, what.checks, what.notes, what.warnings


def _release(
    what: Model | Fit, model: Model, clip: tuple[float, float] | None, targets: Targets, values: Sequence[float] | None
) -> Release:
    if isinstance(model, Joint):
        return Release(values=_joint_span(model))
    if isinstance(model, Chain):
        numbers = getattr(what, "values", None) if values is None else values
        return Release(values=None if numbers is None else _checked_values(model, numbers))
    interval = getattr(what, "clip", None) if clip is None else _interval("clip", clip)
    return Release(clip=interval, targets=_targets(targets, interval, getattr(what, "observed", None)))


def _joint_span(model: Joint) -> tuple[float, ...]:
    from .finite import sensitivity

    return (0.0, sensitivity(model.total()))


def _checked_values(model: Chain, values: Sequence[float]) -> tuple[float, ...]:
    numbers = tuple(float(v) for v in values)
    if len(numbers) != model.states or not all(map(math.isfinite, numbers)) or max(numbers) == min(numbers):
        allowed = f"{model.states} finite numbers, not all equal"
        raise ParameterError("leakage.values", allowed, f"{len(numbers)} numbers", "One for each state.")
    return numbers


def _interval(name: str, given: tuple[float, float]) -> tuple[float, float]:
    low, high = (float(x) for x in given)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ParameterError(f"leakage.{name}", "(low, high) with low below high", f"({low:g}, {high:g})")
    return low, high


def _targets(
    targets: Targets, clip: tuple[float, float] | None, observed: tuple[float, float] | None
) -> tuple[float, float] | None:
    if targets == "any" or clip is None:
        return (-math.inf, math.inf)
    if isinstance(targets, str):
        raise ParameterError("leakage.targets", '"any" or (low, high)', repr(targets))
    if targets is not None:
        return _interval("targets", targets)
    return clip if observed is None else (min(clip[0], observed[0]), max(clip[1], observed[1]))


def _doubted(found: list[Route], what: Model | Fit) -> list[Route]:
    """Return the theorems with what the data say against the model: a reason not to use them, or a thing assumed."""
    doubts = tuple(getattr(what, "doubts", ()))
    estimated = tuple(getattr(what, "assumes", ()))
    against = f"the data speak against the model (check {', '.join(check.name for check in doubts)})"
    result = []
    for route in found:
        if route.model_free:
            result.append(route)
        elif doubts and not getattr(what, "claimed", False):
            result.append(replace(route, usable=False, why=against if route.usable else f"{against}; {route.why}"))
        else:
            more = tuple(f"taken as given although the data speak against it: {check.text}" for check in doubts)
            result.append(replace(route, assumes=(*route.assumes, *estimated, *more)))
    return result


def _theorem(route: Route, epsilon: float, target: float, release: Release) -> Theorem:
    value = None if route.leak is None else route.leak(epsilon)
    allowed = None if route.allowed is None or not route.usable or target <= 0.0 else route.allowed(target)
    bound = None
    if route.usable and value is not None:
        low = None if route.low is None else route.low(epsilon)
        high = value if low is not None else None
        bound = Bound(
            value=value, side=route.side, rule=route.rule, cites=route.cites, assumes=route.assumes, low=low, high=high
        )
    return Theorem(
        rule=route.rule,
        title=route.title,
        usable=route.usable,
        why=route.why,
        bound=bound,
        claimed=None if route.usable else value,
        epsilon=allowed,
        error=error_of(release.span, allowed),
        times=None if allowed is None or allowed <= 0.0 else target / allowed,
    )


def _lower(model: Model, release: Release, epsilon: float, best: Bound) -> Bound | None:
    """Return what some attacker reaches on the release, where it is known to be Laplace noise on a sum."""
    exact = best.low if best.side == "exact" else None
    value, rule = 0.0, ""
    assumes: tuple[str, ...] = ()
    if exact is not None:
        value, rule, assumes = exact, best.rule, best.assumes
    elif isinstance(model, GaussianGroups) and release.clip is not None and release.targets is not None:
        targets = release.targets if all(map(math.isfinite, release.targets)) else release.clip
        value, rule = gaussian_lower(model, epsilon, release.clip, targets), "one-unknown-record"
        assumes = ("groups are jointly Gaussian with this mean and covariance",)
    elif isinstance(model, Chain) and release.values is not None:
        value, rule = markov.counting_lower(model, epsilon, np.array(release.values)), "transfer-matrix"
        assumes = ("a Markov chain with these transition probabilities", "an attacker who knows no record")
    if value <= 0.0:
        return None
    if value > best.value + _AGREE:
        message = f"the leakage is at least {value:.9g} by {rule} but at most {best.value:.9g} by {best.rule}"
        raise InconsistentEvidence(f"{message}. Please report this with the call that led to it.")
    return Bound(value=min(value, best.value), side="lower", rule=rule, cites=(OURS,), assumes=assumes)


def _unmodelled(model: Model) -> Model:
    """Return what is left of a model that the data speak against."""
    return Groups(model.size, model.records) if isinstance(model, GaussianGroups) else model


def _described(model: Model) -> str:
    if isinstance(model, Groups):
        return f"groups of at most {model.size} record{'s' if model.size > 1 else ''}"
    if isinstance(model, GaussianGroups):
        return f"Gaussian groups of at most {model.size} record{'s' if model.size > 1 else ''}"
    if isinstance(model, Chain):
        return f"a Markov chain of {model.length:,} records with {model.states} states"
    return f"any dependence between {model.records} records, given as a table"


def _released(epsilon: float, release: Release) -> str:
    if release.span is None or epsilon <= 0.0:
        return f"any mechanism with epsilon {epsilon:g} (replace-one)"
    scale = release.span / epsilon
    if release.clip is not None:
        low, high = release.clip
        return (
            f"the sum of values clipped to [{low:g}, {high:g}], Laplace noise of scale {scale:g} (epsilon {epsilon:g})"
        )
    count = release.values is not None and set(release.values) == {0.0, 1.0}
    return f"{'a count' if count else 'a sum'} with Laplace noise of scale {scale:g} (epsilon {epsilon:g})"


def _no_free_lunch(result: Correlation, model: Model) -> list[str]:
    """Return Proposition 6.1 as a warning where nothing is known about the dependence of all records."""
    whole = model.records is not None and (
        (isinstance(model, Groups | GaussianGroups) and model.size == model.records) or isinstance(model, Chain)
    )
    only = result.leakage.rule == "thm-6.3" and whole and (model.records or 0) > 1
    if not only or result.target >= math.log(1.0 / _LOW_TAIL - 1.0):
        return []
    half = "half of the range of the answer"
    if result.sensitivity is not None and model.records is not None:
        half = f"{model.records * result.sensitivity / 2.0:g}, {half}"
    return [
        f"no mechanism can help: whatever keeps the leakage at {result.target:g} under every dependence of all records "
        f"is off by more than {half}, in more than 5 of 100 releases ([GuerraThesis] Proposition 6.1)"
    ]
