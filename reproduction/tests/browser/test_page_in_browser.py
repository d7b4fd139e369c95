"""The page of recomputed figures in a real browser: wide and narrow, light and dark, and for everyone."""

from __future__ import annotations

import json

import pytest

from dpradar_reproduction.all_figures import reproduce_all
from dpradar_reproduction.page import write_page
from dpradar_reproduction.paper_figure import Effort
from tests.browser.conftest import AXE

FIGURES = ["unify:fig4", "unify:fig6", "thesis:fig2.1", "thesis:table6.2", "measurement:table6.2", "rad:fig4"]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduction")
    return write_page(reproduce_all(folder, effort=Effort(quick=True), only=FIGURES), folder).as_uri()


@pytest.fixture
def opened(chromium, address):
    """Return a function that opens the page; what it asked for outside of its file fails the test."""
    contexts, outside = [], []

    def open_page(**settings):
        context = chromium.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: outside.append(request.url) if request.url != address else None)
        page.on("console", lambda message: outside.append(message.text) if message.type == "error" else None)
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [url for url in outside if not url.startswith("data:")] == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)])
def test_it_fits_and_shows_its_pictures(opened, shots, scheme, width):
    page = opened(color_scheme=scheme, viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("h1").count() == 1
    page.locator("#unify-fig4 svg").scroll_into_view_if_needed()
    picture = page.locator("#unify-fig4 svg").bounding_box()
    assert picture["width"] > 300
    assert picture["height"] > 150
    assert page.locator("#unify-fig4 svg text").first.is_visible()
    # Letters of pictures are dark on white, whatever the page is.
    assert page.locator("#unify-fig4 svg text").first.evaluate("e => getComputedStyle(e).fill") == "rgb(0, 0, 0)"
    paper = page.locator("#unify-fig4 .paper").evaluate("e => getComputedStyle(e).backgroundColor")
    assert paper == "rgb(255, 255, 255)"
    page.screenshot(path=shots / f"reproduced-{width}-{scheme}.png", full_page=True)


def test_contents_lead_to_the_figures(opened):
    page = opened()
    page.locator("nav a", has_text="Table 6.2").last.click()
    assert page.url.endswith("#thesis-table6-2")
    assert page.locator("#thesis-table6-2").bounding_box()["y"] < 200
    assert page.locator("#thesis-table6-2 .mark.wrong").first.is_visible()


def test_verdicts_are_words(opened):
    page = opened()
    words = set(page.locator(".statements .mark").all_text_contents())
    assert {"agrees", "publication is wrong", "differs, explained", "not computed"} <= {word.strip() for word in words}


@pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core: make test-browser")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_for_everyone(opened, scheme):
    page = opened(color_scheme=scheme, bypass_csp=True)
    page.add_script_tag(content=AXE.read_text(encoding="utf-8"))
    results = page.evaluate("axe.run({runOnly: ['wcag2a', 'wcag2aa', 'best-practice']})")
    problems = [(one["id"], [node["html"][:160] for node in one["nodes"][:3]]) for one in results["violations"]]
    assert problems == [], json.dumps(problems, indent=1)
