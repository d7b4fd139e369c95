"""A chromium of the system, driven by playwright, without any network but the explorer itself.

`make test-browser` installs what is needed; elsewhere these tests skip themselves.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.web.conftest import served

__all__ = ["served"]

ROOT = Path(__file__).parents[2]
SHOTS = ROOT / "build" / "screenshots"
AXE = ROOT / ".venv" / "browser" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# Nothing but this machine can be reached, and nothing is tried.
ARGUMENTS = [
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None


def mark_browser_tests(items, folder):
    """Mark every test of a folder, and skip it where there is no browser."""
    why = "needs playwright: make test-browser" if sync_playwright is None else "needs chromium: make test-browser"
    start = f"{folder}{os.sep}"
    for item in items:
        if str(item.path).startswith(start):  # as text: the parents of ten thousand paths take half a second
            item.add_marker(pytest.mark.browser)
            if sync_playwright is None or CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason=why))


def pytest_collection_modifyitems(items):
    """Mark the tests of this folder."""
    mark_browser_tests(items, Path(__file__).parent)


# By module: the reproduction's tests have this fixture too, and a process can drive one browser at a time.
@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as driver:
        sandbox = [] if os.name == "nt" or os.geteuid() else ["--no-sandbox"]  # root has none
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, *sandbox])
        yield browser
        browser.close()


class Visit:
    """A page, and what it asked for."""

    def __init__(self, page, address):
        self.page, self.address = page, address
        self.problems: list[str] = []
        page.on("request", self._asked)
        page.on("pageerror", lambda error: self.problems.append(f"script: {error}"))
        page.on("console", self._said)

    def _asked(self, request):
        if not request.url.startswith((self.address, "data:")):
            self.problems.append(f"outside request: {request.url}")

    def _said(self, message):
        if message.type == "error" and "400 (Bad Request)" not in message.text:
            self.problems.append(f"console: {message.text}")

    def open(self, path):
        """Open a screen, start what a link does not start, and wait until it has its answer."""
        self.page.goto(f"{self.address}/{path}")
        self.start()
        self.settled()
        return self.page

    def start(self):
        """Start what a link does not start, if there is such a thing."""
        offer = self.page.get_by_role("button", name="Show the answer")
        if offer.count():
            offer.click()
            self.page.locator("#answer :is([data-running], .lead, .problem)").first.wait_for()

    def settled(self):
        """Wait until nothing is computed or loaded any more."""
        self.page.wait_for_function(
            "() => !document.querySelector('[data-running]') && !document.querySelector('#answer[aria-busy]')",
            timeout=60_000,
        )


@pytest.fixture
def visit(chromium, served):
    """Return a function that opens a browser window with some settings; what went wrong in it fails the test."""
    visits, contexts = [], []

    def opened(**settings):
        settings.setdefault("viewport", {"width": 1280, "height": 900})
        context = chromium.new_context(**settings)
        context.set_default_timeout(30_000)
        contexts.append(context)
        one = Visit(context.new_page(), served)
        visits.append(one)
        return one

    yield opened
    for context in contexts:
        context.close()
    assert [problem for one in visits for problem in one.problems] == []


@pytest.fixture(scope="session")
def shots():
    """Return the folder in which screenshots are kept."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    return SHOTS
