"""The explorer shows noise that hides nothing about a rare trait so that nobody takes it for harmless."""

from __future__ import annotations

from urllib.parse import urlencode

from tests.present.test_verdicts import CEILING, IDLE, RAREST, plain

from .conftest import sent


def test_explorer(client):
    fields = {"kind": "laplace", "scale": "0.01", "values": "0,1", "prior": "0.99, 0.01", "goal": "exact"}
    page = client.get(f"/assess?{urlencode(fields)}").text
    assert '<div class="verdict open"' in page
    assert CEILING in plain(page)
    assert RAREST in plain(page)
    del fields["scale"]
    page = _answer(client, {**fields, "risk": "rad", "limit": "0.1"})
    assert '<div class="verdict open"' in page
    assert 'class="ok"' not in page
    assert IDLE in plain(page)
    assert "of any size" not in page
    near = _answer(client, {**fields, "risk": "rad", "limit": "0.0195"})
    assert "which is hardly better than publishing the raw data" in near
    assert 'class="ok"' not in near
    accepted = _answer(client, {**fields, "risk": "rad", "limit": "0.0195", "acknowledge": "near-ceiling"})
    assert '<div class="verdict none"' in accepted
    assert "acknowledge=near-ceiling" in accepted


def _answer(client, fields):
    got = sent(client, f"/calibrate?{urlencode(fields)}")
    for _ in range(200):
        if "data-running" not in got.text:
            return got.text
        got = client.get(str(got.url))
    raise AssertionError(got.text)


def test_the_explorer_shows_a_comparison_of_releases_beside_the_ceiling(client):
    fields = {"who": "record", "m": "2", "prior": "0.99, 0.01", "columns": "2", "1.kind": "grr", "1.epsilon": "20"}
    page = client.get(f"/compare?{urlencode(fields)}").text
    assert "as many: publishing the raw data would do no worse." in plain(page)
