"""The table of results: every file, test and page that it names is there, and its counts are right."""

from __future__ import annotations

import ast
import re
from functools import cache

from tests.console import ROOT
from tests.every import every

STATUS = (ROOT / "docs" / "status.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip().strip("|").split("|")]
    for line in STATUS.splitlines()
    if line.startswith("| ") and not line.startswith("| source")
]
NAMES = [f"{number}: {row[0]} {row[1]}" for number, row in enumerate(ROWS, 1)]
RUNS_BLOCKS = "architecture/test_documents.py"


def _paths(cell: str) -> list[str]:
    """Words with a slash or the end of a Python file; what is in backticks is a name, not a file."""
    words = re.findall(r"[\w/.:-]+", re.sub(r"`[^`]*`", "", cell))
    return [word.rstrip(":.") for word in words if "/" in word or word.endswith(".py")]


@cache  # many rows name tests of one file
def _tests_of(path: str) -> set[str]:
    file = ROOT / path if path.startswith("reproduction/") else ROOT / "tests" / path
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


@every("row", ROWS, ids=NAMES)
def test_code_that_is_named_is_there(row):
    tops = ("src/dpradar", "reproduction/src", ".")
    missing = [path for path in _paths(row[3]) if not any((ROOT / top / path).exists() for top in tops)]
    assert missing == []


@every("row", ROWS, ids=NAMES)
def test_tests_that_are_named_are_there(row):
    named = _paths(row[4])
    for path in named:
        file, _, function = path.partition("::")
        if file.startswith("docs/"):
            assert "```python" in (ROOT / file).read_text(encoding="utf-8"), file
            assert RUNS_BLOCKS in row[4]
        else:
            functions = _tests_of(file)
            assert functions, file
            assert not function or function in functions, path
    assert (RUNS_BLOCKS in named) <= any(path.startswith("docs/") for path in named)  # the page must be named
    assert named or row[5] == "docs" or row[4].startswith("see ")


def test_states_and_counts():
    states = [row[5] for row in ROWS]
    assert {state for state in states if not state.startswith("not green: ")} == {"green", "docs"}
    assert f"{states.count('green')} of {len(states)} rows are green." in STATUS
    assert not re.search(r"issue \d|[Pp]lanned", STATUS)
