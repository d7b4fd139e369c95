"""Checks across the tables of a spec: descriptions that can be built, threats that fit, limits that make sense."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..calibration import Limit
from ..calibration.limit import COSTS
from ..errors import DpradarError, ParameterError, Problem
from ..mechanisms.cost import cost_of
from ..options.reading import inside
from .evidence import evidence_of
from .model import RELATION
from .problems import problem_of
from .question import threat_of
from .release_kinds import KINDS
from .threat_options import has_prior, without_prior

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ..threats import Threat
    from .model import Spec

__all__ = ["assessed_releases", "limits_of", "prior_problems", "spec_problems"]


def spec_problems(spec: Spec, sound: set[str]) -> list[Problem]:
    """Return every problem that shows before anything is computed; ``sound`` are the tables without problems so far."""
    built, problems = _built(spec, [i for i in range(len(spec.releases)) if spec.place("release", i) in sound])
    whole = len(built) == len(spec.releases)
    for i, threat in enumerate(spec.threats):
        if spec.place("threat", i) in sound:
            problems += (
                _threat_problems(spec, i)
                if whole and built
                else prior_problems(threat.options, spec.place("threat", i), spec.folder)
            )
    if built:
        problems += _utility_problems(spec, built) if "utility" in sound else []
        problems += _evidence_problems(spec) if "evidence" in sound and whole else []
    return list(dict.fromkeys(problems))


def _built(spec: Spec, indices: list[int]) -> tuple[dict[int, Any], list[Problem]]:
    """Return the releases that can be built, and the problems of the others."""
    built, problems = {}, []
    for i in indices:
        try:
            built[i] = spec.release_call(i).build()
        except ParameterError as error:
            problems.append(problem_of(error, spec.place("release", i), KINDS[spec.releases[i].kind].names))
    return built, problems


def prior_problems(options: dict[str, Any], place: str, folder: Path | None) -> Iterator[Problem]:
    """Yield what is wrong with a threat that states its own prior, where nothing else is sound yet."""
    if not has_prior(options):
        return
    try:
        threat_of(options, inside(place, folder))
    except ParameterError as error:
        yield problem_of(error, place, options)


def _threat_problems(spec: Spec, index: int) -> Iterator[Problem]:
    place, threat_spec = spec.place("threat", index), spec.threats[index]
    for release in assessed_releases(spec):
        try:
            threat = spec.threat(release, index)
        except ParameterError as error:
            yield problem_of(error, place, threat_spec.options)
            continue
        if threat_spec.limits:
            try:
                limits_of(spec, index, threat, release)
            except ParameterError as error:
                yield problem_of(error, f"{place}.limits", threat_spec.limits)
    yield from _relation_problems(spec, index)


def assessed_releases(spec: Spec) -> list[int | None]:
    """Return the releases that are assessed one by one, or None for all of them composed."""
    together = spec.together == "compose" and len(spec.releases) > 1
    return [None] if together else list(range(len(spec.releases)))


def _relation_problems(spec: Spec, index: int) -> Iterator[Problem]:
    relation = spec.threats[index].options.get(RELATION.name)
    for i, release in enumerate(spec.releases):
        option = KINDS[release.kind].relation
        # Noise has a relation of its own only where a sensitivity is stated.
        own = option is not None and (
            not option.about.beside or {option.about.beside, option.name} & set(release.options)
        )
        stated = spec.release(i).get(RELATION.name) if own else None
        if relation is not None and stated not in (None, relation):
            path = f"{spec.place('threat', index)}.{RELATION.name}"
            hint = f"Leave it out: {spec.place('release', i)} states {stated!r}."
            yield Problem(path, f"must be {stated!r} or left out; got {relation!r}", hint)


def limits_of(spec: Spec, index: int, threat: Threat, release: int | None) -> Limit:
    """Return the limits of a threat as one object, for calibration."""
    relation: Any = spec.relation(release, index)
    return Limit(threat, neighbours=relation, **spec.assessed_threats[index].limits)


def _utility_problems(spec: Spec, built: dict[int, Any]) -> Iterator[Problem]:
    if assessed_releases(spec) == [None] and spec.utility:
        hint = 'Write together = "compare", or one spec for each release.'
        yield Problem("utility", "must be about one release; got several composed", hint)
        return
    for i, what in built.items():
        costs = cost_of(what)
        for name in COSTS:
            if name in spec.utility and name not in costs:
                hint = f"Known of {spec.place('release', i)}: {', '.join(costs) or 'nothing'}."
                yield Problem(f"utility.{name}", f"must be an error that is known; got {name}", hint)


def _evidence_problems(spec: Spec) -> Iterator[Problem]:
    silent = [release.kind for release in spec.releases if not KINDS[release.kind].samples]
    if spec.attack is not None and silent:
        hint = "Attack a mechanism, such as laplace or grr."
        yield Problem("evidence.attack", f"must be about releases to draw from; got {silent[0]}, a promise", hint)
    if spec.attack is not None and not any(_attackable(spec, i) for i in range(len(spec.assessed_threats))):
        hint = "Give a threat values, a prior or m."
        yield Problem("evidence.attack", "must have a threat with a prior; got none", hint)
    for i, name in enumerate(spec.results):
        try:
            evidence_of(spec, i)
        except DpradarError as error:
            yield Problem(f"evidence.results[{i + 1}]", f"must be a saved attack or audit; got {name!r}", f"{error}")


def _attackable(spec: Spec, index: int) -> bool:
    return not without_prior(spec.assessed_threats[index].options)
