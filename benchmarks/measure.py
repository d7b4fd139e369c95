"""What is measured, how, and what came out."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .apart import once

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Case", "Effort", "Peer", "Row", "Work", "measure", "peak_megabytes"]

_ROOT = Path(__file__).resolve().parent.parent
Work = Callable[[], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long to measure: at least ``repeats`` runs; short ones go on for ``seconds``; long ones stop at ``most``.

    Cases of a higher ``level`` are left out. ``longest`` is the limit for peers that take minutes.
    """

    repeats: int = 7
    seconds: float = 0.5
    most: float = 10.0
    level: int = 1
    longest: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another way to the same answer, measured in the same run.

    ``prepare`` sets up and returns the work; it raises ImportError with a hint when the peer is not installed.
    ``agreement`` takes the case's answer and the peer's, and returns how far they are apart. ``power``: an error
    k times smaller costs k^power times as much; the ratio is then extrapolated to the error asked of the case, which
    gives its order of magnitude. ``accuracy`` takes the answers and returns their error, ``remark`` takes the last one
    and returns what to say of it. ``faster``: the case is to be so many times faster.

    A peer with a ``limit`` takes long: it runs once, in a process of its own, and is stopped after so many seconds.
    ``prepare`` then warms up what the work needs, can be pickled, and so can the answer.
    """

    name: str
    prepare: Callable[[], Work]
    agreement: Callable[[Any, Any], float] | None = None
    power: float | None = None
    accuracy: Callable[[Sequence[Any]], float] | None = None
    remark: Callable[[Any], str] | None = None
    faster: float | None = None
    limit: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing to measure and the goal it has, if any.

    ``prepare`` sets up and returns the work; it raises ImportError with a hint when something it needs is missing.
    ``accuracy`` takes the answers of all runs and returns their error. ``fresh`` cases run in a process of their own,
    so that its peak memory is theirs alone. ``self_timed`` work returns the seconds it took. ``remark`` takes the last
    answer and returns what to say of it. Of the cases of one ``group`` the median ratio is told.
    ``level``: 0 measured always, 1 not with --quick, 2 only with --full.
    """

    name: str
    what: str
    prepare: Callable[[], Work]
    seconds: float | None = None
    megabytes: float | None = None
    error: float | None = None
    accuracy: Callable[[Sequence[Any]], float] | None = None
    peers: tuple[Peer, ...] = ()
    fresh: bool = False
    self_timed: bool = False
    remark: Callable[[Any], str] | None = None
    group: str | None = None
    level: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table.

    ``ratio`` is (time of this peer) / (time of the case above it). Time and ratio of a ``stopped`` peer are at least
    those given.
    """

    name: str
    what: str
    seconds: float | None = None
    best: float | None = None
    runs: int = 0
    seconds_goal: float | None = None
    megabytes: float | None = None
    megabytes_goal: float | None = None
    memory_by: str | None = None
    error: float | None = None
    error_goal: float | None = None
    ratio: float | None = None
    ratio_goal: float | None = None
    extrapolated: bool = False
    stopped: bool = False
    group: str | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether every goal is met; None when there is none."""
        pairs = (
            (self.seconds, self.seconds_goal),
            (self.megabytes, self.megabytes_goal),
            (self.error, self.error_goal),
        )
        judged = [value is not None and value < goal for value, goal in pairs if goal is not None]
        if self.ratio is not None and self.ratio_goal is not None:
            if self.stopped and self.ratio < self.ratio_goal:
                return None  # it was stopped too early to tell
            judged.append(self.ratio >= self.ratio_goal)
        return all(judged) if judged else None

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return {**asdict(self), "met": self.met}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Row:
        """Return the row that ``to_dict`` wrote."""
        names = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in names})


def peak_megabytes() -> tuple[float, str]:
    """Return the largest resident memory of this process so far, everything included, and how it was measured.

    ``ru_maxrss`` of a child starts at what its parent held when it was forked, so Linux's own high-water mark of the
    address space is asked first.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) / 1024.0, "VmHWM of a fresh process"
    import resource

    unit = 1024.0**2 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, "ru_maxrss of a fresh process"


def _run(work: Work, effort: Effort, *, self_timed: bool = False) -> tuple[list[float], list[Any]]:
    """Return the seconds and the answers of the runs after one to warm up."""
    work()
    times: list[float] = []
    answers: list[Any] = []
    began = time.perf_counter()
    while True:
        start = time.perf_counter()
        answers.append(work())
        end = time.perf_counter()
        times.append(answers[-1] if self_timed else end - start)
        spent = end - began
        if spent >= effort.most or (len(times) >= effort.repeats and (spent >= effort.seconds or len(times) >= 200)):
            return times, answers


def _in_fresh_process(case: Case, arguments: Sequence[str]) -> list[Row]:
    command = [sys.executable, "-m", "benchmarks", "--only", case.name, "--here", "--json", "-", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=_ROOT)  # noqa: S603 - runs itself
    return [Row.from_dict(row) for row in json.loads(done.stdout)["rows"]]


def measure(case: Case, effort: Effort, *, here: bool, arguments: Sequence[str] = ()) -> list[Row]:
    """Return the row of the case and one for each of its peers."""
    if case.fresh and not here:
        return _in_fresh_process(case, arguments)
    try:
        work = case.prepare()
    except ImportError as missing:
        return [Row(name=case.name, what=case.what, group=case.group, note=f"skipped: {missing}")]
    times, answers = _run(work, effort, self_timed=case.self_timed)
    peak, by = peak_megabytes() if case.fresh else (None, None)
    error = None if case.accuracy is None else case.accuracy(answers)
    own = Row(
        name=case.name,
        what=case.what,
        seconds=statistics.median(times),
        best=min(times),
        runs=len(answers),
        seconds_goal=case.seconds,
        megabytes=peak,
        megabytes_goal=case.megabytes,
        memory_by=by,
        error=error,
        error_goal=case.error,
        group=case.group,
        note="" if case.remark is None else case.remark(answers[-1]),
    )
    return [own, *(_beside(peer, case, own, answers[-1], effort) for peer in case.peers)]


def _beside(peer: Peer, case: Case, own: Row, answer: Any, effort: Effort) -> Row:
    row = Row(name=f"{case.name} / {peer.name}", what=case.what, group=case.group, ratio_goal=peer.faster)
    try:
        if peer.limit is None:
            times, answers = _run(peer.prepare(), effort)
        else:
            limit = min(peer.limit, effort.longest)
            timed = once(peer.prepare, limit)
            if timed is None:
                ratio = limit / (own.seconds or 1e-9)
                return replace(row, seconds=limit, ratio=ratio, stopped=True, note="stopped without an answer")
            times, answers = [timed[0]], [timed[1]]
    except ImportError as missing:
        return replace(row, note=f"skipped: {missing}")
    ratio = statistics.median(times) / (own.seconds or 1e-9)
    error = None if peer.accuracy is None else peer.accuracy(answers)
    notes = [] if peer.remark is None else [peer.remark(answers[-1])]
    if peer.agreement is not None:
        notes.append(f"answers differ by {peer.agreement(answer, answers[-1]):.1g}")
    if peer.power is not None and case.accuracy is not None and case.error is not None:
        error = case.accuracy(answers)
        ratio *= (error / case.error) ** peer.power
        notes.append(f"ratio extrapolated, not measured: an error of {case.error:g} at time ~ error^-{peer.power:g}")
    return replace(
        row,
        seconds=statistics.median(times),
        best=min(times),
        runs=len(answers),
        error=error,
        ratio=ratio,
        extrapolated=peer.power is not None,
        note="; ".join(notes),
    )
