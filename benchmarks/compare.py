"""Two versions of the library beside each other: each case by turns, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .measure import Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .measure import Case

__all__ = ["SLOWER", "Comparison", "compare"]

SLOWER = 1.10
_ROOT = Path(__file__).resolve().parent.parent
_ROUNDS = 3
_MOST_ROUNDS = 9
_ALONE = "--alone"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The shortest time of one case with the other version and with this one; None where it could not be measured."""

    name: str
    before: float | None
    after: float | None
    rounds: int
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times as long it takes now."""
        return None if self.before is None or self.after is None else self.after / self.before

    @property
    def is_skipped(self) -> bool:
        """Whether it was left out because something that it needs is not installed."""
        return self.ratio is None and self.note.startswith("skipped")

    @property
    def is_slower(self) -> bool:
        """Whether it takes more than a tenth longer."""
        return self.ratio is not None and self.ratio > SLOWER


def _measured(case: Case, checkout: Path, arguments: Sequence[str]) -> Row:
    """Return the case's own row, measured in a new process by the benchmarks and the library of a checkout."""
    command = [sys.executable, "-m", "benchmarks", "--only", case.name, "--here", "--json", "-", *arguments]
    if _ALONE in (checkout / "benchmarks" / "__main__.py").read_text(encoding="utf-8"):
        command.append(_ALONE)  # older ones measure other software beside it, which takes longer
    paths = [str(checkout / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(  # noqa: S603 - runs itself
        command, capture_output=True, text=True, check=False, cwd=checkout, env=environment
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return Row(name=case.name, what=case.what, note=lines[-1] if lines else f"exit code {done.returncode}")
    return Row.from_dict(json.loads(done.stdout)["rows"][0])


def _shortest(rows: Sequence[Row]) -> float | None:
    return min((row.best for row in rows if row.best is not None), default=None)


def compare(case: Case, other: Path, arguments: Sequence[str]) -> Comparison:
    """Return the shortest times of both versions over rounds in which they take turns.

    Other work on the machine only makes runs longer, so the shortest is what they are compared by; a case that seems
    slower is measured for more rounds before that is believed.
    """
    before: list[Row] = []
    after: list[Row] = []
    while True:
        before.append(_measured(case, other, arguments))
        after.append(_measured(case, _ROOT, arguments))
        result = Comparison(
            case.name, _shortest(before), _shortest(after), len(after), after[-1].note or before[-1].note
        )
        if result.ratio is None or len(after) >= (_MOST_ROUNDS if result.is_slower else _ROUNDS):
            return result
