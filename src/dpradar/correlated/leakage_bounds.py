"""``leakage``: what a release gives away when records depend on each other; ``calibrate``: the noise for a limit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..errors import InconsistentEvidence, ParameterError, UnsupportedError
from ..results import Bound
from ..results.correlation import DOUBTED, Correlation, Theorem
from .fitting import Fit
from .leakage_theorems import OURS, Route, SumRelease, error_of
from .model_kinds import KINDS, LowerBound, ReleaseRequest, release_text
from .shared_options import EPSILON, TARGET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .model_kinds import Targets
    from .models import Chain, GaussianGroups, Groups, Joint

    Model = Groups | GaussianGroups | Chain | Joint

__all__ = ["calibrate", "leakage"]

_AGREE = 1e-9
_TAIL = 0.05


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
        The values of a record that an attacker wants to distinguish: an interval, or "any". By default the clip
        interval, made wide enough for all records of the data. The theorems about Gaussian groups need an interval.
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
    fitted = _as_fit(what)
    model, kind = fitted.model, KINDS[type(fitted.model)]
    level = EPSILON.check("leakage", epsilon)
    goal = TARGET.check("leakage", level if target is None else target) if target is not None or level > 0.0 else level
    request = ReleaseRequest(
        clip=fitted.clip if clip is None else clip,
        targets=targets,
        values=fitted.values if values is None else values,
        observed=fitted.observed,
    )
    release = kind.release(model, request)
    routes = _with_doubts(kind.routes(model, release), fitted)
    theorems = tuple(_theorem(route, level, goal, release) for route in routes)
    usable = [one.bound for one in theorems if one.usable and one.bound is not None]
    close = min(bound.value for bound in usable) * (1.0 + _AGREE)
    best = min((bound for bound in usable if bound.value <= close), key=lambda bound: bound.side != "exact")
    modelled = any(route.usable and not route.model_free for route in routes)
    whole = model.records is not None and model.records > 1 and kind.group(model) == model.records
    return Correlation(
        model=kind.described(model) if modelled else kind.without_model(model),
        release=release_text(level, release),
        epsilon=level,
        target=goal,
        leakage=best,
        any_dependence=usable[0],
        at_least=_lower(kind.lower(model, release, level), best) if modelled else None,
        theorems=theorems,
        checks=fitted.checks,
        sensitivity=release.span,
        records=model.records,
        notes=fitted.notes,
        warnings=(*fitted.warnings, *(_no_free_lunch(best, goal, release.span, model.records) if whole else ())),
        version=__version__,
    )


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
    at_target = leakage(
        what, TARGET.check("calibrate", target), target=target, clip=clip, targets=targets, values=values
    )
    best_route = at_target.chosen
    if best_route is None or best_route.epsilon is None:
        raise UnsupportedError(f"no theorem that may be used keeps the leakage at {target:g}.")
    epsilon = best_route.epsilon
    for _ in range(8):  # a product of rounded numbers may stray above the target by a unit in the last place
        calibrated = leakage(what, epsilon, target=target, clip=clip, targets=targets, values=values)
        if calibrated.leakage.value <= target:
            return calibrated
        epsilon *= 1.0 - 1e-12
    raise InconsistentEvidence(
        f"epsilon {epsilon!r} should keep the leakage at {target!r} and gives {calibrated.leakage!r}."
    )


def _as_fit(model: Any) -> Fit:
    """Return a model as if it had been fitted, with nothing to check."""
    if isinstance(model, Fit):
        return model
    if type(model) not in KINDS:
        allowed = f"given {', '.join(kind.__name__ for kind in KINDS)}, or what fit() returned"
        raise ParameterError("leakage", allowed, type(model).__name__)
    return Fit(model=model)


def _with_doubts(routes: list[Route], fitted: Fit) -> list[Route]:
    """Return the theorems with what the data say against the model: a reason not to use them, or a thing assumed."""
    doubts = fitted.doubts
    against = f"the data speak against the model (check {', '.join(check.name for check in doubts)})"
    result = []
    for route in routes:
        if route.model_free:
            result.append(route)
        elif doubts and not fitted.claimed:
            result.append(replace(route, usable=False, why=against if route.usable else f"{against}; {route.why}"))
        else:
            more = tuple(f"{DOUBTED}: {check.text}" for check in doubts)
            result.append(replace(route, assumes=(*route.assumes, *fitted.assumes, *more)))
    return result


def _theorem(route: Route, epsilon: float, target: float, release: SumRelease) -> Theorem:
    value = None if route.leak is None else float(route.leak(epsilon))
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


def _lower(lower: LowerBound | None, best: Bound) -> Bound | None:
    """Return what some attacker reaches, where that is known; it cannot exceed what no attacker exceeds."""
    if best.side == "exact" and best.low is not None:
        lower = LowerBound(best.low, best.rule, best.assumes)
    if lower is None or lower.value <= 0.0:
        return None
    if lower.value > best.value + _AGREE:
        message = (
            f"the leakage is at least {lower.value:.9g} by {lower.rule} but at most {best.value:.9g} by {best.rule}"
        )
        raise InconsistentEvidence(f"{message}. Please report this with the call that led to it.")
    value = min(lower.value, best.value)
    return Bound(value=value, side="lower", rule=lower.rule, cites=(OURS,), assumes=lower.assumes)


def _no_free_lunch(best: Bound, target: float, span: float | None, records: int | None) -> tuple[str, ...]:
    """Return Proposition 6.1 as a warning where nothing can be used about the dependence of all records."""
    if best.rule != "thm-6.3" or target >= math.log(1.0 / _TAIL - 1.0):
        return ()
    half = "half of the range of the answer"
    if span is not None and records is not None:
        half = f"{records * span / 2.0:g}, {half}"
    return (
        f"no mechanism can help: whatever keeps the leakage at {target:g} under every dependence of all records is off "
        f"by more than {half}, in more than 5 of 100 releases ([GuerraThesis] Proposition 6.1)",
    )
