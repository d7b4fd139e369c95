"""The command line, in this process: quick enough for thousands of calls."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

from .verdicts import OutOfTime

BUG = 1


@dataclass(frozen=True)
class Outcome:
    """Exit code, what was printed, and the exception that escaped, if one did."""

    code: int
    out: str
    err: str
    escaped: str = ""

    @property
    def is_bug(self) -> bool:
        """Whether it ended as only a bug of dpradar does."""
        return self.code == BUG or bool(self.escaped)

    @property
    def shown(self) -> str:
        """What happened, in a line."""
        return f"exit {self.code}: {self.escaped or self.err.strip()[-300:]}"


def called(arguments: list[str], folder: Path) -> Outcome:
    """Run ``dpradar`` with these arguments in a folder."""
    from dpradar.cli.main import main

    out, err = _Text(), _Text()
    code, escaped, before = 0, "", Path.cwd()
    hook = sys.excepthook
    try:
        os.chdir(folder)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except (OutOfTime, MemoryError):
        raise
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        code, escaped = BUG, f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
    finally:
        sys.excepthook = hook
        os.chdir(before)
    return Outcome(code, out.text, err.text, escaped)


class _Text(io.TextIOWrapper):
    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="surrogateescape", write_through=True)

    @property
    def text(self) -> str:
        self.flush()
        raw = self.buffer.getvalue()  # type: ignore[attr-defined]
        return str(raw.decode("utf-8", "replace"))
