"""Console blocks of the documents: run them, compare them, or rewrite them (`python -m tests.console`)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```console\n(.*?)^```", flags=re.M | re.S)


class Step(NamedTuple):
    """A command after `$ ` and the lines it printed."""

    command: str
    printed: list[str]


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
    found = [steps(block) for block in _BLOCK.findall(path.read_text(encoding="utf-8"))]
    return [block for block in found if block and not any(step.command.startswith("make") for step in block)]


def run(command: str, folder: Path) -> list[str]:
    """Run a command as a person would, 100 columns wide, and return what it printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
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
    """Rewrite the blocks of a document with what the commands print now; blocks with `...` stay."""

    def rewrite(match: re.Match[str]) -> str:
        block = steps(match.group(1))
        if not block or any(step.command.startswith("make") or "..." in step.printed for step in block):
            return match.group(0)
        with tempfile.TemporaryDirectory() as folder:
            lines = [line for s in block for line in (f"$ {s.command}", *run(s.command, Path(folder)))]
        return "\n".join(["```console", *lines, "```"])

    path.write_text(_BLOCK.sub(rewrite, path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    for document in DOCUMENTS:
        refresh(document)
