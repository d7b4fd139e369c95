"""Every spec in examples/ runs, says something, and its numbers are those of the library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import dpradar as dr
from dpradar.spec import parse, read, run, toml

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "examples").glob("*.toml"))
KINDS = {
    "health-survey": {"grr"},
    "telemetry": {"grr", "oue", "olh"},
    "hospital-counts": {"laplace"},
    "wages": {"laplace"},
    "model": {"dpsgd"},
    "census": {"zcdp"},
    "register": {"zcdp", "laplace", "dpsgd"},
}
MET = {
    "health-survey": True, "telemetry": True, "hospital-counts": True, "wages": False, "model": True,
    "census": None, "register": None,
}  # fmt: skip


def test_the_settings_are_there():
    assert {file.stem for file in FILES} == set(KINDS)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_runs_and_is_explained(file):
    spec = read(file)
    assert {release.kind for release in spec.releases} == KINDS[file.stem]
    assert parse(toml(spec)) == spec
    result = run(spec, made="2026-01-01")
    assert result.met is MET[file.stem]
    text = result.explain()
    assert spec.title in text
    for threat in spec.threats:
        assert threat.name in text
    for release in result.releases:
        for threat in release.assessments:
            bounds = [bound for bound in threat.assessment.bounds.values() if bound is not None]
            assert any(bound.rule != "trivial" for bound in bounds)
    assert dr.RunResult.from_dict(result.to_dict()) == result


def test_numbers_of_the_health_survey():
    spec = read(ROOT / "examples" / "health-survey.toml")
    shares = [0.20, 0.15, 0.13, 0.12, 0.12, 0.09, 0.07, 0.05, 0.03, 0.04]
    heavy = ["light"] * 5 + ["heavy"] * 5
    prior = dr.Prior.of(shares)
    threats = [
        dr.Threat(prior),
        dr.Threat(prior, goal=dr.Goal.labels(heavy)),
        dr.Threat(prior, knowledge=dr.Knowledge.everything()),
    ]
    (release,) = run(spec, made="", attack=False).releases
    rads = [threat.assessment.rad.value for threat in release.assessments]
    assert rads == [dr.assess(dr.GRR(10, 2.0), threat).rad.value for threat in threats]


def test_the_change_for_the_wages_meets_the_limit():
    spec = read(ROOT / "examples" / "wages.toml")
    (release,) = run(spec, made="").releases
    (threat,) = release.assessments
    changed = dr.Laplace(release.change.value, truncate=(0.0, 100.0))
    assert dr.assess(changed, spec.threat(0, 0)).rad.value <= threat.limits[0].limit
    less = dr.Laplace(0.99 * release.change.value, truncate=(0.0, 100.0))
    assert dr.assess(less, spec.threat(0, 0)).rad.value > threat.limits[0].limit


def test_a_real_process_writes_a_report(tmp_path):
    command = [
        sys.executable,
        "-m",
        "dpradar",
        "run",
        str(ROOT / "examples" / "wages.toml"),
        "--check",
        "--report",
        "risk.html",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert done.stderr == "wrote risk.html\n"
    page = (tmp_path / "risk.html").read_text(encoding="utf-8")
    assert "works council" in page
    assert len(page.encode()) <= 300_000
