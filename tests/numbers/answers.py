"""What is recorded of each kind of result: every number with its ends, its side, its rule and what it assumes."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import singledispatch
from typing import Any

import dpradar as dr
from dpradar.correlated import Fit
from dpradar.errors import DpradarError, InconsistentEvidence, NumericsError
from dpradar.learning import CandidateRisk
from dpradar.mechanisms import Frequencies
from dpradar.notions import PosteriorOdds
from dpradar.results.accounting import Accounting
from dpradar.results.advice import Advice
from dpradar.results.correlation import Correlation
from dpradar.results.limit_result import LimitResult
from dpradar.results.lint import LintReport
from dpradar.results.suggested_change import Change
from tests.numbers.compare import ERROR

__all__ = ["answer", "error", "fact"]

Answer = dict[str, dict[str, Any]]
_FPR = 0.01


def _plain(value: Any) -> Any:
    """Return what JSON can hold: numpy's numbers as Python's, infinity as a text."""
    value = value.item() if hasattr(value, "item") else value
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def _record(value: Any, side: str, **more: Any) -> dict[str, Any]:
    rest = {name: _plain(entry) for name, entry in more.items() if entry is not None and entry not in ("", [])}
    return {"value": _plain(value), "side": side, **rest}


def fact(value: Any) -> dict[str, Any]:
    """Return the record of anything that is no bound: a verdict, a count, an exit code."""
    return _record(value, "fact")


def _within(prefix: str, records: Answer) -> Answer:
    return {f"{prefix}/{name}": record for name, record in records.items()}


def _bound(bound: Any) -> dict[str, Any]:
    more = {"low": bound.low, "high": bound.high, "rule": bound.rule, "assumes": list(bound.assumes)}
    return _record(bound.value, bound.side, **more)


def error(problem: Exception) -> Answer:
    """Return the record of an error: its kind, and the exit code that the command line gives it."""
    ours = not isinstance(problem, DpradarError) or isinstance(problem, InconsistentEvidence | NumericsError)
    return {ERROR: fact(type(problem).__name__), "exit": fact(1 if ours else 2)}


@singledispatch
def answer(result: Any) -> Answer:
    """Return what is recorded of a result."""
    if isinstance(result, bool | int | float | str):
        return {"value": fact(result)}
    message = f"nothing says what is recorded of {type(result).__name__}"
    raise TypeError(message)


@answer.register
def _(result: dict) -> Answer:
    """Several results, or records that are ready."""
    ready = {name: one for name, one in result.items() if isinstance(one, dict) and "side" in one}
    for name, one in result.items():
        if name not in ready:
            ready |= _within(name, answer(one))
    return ready


@answer.register
def _(result: dr.Bound) -> Answer:
    return {"value": _bound(result)}


@answer.register
def _(result: dr.Estimate) -> Answer:
    return {"value": _record(result.estimate, "simulated", low=result.low, high=result.high)}


@answer.register
def _(result: dr.Assessment) -> Answer:
    records = {name: _bound(bound) for name, bound in result.bounds.items() if bound is not None}
    for name in ("baseline", "hit", "false_hit"):
        if getattr(result, name) is not None:
            records[name] = fact(getattr(result, name))
    ceiling = getattr(result, "ceiling", None)
    if ceiling is not None:
        records["ceiling"] = _bound(ceiling) if isinstance(ceiling, dr.Bound) else fact(ceiling)
    with suppress(DpradarError):  # not every release has a trade-off curve
        records["tpr"] = _bound(result.tpr(_FPR))
    return {**records, "says_nothing": fact(result.says_nothing)}


def _chosen(value: float | None, more_private: str | None) -> dict[str, Any]:
    """Return a chosen parameter: more noise than is needed is an upper bound, less epsilon a lower one."""
    side = "fact" if value is None else {"up": "upper", "down": "lower"}.get(str(more_private), "fact")
    return _record(value, side)


@answer.register
def _(result: dr.Calibration) -> Answer:
    records = {"value": _chosen(result.value, result.more_private), "status": fact(result.status)}
    if result.assumes:
        records["value"]["assumes"] = list(result.assumes)
    for i, one in enumerate(result.achieved):
        records[f"achieved/{i}/{one.quantity}"] = _record(one.value, one.side, rule=one.rule)
    records |= {f"cost/{name}": fact(number) for name, number in result.cost.items()}
    return {**records, "exact": fact(result.exact)}


@answer.register
def _(result: dr.AttackRun) -> Answer:
    records = {name: answer(getattr(result, name))["value"] for name in ("rad", "success", "false_hit")}
    return {**records, "trials": fact(result.trials)}


@answer.register
def _(result: dr.AuditResult) -> Answer:
    records = {"epsilon_lower": _record(result.epsilon_lower, "simulated", rule=result.method)}
    records |= {"refuted": fact(result.refuted), "trials": fact(result.trials), "looks": fact(result.looks)}
    if result.epsilon_estimate is not None:
        records["epsilon_estimate"] = _record(result.epsilon_estimate, "simulated")
    if result.rad is not None:
        records["rad"] = answer(result.rad)["value"]
    return records


@answer.register
def _(result: LimitResult) -> Answer:
    records = {"met": fact(result.met), "limit": fact(result.limit)}
    if result.value is not None:
        records["value"] = _record(result.value, result.side, rule=result.rule)
    return records


@answer.register
def _(result: Change) -> Answer:
    return {"value": _chosen(result.value, result.more_private), "exact": fact(result.exact)}


@answer.register
def _(result: dr.RunResult) -> Answer:
    records = {"met": fact(result.met)}
    for release in result.releases:
        mine: Answer = {f"cost/{name}": fact(error) for name, error in release.cost.items()}
        for i, threat in enumerate(release.assessments):
            mine |= _within(f"threat-{i}", answer(threat.assessment))
            for limit in threat.limits:
                mine |= _within(f"threat-{i}/limit/{limit.quantity}", answer(limit))
        for limit in release.utility:
            mine |= _within(f"utility/{limit.quantity}", answer(limit))
        if release.change is not None:
            mine |= _within("change", answer(release.change))
        for i, noise in enumerate(release.neighbours_cost):
            mine |= {f"noise-{i}/value": fact(noise.value)}
        for i, evidence in enumerate(release.evidence):
            mine |= _within(f"evidence-{i}", answer(evidence))
        records |= _within(release.name, mine)
    for sweep in result.sweeps:
        for i, point in enumerate(sweep.points):
            rads = {f"sweep/{i}/threat-{j}": bounds["rad"] for j, bounds in enumerate(point.bounds)}
            records |= {name: _bound(bound) for name, bound in rads.items() if bound is not None}
    return records


@answer.register
def _(result: Accounting) -> Answer:
    records = {"met": fact(result.met), "vacuous": fact(result.vacuous)}
    for total in result.totals:
        for name in ("epsilon", "mu", "mu_all"):
            if getattr(total, name) is not None:
                records[f"{total.granularity}/{name}"] = _record(getattr(total, name), "upper", rule=total.notion)
        for name in ("sequential_epsilon", "sequential_mu"):
            if getattr(total, name) is not None:
                records[f"{total.granularity}/{name}"] = fact(getattr(total, name))
    for name, part in (("advice", result.advice), ("assessment", result.assessment)):
        records |= {} if part is None else _within(name, answer(part))
    return records


@answer.register
def _(result: Advice) -> Answer:
    records = {name: fact(getattr(result, name)) for name in ("users", "points", "mixing_quarter", "mixing_hundredth")}
    for row in result.rows:
        records[f"{row.granularity}/factor"] = _record(row.factor, "upper")
        records[f"{row.granularity}/implied"] = _record(row.implied, "upper")
    return records


@answer.register
def _(result: LintReport) -> Answer:
    records = {"refuted": fact(result.refuted), "unproven": fact(result.unproven)}
    records["findings"] = fact(", ".join(f"{one.rule} {one.severity}" for one in result.findings))
    for one in result.findings:
        records |= {} if one.evidence is None else _within(one.rule, answer(one.evidence))
    return records


@answer.register
def _(result: Correlation) -> Answer:
    records = {"leakage": _bound(result.leakage), "any_dependence": _bound(result.any_dependence)}
    if result.at_least is not None:
        records["at_least"] = _bound(result.at_least)
    for one in result.theorems:
        records[f"{one.rule}/usable"] = fact(one.usable)
        records |= {} if one.bound is None else {f"{one.rule}/leakage": _bound(one.bound)}
        records |= {} if one.epsilon is None else {f"{one.rule}/epsilon": _record(one.epsilon, "lower")}
        records |= {} if one.error is None else {f"{one.rule}/error": fact(one.error)}
    chosen = result.chosen
    records["chosen"] = fact(None if chosen is None else chosen.rule)
    records["checks"] = fact(", ".join(f"{one.name} {one.word}" for one in result.checks))
    if result.simulated is not None:
        records["simulated/error"] = _record(result.simulated.error, "simulated")
        records["simulated/error_exact"] = fact(result.simulated.error_exact)
    return records


@answer.register
def _(result: Fit) -> Answer:
    checks = ", ".join(f"{one.name} {one.word}" for one in result.checks)
    return {"checks": fact(checks), "model": fact(repr(result.model))}


@answer.register
def _(result: PosteriorOdds) -> Answer:
    records = {"ratio": _bound(result.ratio)}
    return records if result.posterior is None else {**records, "posterior": _bound(result.posterior)}


@answer.register
def _(result: Frequencies) -> Answer:
    shares, errors = result.estimate.tolist(), result.deviation.tolist()
    records = {f"share-{i}": _record(share, "simulated") for i, share in enumerate(shares)}
    return {**records, **{f"error-{i}": _record(error, "simulated") for i, error in enumerate(errors)}}


@answer.register
def _(result: CandidateRisk) -> Answer:
    records = _within("rad", answer(result.rad)) | _within("success", answer(result.success))
    return {**records, "method": fact(result.method)}
