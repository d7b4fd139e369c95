"""The command line where dpradar-reproduction is not installed, and where nobody asks for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

HIDDEN = "importlib.metadata.entry_points = lambda **_: ()"
FORBIDDEN = "importlib.metadata.entry_points = None"  # which fails when it is called
HOW_TO_GET_IT = (
    "'dpradar reproduce' needs the package dpradar-reproduction, which is not installed: run pip install "
    "dpradar-reproduction, or pip install ./reproduction in a copy of the repository."
)


def run(change, *arguments, **environment):
    code = f"import importlib.metadata, sys\n{change}\nfrom dpradar.cli import main\nmain(sys.argv[1:])"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    "arguments", [(), ("rad:fig1",), ("all", "--quick", "--out", "figures"), ("--help",), ("-h",), ("--nonsense", "3")]
)
def test_reproduce_says_how_to_get_it(arguments):
    done = run(HIDDEN, "reproduce", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == f"error: {HOW_TO_GET_IT}\n"


def test_reproduce_says_so_in_json():
    done = run(HIDDEN, "reproduce", "rad:fig1", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout) == {"schema": "dpradar/error/1", "error": HOW_TO_GET_IT, "exit": 2}


def test_list_names_no_figures():
    assert json.loads(run(HIDDEN, "list", "--json").stdout)["figures"] == []
    last = run(HIDDEN, "list").stdout.splitlines()[-1]
    assert last == "Figures: those of the package dpradar-reproduction, which is not installed."


def test_commands_are_completed():
    done = run(HIDDEN, _DPRADAR_COMPLETE="bash_complete", COMP_WORDS="dpradar re", COMP_CWORD="1")
    assert done.stdout.split() == ["plain,report", "plain,reproduce"], done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("assess", "grr", "--m", "3", "--epsilon", "1"), ("assess", "laplace", "--help"), ("explain", "rad")],
)
def test_other_commands_do_not_look_for_it(arguments):
    done = run(FORBIDDEN, *arguments)
    assert done.returncode == 0, done.stderr
    assert run(FORBIDDEN, "reproduce", "rad:fig1").returncode == 1  # which does
