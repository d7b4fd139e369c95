"""Read files named by a user: no devices, and never more than a limit, whatever the compression.

Every reason against a file is an OSError, so that callers word all of them the same way, by ``errors.why_unreadable``.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import zlib
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, BinaryIO, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["MOST_BYTES", "MOST_LINE", "MOST_RATIO", "MOST_TABLE", "open_table", "read_text"]

MOST_BYTES = 100_000_000  # of a file that is read as a whole: a saved result, a register
MOST_TABLE = 4_000_000_000  # of a file that is read line by line
MOST_LINE = 64_000_000  # of one line, which is read as a whole
MOST_RATIO = 200  # how much larger a compressed table may become; tables of random bits reach about 30
_SMALL = 64_000_000  # a compressed table that becomes no larger is read in any case
_BLOCK = 1 << 20


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Return a file of text in UTF-8 that has at most ``most`` bytes; OSError or UnicodeDecodeError where it is none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "a.txt"
    ...     _ = file.write_text("some text")
    ...     read_text(file)
    ...     read_text(file, most=4)
    Traceback (most recent call last):
        ...
    OSError: [Errno 27] It has more than 4 bytes
    """
    with _open_file(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise _too_large(f"It has more than {most:,} bytes")
    return data.decode("utf-8-sig")


@contextmanager
def open_table(path: Path) -> Iterator[TextIO]:
    """Open a file of text in UTF-8, which may be compressed by gzip, to be read line by line within the limits.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "bomb.csv.gz"
    ...     _ = file.write_bytes(gzip.compress(bytes(70_000_000)))
    ...     with open_table(file) as lines:
    ...         next(lines)
    Traceback (most recent call last):
        ...
    OSError: [Errno 27] Its text has more than 64,000,000 bytes
    """
    with ExitStack() as stack:
        file: BinaryIO = stack.enter_context(_open_file(path))
        most = MOST_TABLE
        if path.name.lower().endswith(".gz"):
            most = min(most, max(_SMALL, MOST_RATIO * os.fstat(file.fileno()).st_size))
            file = stack.enter_context(gzip.GzipFile(fileobj=file))  # type: ignore[assignment]
        bounded = io.BufferedReader(_Bounded(file, most), _BLOCK)
        text = stack.enter_context(io.TextIOWrapper(bounded, encoding="utf-8-sig", newline=""))
        try:
            yield text
        except (EOFError, zlib.error):
            raise OSError(errno.EIO, "Its content is damaged") from None


def _open_file(path: Path) -> BinaryIO:
    """Return an open file, unless it is a device other than a terminal: those have no end."""
    try:
        file = path.open("rb")
    except ValueError as error:  # a null character in its name
        raise OSError(errno.EINVAL, str(error).capitalize()) from None
    mode = os.fstat(file.fileno()).st_mode
    if (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and not file.isatty():
        file.close()
        raise OSError(errno.EINVAL, "It is a device, not a file")
    return file


def _too_large(reason: str) -> OSError:
    return OSError(errno.EFBIG, reason)


class _Bounded(io.RawIOBase):
    """The bytes of a file, of which there may be ``most``, and MOST_LINE without a new line."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        super().__init__()
        self._file, self._most, self._total, self._line = file, most, 0, 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read some bytes, or raise OSError when there are too many."""
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._total += len(data)
        last = data.rfind(b"\n")
        self._line = self._line + len(data) if last < 0 else len(data) - last - 1
        if self._total > self._most:
            raise _too_large(f"Its text has more than {self._most:,} bytes")
        if self._line > MOST_LINE:
            raise _too_large(f"It has a line of more than {MOST_LINE:,} bytes")
        return len(data)
