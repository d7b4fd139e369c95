"""One explorer for all tests of a run: its workers take a second to start."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient

from dpradar.web.app import create_app
from dpradar.web.work.job_queue import QueueLimits

ADDRESS = "http://127.0.0.1:8765"


@contextmanager
def explorer(**limits):
    """Yield a client of an explorer with limits of its own."""
    with TestClient(create_app(limits=QueueLimits(**limits)), base_url=ADDRESS, follow_redirects=True) as client:
        yield client


def sent(client, address):
    """Return the page of an address whose form was sent, as the button of the page does it: that may start work."""
    path, _, query = address.partition("?")
    return client.post(path, content=query)


@pytest.fixture(scope="session")
def client():
    with explorer(quick_seconds=60.0, link_seconds=60.0) as opened:
        yield opened


@pytest.fixture(scope="session")
def served():
    """Yield the address of an explorer behind a real server, in a thread."""
    import socket
    import threading
    import time

    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(), log_level="critical", access_log=False, ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(20.0)
