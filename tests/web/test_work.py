"""Work is bounded: in seconds, in memory, in how much waits; it shows how far it is, and can be stopped."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from dpradar.web.work import tasks
from dpradar.web.work.job_queue import JobQueue, QueueFull, QueueLimits
from dpradar.web.work.worker_process import WorkerMessage, WorkerProcess

from .conftest import explorer, sent

LONG = "/attack?mode=attack&kind=oue&m=1000&epsilon=1&trials=10000000&seed=1&run=1"
SLOW = "/assess?kind=laplace&scale=10&values=0:2900&knowledge=everything&goal=exact"


def _until(client, address, pattern, seconds=30.0):
    """Return the page once it shows something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = client.get(address)
        if re.search(pattern, got.text):
            return got
        time.sleep(0.1)
    raise AssertionError(f"no {pattern} in {seconds} seconds: {got.text[-2000:]}")


def _field(text, name):
    return re.search(rf'name="{name}" value="([^"]*)"', text).group(1)


def test_a_long_job_shows_progress_stops_and_goes_on(client):
    sent(client, LONG)
    page = _until(client, LONG, r'<progress[^>]* value="0\.\d+"')
    assert re.search(r"[\d,]+ of 10,000,000 trials", page.text)
    assert '<meta http-equiv="refresh" content="1">' in page.text
    form = {"job": _field(page.text, "job"), "address": LONG.partition("?")[2]}
    stopped = client.post("/attack/stop", data=form)
    assert stopped.status_code == 200
    assert "interrupted after" in stopped.text
    assert "Run to the end" in stopped.text
    result = json.loads(client.get(f"/attack/result.json?{stopped.url.query.decode()}").text)
    assert 0 < result["trials"] < result["asked"] == 10_000_000
    again = client.post("/attack/again", data={**form, "job": _field(stopped.text, "job")})
    assert "data-running" in again.text
    client.post("/attack/stop", data={**form, "job": _field(again.text, "job")})


def test_what_is_still_computed_has_no_report_yet():
    with explorer(long_workers=1) as client:
        sent(client, LONG)
        got = sent(client, LONG.replace("seed=1", "seed=2"))
        assert "Waiting in the queue" in got.text
        job = _field(got.text, "job")
        done = client.post("/attack/stop", data={"job": job, "address": LONG.partition("?")[2]})
        assert "data-running" not in done.text
        assert "run=1" not in str(done.url)


def test_what_takes_too_long_is_refused_with_a_reason_and_a_way_out():
    with explorer(quick_seconds=0.3, quick_workers=1) as client:
        got = sent(client, SLOW)
        assert got.status_code == 422
        assert "takes longer than 0.3 seconds" in got.text
        assert "dpradar assess laplace --scale 10.0 --values 0:2900" in got.text
        assert client.get("/assess?kind=grr&m=3&epsilon=1").status_code == 200  # answered by a new worker


def test_a_worker_that_dies_is_replaced():
    with explorer(quick_workers=1, quick_seconds=60.0) as client:
        assert client.get("/assess").status_code == 200
        queue = _desk(client)
        queue.quick.workers[0]._process.kill()
        _until(client, "/assess?kind=grr&m=7&epsilon=1", 'class="lead"')


def _desk(client):
    app = client.app.app
    handler = next(route.endpoint for route in app.routes if route.path == "/")
    return handler.__self__.queue


def test_when_too_much_waits_more_is_refused_and_the_server_goes_on():
    async def work():
        queue = JobQueue(QueueLimits(quick_workers=1, quick_waiting=3))
        for number in range(3):
            queue.submit("assess", {"number": number})
        same = queue.submit("assess", {"number": 1})
        assert same is queue.submit("assess", {"number": 1})
        with pytest.raises(QueueFull):
            queue.submit("assess", {"number": 4})

    asyncio.run(work())


def test_a_question_that_was_given_up_is_asked_anew():
    async def work():
        queue = JobQueue(QueueLimits())
        first = queue.submit("calibrate", {"number": 1}, long=True)
        first.state = "running"
        queue.stop(first)
        again = queue.submit("calibrate", {"number": 1}, long=True)
        assert again is not first
        first.finish("stopped")
        assert queue.submit("calibrate", {"number": 1}, long=True) is again

    asyncio.run(work())


def test_a_job_that_was_stopped_by_hand_is_not_begun_anew_while_it_ends():
    async def work():
        queue = JobQueue(QueueLimits())
        first = queue.submit("attack", {"number": 1}, long=True)
        first.state = "running"
        queue.stop(first, keep_partial=True)
        assert queue.submit("attack", {"number": 1}, long=True) is first
        first.finish("done")
        assert queue.submit("attack", {"number": 1}, long=True) is first
        queue.forget(first)
        assert queue.submit("attack", {"number": 1}, long=True) is not first

    asyncio.run(work())


def test_a_job_that_had_to_be_ended_is_not_begun_anew_by_the_page_that_asks_how_far_it_is():
    async def work():
        queue = JobQueue(QueueLimits())
        first = queue.submit("attack", {"number": 1}, long=True)
        first.state = "running"
        queue.stop(first, keep_partial=True)
        first.finish("stopped")
        assert queue.submit("attack", {"number": 1}, long=True) is first
        first.ended_at -= 60.0  # a minute later it is a new question
        assert queue.submit("attack", {"number": 1}, long=True) is not first

    asyncio.run(work())


