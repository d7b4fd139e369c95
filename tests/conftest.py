"""Settings of every test: hypothesis draws the same 60 cases per property on every run.

`make test-all` draws 200 (`--hypothesis-profile=thorough`); `deep` draws 5000 new ones, `few` draws 25.
"""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

settings.register_profile("ci", derandomize=True, max_examples=60, deadline=None)
settings.register_profile("thorough", derandomize=True, max_examples=200, deadline=None)
settings.register_profile("deep", max_examples=5000, deadline=None)
settings.register_profile("few", derandomize=True, max_examples=25, deadline=None)
settings.load_profile("ci")

# Commands that tests start say nothing of their progress on a busy machine; tests of progress set their own interval.
os.environ.setdefault("DPRADAR_PROGRESS_SECONDS", "600")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out modules that tests share, unless they have examples to run: --doctest-modules would import them all."""
    if collection_path.suffix != ".py" or collection_path.name.startswith(("test_", "__init__", "conftest")):
        return None
    return True if ">>>" not in collection_path.read_text(encoding="utf-8") else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while tests are collected: there is none, and to look for it takes a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Keep ten thousand collected tests out of later garbage collections, which are several times slower with them."""
    gc.collect()
    gc.freeze()
