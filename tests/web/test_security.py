"""Who may ask, what every answer carries, and what never leaves."""

from __future__ import annotations

import re
import socket
import threading
import time
from contextlib import contextmanager

import pytest
import uvicorn
from starlette.testclient import TestClient

from dpradar.errors import ParameterError
from dpradar.web import guard
from dpradar.web.app import SCREENS, create_app
from dpradar.web.header_deadline import PunctualProtocol

from .conftest import ADDRESS, explorer, sent

PATHS = ["/", *(f"/{screen.name}" for screen in SCREENS), "/static/app.css", "/static/app.js", "/nothing"]
TOKEN = "a-token-of-many-letters"  # noqa: S105 - of a test


@pytest.mark.parametrize("path", [*PATHS, "/assess?kind=gauss", "/assess?epsilon=x", f"/assess?a={'b' * 9000}"])
def test_every_answer_has_the_headers(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none';")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"
    assert "set-cookie" not in headers
    assert "server" not in headers


def test_the_report_may_use_its_own_style_but_no_script(client):
    policy = client.get("/assess/report.html").headers["content-security-policy"]
    assert "style-src 'unsafe-inline'" in policy
    assert "script-src" not in policy
    assert policy.startswith("default-src 'none';")


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_loaded_from_elsewhere(client, path):
    text = client.get(path).text
    matches = re.findall(r"(?:src|href|action)=\"([^\"]*)\"|url\(([^)]*)\)|@import|fetch\(([^)]*)\)", text)
    links = [link for group in matches for link in group if link]
    assert not [link for link in links if re.match(r"(?:[a-z]+:)?//", link)]
    without_names = text.replace("http://www.w3.org/2000/svg", "")
    assert "http://" not in without_names
    assert "https://" not in without_names


def test_pages_have_no_style_or_script_of_their_own(client):
    for path in PATHS[:6]:
        text = client.get(path).text
        assert " style=" not in text
        assert "<style" not in text
        assert not re.findall(r"\son[a-z]+=", text)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8765", "", "[::1"])
def test_other_names_are_refused(client, host):
    got = client.get("/assess", headers={"host": host})
    assert got.status_code == 421
    assert "h1" not in got.text


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost", "LOCALHOST:1", "[::1]:8765"])
def test_names_of_this_machine_are_known(client, host):
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(client, method):
    assert client.request(method, "/assess").status_code == 405


def test_other_sites_can_only_link_here(client):
    loaded = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    assert client.get("/attack?run=1", headers=loaded).status_code == 403
    framed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}
    assert client.get("/assess", headers=framed).status_code == 403
    linked = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert client.get("/assess", headers=linked).status_code == 200
    assert client.post("/attack/stop", headers=linked).status_code == 403
    assert client.post("/attack/stop", headers={"origin": "http://evil.example"}).status_code == 403
    assert client.post("/attack/stop", headers={"origin": "null"}).status_code == 403
    assert client.post("/attack/stop", headers={"origin": ADDRESS}).status_code == 200
    # Browsers hide the origin of a page without referrer, but say that it is the same.
    same = {"origin": "null", "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate"}
    assert client.post("/attack/stop", headers=same).status_code == 200


def test_going_back_after_a_form_stays_on_the_screen(client):
    got = client.post("/attack/stop", data={"job": "x", "address": "//evil.example/?run=1"}, follow_redirects=False)
    assert got.status_code == 303
    assert got.headers["location"].startswith("../attack?mode=attack&")


@pytest.fixture(scope="module")
def guarded():
    # Not entered: no workers are needed to be turned away, or for the start page.
    return TestClient(create_app(TOKEN, hosts=()), base_url="http://192.0.2.7:8765")


@pytest.mark.parametrize(
    "path",
    ["/", "/assess", "/static/app.css", "/a-token-of-many-letter/", "/a-token-of-many-lettersx/", "/%61/", "/é/"],
)
def test_without_the_token_nothing_is_shown(guarded, path):
    got = guarded.get(path)
    assert got.status_code == 403
    assert TOKEN not in got.text
    assert "Open the address that it printed" in got.text


def test_with_the_token_links_stay_inside(guarded):
    got = guarded.get(f"/{TOKEN}/")
    assert got.status_code == 200
    links = re.findall(r"(?:src|href|action)=\"([^\"]*)\"", got.text)
    assert links
    assert not [link for link in links if link.startswith("/")]
    assert guarded.get(f"/{TOKEN}/static/app.css").status_code == 200
    assert guarded.get(f"/{TOKEN}").url.path == f"/{TOKEN}/"
    moved = guarded.get(f"/{TOKEN}/assess?kind=grr", follow_redirects=False)
    assert moved.headers["location"].startswith("assess?kind=grr&")


def test_any_name_needs_a_token():
    with pytest.raises(ParameterError, match="token"):
        create_app(hosts=())


def test_what_goes_wrong_is_not_told_in_detail(client, monkeypatch, caplog):
    from dpradar.web import app

    def broken(*_, **__):
        raise RuntimeError("secret 4711")

    monkeypatch.setattr(app, "parse_request", broken)
    got = client.get("/assess")
    assert got.status_code == 500
    assert got.text == "Internal error (RuntimeError). Please report it.\n"
    assert "4711" not in caplog.text
    assert "RuntimeError while answering GET" in caplog.text
    assert got.headers["x-content-type-options"] == "nosniff"


# -------------------------------------------------------------------------------------------------- who may start work

LINKED = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
TYPED = {"sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
OFFER = '<button type="submit">Show the answer</button>'


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "http://127.0.0.1:8765]", "http://[evil"])
def test_an_origin_that_cannot_be_read_is_foreign(client, origin):
    assert client.post("/attack/stop", headers={"origin": origin}).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_on_another_site_starts_nothing(client, site):
    before = set(_desk(client)._jobs)
    got = client.get(f"/assess?kind=grr&m=17&epsilon=1.{len(site)}", headers={**LINKED, "sec-fetch-site": site})
    assert got.status_code == 200
    assert OFFER in got.text
    assert 'value="17"' in got.text  # the form is filled in
    assert set(_desk(client)._jobs) == before
    # The button sends what the address says.
    fields = re.search(r'<form class="again".*?</form>', got.text, re.DOTALL).group(0)
    pairs = dict(re.findall(r'name="([^"]*)" value="([^"]*)"', fields))
    answer = client.post("/assess", data=pairs, headers={"sec-fetch-site": "same-origin"})
    assert answer.url == got.url
    assert 'class="lead"' in answer.text
    assert OFFER not in answer.text


