"""What is declared about versions, installation and checks: lowest versions, lock files, what a change has to pass."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest

from tests.console import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _lowest(package: str) -> tuple[int, ...]:
    (declared,) = [one for one in PROJECT["dependencies"] if re.match(rf"{package}\b", one)]
    version = re.search(r">=([\d.]+)", declared)
    assert version is not None
    return tuple(map(int, version[1].split(".")))


def test_the_lowest_click_has_what_the_command_line_needs():
    # NoArgsIsHelpError came with 8.2. ParamType takes a type parameter from 8.4 on: no class may need one when it runs.
    assert _lowest("click") >= (8, 2)
    source = (ROOT / "src" / "dpradar" / "cli" / "number_types.py").read_text(encoding="utf-8")
    assert not re.search(r"^class .*ParamType\[", source, flags=re.M)


def test_the_tutorial_on_opacus_installs_what_its_blocks_need():
    page = (ROOT / "docs" / "tutorials" / "is-my-opacus-model-leaking.md").read_text(encoding="utf-8")
    line = re.search(r'pip install "dpradar\[([a-z,]+)\]"', page)
    assert line is not None
    # Its second block composes with dp-accounting, its last one trains with scikit-learn and writes a report.
    assert {"torch", "accounting", "search", "report"} <= set(line[1].split(","))


@pytest.mark.parametrize("file", ["requirements.lock", "docs/requirements.lock"])
def test_every_locked_package_has_hashes(file):
    text = (ROOT / file).read_text(encoding="utf-8").replace("\\\n", " ")
    locked = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert len(locked) > 5
    for line in locked:
        assert re.match(r"[A-Za-z0-9._-]+==\S+", line), line
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", line), line
    assert "index-url" not in text


def test_packages_are_installed_by_their_hashes_and_listed():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for installed in re.findall(
        r"pip\)? install .*requirements\.lock.*|\$\(PIP\) install .*requirements\.lock.*", makefile
    ):
        assert "--require-hashes" in installed
    assert re.search(r"\$\(PIP\) install .*--require-hashes .*requirements\.lock", makefile)
    for target in ("sbom", "test-oldest", "test-tutorials"):
        assert re.search(rf"^{target}:", makefile, flags=re.M), target
    licences = (ROOT / "docs" / "reference" / "licences.md").read_text(encoding="utf-8").lower().replace("_", "-")
    for needed in PROJECT["dependencies"]:
        assert re.split(r"[<>=\[; ]", needed)[0].lower() in licences, needed


def test_one_extra_brings_all_that_need_no_choice_of_a_build():
    extras = PROJECT["optional-dependencies"]
    (requirement,) = extras["all"]
    assert set(re.fullmatch(r"dpradar\[(.*)\]", requirement)[1].split(",")) == set(extras) - {
        *("all", "dev", "docs", "torch")
    }


MAKE = """#!/bin/sh
echo "make $1" >> "$MADE"
case "$1" in
    $BROKEN) echo "make: *** $1" >&2; exit 2 ;;
    test) echo "SKIPPED [1] tests/data/test_real.py:30: needs the data"; echo "5 passed, 1 skipped in 1s" ;;
esac
"""


def _checked(tmp_path: Path, broken: str) -> tuple[int, str, list[str]]:
    """Run the checks of a change with a make that does nothing, or fails at one target."""
    (tmp_path / "bin").mkdir()
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "run").write_bytes((ROOT / ".ci" / "run").read_bytes())
    make = tmp_path / "bin" / "make"
    make.write_text(MAKE, encoding="utf-8")
    make.chmod(0o755)
    log = tmp_path / "made"
    env = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "MADE": str(log), "BROKEN": broken}
    done = subprocess.run(
        ["bash", str(tmp_path / ".ci" / "run")], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout, log.read_text(encoding="utf-8").splitlines()


def test_a_change_is_checked_with_all_that_can_be_installed(tmp_path):
    code, shown, commands = _checked(tmp_path, "nothing")
    assert code == 0
    for folder, target in (("audited", "peers"), ("engines", "engines"), ("torch", "torch"), ("browser", "browser")):
        assert commands.index(f"make .venv/{folder}/.installed") < commands.index(f"make test-{target}")
    assert "tests/data/test_real.py:30: needs the data" in shown.rpartition("Tests skipped")[2]


def test_what_could_not_be_checked_is_listed_at_the_end(tmp_path):
    code, shown, commands = _checked(tmp_path, ".venv/engines/.installed")
    assert code == 0
    assert "make test-engines" not in commands
    assert "make test-torch" in commands
    assert "make test-engines: PostgreSQL and Spark could not be installed" in shown.rpartition("could not run here")[2]


@pytest.mark.parametrize("target", ["test", "numbers", "check", "docs", "test-peers", "test-engines"])
def test_a_check_that_fails_fails_the_change(tmp_path, target):
    code, _, _ = _checked(tmp_path, target)
    assert code != 0


def test_the_contract_tests_of_opendp_run_where_opendp_is_installed():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^test-peers:.*\n((?:\t.*\n)+)", makefile, flags=re.M)
    assert recipe is not None
    assert "contract" in recipe[1]
    assert re.search(r"^opendp==", (ROOT / "requirements.lock").read_text(encoding="utf-8"), flags=re.M)
