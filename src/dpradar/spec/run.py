"""Run a spec: every release under every threat, limits, costs, evidence and sweeps."""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..calibration import Limit
from ..errors import NumericsError, ParameterError, SpecError
from ..mechanisms import Composed
from ..mechanisms.cost import cost_of
from ..results.description import Description, describe_release
from ..results.run import NoiseResult, ReleaseResult, RunResult, SweepPoint, SweepResult, ThreatResult
from .checks import assessed_releases, limits_of
from .evidence import attacks, evidence_of
from .limits import assessed, change_of, risk_limits, utility_limits
from .problems import problem_of
from .question import release_of
from .release_kinds import KINDS
from .sweep import Sweep, sweep_of
from .threat_options import SIZE
from .write import command, toml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..results import Assessment
    from ..threats import Prior, Threat
    from .model import Spec

__all__ = ["run"]

_FACTORS = (0.5, 2.0)


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is assessed: one release of the spec by its number, or all of them composed (None)."""

    spec: Spec
    release: int | None

    @property
    def members(self) -> list[int]:
        return list(range(len(self.spec.releases))) if self.release is None else [self.release]

    def what(self, changed: dict[str, Any] | None = None, member: int | None = None) -> Any:
        """Return the mechanism or guarantee, with some options of one member changed."""
        releases = []
        for i in self.members:
            options = self.spec.release(i) | ((changed or {}) if member in (None, i) else {})
            releases.append(release_of(options, self.spec.where("release", i)))
        return releases[0] if self.release is not None else Composed(releases)

    def threats(self) -> list[Threat]:
        """Return the threats that it is assessed under."""
        return [self.spec.threat(self.release, i) for i in range(len(self.spec.assessed_threats))]

    def relation(self, threat: int) -> Any:
        """Return the neighbour relation that it is assessed under for a threat."""
        return self.spec.relation(self.release, threat)

    @property
    def place(self) -> str:
        """Its place in the file."""
        return "release" if self.release is None else self.spec.place("release", self.release)


def run(
    spec: Spec,
    *,
    sweep: str | None = None,
    attack: bool = True,
    progress: Callable[[str], None] | None = None,
    made: str | None = None,
    typed: str | None = None,
) -> RunResult:
    """Return the answer of a spec: every release under every threat, with limits, costs and evidence.

    Guarantee
    ---------
    The numbers are those of ``assess`` for each release and threat. A limit is met only if a value that is exact or an
    upper bound is at most the limit; a limit without a known value is not met.

    Assumes
    -------
    As ``assess`` does. Composed releases are about the same people and use independent randomness. A threat without a
    prior is about the records of the threats that have one, where there are any.

    Parameters
    ----------
    spec
        From :func:`dpradar.spec.read` or :func:`dpradar.spec.parse`.
    sweep
        A parameter to vary, such as ``"epsilon=0.1:10:50"``.
    attack
        Whether attacks that the spec asks for are run.
    progress
        Called with a line of text for every part of the work, and before every rule.
    made
        The date that the result carries; today unless given.
    typed
        The command line that the result carries; one that asks the same question unless given.

    Examples
    --------
    >>> from dpradar.spec import parse
    >>> result = run(
    ...     parse('''
    ... [release]
    ... kind = "grr"
    ... m = 100
    ... epsilon = 3.0
    ... [threat]
    ... limits = { rad = 0.1 }
    ... ''')
    ... )
    >>> result.met, result.releases[0].change.parameter, round(result.releases[0].change.value, 3)
    (False, 'epsilon', 2.504)
    """
    tell = progress or (lambda _: None)
    chosen = None if sweep is None else sweep_of(sweep, spec)
    subjects = [_Subject(spec, release) for release in assessed_releases(spec)]
    _check(subjects)
    results: tuple[ReleaseResult, ...] = ()
    interrupted = False  # an attack, by hand: then no other is started
    for subject in subjects:
        results = (*results, _release(subject, tell, attack=attack and not interrupted))
        interrupted |= not all(one.complete for one in results[-1].evidence)
    saved = tuple(evidence_of(spec, i) for i in range(len(spec.results)))
    if saved:
        results = (replace(results[0], evidence=results[0].evidence + saved), *results[1:])
    return RunResult(
        releases=results,
        title=spec.title,
        description=spec.description,
        together=spec.together,
        decision={key: str(value) for key, value in spec.decision.items()},
        sweeps=() if chosen is None or interrupted else tuple(_sweeps(subjects, chosen, tell)),
        spec_hash=hashlib.sha256(toml(spec, hide=not spec.include_prior).encode()).hexdigest()[:16],
        spec_text=toml(spec, hide=not spec.include_prior),
        command=_command(spec) if typed is None else typed,
        made=dt.datetime.now(dt.UTC).date().isoformat() if made is None else made,
        version=__version__,
    )


def _check(subjects: Sequence[_Subject]) -> None:
    """Raise SpecError with all problems of releases under threats, before the long computations."""
    problems = []
    for subject in subjects:
        try:
            what, threats = subject.what(), subject.threats()
        except ParameterError as error:
            problems.append(problem_of(error, subject.place))
            continue
        abouts = _priors(threats)
        for prior in [threat.prior for threat in threats if threat.prior is not None or not abouts]:
            try:
                if hasattr(what, "at"):
                    what.at(prior)
            except ParameterError as error:
                problems.append(problem_of(error, subject.place))
    if problems:
        raise SpecError(subjects[0].spec.file, list(dict.fromkeys(problems)))


def _command(spec: Spec) -> str:
    """Return the command line of the same question; empty where there is none, or it would show what is hidden."""
    single = len(spec.releases) == len(spec.assessed_threats) == 1
    if not single or not KINDS[spec.releases[0].kind].on_command_line:
        return ""
    if not spec.include_prior and "not shown" in toml(spec, hide=True):
        return ""
    return command(spec.question(0, 0))


def _release(subject: _Subject, tell: Callable[[str], None], *, attack: bool) -> ReleaseResult:
    spec, what = subject.spec, subject.what()
    tell(f"assess {what!r}")
    threats = subject.threats()
    abouts = _priors(threats)
    results = [
        _threat(subject, i, what, threat, abouts, _prefixed(tell, f"threat {i + 1} of {len(threats)}"))
        for i, threat in enumerate(threats)
    ]
    cost = cost_of(what)
    utility = utility_limits(spec, cost) if subject.release is not None else ()
    unmet = [one.met is False for one in results]
    change = None
    if any(unmet) or not all(limit.met for limit in utility):
        change = _change(subject, threats, tell)
        results = [replace(one, change=change if bad else None) for one, bad in zip(results, unmet, strict=True)]
    own = spec.releases[subject.members[0]]
    dates = tuple(str(spec.releases[i].date) for i in subject.members if spec.releases[i].date is not None)
    return ReleaseResult(
        name=own.name if subject.release is not None else "",
        what=own.what if subject.release is not None else f"{len(subject.members)} releases together",
        release=describe_release(what),
        dates=dates,
        parts=tuple(_part(spec, i) for i in subject.members),
        assessments=tuple(results),
        cost=cost,
        utility=utility,
        change=change,
        neighbours_cost=tuple(_other_noise(subject, threats, abouts, tell)) if spec.noise_table else (),
        evidence=tuple(attacks(spec.attack, what, threats, results, tell)) if attack and spec.attack else (),
    )


def _part(spec: Spec, index: int) -> Description:
    release = spec.releases[index]
    name = release.name or release.what
    part = describe_release(spec.release_call(index).build())
    return replace(part, text=f"{name}: {part.text}") if name else part


def _priors(threats: Sequence[Threat]) -> list[Prior]:
    """Return the priors of the threats, each once."""
    return list({threat.prior.digest: threat.prior for threat in threats if threat.prior is not None}.values())


def _prefixed(progress: Callable[[str], None], prefix: str) -> Callable[[str], None]:
    return lambda text: progress(f"{prefix}, {text}")


def _threat(
    subject: _Subject,
    index: int,
    what: Any,
    threat: Threat,
    abouts: Sequence[Prior],
    progress: Callable[[str], None],
) -> ThreatResult:
    spec, relation = subject.spec, subject.relation(index)
    assessment = assessed(what, threat, relation, abouts, include_prior=spec.include_prior, progress=progress)
    assessment = replace(assessment, threat=replace(assessment.threat, id=f"threat {index + 1}"))
    limits = risk_limits(spec, index, what, threat, assessment, relation, abouts)
    return ThreatResult(name=spec.assessed_threats[index].name, assessment=assessment, limits=limits)


def _change(subject: _Subject, threats: Sequence[Threat], tell: Callable[[str], None]) -> Any:
    """Return the change that meets every limit; None for composed releases, whose noise is not one number."""
    spec = subject.spec
    if subject.release is None:
        return None
    tell("look for the smallest change that meets the limits")
    limited = [i for i, threat in enumerate(spec.assessed_threats) if threat.limits]
    limits = [limits_of(spec, i, threats[i], subject.release) for i in limited]
    if any(threats[i].prior is None for i in limited):
        # These limit nothing: their records settle the sensitivity for the threats that have no prior.
        others = [t for i, t in enumerate(threats) if i not in limited and t.prior is not None]
        limits += [Limit(threat, rad=1.0) for threat in others]
    return change_of(spec, subject.release, limits, tell)


def _slim(assessment: Assessment) -> Assessment:
    return replace(assessment, others=(), rates=None)


def _other_noise(
    subject: _Subject, threats: Sequence[Threat], abouts: Sequence[Prior], tell: Callable[[str], None]
) -> Iterator[NoiseResult]:
    """Yield the same assessments with half and twice the noise, where the noise is one number and allows it."""
    if subject.release is None:
        return
    param = KINDS[subject.spec.releases[subject.release].kind].noise
    if param is None or param.integer:
        return
    own = float(subject.spec.release(subject.release)[param.name])
    for factor in _FACTORS:
        value = own * factor if param.more_private == "up" else own / factor
        try:
            what = subject.what({param.name: value})
            report = _prefixed(tell, f"noise times {factor:g}")
            assessments = [
                _slim(assessed(what, t, subject.relation(i), abouts, progress=report)) for i, t in enumerate(threats)
            ]
        except (ParameterError, NumericsError):
            continue
        yield NoiseResult(
            factor=factor, parameter=param.name, value=value, cost=cost_of(what), assessments=tuple(assessments)
        )


def _sweeps(subjects: Sequence[_Subject], sweep: Sweep, tell: Callable[[str], None]) -> Iterator[SweepResult]:
    """Yield one curve for each release that is varied."""
    for subject in subjects:
        varied = [i for i in subject.members if i in sweep.releases]
        if not varied:
            continue
        points = []
        for value in sweep.values:
            tell(f"sweep {sweep.parameter} {value:g}")
            report = _prefixed(tell, f"sweep {sweep.parameter} {value:g}")
            points.append(_point(subject, sweep, value, varied[0], report))
        names = tuple(threat.name for threat in subject.spec.assessed_threats)
        own = subject.spec.releases[varied[0]]
        yield SweepResult(parameter=sweep.parameter, release=own.name, threats=names, points=tuple(points))


def _point(subject: _Subject, sweep: Sweep, value: float, member: int, progress: Callable[[str], None]) -> SweepPoint:
    spec = subject.spec
    number = {sweep.parameter: value}
    if sweep.parameter == SIZE.name:  # as many values as the release has
        spec = _resized(spec, member, int(value))
        subject = _Subject(spec, subject.release)
    what, threats = subject.what(number, member), subject.threats()
    abouts = _priors(threats)
    assessments = [assessed(what, t, subject.relation(i), abouts, progress=progress) for i, t in enumerate(threats)]
    bounds = tuple(
        {q: None if b is None else replace(b, cites=(), assumes=(), low=None, high=None) for q, b in one.bounds.items()}
        for one in assessments
    )
    baselines = tuple(one.baseline for one in assessments)
    return SweepPoint(value=value, bounds=bounds, baselines=baselines, cost=cost_of(what))


def _resized(spec: Spec, member: int, size: int) -> Spec:
    releases = list(spec.releases)
    releases[member] = replace(releases[member], options={**releases[member].options, SIZE.name: size})
    return replace(spec, releases=tuple(releases))
