"""All figures and tables, one by one or several at a time: what is finished is kept, what fails is reported."""

from __future__ import annotations

import time
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dpradar.errors import ParameterError
from dpradar.numerics.single_thread import one_thread
from dpradar.numerics.worker_processes import Workers

from .manifest import Manifest, Outcome, digest, sealed
from .paper_figure import Effort

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from concurrent.futures import Future

    from .paper_figure import Bar

    Tell = Callable[[str], None]

__all__ = ["Run", "reproduce_all", "selected", "time_left"]

_BEAT = 60.0  # seconds after which a line says that it goes on
_NO_DATA = "reproduce.data"  # the name of the parameter in the error of a figure that needs a data set


class Run:
    """What was requested and what came of it: outcomes by name, in the order of the figures."""

    def __init__(
        self, names: Sequence[str], outcomes: Mapping[str, Outcome], effort: Effort, data: Path | None
    ) -> None:
        self.names, self.outcomes, self.effort, self.data = tuple(names), dict(outcomes), effort, data

    def state(self, state: str) -> list[str]:
        """Return the names of the figures in a state: done, left out or failed."""
        return [name for name in self.names if name in self.outcomes and self.outcomes[name].state == state]


def selected(figures: Iterable[str], only: Sequence[str] = ()) -> list[str]:
    """Return the names that start with one of the given words: sources (``rad``) or single figures (``rad:fig1``).

    Examples
    --------
    >>> selected(["rad:fig1", "rad:fig10", "unify:fig1"], ["rad:fig1", "unify"])
    ['rad:fig1', 'unify:fig1']
    """
    all_names = list(figures)
    sources = list(dict.fromkeys(name.split(":")[0] for name in all_names))
    for word in only:
        if word not in sources and word not in all_names:
            raise ParameterError("only", f"sources ({', '.join(sources)}) or names of figures", repr(word))
    return [name for name in all_names if not only or name in only or name.split(":")[0] in only]


def reproduce_all(
    out: Path,
    data: Path | None = None,
    tell: Tell = lambda _: None,
    *,
    effort: Effort | None = None,
    only: Sequence[str] = (),
) -> Run:
    """Compute every figure and table into the folder ``out``; those that are there already are kept.

    Guarantee
    ---------
    A figure counts as finished only when its files are complete and belong to this version of the code, these
    libraries, this effort and these data sets. Killed at any moment, the next call repeats at most the figures that
    were in progress, and those that keep parts go on where they were. One figure that fails does not stop the others.

    Parameters
    ----------
    out
        The folder to write to; made when missing. It holds one version, quick or full.
    data
        The folder with the data sets. What needs missing data is left out, or computed with named stand-ins.
    tell
        Called with a line of text now and then: what is finished, how long it took, and how much time is left.
    effort
        ``workers`` figures are computed at the same time, in processes of their own; the numbers do not depend on it.
    only
        Sources or names of figures; all of them without it.
    """
    from .durations import expected_seconds
    from .figures import FIGURES

    effort = effort or Effort()
    names = selected(FIGURES, only)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    manifest = Manifest.open(folder, quick=effort.quick)
    mark = digest(effort, data)
    outcomes = {name: outcome for name in names if (outcome := manifest.finished(name, mark)) is not None}
    if outcomes:
        tell(f"{len(outcomes)} of {len(names)} are there already")
    estimates = {name: manifest.seconds(name) or expected_seconds(name, quick=effort.quick) for name in names}
    todo = sorted((name for name in names if name not in outcomes), key=lambda name: -estimates[name])
    progress = _Progress(tell, estimates, todo, len(names), min(effort.workers, max(1, len(todo))))

    def finished(name: str, outcome: Outcome) -> None:
        done = sealed(replace(outcome, digest=mark), folder)
        manifest.add(name, done)
        outcomes[name] = done
        progress.finished(name, done)

    if effort.workers > 1 and len(todo) > 1:
        work = partial(compute, folder=folder, data=data, effort=replace(effort, workers=1))
        _several(todo, effort.workers, work, finished, progress.beat)
    else:
        for name in todo:
            finished(name, compute(name, folder, data, effort, progress.bar(name)))
    return Run(names, outcomes, effort, data)


