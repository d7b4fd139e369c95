"""The sentences beside the numbers: what commands print to people, word for word, help and errors included.

``texts.txt`` has every command with what it prints. A changed sentence is a changed line of that file, so that it is
seen in review; ``make numbers ARGS=--accept`` writes it anew.
"""

from __future__ import annotations

import difflib
import io
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tests.numbers.asking import folder_of_files, run_command
from tests.numbers.questions.commands import LINES

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FILE", "changed_lines", "commands", "printed", "read_texts", "text_of"]

FILE = Path(__file__).with_name("texts.txt")
_HEADER = "# What commands print to people. Written by `make numbers ARGS=--accept`.\n"
_LEFT_OUT = ("campaign", "reproduce", "doctor", "serve", "report", "new")  # clocks, versions, addresses, files
_NUMBER = re.compile(r"(?<![\w.])\d+\.\d{7,}(?:e-?\d+)?")  # digits that differ between processors
# Of rules that are as tight as each other, rounding chooses one; the corpus of numbers has the rules.
# What comes after the third column of the table of bounds is left out.
_BOUNDS = r"Measure|rad|ceiling|success|gain|worst_gain|tpr at fpr [\d.]+"
_RULE = re.compile(rf"^( +(?:{_BOUNDS})(?:, [\w-]+)? {{2,}}\S.*? {{2,}}\S.*?)(?: {{2,}}.*)?$", re.MULTILINE)
_EVERY_RULE = "--all"


def commands() -> list[str]:
    """Return the command lines whose text is kept: those of the numbers, every help page, starter files, schemas."""
    from dpradar.cli.main import app
    from dpradar.spec.release_kinds import IN_FILES

    lines = [one.replace(" --json", "") for one in LINES.values() if isinstance(one, str)]
    chosen = [line for line in lines if line.split()[0] not in _LEFT_OUT and _EVERY_RULE not in line]
    for name in app.list_commands(None):  # type: ignore[arg-type]
        command = app.get_command(None, name)  # type: ignore[arg-type]
        inside = command.list_commands(None) if hasattr(command, "list_commands") else []
        chosen += [f"{name} --help", *(f"{name} {one} --help" for one in inside)]
    chosen += [f"new fresh.toml --kind {kind}" for kind in IN_FILES]
    chosen += [f"schema {name}" for name in ("spec", "pipeline", "campaign")]
    return list(dict.fromkeys(["--help", *chosen]))


def printed(line: str) -> str:
    """Return the exit code and what a command prints, standard error last; without what processors differ in."""
    errors = io.StringIO()
    with folder_of_files() as folder:
        code, out = run_command(shlex.split(line), errors)
        written = folder / "fresh.toml"
        out += written.read_text(encoding="utf-8") if written.exists() else ""
    text = _RULE.sub(r"\1", out + errors.getvalue())
    return f"[exit {code}]\n{_NUMBER.sub(lambda match: f'{float(match[0]):.5g}', text).rstrip()}\n"


def text_of(texts: dict[str, str]) -> str:
    """Return the file of some texts."""
    return _HEADER + "".join(f"\n$ {line}\n{text}" for line, text in texts.items())


def read_texts() -> dict[str, str]:
    """Return the texts of the file."""
    if not FILE.exists():
        return {}
    parts = FILE.read_text(encoding="utf-8").removeprefix(_HEADER).split("\n$ ")
    return {line: text for line, _, text in (part.partition("\n") for part in parts[1:])}


def changed_lines(before: dict[str, str], after: dict[str, str]) -> Sequence[str]:
    """Return the differences as lines."""
    return list(
        difflib.unified_diff(
            text_of(before).splitlines(), text_of(after).splitlines(), "before", "after", "", "", 1, ""
        )
    )
