"""On systems that are not tested limits that would be ignored are refused, with the reason."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import dpradar as dr
from dpradar.errors import UnsupportedError
from dpradar.numerics import platform_support
from tests.cli.test_assess import run

ECHO = [sys.executable, "-c", "import sys; [print(line.strip()) for line in sys.stdin]"]


@pytest.fixture
def elsewhere(monkeypatch):
    monkeypatch.setattr(platform_support, "sys", SimpleNamespace(platform="darwin"))


@pytest.mark.usefixtures("elsewhere")
def test_a_limit_on_memory_that_would_be_ignored_is_refused(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    with pytest.raises(UnsupportedError, match="the memory of a program cannot be limited here"):
        dr.Executable(ECHO)([1, 2], rng)
    assert dr.Executable(ECHO, memory=None)([1, 2], rng) == [1, 2]
    (tmp_path / "echo.py").write_text("import sys\nfor line in sys.stdin: print(line.strip())\n")
    monkeypatch.chdir(tmp_path)
    audit = ("audit", f"{sys.executable} echo.py", "--program", "--domain", "2", "--claim-epsilon", "1")
    options = ("--trials", "1000", "--seed", "1")
    done = run(*audit, *options)
    assert done.returncode == 2
    assert "--memory 0" in done.stderr
    assert run(*audit, *options, "--memory", "0").returncode == 5


@pytest.mark.usefixtures("elsewhere")
def test_the_doctor_says_what_is_not_tested():
    done = run("doctor")
    assert "dpradar is tested on Linux only, not on darwin." in done.stdout
    assert json.loads(run("doctor", "--json").stdout)["system"]["tested"] is False


def test_what_is_tested_is_what_is_declared():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert [one for one in project["classifiers"] if one.startswith("Operating")] == [
        "Operating System :: POSIX :: Linux"
    ]
    assert platform_support.untested_platform_notes() == ""
    assert "tested" in run("doctor").stdout