def compute(name: str, folder: Path, data: Path | None, effort: Effort, bar: Bar | None = None) -> Outcome:
    """Return what came of one figure; whatever goes wrong in it is part of the answer."""
    from .figures import reproduce

    lines: list[str] = []
    start = time.perf_counter()
    try:
        with one_thread():
            files = reproduce(name, folder, data, lines.append, effort=effort, bar=bar)
    except ParameterError as error:
        missing = error.name == _NO_DATA
        text = f"needs {error.allowed}. {error.hint}" if missing else str(error)
        state = "left out" if missing else "failed"
        return Outcome(state, time.perf_counter() - start, told=tuple(lines), error=text)
    except Exception as error:  # one figure that fails does not stop the others
        text = f"{type(error).__name__}: {error}"
        return Outcome("failed", time.perf_counter() - start, told=tuple(lines), error=text)
    return Outcome("done", time.perf_counter() - start, tuple(file.name for file in files), tuple(lines))


def _several(
    todo: Sequence[str],
    workers: int,
    work: Callable[[str], Outcome],
    finished: Callable[[str, Outcome], None],
    beat: Callable[[Iterable[str]], None] = lambda _: None,
) -> None:
    """Compute figures in processes, so many at a time; those in progress when a process dies are tried again alone."""
    lost = _pool(todo, workers, work, finished, beat)
    for name in lost:
        if _pool([name], 1, work, finished, beat):
            finished(name, Outcome("failed", 0.0, error="its process ended without an answer; not enough memory?"))


def _pool(
    todo: Sequence[str],
    workers: int,
    work: Callable[[str], Outcome],
    finished: Callable[[str, Outcome], None],
    beat: Callable[[Iterable[str]], None],
) -> list[str]:
    """Return the names that came to no answer because a process died."""
    waiting = list(todo)
    running: dict[Future[Outcome], str] = {}
    pool = Workers(workers)
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                running[pool.submit(work, waiting[0])] = waiting[0]
                waiting.pop(0)
            done = wait(running, _BEAT, FIRST_COMPLETED).done
            if not done:
                beat(running.values())
            for future in done:
                finished(running[future], future.result())
                del running[future]
    except BrokenProcessPool:
        return [*running.values(), *waiting]
    finally:
        pool.stop()
    return []


class _Progress:
    """Lines about what is finished and how much time is left."""

    def __init__(
        self, tell: Tell, estimates: Mapping[str, float], todo: Sequence[str], total: int, workers: int
    ) -> None:
        self.tell, self.estimates, self.left, self.total, self.workers = tell, estimates, list(todo), total, workers
        self.spent = self.expected = 0.0
        if todo:
            tell(f"{len(todo)} to compute, {time_left(self._seconds())}")

    def _seconds(self) -> float:
        # What was slower or faster than estimated so far will be so again; at first the estimate is all there is.
        pace = (self.spent + 30.0) / (self.expected + 30.0)
        return pace * sum(self.estimates[name] for name in self.left) / self.workers

    def beat(self, running: Iterable[str]) -> None:
        """Say what is being computed."""
        self.tell(f"computing {', '.join(running)}; {time_left(self._seconds())}")

    def bar(self, name: str) -> Bar:
        """Return a function that says how far a figure is, once in a while."""
        last = time.monotonic()

        def moved(done: int, total: int) -> None:
            nonlocal last
            if time.monotonic() - last >= _BEAT:
                last = time.monotonic()
                self.tell(f"computing {name}: {done:,} of {total:,}")

        return moved

    def finished(self, name: str, outcome: Outcome) -> None:
        """Say that a figure is finished."""
        self.left.remove(name)
        if outcome.state == "done":
            self.spent += outcome.seconds
            self.expected += self.estimates[name]
        place = f"[{self.total - len(self.left)}/{self.total}]"
        what = f"{outcome.seconds:.1f} s" if outcome.state == "done" else f"{outcome.state}: {outcome.error}"
        self.tell(f"{place} {name}: {what}" + (f"; {time_left(self._seconds())}" if self.left else ""))


_MINUTE, _HOUR = 60.0, 3600.0


def time_left(seconds: float) -> str:
    """Return a duration in words.

    Examples
    --------
    >>> time_left(20), time_left(400), time_left(9000)
    ('less than a minute left', 'about 7 minutes left', 'about 2.5 hours left')
    """
    if seconds < _MINUTE:
        return "less than a minute left"
    if seconds < 2 * _HOUR:
        minutes = round(seconds / _MINUTE)
        return f"about {minutes} minute{'s' if minutes > 1 else ''} left"
    return f"about {seconds / _HOUR:.1f} hours left"
