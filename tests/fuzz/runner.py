"""The run: families in turn, one core, until the time is up; then a table."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
SHRINKING = 60.0
KINDS = ("fine", "refused", "loose", "too loose", "unsafe", "internal", "abandoned")


class Worker:
    """A process that judges cases of one family; ended and started anew where it does not answer."""

    def __init__(self, family: str, seed: int, seconds: float, source: Path | None = None) -> None:
        self.command = [sys.executable, "-m", "tests.fuzz.worker", family, str(seed), str(seconds)]
        self.seconds = seconds
        folders = [str((source or ROOT) / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
        one_core = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
        self.environment = {**os.environ, **one_core, "PYTHONPATH": os.pathsep.join(folders)}
        self.process: subprocess.Popen[str] | None = None

    def ask(self, index: int) -> dict[str, Any]:
        """Judge one case."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, cwd=ROOT, env=self.environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        stdin, stdout = self.process.stdin, self.process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the worker has no pipes")
        stdin.write(f"{index}\n")
        stdin.flush()
        line = _line(stdout, self.seconds * 2 + SHRINKING)
        if line:
            return dict(json.loads(line))
        self.close()
        return {"index": index, "kind": "abandoned", "message": "the process ended or did not answer"}

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def _line(stream: IO[str], seconds: float) -> str:
    ready, _, _ = select.select([stream], [], [], seconds)
    return stream.readline() if ready else ""


@dataclass
class Tally:
    """What one family came to."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[dict[str, Any]] = field(default_factory=list)
    loose: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    index: int = 0

    @property
    def cases(self) -> int:
        """How many were judged."""
        return sum(self.counts.values())


@dataclass
class Run:
    """A run over some families."""

    seed: int
    families: list[str]
    seconds_per_case: float = 20.0
    source: Path | None = None
    out: Path = ROOT / "build" / "fuzz"
    most_findings: int = 20  # per family that are made shorter and written
    tallies: dict[str, Tally] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)

    def over(self, minutes: float, round_seconds: float) -> None:
        """Ask all families for so long: each gets the same time, in as many rounds as have about this length."""
        end = self.started + 60.0 * minutes
        rounds = max(1, round(60.0 * minutes / (len(self.families) * round_seconds)))
        turns = self.families * rounds
        for place, name in enumerate(turns):
            self.turn(name, max(0.0, end - time.monotonic()) / (len(turns) - place))

    def turn(self, family: str, seconds: float, most: int | None = None) -> None:
        """Ask questions of one family for so long, or so many."""
        tally = self.tallies.setdefault(family, Tally())
        worker = Worker(family, self.seed, self.seconds_per_case, self.source)
        end, started, last = time.monotonic() + seconds, time.monotonic(), tally.index + (most or sys.maxsize)
        try:
            while tally.index < last and (time.monotonic() < end or most is not None):
                self._count(family, worker.ask(tally.index))
                tally.index += 1
        finally:
            worker.close()
            tally.seconds += time.monotonic() - started

    def _count(self, family: str, reply: dict[str, Any]) -> None:
        tally = self.tallies[family]
        tally.counts[reply["kind"]] += 1
        if reply["kind"] == "loose":
            tally.loose = sorted([*tally.loose, reply], key=lambda one: len(str(one["question"])))[:3]
        if "test" not in reply:
            return
        tally.findings.append(reply)
        if len(tally.findings) <= self.most_findings:
            after = time.monotonic() - self.started
            print(f"{after:.0f} s, {family} {reply['index']}, {reply['kind']}: {reply['message'][:300]}", flush=True)
            self.out.mkdir(parents=True, exist_ok=True)
            name = f"test_{family.replace('-', '_')}_{self.seed}_{reply['index']}.py"
            (self.out / name).write_text(reply["test"], encoding="utf-8")

    def table(self) -> str:
        """The counts of every family."""
        lines = [f"{'family':<14}{'cases':>8}" + "".join(f"{kind:>11}" for kind in KINDS) + f"{'seconds':>9}"]
        for name, tally in self.tallies.items():
            counts = "".join(f"{tally.counts[kind]:>11}" for kind in KINDS)
            lines.append(f"{name:<14}{tally.cases:>8}{counts}{tally.seconds:>9.0f}")
        return "\n".join(lines)

    @property
    def findings(self) -> list[dict[str, Any]]:
        """All findings."""
        return [one for tally in self.tallies.values() for one in tally.findings]