@pytest.mark.parametrize("headers", [{}, TYPED, LINKED])
@pytest.mark.parametrize(
    "path", ["/calibrate?kind=grr&m=19&limit=0.1", "/attack?kind=grr&m=19&trials=1000&seed=1&run=1"]
)
def test_long_work_starts_by_a_form_only(client, path, headers):
    before = set(_desk(client)._jobs)
    got = client.get(path, headers=headers)
    assert OFFER in got.text
    query = got.url.query.decode()
    screen = path[1:].partition("?")[0]
    assert client.get(f"/{screen}/result.json?{query}", headers=headers).status_code == 409
    assert set(_desk(client)._jobs) == before


def test_a_form_that_was_sent_starts_its_work_once(client):
    queue = _desk(client)
    got = sent(client, "/attack?kind=grr&m=23&trials=1000&seed=1&run=1")
    for _ in range(200):
        if "data-running" not in got.text:
            break
        got = client.get(str(got.url))
    assert 'class="lead"' in got.text
    assert client.get(str(got.url), headers=LINKED).text == got.text  # what is known may be shown
    queue.forget(next(job for job in reversed(queue._jobs.values()) if job.task == "attack"))
    assert OFFER in client.get(str(got.url)).text


def test_a_link_has_little_time_and_a_form_has_more():
    slow = "/assess?kind=laplace&scale=10&values=0:1200&knowledge=everything&goal=exact"
    with explorer(quick_seconds=60.0, link_seconds=0.0, quick_workers=1) as opened:
        got = opened.get(slow)
        assert got.status_code == 200
        assert OFFER in got.text
        assert 'class="lead"' in sent(opened, slow).text


def _desk(client):
    handler = next(route.endpoint for route in client.app.app.routes if route.path == "/")
    return handler.__self__.queue


# ------------------------------------------------------------------------------------------------------------ deadlines


@contextmanager
def _server(seconds):
    """Yield the port of a server that waits that long for headers."""

    class Impatient(PunctualProtocol):
        pass

    Impatient.seconds = seconds
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(create_app(), http=Impatient, log_level="critical", access_log=False, ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join(20.0)


def _closed(connection):
    connection.settimeout(20.0)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_connections_that_say_nothing_are_closed():
    request = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    with _server(0.5) as port:
        held = [socket.create_connection(("127.0.0.1", port)) for _ in range(50)]
        for number, connection in enumerate(held):
            connection.sendall(request if number % 2 else b"")
        assert all(_closed(connection) for connection in held)
        for connection in held:
            connection.close()
        with socket.create_connection(("127.0.0.1", port)) as whole:  # and one that speaks is answered, twice
            for _ in range(2):
                whole.settimeout(20.0)
                whole.sendall(request + b"\r\n")
                answer = b""
                while b"</html>" not in answer:
                    answer += whole.recv(65_536)
                assert answer.startswith(b"HTTP/1.1 200")
            whole.sendall(request)  # the third is never finished
            assert _closed(whole)


def test_a_body_that_does_not_arrive_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.5)
    with _server(20.0) as port, socket.create_connection(("127.0.0.1", port)) as slow:
        slow.settimeout(20.0)
        slow.sendall(b"POST /assess HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nkind=grr")
        assert slow.recv(65_536).startswith(b"HTTP/1.1 408")
