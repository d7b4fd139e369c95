"""Requests to the explorer on the loopback address: broken headers, methods, queries, bodies."""

from __future__ import annotations

import functools
import re
import socket
import threading
import time
from typing import TYPE_CHECKING

from ..verdicts import FINE, Question, Verdict
from ..written import Body

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

PATHS = (
    "/",
    "/assess",
    "/calibrate",
    "/compare",
    "/attack",
    "/audit",
    "/assess/result.json",
    "/assess/report.html",
    "/static/style.css",
    "/nothing",
)
FIELDS = (
    "kind",
    "m",
    "epsilon",
    "delta",
    "scale",
    "sigma",
    "values",
    "prior",
    "who",
    "goal",
    "within",
    "knowledge",
    "known",
    "neighbours",
    "times",
    "level",
    "quantity",
)
WORDS = ("grr", "laplace", "gaussian", "dp", "oue", "1", "2", "0", "-1", "nan", "inf", "1e308", "9" * 500, "0:3",
    "0:999999999", "uniform", "%ff", "%00", "%", "a" * 2000, "<b>", "'", "é", "exact", "within", "everything",
    "baseline", "worst", "record", "add-remove", "replace-one", "")  # fmt: skip
METHODS = (*("GET",) * 30, "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", "FOO", "")
HEADERS = (
    "Origin: http://[", "Origin: null", "Origin: http://evil.example", "Host: [", "Host: evil.example", "Host:",
    "Referer: http://[::1",
    "Cookie: a=b; =;;", "Content-Length: -1", "Content-Length: 99999999999", "Content-Length: x",
    "Transfer-Encoding: chunked",
    "Accept: */*;q=nan", "Accept-Encoding: gzip;q=9", "Range: bytes=9-1", "Expect: 100-continue",
    "X: " + "y" * 9000, ": empty",
    "Sec-Fetch-Site: cross-site", "If-None-Match: \"",
    "Content-Type: application/x-www-form-urlencoded; charset=\udcff", "HX-Request: true",
)  # fmt: skip


@functools.cache
def server() -> tuple[int, str]:
    """The port of an explorer in a thread, and the start of its paths (a token, where it asks for one)."""
    import inspect

    import uvicorn

    from dpradar.web.app import create_app

    arguments = {"token": "0" * 32} if "token" in inspect.signature(create_app).parameters else {}
    listening = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(uvicorn.Config(create_app(**arguments), log_level="critical", access_log=False, ws="none"))
    threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True).start()
    end = time.monotonic() + 30
    while not running.started and time.monotonic() < end:
        time.sleep(0.05)
    return int(listening.getsockname()[1]), f"/{arguments['token']}" if arguments else ""


class Requests:
    """One request, sent as bytes."""

    name = "requests"

    def prepare(self) -> None:
        """Start the server."""
        server()

    def draw(self, rng: random.Random) -> Question:
        path = rng.choice(PATHS)
        if rng.random() < 0.7:
            pairs = [f"{rng.choice(FIELDS)}={rng.choice(WORDS)}" for _ in range(rng.randrange(6))]
            path += "?" + rng.choice(("&", "&", ";", "&&")).join(pairs)
        headers = [rng.choice(HEADERS) for _ in range(rng.choice((0, 0, 0, 1, 1, 2)))]
        body = "&".join(f"{rng.choice(FIELDS)}={rng.choice(WORDS)}" for _ in range(3)) if rng.random() < 0.3 else ""
        version = rng.choice(("HTTP/1.1",) * 40 + ("HTTP/1.0", "HTTP/9.9", ""))
        return {
            "method": rng.choice(METHODS),
            "path": path,
            "version": version,
            "headers": headers,
            "body": body,
            "token": rng.random() < 0.9,
        }

    def judge(self, question: Question) -> Verdict:
        reply = answered(question)
        status = re.match(rb"HTTP/1\.[01] (\d+)", reply)
        code = int(status.group(1)) if status else 0
        if code >= 500 and code != 503:
            return Verdict("internal", f"status {code}: {reply[-200:]!r}")
        return FINE if code and code < 400 else Verdict("refused", f"status {code}")

    def smaller(self, question: Question) -> Iterator[Question]:
        for i in range(len(question["headers"])):
            yield {**question, "headers": question["headers"][:i] + question["headers"][i + 1 :]}
        if question["body"]:
            yield {**question, "body": ""}
        if "?" in question["path"]:
            yield {**question, "path": question["path"].split("?")[0]}
            first, rest = question["path"].split("?", 1)
            parts = rest.split("&")
            for i in range(len(parts)):
                yield {**question, "path": first + "?" + "&".join(parts[:i] + parts[i + 1 :])}

    def body(self, question: Question, verdict: Verdict) -> Body:
        lines = f"assert not answered({question!r}).startswith(b'HTTP/1.1 500')\n"
        return Body(lines, "from tests.fuzz.families.requests import answered")


def answered(question: Question) -> bytes:
    """Send the request, follow one redirection, and return the reply; nothing where the server hangs up."""
    _, token = server()
    reply = _reply(question, (token if question["token"] else "") + question["path"])
    further = re.search(rb"\r\nlocation: (\S+)", reply[:20_000]) if reply.startswith(b"HTTP/1.1 303") else None
    if further is None:
        return reply
    target = further.group(1).decode("latin-1")
    first = question["path"].partition("?")[0].rpartition("/")[0]
    return _reply(
        {**question, "method": "GET", "body": ""}, target if target.startswith("/") else f"{token}{first}/{target}"
    )


def _reply(question: Question, path: str) -> bytes:
    port, _ = server()
    lines = [f"{question['method']} {path} {question['version']}".strip()]
    if not any(header.startswith("Host:") for header in question["headers"]):
        lines.append(f"Host: 127.0.0.1:{port}")
    lines += question["headers"]
    if question["body"] and not any(header.startswith("Content-Length") for header in question["headers"]):
        lines.append(f"Content-Length: {len(question['body'])}")
    raw = "\r\n".join([*lines, "Connection: close", "", question["body"]]).encode("utf-8", "surrogateescape")
    reply = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=10.0) as connection:
            connection.sendall(raw)
            if (
                "Content-Length: 99999999999" in question["headers"]
                or "Transfer-Encoding: chunked" in question["headers"]
            ):
                connection.shutdown(socket.SHUT_WR)
            while len(reply) < 100_000 and (part := connection.recv(65536)):
                reply += part
    except (ConnectionError, TimeoutError):
        pass
    return reply


FAMILIES = [Requests()]
