"""``dpradar serve`` as people start it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys

import httpx2
import pytest
from click.testing import CliRunner

from dpradar.cli.main import app
from dpradar.errors import MissingExtra, ParameterError

_PRINTED = re.compile(r"dpradar explorer: (http://\S+)\n")


def _started(*options):
    command = [sys.executable, "-m", "dpradar", "serve", "--port", "0", *options]
    settings = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=settings)


def test_it_serves_this_machine_until_it_is_interrupted():
    served = _started()
    try:
        address = _PRINTED.fullmatch(served.stdout.readline()).group(1)
        assert address.startswith("http://127.0.0.1:")
        got = httpx2.get(f"{address}assess?kind=grr&m=10&epsilon=1", follow_redirects=True, timeout=60.0)
        assert 'class="lead"' in got.text
        assert "server" not in got.headers
        served.send_signal(signal.SIGINT)
        assert served.wait(20.0) == 0
        assert "Traceback" not in served.stderr.read()
    finally:
        served.kill()
        served.communicate()


@pytest.mark.parametrize("options", [["--host", "0.0.0.0"], []])  # noqa: S104 - what is tested
def test_it_asks_for_a_token_on_this_machine_too(options):
    served = _started(*options)
    try:
        address = _PRINTED.fullmatch(served.stdout.readline()).group(1)
        port, token = re.fullmatch(r"http://[\d.]+:(\d+)/([\w-]{32})/", address).groups()
        local = f"http://127.0.0.1:{port}"
        assert httpx2.get(f"{local}/assess", timeout=60.0).status_code == 403
        assert httpx2.get(f"{local}/{token}/", timeout=60.0).status_code == 200
    finally:
        served.kill()
        served.communicate()


def test_tokens_differ():
    seen = set()
    for _ in range(2):
        served = _started()
        seen.add(_PRINTED.fullmatch(served.stdout.readline()).group(1).split("/")[-2])
        served.kill()
        served.communicate()
    assert len(seen) == 2


def test_a_port_that_is_taken_is_explained():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = CliRunner().invoke(app, ["serve", "--port", str(taken.getsockname()[1])])
    assert isinstance(done.exception, ParameterError)
    assert "an address that is free" in str(done.exception)
    assert "--port 0" in str(done.exception)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--port", "99999"], "at most 65535"),
        (["--port", "-1"], "at least 0"),
        (["--host", "no.such.name.invalid"], "an address that is free"),
    ],
)
def test_bad_addresses_are_explained(options, message):
    done = CliRunner().invoke(app, ["serve", *options])
    assert isinstance(done.exception, ParameterError)
    assert message in str(done.exception)


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = CliRunner().invoke(app, ["serve"])
    assert isinstance(done.exception, MissingExtra)
    assert 'pip install "dpradar[web]"' in str(done.exception)


def test_the_command_loads_no_server():
    code = "import sys, dpradar.web.serve; print([m for m in ('starlette', 'uvicorn', 'jinja2') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
