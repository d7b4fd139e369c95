"""Answer many questions, in one process or several."""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from tests.numbers.asking import ask

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["compute", "compute_texts"]


def _asked(name: str) -> tuple[str, dict[str, Any], float]:
    from tests.numbers.questions import QUESTIONS

    start = time.perf_counter()
    return name, ask(QUESTIONS[name]), time.perf_counter() - start


def compute(names: Sequence[str], jobs: int = 1) -> tuple[dict[str, Any], dict[str, float]]:
    """Return the answers to some questions, and the seconds that each took."""
    if jobs == 1:
        answers = [_asked(name) for name in names]
    else:
        # Not a Pool, whose processes may start none themselves: campaigns do.
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            answers = list(pool.map(_asked, names, chunksize=4))
    return {name: answer for name, answer, _ in answers}, {name: seconds for name, _, seconds in answers}


def compute_texts(lines: Sequence[str], jobs: int = 1) -> dict[str, str]:
    """Return what some commands print."""
    from tests.numbers.texts import printed

    if jobs == 1:
        return {line: printed(line) for line in lines}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return dict(zip(lines, pool.map(printed, lines, chunksize=4), strict=True))
