"""The tutorial and the example about Opacus models run."""

from __future__ import annotations

import importlib
import re
import runpy
import sys
import time
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make test-torch)")
ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _needs_opacus():
    pytest.importorskip("opacus", reason="Opacus is not installed (make test-torch)")


PAGES = {
    "how-to/audit-a-model.md": ("Taking part adds at most", "REFUTED"),
    "tutorials/is-my-opacus-model-leaking.md": ("Taking part adds at most 27 of 100", "NOT REFUTED", "REFUTED. PureDP"),
}


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_run(page, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__doc__"}
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```py\n(.*?)^```", text, flags=re.M | re.S):
        exec(compile(block, page, "exec", dont_inherit=True), names)  # noqa: S102 - our own docs
    shown = capsys.readouterr().out
    assert all(words in shown for words in PAGES[page])
    if page.startswith("tutorials"):
        for name, words in {"risk": "27 of 100", "attack": "40", "audit": "canar"}.items():
            assert words in (tmp_path / f"{name}.html").read_text(encoding="utf-8")


def test_the_block_about_opacus_models_runs():
    """It stands on a page whose other blocks need no PyTorch, and goes on from the one before it."""
    text = (ROOT / "docs" / "how-to" / "attack-a-model.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```py\n(.*?)^```", text, flags=re.M | re.S)
    before = text[: text.index(block)]
    names = {"__name__": "__doc__"}
    for part in (re.findall(r"^```python\n(.*?)^```", before, flags=re.M | re.S)[-1], block):
        exec(compile(part, "attack-a-model.md", "exec", dont_inherit=True), names)  # noqa: S102 - our own docs
    assert names["TorchClassifier"](names["network"](2, 2), classes=[False, True]).classes_.tolist() == [False, True]


def test_the_example_runs(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["is_my_model_leaking.py", "--runs", "8", "--reports", str(tmp_path / "pages")])
    runpy.run_path(str(ROOT / "examples" / "is_my_model_leaking.py"), run_name="__main__")
    shown = capsys.readouterr().out
    for heading in ("WHAT NOBODY CAN EXCEED", "ONE TRAINING", "8 TRAININGS", "BY ITS CANARIES"):
        assert heading in shown
    assert sorted(file.name for file in (tmp_path / "pages").iterdir()) == ["attack.html", "audit.html", "risk.html"]


@pytest.mark.slow
def test_recording_eight_candidates_at_most_doubles_a_step():
    opacus = importlib.import_module("opacus")
    recorders = importlib.import_module("dpradar.learning.opacus")

    def seconds(record):
        torch.manual_seed(0)
        x, y = torch.randn(1008, 784), torch.randint(0, 10, (1008,))
        model = torch.nn.Sequential(torch.nn.Linear(784, 10), torch.nn.ReLU(), torch.nn.Linear(10, 10))
        criterion = torch.nn.CrossEntropyLoss()
        model, optimizer, loader = opacus.PrivacyEngine().make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[7:], y[7:]), batch_size=100),
            noise_multiplier=1.0,
            max_grad_norm=1.0,
        )
        options = {"candidates": (x[:8], y[:8]), "target": 7, "loader": loader}
        recorder = recorders.Recorder(model, optimizer, criterion, **options) if record else None
        times = []
        for _ in range(8):
            for images, classes in loader:
                before = time.perf_counter()
                if record:
                    recorder.batch(images, classes)
                optimizer.zero_grad()
                criterion(model(images), classes).backward()
                optimizer.step()
                times.append(time.perf_counter() - before)
        return np.quantile(times, 0.1)  # what else the machine does only adds to it

    plain, recorded = zip(*((seconds(False), seconds(True)) for _ in range(4)), strict=True)
    assert min(recorded) <= 2.0 * min(plain)
