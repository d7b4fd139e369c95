"""Is my Opacus model leaking: an ordinary private training on handwritten digits, with three lines added.

Needs PyTorch, Opacus, scikit-learn and dp-accounting: pip install "dpradar[torch,accounting,search,report]". Run: make
test-torch, or
python examples/is_my_model_leaking.py --runs 40 --reports pages/
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import torch
from opacus import PrivacyEngine
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import dpradar as dr
from dpradar.learning import canary_audit
from dpradar.learning.opacus import Recorder, gather

CANDIDATES, CANARIES, RECORDS = 8, 300, 1000
NOISE, CLIP, BATCH, EPOCHS = 1.0, 1.0, 100, 3


def digits() -> tuple[torch.Tensor, torch.Tensor]:
    """Return 1797 images of 64 pixels between 0 and 1, in random order, and their classes."""
    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(x))
    return torch.tensor(x[order] / 16.0, dtype=torch.float32), torch.tensor(y[order])


def trained(
    x: torch.Tensor,
    y: torch.Tensor,
    seed: int,
    candidates: tuple[torch.Tensor, torch.Tensor] | None = None,
    target: int | None = None,
) -> tuple[nn.Module, Recorder | None]:
    """Train a model with Opacus. What is new are the three lines about the recorder."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    criterion = nn.CrossEntropyLoss()
    model, optimizer, loader = PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
        data_loader=DataLoader(TensorDataset(x, y), batch_size=BATCH),
        noise_multiplier=NOISE,
        max_grad_norm=CLIP,
    )
    recorder = None
    if candidates is not None:
        recorder = Recorder(model, optimizer, criterion, candidates=candidates, target=target, loader=loader)  # 1
    for _ in range(EPOCHS):
        for images, classes in loader:
            if recorder is not None:
                recorder.batch(images, classes)  # 2
            optimizer.zero_grad()
            criterion(model(images), classes).backward()
            optimizer.step()
    return model, recorder  # 3: recorder.assess(threat), recorder.attack(threat)


def gradients(x: torch.Tensor, y: torch.Tensor, runs: int) -> tuple[dr.Assessment, dr.AttackRun]:
    """Say what the noisy gradients give away: of one training, and of several with a target each."""
    candidates, known = (x[:CANDIDATES], y[:CANDIDATES]), slice(CANDIDATES, CANDIDATES + RECORDS)
    threat = dr.Threat(dr.Prior.uniform(CANDIDATES))
    recorders = []
    for run in range(runs):
        target = run % CANDIDATES
        images, classes = torch.cat([x[known], x[target][None]]), torch.cat([y[known], y[target][None]])
        recorders.append(trained(images, classes, run, candidates, target)[1])
    first, most = recorders[0], recorders[0].assess(threat)
    print("WHAT NOBODY CAN EXCEED\n" + most.explain())
    print(
        f"\nONE TRAINING\nThe target took part in {first.took_part} of {first.scores.steps} steps. For one who has seen"
    )
    print(f"the gradients it is the target with probability {first.posterior(threat)[0]:.3f}; before, 1/{CANDIDATES}.")
    attacked = gather(recorders).attack(threat)
    print(f"\n{runs} TRAININGS\n" + attacked.explain())
    return most, attacked


def canaries(x: torch.Tensor, y: torch.Tensor) -> dr.AuditResult:
    """Say what the finished model itself gives away: canaries with wrong labels, in or out by a fair coin each."""
    rng = np.random.default_rng(1)
    wrong = (y[:CANARIES] + torch.tensor(rng.integers(1, 10, CANARIES))) % 10
    inside = torch.tensor(rng.integers(0, 2, CANARIES) == 1)
    rest = slice(CANARIES, CANARIES + RECORDS)
    images, classes = torch.cat([x[rest], x[:CANARIES][inside]]), torch.cat([y[rest], wrong[inside]])
    model, _ = trained(images, classes, seed=100)
    with torch.no_grad():
        scores = -nn.functional.cross_entropy(model(x[:CANARIES]), wrong, reduction="none").numpy()
    steps = EPOCHS * -(-len(images) // BATCH)
    claim = dr.DPSGD(NOISE, 1.0 / -(-len(images) // BATCH), steps)
    audit = canary_audit(scores[inside.numpy()], scores[~inside.numpy()], claim, mode="one-run", seed=1)
    print("\nTHE MODEL ALONE, BY ITS CANARIES\n" + audit.explain())
    return audit


def main() -> None:
    """Train, assess, attack, audit and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=16, help="trainings that are attacked (default: 16)")
    parser.add_argument("--reports", type=Path, help="folder for three pages: risk, attack, audit")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of Opacus, about its random numbers and its hooks
    torch.set_num_threads(1)
    x, y = digits()
    results = dict(zip(("risk", "attack", "audit"), (*gradients(x, y, arguments.runs), canaries(x, y)), strict=True))
    if arguments.reports is not None:
        arguments.reports.mkdir(parents=True, exist_ok=True)
        print(
            "\n" + "\n".join(str(result.report(arguments.reports / f"{name}.html")) for name, result in results.items())
        )


if __name__ == "__main__":
    main()
