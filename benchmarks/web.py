"""How long the explorer takes to answer: the assess screen, one answer after the other, nothing from memory."""

from __future__ import annotations

import atexit
import http.client
import itertools
import os
import statistics
import subprocess
import sys
import time
from functools import cache, partial
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from dpradar.spec import KINDS

from .measure import Case

if TYPE_CHECKING:
    from .measure import Work

__all__ = ["CASES", "WATCHED"]

_GOAL = 0.15
_TOGETHER = 15  # responses in one measurement; seven of them are a hundred
_SHIFT = 1e-4  # every question is a new one, because answers are kept


@cache
def _server() -> tuple[http.client.HTTPConnection, str]:
    """Return a connection to an explorer in a process of its own, and what its paths begin with."""
    command = [sys.executable, "-m", "dpradar", "serve", "--port", "0"]
    hidden = {**os.environ, "PYTHONUNBUFFERED": "1"}
    served = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=hidden)  # noqa: S603 - ourselves
    atexit.register(served.terminate)
    line = served.stdout.readline() if served.stdout is not None else ""
    address = urlsplit(line.split()[-1])
    connection = http.client.HTTPConnection(address.netloc, timeout=120.0)
    _get(connection, f"{address.path}assess")  # its workers are ready
    return connection, address.path


def _get(connection: http.client.HTTPConnection, address: str) -> bytes:
    connection.request("GET", address)
    response = connection.getresponse()
    body = response.read()
    if response.status != 200:
        message = f"{address} gave {response.status}"
        raise RuntimeError(message)
    return body


def _fields(connection: http.client.HTTPConnection, address: str) -> dict[str, str]:
    """Return all fields of the form: an address without some of them leads to the one with all."""
    connection.request("GET", address)
    response = connection.getresponse()
    response.read()
    return dict(parse_qsl(urlsplit(response.headers["Location"]).query))


def _screen(kind: str, further: dict[str, str]) -> Work:
    connection, root = _server()
    pairs = _fields(connection, f"{root}assess?{urlencode({'kind': kind, **further})}")
    noise = KINDS[kind].noise
    numbers = itertools.count(1)

    def address() -> str:
        shift = _SHIFT * next(numbers)
        changed = {} if noise is None else {noise.name: repr(float(pairs[noise.name]) * (1.0 + shift))}
        if kind == "channel":
            changed = {"matrix": f"[[{0.75 - shift}, {0.25 + shift}], [0.25, 0.75]]"}
        if kind == "rdp":
            changed = {"epsilons": f"{0.2 + shift}, {0.4 + shift}, {0.8 + shift}, {1.6 + shift}"}
        return f"{root}assess?{urlencode({**pairs, **changed})}"

    def work() -> float:
        times = []
        for _ in range(_TOGETHER):
            url = address()
            start = time.perf_counter()
            _get(connection, url)
            times.append(time.perf_counter() - start)
        return statistics.median(times)

    return work


CASES = tuple(
    Case(
        name=f"web.{kind}",
        what=f"assess screen of the explorer, {kind}: the page over HTTP, median of 100",
        prepare=partial(_screen, kind, {}),
        seconds=_GOAL,
        self_timed=True,
    )
    for kind, described in KINDS.items()
    if all("form" in option.about.places for option in described.options if option.required)
)
WATCHED = (
    Case(
        name="web.dpsgd.little-noise",
        what="assess screen of the explorer, dpsgd with noise multiplier 1: a finer grid of privacy losses",
        prepare=partial(_screen, "dpsgd", {"noise_multiplier": "1"}),
        self_timed=True,
        level=1,
    ),
)
