"""Console blocks of the documents: run them, compare them, or rewrite them (`python -m tests.console`).

Commands find the folder `examples`, and every block of the page that starts with a line such as `# survey.toml` as a
file of that name. A tutorial is one story: its blocks run in one folder, in order.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from dpradar.cli.progress import INTERVAL

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts)]
_BLOCK = re.compile(r"^```console\n(.*?)^```", flags=re.M | re.S)
_FILE = re.compile(r"^```\w+\n(# ([\w-]+\.(?:toml|py|csv))\n.*?)^```", flags=re.M | re.S)


class Step(NamedTuple):
    """A command after `$ ` and the lines it printed."""

    command: str
    printed: list[str]


def is_story(path: Path) -> bool:
    """Whether the blocks of a page build on each other."""
    return path.parent.name == "tutorials"


def prepare(path: Path, folder: Path) -> None:
    """Put the files that a page shows, and the examples, into the folder where its commands run."""
    (folder / "examples").symlink_to(ROOT / "examples")
    for text, name in _FILE.findall(path.read_text(encoding="utf-8")):
        (folder / name).write_text(text, encoding="utf-8")


def steps(block: str) -> list[Step]:
    """Return the commands of a block; a block without `$ ` only lists commands."""
    result: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            result.append(Step(line[2:], []))
        elif result:
            result[-1].printed.append(line)
    return result


def blocks(path: Path) -> list[list[Step]]:
    """Return the blocks that can be run; `make` is left to people."""
    runnable = [steps(block) for block in _BLOCK.findall(path.read_text(encoding="utf-8"))]
    runnable = [block for block in runnable if block and not any(step.command.startswith("make") for step in block)]
    return [[step for block in runnable for step in block]] if runnable and is_story(path) else runnable


def run(command: str, folder: Path) -> list[str]:
    """Run a command as a person would, 100 columns wide, and return what it printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1", INTERVAL: "86400"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return [line.rstrip() for line in done.stdout.splitlines()]


def same(printed: list[str], expected: list[str]) -> bool:
    """Whether the lines agree; a line `...` stands for any lines."""
    pattern = "\n".join(".*" if line == "..." else re.escape(line.rstrip()) for line in expected)
    return re.fullmatch(pattern, "\n".join(printed), flags=re.S) is not None


def refresh(path: Path) -> None:
    """Rewrite the blocks of a document with what the commands print now; what is printed as `...` stays so."""

    def rewrite(match: re.Match[str]) -> str:
        block = steps(match.group(1))
        if not block or any(step.command.startswith("make") for step in block):
            return match.group(0)
        lines = []
        for step in block:
            printed = run(step.command, Path(folder))
            lines += [f"$ {step.command}", *(step.printed if "..." in step.printed else printed)]
        return "\n".join(["```console", *lines, "```"])

    with tempfile.TemporaryDirectory() as folder:
        prepare(path, Path(folder))
        path.write_text(_BLOCK.sub(rewrite, path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    for document in [Path(name).resolve() for name in sys.argv[1:]] or DOCUMENTS:
        refresh(document)
