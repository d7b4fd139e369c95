"""Settings of every test: hypothesis draws the same 60 cases per property on every run.

`make test-all` draws 200 (`--hypothesis-profile=thorough`); `deep` draws 5000 new ones, `few` draws 25.
"""

from __future__ import annotations

import gc

from hypothesis import settings

settings.register_profile("ci", derandomize=True, max_examples=60, deadline=None)
settings.register_profile("thorough", derandomize=True, max_examples=200, deadline=None)
settings.register_profile("deep", max_examples=5000, deadline=None)
settings.register_profile("few", derandomize=True, max_examples=25, deadline=None)
settings.load_profile("ci")


def pytest_collection_finish() -> None:
    """Keep ten thousand collected tests out of later garbage collections, which are several times slower with them."""
    gc.collect()
    gc.freeze()
