"""Models of dpradar fitted to the data sets of the doctoral thesis."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from dpradar import correlated as co
from dpradar.correlated.markov import gamma
from dpradar_reproduction import thesis_data

SHARED = Path(os.environ.get("DPRADAR_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


@pytest.fixture
def data():
    if not (SHARED / "correlated").is_dir():
        pytest.skip("the folder correlated is not in the data folder (DPRADAR_DATA, or ../shared/data)")
    return SHARED


def _check(fit: co.Fit, name: str):
    return next(one for one in fit.checks if one.name == name)


@pytest.mark.data
def test_family_iq(data):
    pairs = thesis_data.mothers(data)
    table = {"kid_score": pairs[:, 0].tolist(), "mom_iq": pairs[:, 1].tolist()}
    fit = co.fit(table, columns=["kid_score", "mom_iq"], clip=(40.0, 160.0), model="gaussian")
    spread = np.sqrt(np.diag(fit.model.covariances[0]))
    assert spread.tolist() == pytest.approx([20.4107, 15.0], abs=5e-5)
    result = co.leakage(fit, 1.0, targets=(40.0, 160.0))
    assert result.leakage.value == pytest.approx(1.60997, abs=1e-5)
    assert result.leakage.value == pytest.approx(1.0 + 0.448276 * 20.4107 / 15.0, abs=1e-5)
    assert result.leakage.rule == "lemma-6.10"
    assert result.at_least.value == pytest.approx(1.5854, abs=5e-5)
    printed = next(one for one in result.theorems if one.rule == "thm-6.14")
    assert not printed.usable
    assert printed.claimed == pytest.approx(1.448276, abs=1e-6)
    assert printed.claimed < result.at_least.value  # what is printed is exceeded by an attacker
    assert _check(fit, "equal-variances").holds is False
    assert _check(fit, "normal").holds is False
    assert "2 of 868 values lie outside" in _check(fit, "within-clip").text
    inside = co.leakage(fit, 1.0, targets=(70.0, 140.0))
    assert inside.at_least.value == pytest.approx(0.9360, abs=5e-5)
    assert inside.at_least.value > 0.8448


@pytest.mark.data
def test_galton(data):
    families = thesis_data.galton(data)
    table = {name: families.trios[:, k].tolist() for k, name in enumerate(("height", "father", "mother"))}
    fit = co.fit(table, columns=["height", "father", "mother"], clip=(0.0, 100.0), model="gaussian")
    result = co.leakage(fit, 1.0)
    assert result.leakage.value == pytest.approx(1.468178, abs=1e-6)
    R = fit.model.covariances[0] / np.sqrt(
        np.outer(np.diag(fit.model.covariances[0]), np.diag(fit.model.covariances[0]))
    )
    spread = np.sqrt(np.diag(fit.model.covariances[0]))
    assert spread.tolist() == pytest.approx([3.583, 2.470, 2.307], abs=5e-4)
    assert R[0, 1] == pytest.approx(0.2754, abs=1e-4)
    assert R[0, 2] == pytest.approx(0.2017, abs=1e-4)
    assert R[1, 2] == pytest.approx(0.0737, abs=1e-4)
    whole = co.fit(families.persons, group="family", value="height", role="role", clip=(0.0, 100.0))
    assert whole.model.size == 17
    assert co.leakage(whole, 1.0).leakage.value == pytest.approx(8.2646, abs=1e-3)


@pytest.mark.data
def test_activity(data):
    states, _ = thesis_data.activity(data)
    fit = co.fit(states, missing="drop")
    P = fit.model.transitions
    assert P.ravel().tolist() == pytest.approx([0.882412, 0.117588, 0.304706, 0.695294], abs=1e-6)
    result = co.leakage(co.fit(states, missing="drop", model="markov"), 1.0)
    theorem = next(one for one in result.theorems if one.rule == "thm-6.20")
    assert theorem.bound.value == pytest.approx(1.0 + 8.061877, abs=1e-6)
    refused = next(one for one in co.leakage(fit, 1.0).theorems if one.rule == "thm-6.20")
    assert not refused.usable
    assert refused.claimed == pytest.approx(1.0 + 8.061877, abs=1e-6)
    assert {check.name for check in fit.doubts} == {"stationary", "one-step-memory"}
    zero = co.fit([0 if s is None else s for s in states])
    assert gamma(np.asarray(zero.model.transitions)) == pytest.approx(9.2834, abs=1e-4)
