"""A question as a command line, as Python code and as a spec file: each gives the numbers of the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..calibration.limit import COSTS
from ..options.reading import FLAGS
from ..spec import AttackOptions, ReleaseSpec, Spec, ThreatSpec, command, python, toml
from ..spec.model import RELATION
from ..spec.question import TIMES, release_call, threat_call
from ..spec.release_kinds import KINDS
from ..spec.threat_options import EQUALLY_LIKELY, THREAT, has_prior, without_prior
from .forms.form import PLACE

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Copy", "assess_copies", "attack_copies", "calibrate_copies", "compare_copies", "comparison_spec", "spec_of"]

Question = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Copy:
    """One way to ask the same question: its title, the text, and how to use it."""

    title: str
    text: str
    note: str = ""


def _toml_copy(spec: Spec, note: str = "") -> Copy:
    return Copy("Spec (TOML)", toml(spec), note or "Save it as spec.toml, then: dpradar run spec.toml")


def spec_of(question: Question, **further: Any) -> Spec:
    """Return a question as a spec with one release and one threat.

    Examples
    --------
    >>> spec = spec_of({"kind": "dp", "epsilon": 1.0, "neighbours": "replace-one", "m": 10})
    >>> spec.releases[0].options, spec.threats[0].options
    ({'epsilon': 1.0, 'neighbours': 'replace-one'}, {'m': 10})
    """
    kind = KINDS[question["kind"]]
    release_options = {name: question[name] for name in kind.names if name in question}
    threat_options = {
        name: question[name] for name in (*THREAT, RELATION.name) if name in question and name not in release_options
    }
    if not (has_prior(threat_options) or without_prior(threat_options)):
        # Without a threat a spec is about any attacker; here one is meant who finds every value equally likely.
        threat_options = {**EQUALLY_LIKELY, **threat_options}
    threat = ThreatSpec(options=threat_options, limits=further.pop("limits", {}))
    release = ReleaseSpec(kind=question["kind"], options=release_options, times=question.get(TIMES.name, TIMES.default))
    return Spec(releases=(release,), threats=(threat,), **further)


def comparison_spec(data: Question) -> Spec:
    """Return a comparison, given as plain data, as a spec."""
    releases = tuple(ReleaseSpec(**release) for release in data["releases"])
    threats = (ThreatSpec(options=data["threat"]),)
    return Spec(releases=releases, threats=threats, together="compare", title=data["title"], noise_table=False)


def assess_copies(question: Question) -> list[Copy]:
    """Return an assessment in three ways."""
    return [
        Copy("Command line", command(question)),
        Copy("Python", python(question, PLACE)),
        _toml_copy(spec_of(question)),
    ]


def compare_copies(spec: Spec) -> list[Copy]:
    """Return a comparison in three ways."""
    questions = [spec.question(i, 0) for i in range(len(spec.releases))]
    imports, lines = ["import dpradar as dr"], []
    for question in questions:
        release, threat = release_call(question, PLACE), threat_call(question, PLACE)
        imports += [*release.imports(), *threat.imports()]
        lines.append(f"print(dr.assess({release.source()}, {threat.source()}{_relation_argument(question)}).explain())")
    commands = "\n".join(command(question) for question in questions)
    code = "\n".join([*dict.fromkeys(imports), "", *lines, ""])
    return [Copy("Command line", commands), Copy("Python", code), _toml_copy(spec)]


def _relation_argument(question: Question) -> str:
    relation = question.get(RELATION.name)
    return "" if relation is None else f", {RELATION.name}={relation!r}"


def calibrate_copies(question: Question, limits: Sequence[dict[str, Any]], value: float | None) -> list[Copy]:
    """Return a calibration as a command and as Python, and once it is known the release that keeps the limits."""
    words = [word for limit in limits for word in ("--limit", _limit_argument(limit))]
    copies = [
        Copy("Command line", command(question, verb="calibrate", further=words)),
        Copy("Python", _calibrate_python(question, limits)),
    ]
    risks = {name: bound for limit in limits for name, bound in limit.items() if name not in COSTS}
    noise = KINDS[question["kind"]].noise
    if value is not None and noise is not None:
        costs = {name: bound for limit in limits for name, bound in limit.items() if name in COSTS}
        spec = spec_of({**question, noise.name: value}, limits=risks, utility=costs)
        copies.append(
            _toml_copy(spec, "The release found, with its limits. Check it with: dpradar run spec.toml --check")
        )
    return copies


def _limit_argument(limit: dict[str, Any]) -> str:
    return "@".join(f"{name}={value if isinstance(value, str) else repr(value)}" for name, value in limit.items())


def _calibrate_python(question: Question, limits: Sequence[dict[str, Any]]) -> str:
    noise = KINDS[question["kind"]].noise
    free = "" if noise is None else noise.name
    release, threat = release_call({**question, free: 1.0}, PLACE), threat_call(question, PLACE)
    relation = _relation_argument(question)
    listed = ", ".join(
        f"dr.Limit(threat, {', '.join(f'{name}={value!r}' for name, value in limit.items())}{relation})"
        for limit in limits
    )
    head = ["import dpradar as dr", *release.imports(), *threat.imports()]
    release, times = release.args if release.name == "Repeated" else (release, 1)
    fixed = "".join(f", {name}={value!r}" for name, value in release.kwargs.items() if name != free)
    fixed += "" if times == 1 else f", {TIMES.name}={times!r}"
    last = f"result = dr.calibrate({release.function}, [{listed}]{fixed})"
    return "\n".join([*head, "", f"threat = {threat.source()}", last, "print(result.explain())", ""])


def attack_copies(question: Question, **settings: Any) -> list[Copy]:
    """Return an attack in three ways; ``settings``: how it is run."""
    words = [word for name, value in settings.items() for word in (FLAGS(name), f"{value}")]
    return [
        Copy("Command line", command(question, verb="attack", further=words)),
        Copy("Python", python(question, PLACE, function="attack", **settings)),
        _toml_copy(spec_of(question, attack=AttackOptions(**settings))),
    ]
