"""True-positive rates, live and saved; which release is provably no riskier; the register file."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dpradar as dr
from dpradar.calibration.risk_order import no_riskier

RELEASES = {
    "Gaussian": dr.Gaussian(1.0, query=[0.0, 1.0]),
    "Laplace": dr.Laplace(2.0, query=[0.0, 1.0]),
    "GRR": dr.GRR(m=4, epsilon=1.0),
    "ApproxDP": dr.ApproxDP(1.0, 1e-3, "replace-one"),
    "DPSGD": dr.DPSGD(noise_multiplier=1.0, sample_rate=0.05, steps=50),
    "ZCDP": dr.ZCDP(0.1, "add-remove"),
}


@pytest.mark.parametrize("name", RELEASES)
def test_saved_rates_are_never_below_the_live_ones(name, tmp_path):
    live = dr.assess(RELEASES[name])
    live.save(tmp_path / "a.json")
    saved = dr.load(tmp_path / "a.json")
    assert saved == live
    for fpr in (0.0, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.1):
        assert saved.tpr(fpr).value == pytest.approx(live.tpr(fpr).value, abs=1e-12)
    for fpr in np.linspace(0.0003, 0.9997, 57).tolist():
        here, there = live.tpr(fpr).value, saved.tpr(fpr).value
        assert here - 1e-12 <= there <= here + 0.01
        assert here >= fpr - 1e-12  # guessing at random does as well


def test_saved_rates_are_upper_bounds_in_the_file(tmp_path):
    dr.assess(dr.Gaussian(1.0, query=[0.0, 1.0])).save(tmp_path / "a.json")
    data = json.loads((tmp_path / "a.json").read_text())
    assert data["rates"]["assumes"] == ["neighbours: add-remove", "neighbours: replace-one"]
    assert [len(curve) for curve in data["rates"]["fnr"]] == 2 * [len(data["rates"]["fpr"])]


def test_which_relation():
    noise = dr.Gaussian(1.0, query=[-1.0, 1.0])  # two records are 2 apart, a record and its absence 1
    assert dr.assess(noise, neighbours="add-remove").tpr(0.01).value == pytest.approx(0.0923622, abs=1e-7)
    both, replaced = dr.assess(noise).tpr(0.01), dr.assess(noise, neighbours="replace-one").tpr(0.01)
    assert both.value == replaced.value > 0.3
    assert "neighbours: replace-one" in both.assumes
    assert dr.assess(dr.GRR(m=3, epsilon=1.0), neighbours="add-remove").tpr(0.01).value == 1.0  # nothing is known


@pytest.mark.parametrize("fpr", [-0.1, 1.5, float("nan"), "0.1", None])
def test_bad_rates(fpr):
    with pytest.raises(dr.ParameterError, match="false-positive rate"):
        dr.assess(dr.Gaussian(1.0, query=[0.0, 1.0])).tpr(fpr)


ORDERED = [
    (dr.Laplace(1.0), dr.Laplace(2.0)),
    (dr.Gaussian(1.0, query=[0, 1]), dr.Gaussian(3.0, query=[0, 1])),
    (dr.GRR(3, 2.0), dr.GRR(3, 1.0)),
    (dr.DPSGD(1.0, 0.1, 10), dr.DPSGD(1.5, 0.05, 9)),
    (dr.Repeated(dr.Laplace(1.0), 5), dr.Repeated(dr.Laplace(1.0), 4)),
    (dr.Composed([dr.Laplace(1.0), dr.GRR(3, 1.0)]), dr.Composed([dr.Laplace(1.5), dr.GRR(3, 0.5)])),
    (dr.ApproxDP(1.0, 1e-5, "add-remove"), dr.ApproxDP(0.5, 1e-6, "add-remove")),
]
UNORDERED = [
    (dr.Laplace(1.0), dr.Gaussian(10.0)),
    (dr.Laplace(1.0, query=[0, 1]), dr.Laplace(2.0, query=[0, 2])),
    (dr.Laplace(1.0, truncate=(0, 1)), dr.Laplace(2.0, truncate=(0, 1))),
    (dr.SubsetSelection(5, 2.0), dr.SubsetSelection(5, 1.0)),
    (dr.DiscreteGaussian(1.0), dr.DiscreteGaussian(2.0)),
    (dr.ApproxDP(1.0, 1e-5, "add-remove"), dr.ApproxDP(0.5, 1e-5, "replace-one")),
    (dr.DPSGD(1.0, 0.1, 10), dr.DPSGD(1.5, 0.2, 10)),
    (dr.Composed([dr.Laplace(1.0)]), dr.Composed([dr.Laplace(2.0), dr.Laplace(2.0)])),
]


@pytest.mark.parametrize(("less", "more"), ORDERED)
def test_ordered(less, more):
    assert no_riskier(less, more)
    assert not no_riskier(more, less)


@pytest.mark.parametrize(("less", "more"), UNORDERED)
def test_not_known_to_be_ordered(less, more):
    assert not no_riskier(less, more)


def test_register(tmp_path):
    file = tmp_path / "releases.toml"
    file.write_text(
        'neighbours = "add-remove"\n[[release]]\nkind = "gdp"\nmu = 0.5\nwhat = "a table"\n'
        '[[release]]\nkind = "gaussian"\nsigma = 2.0\nsensitivity = 1.0\ntimes = 3\n'
    )
    register = dr.spec.register(file)
    assert register.mechanisms == (dr.GDP(0.5, "add-remove"), register.mechanisms[1])
    result = dr.assess(register)
    # Four Gaussian releases: mu = sqrt(0.25 + 3/4) = 1.
    assert result.worst_gain.value == pytest.approx(0.382925, abs=1e-6)
    assert result.neighbours == "add-remove"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "[[release]]"),
        ("release = 3", "[[release]]"),
        ("x = ", "TOML"),
        ('[[release]]\nkind = "gausian"', "Did you mean 'gaussian'?"),
        ('[[release]]\nkind = "gaussian"\nsgima = 1', "Did you mean 'sigma'?"),
        ('[[release]]\nkind = "gaussian"\nsigma = -1', "above 0"),
        ('[[release]]\nkind = "gaussian"', "sigma"),
        ('[[release]]\nkind = "zcdp"\nrho = 1', "neighbours"),
        ('extra = 1\n[[release]]\nkind = "zcdp"\nrho = 1\nneighbours = "add-remove"', "extra"),
        ('[[release]]\nwhat = "a table"\nkind = "laplace"\nscale = 1\ntimes = 0', "release.times"),
    ],
)
def test_bad_register(text, part, tmp_path):
    file = tmp_path / "releases.toml"
    file.write_text(text)
    with pytest.raises(dr.SpecError) as caught:
        dr.spec.register(file)
    assert part in str(caught.value)


def test_no_register():
    with pytest.raises(dr.SpecError, match="cannot be read: No such file"):
        dr.spec.register("nowhere.toml")
