"""The browser of the library's own tests, for the page of recomputed figures."""

from __future__ import annotations

from pathlib import Path

from tests.browser.conftest import chromium, mark_browser_tests, shots

__all__ = ["chromium", "shots"]


def pytest_collection_modifyitems(items):
    """Mark the tests of this folder."""
    mark_browser_tests(items, Path(__file__).parent)
