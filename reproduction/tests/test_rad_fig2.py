"""[RAD] Figure 2: noise for a limit on RAD and for a limit on ReRo, against the closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpradar_reproduction import rad_fig2

M = 10
LIMITS = (0.05, 0.1, 0.2, 0.5, 0.8)


@pytest.fixture(scope="module")
def table():
    return rad_fig2.compute(limits=LIMITS)


def rad_epsilon(limit: float) -> float:
    """[RAD] Example 4.7, solved for epsilon."""
    return -2.0 * (M - 1) * math.log(1.0 - limit * M / (M - 1))


def rero_epsilon(limit: float) -> float:
    """1 - f(1/10) = limit, f the curve of Laplace noise, branch by branch."""
    base = 1.0 / M
    steep = math.log(limit / base)
    return steep if base < math.exp(-steep) / 2.0 else -math.log(4.0 * base * (1.0 - limit))


def test_numbers_of_the_notes(table):
    rad = {0.05: (1.028851, 2.911725), 0.1: (2.120095, 1.413018), 0.2: (4.523660, 0.662236), 0.5: (14.596744, 0.205233)}
    for limit, expected in rad.items():
        (row,) = table.where(limit=limit).rows
        assert (row["rad_epsilon"], row["rad_error"]) == pytest.approx(expected, abs=2e-6)
    rero = {0.2: (0.693147, 4.321928), 0.5: (1.609438, 1.861353), 0.8: (2.525729, math.log(20) / 2.525729)}
    for limit, expected in rero.items():
        (row,) = table.where(limit=limit).rows
        assert (row["rero_epsilon"], row["rero_error"]) == pytest.approx(expected, abs=2e-6)


def test_closed_forms(table):
    for row in table.rows:
        limit = row["limit"]
        assert row["rad_epsilon"] == pytest.approx(rad_epsilon(limit), rel=1e-6)
        if limit + 0.1 < 0.89:
            assert row["gain_epsilon"] == pytest.approx(rero_epsilon(limit + 0.1), rel=1e-6)
        if limit > 0.1:
            assert row["rero_epsilon"] == pytest.approx(rero_epsilon(limit), rel=1e-6)
            # With nothing known and a uniform prior the advantage is success minus 1/m.
            assert row["success_epsilon"] == pytest.approx(rad_epsilon(limit - 0.1), rel=1e-6)
        for kind in ("rad", "rero", "gain", "success"):
            if row[f"{kind}_epsilon"] is not None:
                assert row[f"{kind}_error"] == pytest.approx(math.log(20) / row[f"{kind}_epsilon"], rel=1e-12)


def test_calibrated_noise_is_on_the_safe_side(table):
    for row in table.rows:
        assert row["rad_epsilon"] <= rad_epsilon(row["limit"]) * (1 + 1e-12)


def test_success_is_never_below_the_blind_guess(table):
    for row in table.where(limit=0.05).rows + table.where(limit=0.1).rows:
        assert row["rero_epsilon"] is row["success_epsilon"] is None
        assert row["rad_epsilon"] is not None


def test_rad_needs_the_least_noise_and_most_of_it_is_the_bound(table):
    """Of the factor between the paper's two lines, more is due to Equation (3) than to what is limited."""
    for limit in (0.2, 0.5, 0.8):
        (row,) = table.where(limit=limit).rows
        assert row["rad_error"] < row["success_error"] < row["gain_error"] < row["rero_error"]
        bound = row["gain_error"] / row["rad_error"]  # same gain, looser bound
        shift = row["rero_error"] / row["gain_error"]
        assert bound > shift > 1.0
    assert np.all(np.diff(table.numbers("rad_error")) < 0)
