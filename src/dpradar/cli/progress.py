"""A progress bar for people at a terminal; a log or a pipe gets the answer only."""

from __future__ import annotations

import shlex
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["bar", "repeat_command"]


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function (done, total) that moves the bar, or None when nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


def repeat_command(seed: int | None) -> str:
    """Return the command line that gives this result again: the one typed, with the seed that was used."""
    root = click.get_current_context().find_root()
    given: list[Any] = list((root.obj or {}).get("given", []))
    if seed is not None and not any(str(word).startswith("--seed") for word in given):
        given += ["--seed", seed]
    return shlex.join(["dpradar", *map(str, given)])
