"""Golden messages for the mistakes people make: wrong, missing, out of range and misspelt, for every command.

A message says what is wrong, what is allowed and what to do. A changed message is a changed line of bad_arguments.txt.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from dpradar.cli.main import COMMANDS
from tests.cli.test_assess import run
from tests.every import every

FILE = Path(__file__).with_name("bad_arguments.txt")
CELLS = """
[[partition]]
name = "gender"
kind = "value"
cells = ["f", "m"]
[[step]]
name = "count"
partition = "sex"
cells = "all"
epsilon = 1.0
granularity = "bounded"
"""


def golden() -> dict[str, str]:
    """Return every command of the file with what it prints."""
    printed: dict[str, list[str]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("$ "):
            lines_printed = printed.setdefault(line[2:], [])
        elif line and not line.startswith("#"):
            lines_printed.append(line)
    return {command: "\n".join(lines) for command, lines in printed.items()}


GOLDEN = golden()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("spec.toml").write_text('[release]\nkind = "grr"\nm = 10\nepsilon = 1.0\n')
    Path("comma.toml").write_text('[release]\nkind = "grr"\nm = 10\nepsilon = 0,5\n')
    Path("wrong.toml").write_text('[release]\nkind = "grr"\nm = 1\nepsilon = 1.0\nepsilom = 2.0\n')
    Path("pipeline.toml").write_text('[[step]]\nname = "count"\nepsilon = -1.0\ngranularity = "bonded"\n')
    Path("campaign.toml").write_text('[[run]]\ndo = "atack"\n')
    Path("half.json").write_text('{"schema": "dpradar/run/2"}')
    Path("hits.csv").write_text("a,b\n1,0\n1,1\n")
    Path("semicolons.csv").write_text("family;height\n1;170,5\n1;180,5\n")
    Path("commas.csv").write_text('family,height\n1,170\n1,"180,5"\n')
    Path("states.csv").write_text("s\n" + "".join(f"{k}\n" for k in range(60)))
    Path("empty.toml").write_text("")
    Path("cells.toml").write_text(CELLS)
    Path("text.sqlite").write_text("no store")
    return tmp_path


@every("line", GOLDEN)
def test_golden_message(line, folder):
    before = sorted(path.name for path in folder.iterdir())
    done = run(*shlex.split(line))
    assert done.stderr == GOLDEN[line] + "\n"
    assert (done.returncode, done.stdout) == (2, "")
    assert sorted(path.name for path in folder.iterdir()) == before  # nothing was written


@pytest.mark.parametrize("line", ["assess grr --m 1 --epsilon 1", "run wrong.toml", "explain rda", "new --kind gauss"])
def test_the_same_as_data(line, folder):
    done = run(*shlex.split(line), "--json")
    answer = json.loads(done.stdout)
    assert answer | {"problems": None} == {
        "schema": "dpradar/error/1", "error": GOLDEN[line].removeprefix("error: "), "exit": 2, "problems": None,
    }  # fmt: skip
    assert ("problems" in answer) == line.startswith("run")


@pytest.mark.parametrize("name", ["assess", "calibrate", "attack"])
def test_a_group_without_a_name_shows_its_help(name):
    done = run(name)
    assert done.returncode == 2
    assert done.stdout.startswith(f"Usage: dpradar {name} ")


def test_an_unknown_command():
    assert run("asess").stderr == (
        f"error: unknown command 'asess'. Did you mean 'assess'? Known: {', '.join(COMMANDS)}.\n"
    )


def test_every_command_is_here():
    assert {line.split()[0] for line in GOLDEN} >= set(COMMANDS)


def test_a_name_with_a_null_character_is_no_bug(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("new", "a\0b").returncode == 2
    assert list(tmp_path.iterdir()) == []