def test_a_whole_answer_is_not_called_partial_because_someone_left(client):
    address = "/assess?kind=grr&m=11&epsilon=1"
    queue = _desk(client)
    page = client.get(address)
    for job in queue._jobs.values():
        job.stopping = job.finished
    assert client.get(address).text == page.text


def test_extreme_numbers_get_an_answer_or_a_message(client):
    for query in (
        "kind=laplace&who=worst&times=1000000000",
        "kind=dpsgd&noise_multiplier=1e300",
        "kind=grr&epsilon=1e300",
    ):
        got = client.get(f"/assess?{query}")
        assert got.status_code in (200, 400)
        assert "Internal error" not in got.text


def test_old_results_are_forgotten():
    async def work():
        queue = JobQueue(QueueLimits(kept_jobs=5, kept_bytes=1_000))
        jobs = [queue.submit("assess", {"number": number}) for number in range(20)]
        for job in jobs:
            job.result = {"json": "x" * 100}
            job.finish("done")
        queue.submit("assess", {"number": 100})
        assert [queue.find(job.key) is job for job in jobs] == [False] * 16 + [True] * 4

    asyncio.run(work())


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system has no limit to set")
def test_memory_of_a_worker_is_bounded():
    code = "from dpradar.web.work.worker_process import _limit_memory; _limit_memory(); bytearray(2**32)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip().endswith("MemoryError")


def test_a_worker_outlives_what_goes_wrong_in_it():
    worker = WorkerProcess()
    try:
        worker.start()
        assert _said(worker).kind == "ready"
        worker.send_task("nothing of the sort", {})
        assert _said(worker) == WorkerMessage("bug", "KeyError")
        worker.send_task("assess", {"question": {"kind": "grr", "m": 6, "epsilon": -1.0}})
        assert _said(worker).kind == "bad"
        worker.send_task("assess", {"question": {"kind": "grr", "m": 6, "epsilon": 1.0}})
        assert _said(worker).kind == "done"
    finally:
        worker.end()
    assert not worker.alive
    assert worker.receive(0.0) == WorkerMessage("ended")


def _said(worker):
    for _ in range(300):
        heard = worker.receive(0.2)
        if heard is not None and heard.kind != "progress":
            return heard
    raise AssertionError("silence")


def test_no_task_touches_files_or_runs_code(monkeypatch, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("0.5,0.5\n")
    for options in ({"prior": f"@{secret}"}, {"values": f"@{secret}"}, {"records": str(secret)}):
        with pytest.raises(ValueError, match="No file is read here"):
            tasks.TASKS["assess"]({"question": {"kind": "grr", "m": 2, "epsilon": 1.0, **options}}, lambda *_: None)
    with pytest.raises(ValueError, match="No file is read here"):
        tasks.TASKS["assess"]({"question": {"kind": "channel", "matrix": str(secret)}}, lambda *_: None)
    with pytest.raises(ValueError, match="No file is read here"):
        tasks.TASKS["assess"]({"question": {"kind": "register", "file": str(secret)}}, lambda *_: None)


@pytest.mark.parametrize("number", [200])
def test_200_requests_at_once_leave_the_server_alive(served, number):
    async def ask():
        async with httpx2.AsyncClient(
            base_url=served, timeout=120.0, limits=httpx2.Limits(max_connections=number)
        ) as one:
            addresses = [f"/assess?kind=grr&m={20 + i}&epsilon=1" for i in range(number)]
            answers = await asyncio.gather(*(one.get(address, follow_redirects=True) for address in addresses))
            after = await one.get("/assess?kind=oue&m=10&epsilon=1", follow_redirects=True)
            return [answer.status_code for answer in answers], after

    statuses, after = asyncio.run(ask())
    assert set(statuses) <= {200, 503}
    assert statuses.count(200) >= 100
    assert after.status_code == 200
    assert 'class="lead"' in after.text


@pytest.mark.parametrize(
    "request_text",
    [
        b"GET /assess?prior=" + b"1," * 5_000_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST /attack HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10000000\r\n\r\n" + b"x" * 10_000_000,
        b"POST /attack HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        + (b"10000\r\n" + b"x" * 65_536 + b"\r\n") * 40,
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X-Much: 1\r\n" * 100_000,
        b"\x16\x03\x01\x00\xa5 not HTTP at all\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
    ],
    ids=["10^7-character prior", "10 MB body", "chunks", "headers", "nonsense", "no host"],
)
def test_large_and_broken_requests_leave_the_server_alive(served, request_text):
    address = urlsplit(served)
    with socket.create_connection((address.hostname, address.port), timeout=20.0) as connection:
        with suppress(ConnectionError):  # the server may hang up before it has read everything
            connection.sendall(request_text)
        answer = b""
        with suppress(ConnectionError, TimeoutError):
            while b"\r\n" not in answer and (more := connection.recv(4096)):
                answer += more
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    assert httpx2.get(f"{served}/", timeout=20.0).status_code == 200
