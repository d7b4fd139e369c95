"""Records for the tests that train under Opacus."""

from __future__ import annotations

import pytest


@pytest.fixture
def data():
    from tests.pytorch.private import some_data

    return some_data()
