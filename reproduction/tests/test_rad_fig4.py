"""[RAD] Figures 4 and 5: real images, few trainings; what must hold whatever the noise of the estimates."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

import dpradar as dr
from dpradar.theorems import information_advantage
from dpradar_reproduction import figures, rad_fig4
from dpradar_reproduction.paper_figure import KEPT_PARTS
from tests.twin import formulas

FOLDER = os.environ.get("DPRADAR_DATA")
real = pytest.mark.skipif(
    not FOLDER or not (Path(FOLDER) / "mnist").is_dir(), reason="DPRADAR_DATA names no folder with mnist"
)


@pytest.fixture
def made_up(tmp_path):
    """A folder with files in the format of MNIST: 1,010 random images."""
    rng, folder = np.random.default_rng(1), tmp_path / "mnist"
    folder.mkdir()
    images = rng.integers(0, 256, (1010, 784), dtype=np.uint8)
    (folder / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(16) + images.tobytes()))
    labels = rng.integers(0, 10, 1010, dtype=np.uint8)
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes(8) + labels.tobytes()))
    return tmp_path


def check(table, models):
    assert len(table.rows) == 3 * len(set(table.numbers("epsilon")))
    for row in table.rows:
        assert row["runs"] == 8 * models
        assert row["rad_low"] <= row["rad"] <= row["rad_high"]
        # The bound that holds is not broken; what is known only raises it.
        assert row["rad_low"] <= row["rad_bound"]
        assert row["rad_bound_printed"] <= row["rad_bound"]
    everything = [row for row in table.rows if row["knowledge"] == "everything"]
    assert all(row["rero"] == 1.0 for row in everything)  # who knows the record names it
    assert any(row["rero_low"] > row["rero_bound_published"] for row in everything)


def test_numbers_and_picture(made_up, tmp_path, monkeypatch):
    monkeypatch.setattr(rad_fig4, "EPSILONS", (10.0,))
    monkeypatch.setattr(rad_fig4, "STEPS", 4)
    monkeypatch.setattr(rad_fig4, "QUICK_MODELS", 3)
    monkeypatch.setattr(rad_fig4.compute, "__kwdefaults__", {**rad_fig4.compute.__kwdefaults__, "epsilons": (10.0,)})
    moved, lines = [], []
    files = figures.reproduce(
        "rad:fig4",
        tmp_path / "out",
        made_up,
        lines.append,
        effort=figures.Effort(quick=True),
        bar=lambda *x: moved.append(x),
    )
    assert [file.name for file in files] == ["rad-fig4.csv", "rad-fig4.svg"]
    assert moved[-1] == (24, 24)
    assert any("can exceed it" in line for line in lines)
    first = files[0].read_bytes()
    parts = sorted((tmp_path / "out" / "rad-fig4.partial").glob("*.npz"))
    before = [file.stat().st_mtime_ns for file in parts]
    assert not any(KEPT_PARTS in line for line in lines)
    figures.reproduce("rad:fig4", tmp_path / "out", made_up, lines.append, effort=figures.Effort(quick=True))
    assert any(KEPT_PARTS in line for line in lines)
    assert files[0].read_bytes() == first
    assert [file.stat().st_mtime_ns for file in parts] == before  # read again, not computed again


def test_noise_is_that_of_our_notes():
    for epsilon, sigma in {1.0: 37.306, 5.0: 8.919, 10.0: 4.999, 20.0: 2.900, 50.0: 1.498}.items():
        assert rad_fig4.noise_for(epsilon) == pytest.approx(sigma, abs=6e-4)


def test_without_data():
    with pytest.raises(dr.ParameterError, match="mnist"):
        rad_fig4.images(Path("nowhere"), "mnist")


@real
@pytest.mark.data
def test_on_mnist(tmp_path):
    table = rad_fig4.compute(
        Path(str(FOLDER)), lambda _: None, epsilons=(2.0,), effort=figures.Effort(models=3), keep=tmp_path
    )
    check(table, 3)


@pytest.mark.parametrize("sigma", [37.306, 4.999, 1.498])
def test_bounds_of_the_figure(sigma):
    """The printed curves take sqrt(T)/sigma, the ones that hold twice that; 8 candidates, 100 steps."""
    mu, uniform = 10.0 / sigma, dr.Prior.uniform(8)
    nothing, everything = dr.Threat(uniform), dr.Threat(uniform, dr.Knowledge.everything())
    assert rad_fig4._printed_bound(sigma, everything) == pytest.approx(formulas.thm_4_2_uniform(mu, 8), abs=1e-9)
    published = min(formulas.thm_5_1_first(mu, 8), formulas.thm_5_1_uniform(mu, 8))
    assert rad_fig4._printed_bound(sigma, nothing) == pytest.approx(published, abs=1e-9)
    # Information needs no factor 2, and is ahead of the total variation where the noise is large.
    sound = rad_fig4._bound(sigma, everything)
    assert sound <= formulas.thm_4_2_uniform(2 * mu, 8) + 1e-9
    assert sigma < 10.0 or sound == pytest.approx(information_advantage(mu * mu / 2), abs=1e-9)
    root = formulas.root_bound(formulas.gdp_curve(2 * mu), 8)
    assert rad_fig4._bound(sigma, nothing) <= min(root, formulas.hayes_success(mu, 8) - 1 / 8) + 1e-9
