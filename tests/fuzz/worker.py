"""The process that asks: one family, one case per line of standard input, one JSON line per answer.

Memory and time are limited here, so that a case that goes wrong cannot take the machine with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

from . import draws
from .shrinking import shortest
from .verdicts import OutOfTime
from .written import module_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .verdicts import Family

MEMORY = 6 << 30
SHRINKING = 5.0  # seconds
MOST_SHRUNK = 3  # findings of a process; the others are written as they are


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in what runs longer."""

    def stop(*_: Any) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def answer(family: Family, seed: int, index: int, seconds: float, *, shrink: bool = True) -> dict[str, Any]:
    """Judge one case; a finding is made shorter and comes with a test."""
    started = time.monotonic()
    question: Any = None
    try:
        with time_limit(seconds):
            question = family.draw(draws.generator(family.name, seed, index))
            verdict = family.judge(question)
    except OutOfTime:
        return {"index": index, "kind": "abandoned", "message": f"more than {seconds:g} s", "question": question}
    except (ArithmeticError, LookupError, ValueError) as error:  # of the twin, which has its limits
        return {"index": index, "kind": "abandoned", "message": f"no reference: {error!r}", "question": question}
    reply = {"index": index, "kind": verdict.kind, "message": verdict.message}
    if not verdict.is_finding:
        return reply if verdict.kind != "loose" else {**reply, "question": question}
    end = time.monotonic() + SHRINKING
    if shrink:
        with (
            contextlib.suppress(OutOfTime, ArithmeticError, LookupError, ValueError),
            time_limit(SHRINKING + seconds),
        ):
            question, verdict = shortest(family, question, verdict, lambda: time.monotonic() < end)
    reply.update(kind=verdict.kind, message=verdict.message, question=question, seconds=time.monotonic() - started)
    body = family.body(question, verdict)
    return {**reply, "test": module_of(family.name, seed, index, verdict.kind, verdict.message, body)}


def main() -> None:
    """Serve the cases that standard input names."""
    from .families.all import FAMILIES

    name, seed, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a command under test prints is no reply
    family = FAMILIES[name]
    family.prepare()
    shrunk = 0
    for line in sys.stdin:
        reply = answer(family, seed, int(line), seconds, shrink=shrunk < MOST_SHRUNK)
        shrunk += "test" in reply
        print(json.dumps(reply, default=repr), file=replies, flush=True)


if __name__ == "__main__":
    main()
