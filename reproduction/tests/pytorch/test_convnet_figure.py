"""Figure 5 with the convolutional network, by name: as many models as asked for, resumed, with the torch trainer."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from dpradar_reproduction import figures, rad_fig4

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make test-torch)")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
torch.set_num_threads(1)


def test_by_name(tmp_path, monkeypatch):
    rng, folder = np.random.default_rng(1), tmp_path / "fashion-mnist"
    folder.mkdir()
    images, labels = rng.integers(0, 256, (50, 784), dtype=np.uint8), rng.integers(0, 10, 50, dtype=np.uint8)
    (folder / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(16) + images.tobytes()))
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes(8) + labels.tobytes()))
    monkeypatch.setattr(rad_fig4, "STEPS", 2)
    monkeypatch.setattr(rad_fig4, "KNOWN", 20)
    monkeypatch.setattr(rad_fig4.compute, "__kwdefaults__", {**rad_fig4.compute.__kwdefaults__, "epsilons": (10.0,)})
    effort = figures.Effort(network="convnet", models=2)
    files = figures.reproduce("rad:fig5", tmp_path / "out", tmp_path, effort=effort)
    assert [file.name for file in files] == ["rad-fig5-convnet.csv", "rad-fig5-convnet.svg"]  # beside those of the MLP
    first = files[0].read_text(encoding="utf-8").splitlines()
    assert len(first) == 4
    assert all(line.startswith("convnet,") and ",16," in line for line in first[1:])
    parts = sorted((tmp_path / "out" / "rad-fig5-convnet.partial").glob("*.npz"))
    assert len(parts) == 16  # one for each training: hours are not lost
    parts[3].unlink()
    before = {file: file.stat().st_mtime_ns for file in parts if file.exists()}
    figures.reproduce("rad:fig5", tmp_path / "out", tmp_path, effort=effort)
    assert files[0].read_text(encoding="utf-8").splitlines() == first
    assert {file: file.stat().st_mtime_ns for file in before} == before
