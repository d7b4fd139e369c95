"""Progress of long work: a bar at a terminal, elsewhere a line on standard error every few seconds."""

from __future__ import annotations

import os
import shlex
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from ..params import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Progress", "is_quiet", "new_quiet_option", "quiet_option", "repeat_command", "show_progress"]

INTERVAL = "DPRADAR_PROGRESS_SECONDS"  # an environment variable
_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BEFORE_BAR = 0.5  # quick commands show no bar, and do not import what draws it
_SECONDS_BETWEEN_DRAWINGS = 0.1
_LONGEST_TEXT = 160
_QUIET = f"{__name__}.quiet"  # a key of click's context


def _store_quiet(context: click.Context, _: click.Parameter, quiet: bool) -> None:
    context.meta[_QUIET] = quiet


# Not among the options that a command receives: those describe its question.
_QUIET_SETTINGS: dict[str, Any] = {
    "is_flag": True,
    "expose_value": False,
    "callback": _store_quiet,
    "help": "Do not show progress. Errors and results are still printed.",
}
quiet_option = click.option("--quiet", **_QUIET_SETTINGS)


def new_quiet_option() -> click.Option:
    """Return the option --quiet, for a command that is built from a list of options."""
    return click.Option(["--quiet"], **_QUIET_SETTINGS)


def is_quiet() -> bool:
    """Return whether the running command was given --quiet."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_QUIET))


class Progress:
    """How far the work of a command is: written by the work, read by the thread that shows it."""

    def __init__(self, command: str) -> None:
        self.command = command
        self._text = ""
        self.counts: tuple[int, int] | None = None
        self._start = time.monotonic()

    def describe(self, text: str) -> None:
        """Set what is being computed."""
        self._text = text  # it is made visible when it is shown, which happens far less often

    @property
    def text(self) -> str:
        """What is being computed, as it can be shown."""
        text = self._text
        return visible(text) if len(text) <= _LONGEST_TEXT else f"{visible(text[:_LONGEST_TEXT])}..."

    def count(self, done: int, total: int) -> None:
        """Set how many units of work are done."""
        self.counts = (done, total)

    def line(self) -> str:
        """Return one line: the command, what is being computed, how far it is, and the time since the start.

        Examples
        --------
        >>> progress = Progress("attack")
        >>> progress.count(20_000, 100_000)
        >>> progress.line()
        'attack: 20,000 of 100,000 (0 s elapsed)'
        """
        counts = self.counts
        parts = [self.command, self.text, "" if counts is None else f"{counts[0]:,} of {counts[1]:,}"]
        return f"{': '.join(filter(None, parts))} ({time.monotonic() - self._start:.0f} s elapsed)"


@contextmanager
def show_progress(command: str) -> Iterator[Progress]:
    """Show on standard error how far the work is, until it ends.

    In a thread of its own, because one step of the work may take minutes.
    """
    progress = Progress(command)
    if is_quiet() or sys.stderr is None:
        yield progress
        return
    ended = threading.Event()
    show = _draw_bar if sys.stderr.isatty() else _write_lines
    thread = threading.Thread(target=show, args=(progress, ended), daemon=True)
    thread.start()
    try:
        yield progress
    finally:
        ended.set()
        thread.join()


def _write_lines(progress: Progress, ended: threading.Event) -> None:
    seconds = _interval()
    with suppress(OSError, ValueError):  # of a standard error that is closed or full: the work goes on
        while not ended.wait(seconds):
            click.echo(progress.line(), err=True)


def _interval() -> float:
    """Return the seconds between two lines."""
    try:
        seconds = float(os.environ.get(INTERVAL, _SECONDS_BETWEEN_LINES))
    except ValueError:
        return _SECONDS_BETWEEN_LINES
    return seconds if 0.0 < seconds < threading.TIMEOUT_MAX else _SECONDS_BETWEEN_LINES


def _draw_bar(progress: Progress, ended: threading.Event) -> None:
    if ended.wait(_SECONDS_BEFORE_BAR):
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    def text() -> str:
        return ": ".join(filter(None, [progress.command, progress.text]))

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with suppress(OSError, ValueError), Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(text(), total=None)
        while not ended.wait(_SECONDS_BETWEEN_DRAWINGS):
            done, total = progress.counts or (0, None)
            bar.update(task, description=text(), completed=done, total=total)


def repeat_command(seed: int | None) -> str:
    """Return the command line that gives this result again: the one typed, with the seed that was used."""
    root = click.get_current_context().find_root()
    arguments: list[Any] = list((root.obj or {}).get("arguments", []))
    if seed is not None and not any(str(word).startswith("--seed") for word in arguments):
        arguments += ["--seed", seed]
    return shlex.join(["dpradar", *map(str, arguments)])
