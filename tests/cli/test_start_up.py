"""Commands load what they need: the set of modules is held, not seconds."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    "scipy",
    "pydantic",
    "duckdb",
    "ibis",
    "pandas",
    "matplotlib",
    "jinja2",
    "sklearn",
    "dp_accounting",
    "starlette",
)
SCRIPT = """
import sys
from dpradar.cli import main
try:
    main({arguments!r})
except SystemExit as end:
    code = end.code
roots = sorted({{name.partition(".")[0] for name in sys.modules}})
print("loaded", code, *roots, file=sys.stderr)
"""


def loaded(*arguments: str) -> set[str]:
    """Return the top-level packages that a command has loaded at its end."""
    script = SCRIPT.format(arguments=list(arguments))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    words = done.stderr.splitlines()[-1].split()
    assert words[:2] == ["loaded", "0"]
    return set(words[2:])


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--version",),
        ("assess", "--help"),
        ("assess", "laplace", "--help"),
        ("assess", "grr", "--help"),
        ("list",),
        ("schema",),
        ("schema", "pipeline"),
        ("schema", "campaign"),
    ],
)
def test_what_computes_nothing_needs_no_numpy(arguments):
    assert not {*HEAVY, "numpy"} & loaded(*arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("assess", "grr", "--m", "10", "--epsilon", "1"),
        ("assess", "dp", "--epsilon", "1", "--neighbours", "replace-one", "--m", "10"),
    ],
)
def test_a_small_question_needs_numpy_alone(arguments):
    packages = loaded(*arguments)
    assert "numpy" in packages  # or the list says nothing
    assert not set(HEAVY) & packages
