"""Settings of every test: hypothesis draws the same cases on every run.

`--hypothesis-profile=deep` draws 5000 cases per property instead of 200, `--hypothesis-profile=few` draws 25.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("ci", derandomize=True, max_examples=200, deadline=None)
settings.register_profile("deep", max_examples=5000, deadline=None)
settings.register_profile("few", derandomize=True, max_examples=25, deadline=None)
settings.load_profile("ci")
