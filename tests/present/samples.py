"""Results to show: one of every kind, with and without limits, and one whose every text is an attempt to break out."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from scipy.stats import uniform

import dpradar as dr
from dpradar.results.description import describe_release
from dpradar.results.limit_result import LimitResult
from dpradar.results.run import NoiseResult, ReleaseResult, RunResult, SweepPoint, SweepResult, ThreatResult
from dpradar.results.suggested_change import Change

GRR = dr.GRR(m=10, epsilon=1.0)
SKEWED = dr.Prior.of(
    [0.4, 0.3, 0.2, 0.05, 0.02, 0.01, 0.005, 0.005, 0.005, 0.005], values=[f"label{i}" for i in range(10)]
)
# Listed, so that tests are collected without computing anything.
NAMES = (
    *("exact", "known", "upper", "membership", "baseline", "worst", "rare", "tiny", "nothing", "vacuous"),
    *("continuous", "attack", "refuted", "not refuted", "calibration", "kept", "not kept", "no limit", "one threat"),
    *("compared", "compared, not kept", "sweep"),
)
THREATS = {
    "A stranger": dr.Threat(SKEWED),
    "A neighbour": dr.Threat(SKEWED, dr.Knowledge.labels(["young"] * 5 + ["old"] * 5)),
    "Was the answer used?": dr.Threat(SKEWED, dr.Knowledge.everything()),
}


@cache
def assessments() -> dict[str, dr.Assessment]:
    """Return assessments that differ in what is known of them."""
    guarantee = dr.ApproxDP(epsilon=1.0, delta=1e-5, neighbours="replace-one")
    return {
        "exact": dr.assess(GRR, THREATS["A stranger"]),
        "known": dr.assess(GRR, THREATS["Was the answer used?"]),
        "upper": dr.assess(guarantee, dr.Threat(dr.Prior.uniform(10))),
        "membership": dr.assess(dr.Laplace(scale=1.0, query=[0, 1]), dr.Threat.membership(0.5)),
        "baseline": dr.assess(dr.GDP(mu=1.0, neighbours="add-remove"), dr.Threat.baseline(0.1)),
        "worst": dr.assess(dr.PureDP(epsilon=1.0, neighbours="add-remove")),
        "rare": dr.assess(dr.GRR(m=3052, epsilon=6.0), dr.Threat(dr.Prior.uniform(3052))),
        "tiny": dr.assess(dr.GRR(m=100_000, epsilon=0.001), dr.Threat(dr.Prior.uniform(100_000))),
        "nothing": dr.assess(dr.PureDP(epsilon=0.0, neighbours="replace-one"), dr.Threat(dr.Prior.uniform(4))),
        "vacuous": dr.assess(dr.PureDP(epsilon=1.0, neighbours="replace-one"), dr.Threat.membership(0.3)),
        "continuous": dr.assess(
            dr.Laplace(scale=10.0),
            dr.Threat(dr.Prior.continuous(uniform(0.0, 100.0), 0.0, 100.0), goal=dr.Goal.within(5.0)),
        ),
    }


@cache
def attack() -> dr.AttackRun:
    """Return an attack that was run."""
    return dr.attack(GRR, THREATS["A stranger"], trials=20_000, seed=1)


def _attack_of_run() -> dr.AttackRun:
    """Return the attack as a run has it: tied to its threat."""
    return replace(attack(), threat=replace(attack().threat, id="A stranger"))


@cache
def audit(*, refuted: bool = True) -> dr.AuditResult:
    """Return an audit of a mechanism that claims less epsilon than it has, or what it has."""
    claim = dr.PureDP(0.5 if refuted else 2.0, neighbours="replace-one")
    return dr.audit(dr.GRR(m=5, epsilon=2.0).sample, claim=claim, domain=5, trials=20_000, seed=1)


@cache
def calibration() -> dr.Calibration:
    """Return a calibration with two limits."""
    limits = [dr.Limit(THREATS["A stranger"], rad=0.1), dr.Limit(dr.Threat.baseline(0.1), gain=0.2)]
    return dr.calibrate(dr.GRR, limits, m=10)


def _limit(assessment: dr.Assessment, most: float) -> LimitResult:
    assert assessment.rad is not None
    value = assessment.rad.value
    return LimitResult(
        quantity="rad", limit=most, value=value, side=assessment.rad.side, met=value <= most, source="the board, May"
    )


def release(mechanism: Any, name: str, most: float | None, threats: int = 3, *, evidence: bool = True) -> ReleaseResult:
    """Return a release under some threats, with a limit on each."""
    results = []
    for title, threat in list(THREATS.items())[:threats]:
        assessment = dr.assess(mechanism, threat)
        assessment = replace(assessment, threat=replace(assessment.threat, id=title))
        results.append(
            ThreatResult(name=title, assessment=assessment, limits=() if most is None else (_limit(assessment, most),))
        )
    unmet = any(one.met is False for one in results)
    noise = tuple(
        NoiseResult(
            factor=factor,
            parameter="epsilon",
            value=mechanism.epsilon / factor,
            cost=dr.GRR(m=10, epsilon=mechanism.epsilon / factor).cost(),
            assessments=tuple(
                dr.assess(dr.GRR(m=10, epsilon=mechanism.epsilon / factor), t) for t in list(THREATS.values())[:threats]
            ),
        )
        for factor in (0.5, 2.0)
    )
    return ReleaseResult(
        name=name,
        release=describe_release(mechanism),
        what="drinking habits",
        dates=("2026-05-01",),
        parts=(describe_release(mechanism),),
        assessments=tuple(results),
        cost=mechanism.cost(),
        change=Change(parameter="epsilon", value=0.61234567, instead_of=mechanism.epsilon, more_private="down")
        if unmet
        else None,
        neighbours_cost=noise,
        evidence=(_attack_of_run(), audit(refuted=False)) if evidence else (),
    )


@cache
def run(most: float | None = 0.2, threats: int = 3, *, compare: bool = False) -> RunResult:
    """Return a run: with a limit that is kept (0.2), not kept (0.05), or none."""
    releases = [release(GRR, "survey", most, threats)]
    if compare:
        releases.append(release(dr.GRR(m=10, epsilon=2.0), "survey, less noise", most, threats, evidence=False))
    return RunResult(
        title="Health survey 2026",
        description="One question on drinking, answered by randomised response.",
        releases=tuple(releases),
        together="compare" if compare else "compose",
        decision={
            "assessed_by": "D. Officer",
            "date": "2026-05-04",
            "review_by": "2027-05-04",
            "limit_source": "board decision",
        },
        spec_hash="5f2d",
        spec_text='title = "Health survey 2026"\n',
        command="dpradar run survey.toml",
        made="2026-05-04",
        version=dr.__version__,
    )


def _slim(bound: dr.Bound | None) -> dr.Bound | None:
    return None if bound is None else dr.Bound(value=bound.value, side=bound.side, rule=bound.rule)


@cache
def sweep() -> RunResult:
    """Return a run with a parameter that was varied."""
    points = []
    for epsilon in (0.1, 0.5, 1.0, 2.0, 5.0):
        results = [dr.assess(dr.GRR(m=10, epsilon=epsilon), threat) for threat in THREATS.values()]
        points.append(
            SweepPoint(
                value=epsilon,
                bounds=tuple({name: _slim(bound) for name, bound in one.bounds.items()} for one in results),
                baselines=tuple(one.baseline for one in results),
                cost=dr.GRR(m=10, epsilon=epsilon).cost(),
            )
        )
    one = SweepResult(parameter="epsilon", release="survey", threats=tuple(THREATS), points=tuple(points))
    return replace(run(), sweeps=(one,))


def everything() -> dict[str, Any]:
    """Return one result of every kind."""
    return {
        **assessments(),
        "attack": attack(),
        "refuted": audit(),
        "not refuted": audit(refuted=False),
        "calibration": calibration(),
        "kept": run(),
        "not kept": run(0.05),
        "no limit": run(None),
        "one threat": run(0.2, 1),
        "compared": run(compare=True),
        "compared, not kept": run(0.15, compare=True),
        "sweep": sweep(),
    }


def poisoned(value: Any, poison: str) -> Any:
    """Return the same result with the poison in front of every text, however deep; numbers stay."""
    if isinstance(value, str):
        return poison + value
    if isinstance(value, tuple | list):
        return type(value)(poisoned(one, poison) for one in value)
    if isinstance(value, dict):
        return {key: one if key in ("kind", "loss") else poisoned(one, poison) for key, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        keep = {
            "side",
            "quantity",
            "status",
            "more_private",
            "together",
            "kind",
            "rates",
            "maximise",
            "notion",
            "severity",
            "acknowledge",
        }
        new = {f.name: poisoned(getattr(value, f.name), poison) for f in fields(value) if f.init and f.name not in keep}
        return replace(value, **new)
    return value
