"""Staircase noise, a plug-in of one file: the command line, specs and Python give the numbers of an enumeration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

import dpradar as dr

from .reference import best_share, density, risks

PRIOR = [0.3, 0.25, 0.2, 0.15, 0.1]
TEXT = ",".join(map(str, PRIOR))


@pytest.fixture
def dpradar(staircase_folder, tmp_path):
    """The command line in a process of its own, with the plug-in installed."""

    def run(*words, code=0):
        env = {**os.environ, "PYTHONPATH": str(staircase_folder)}
        done = subprocess.run(
            [sys.executable, "-m", "dpradar", *words],
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout) if "--json" in words else done.stdout

    return run


@pytest.mark.parametrize(("epsilon", "step", "eta"), [(1.0, 1.0, 0), (0.5, 2.0, 1), (3.0, 0.7, 1)])
def test_assess(dpradar, epsilon, step, eta):
    words = ["--epsilon", str(epsilon), "--step", str(step), "--values", "0:4", "--prior", TEXT]
    words += ["--goal", f"within:{eta}"] if eta else []
    result = dpradar("assess", "staircase", *words, "--json")
    rad, success = risks(range(5), PRIOR, epsilon, step, best_share(epsilon), eta)
    assert result["rad"]["side"] == result["success"]["side"] == "exact"
    assert result["rad"]["value"] == pytest.approx(rad, abs=1e-8)
    assert result["success"]["value"] == pytest.approx(success, abs=1e-8)
    assert "the plug-in dpradar-staircase 1.0 describes staircase correctly" in result["rad"]["assumes"]


def test_calibrate(dpradar):
    result = dpradar("calibrate", "staircase", "--step", "1", "--values", "0:4", "--limit", "rad=0.1", "--json")
    assert result["parameter"] == "epsilon"

    def rad(epsilon):
        return risks(range(5), [0.2] * 5, epsilon, 1.0, best_share(epsilon), 0)[0]

    assert rad(result["value"]) <= 0.1 + 1e-8 < rad(1.001 * result["value"])
    assert "the plug-in dpradar-staircase 1.0 describes staircase correctly" in result["assumes"]


SPEC = f"""
[[release]]
kind = "staircase"
epsilon = 1.0
step = 1.0
share = 0.4

[threat]
values = "0:4"
prior = {PRIOR}
limits = {{ rad = 0.9 }}
"""


def test_a_spec(dpradar, tmp_path):
    (tmp_path / "spec.toml").write_text(SPEC)
    result = dpradar("run", "spec.toml", "--json")
    rad = result["releases"][0]["assessments"][0]["assessment"]["rad"]
    assert rad["value"] == pytest.approx(risks(range(5), PRIOR, 1.0, 1.0, 0.4, 0)[0], abs=1e-8)
    (tmp_path / "spec.toml").write_text(SPEC.replace("share = 0.4", "share = 1.4"))
    problem = dpradar("run", "spec.toml", "--json", code=2)["problems"][0]
    assert problem["path"] == "release.share"
    assert problem["message"] == "must be a number above 0 and below 1; got 1.4"


def test_list_attack_and_help(dpradar):
    assert dpradar("list", "--json")["plugins"] == {"staircase": "dpradar-staircase 1.0"}
    assert "staircase          dpradar-staircase 1.0" in dpradar("list")
    words = ["--epsilon", "1", "--step", "1", "--values", "0:4", "--trials", "20000", "--seed", "3", "--json"]
    attacked = dpradar("attack", "staircase", *words)
    rad = risks(range(5), [0.2] * 5, 1.0, 1.0, best_share(1.0), 0)[0]
    assert attacked["rad"]["low"] <= rad <= attacked["rad"]["high"]
    assert "the plug-in dpradar-staircase 1.0 describes staircase correctly" in attacked["notes"]
    assert "--share NUMBER" in dpradar("assess", "staircase", "--help").replace("number", "NUMBER")


def test_python_and_what_composes_it(staircase_folder, install):
    install(staircase_folder)
    from dpradar_staircase import Staircase, StaircaseKernel

    threat = dr.Threat(dr.Prior.of(PRIOR, values=list(range(5))))
    twice = dr.assess(dr.Repeated(Staircase(epsilon=1.0, step=1.0), 2), threat)
    assert "the plug-in dpradar-staircase 1.0 describes staircase correctly" in twice.success.assumes
    kernel = StaircaseKernel(1.0, 2.0, 0.3)
    x = np.array([-7.3, -0.5, 0.0, 0.61, 1.9, 2.05, 30.0])
    expected = [density(one, 1.0, 2.0, 0.3) for one in x]
    np.testing.assert_allclose(kernel.density(x), expected, rtol=1e-12)


def test_the_sampler_draws_from_the_density(staircase_folder, install):
    install(staircase_folder)
    from dpradar_staircase import StaircaseKernel

    draws = StaircaseKernel(0.8, 2.0, 0.3).sample(200_000, np.random.default_rng(5))
    edges = np.array([-np.inf, -4.0, -2.0, -0.6, 0.0, 0.6, 2.0, 2.6, 4.0, np.inf])
    cells = np.array([0.0, 0.6, 2.0, 2.6, 4.0])
    middle = [density((a + b) / 2, 0.8, 2.0, 0.3) * (b - a) for a, b in pairwise(cells)]
    near, far = middle, 0.5 - sum(middle)
    chances = np.array([far, near[3] + near[2], near[1], near[0], near[0], near[1], near[2], near[3], far])
    counts = np.histogram(draws, edges)[0]
    deviation = np.sqrt(200_000 * chances * (1 - chances))
    assert np.abs(counts - 200_000 * chances).max() < 5.5 * deviation.max()
    assert np.all(np.abs(counts - 200_000 * chances) < 5.5 * deviation)


def test_copied_python_imports_the_plug_in(staircase_folder, install):
    install(staircase_folder)
    from dpradar.spec import command, python

    question = {"kind": "staircase", "epsilon": 1.0, "step": 1.0, "values": "0:4", "prior": PRIOR}
    code = python(question)
    assert "from dpradar_staircase import Staircase" in code
    scope = {"__name__": "pasted"}
    exec(compile(code.replace("print(", "repr("), "pasted", "exec"), scope)  # noqa: S102 - written by us
    rad = risks(range(5), PRIOR, 1.0, 1.0, best_share(1.0), 0)[0]
    assert scope["result"].rad.value == pytest.approx(rad, abs=1e-8)
    assert command(question) == f"dpradar assess staircase --epsilon 1.0 --step 1.0 --prior {TEXT} --values 0:4"
