"""A private folder for rows that do not fit in memory, removed when the process ends, however it ends."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError

if sys.platform != "win32":  # no such locks there: what a killed process leaves stays until the system cleans up
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["private_folder"]

_PREFIX = "dpradar-rows-"
_LOCK = "in-use"


@contextmanager
def private_folder() -> Iterator[str]:
    """Give a folder that only this user may read, and remove it: at the end, on SIGTERM, or at the next start.

    A process that is killed cannot clean up. Its lock ends with it, so the next call finds the folder and removes it.
    """
    try:
        _remove_abandoned(Path(tempfile.gettempdir()))
        folder = tempfile.TemporaryDirectory(prefix=_PREFIX)
    except OSError as error:
        problem = error.strerror or "none can be made"
        raise ParameterError(
            "TMPDIR", "a folder for temporary files", problem, "Set it to one that you may write."
        ) from None
    with folder as name, _lock(Path(name)), _exit_on_sigterm():
        yield name


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    with (folder / _LOCK).open("w") as file:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        file.write("locked")  # an empty file is not locked yet
        file.flush()
        yield


def _remove_abandoned(parent: Path) -> None:
    if sys.platform == "win32":
        return
    for lock in parent.glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError), lock.open() as file:  # in use, or somebody else's
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if lock.stat().st_size > 0:
                shutil.rmtree(lock.parent)


@contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end the work as an exception, so that folders are removed; a handler of the program's own stays."""
    handles_signal = (
        threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    )
    if not handles_signal:
        yield
        return

    received: list[int] = []

    def end(number: int, _: Any) -> None:
        received.append(number)
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    except BaseException:
        if received:  # drivers make errors of their own out of what a handler raises
            raise SystemExit(128 + received[0]) from None
        raise
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
