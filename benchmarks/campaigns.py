"""What a shard of a campaign costs beside its own work, and what a second worker is good for."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .measure import Case, Peer

if TYPE_CHECKING:
    from .measure import Work

__all__ = ["CASES"]

_AUDIT = Path(__file__).resolve().parent.parent / "examples" / "campaigns" / "audits.toml"
_SHARDS = 4000
_TRIVIAL = f"""
[[run]]
do = "attack"
kind = "grr"
m = 2000
epsilon = 1.0
knowledge = {{ labels = {[k % 2 for k in range(2000)]} }}
trials = {_SHARDS * 4000}
"""


def _ran(file: Path, workers: int) -> dict[str, Any]:
    """Run a campaign from its beginning, as a person would."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "dpradar", "campaign", "run", str(file), "--store", f"{folder}/store.sqlite"]
        done = subprocess.run(  # noqa: S603 - runs ourselves
            [*command, "--workers", str(workers), "--json"], capture_output=True, text=True, check=True
        )
    results: dict[str, Any] = json.loads(done.stdout)
    return results


def _overhead() -> Work:
    folder = tempfile.mkdtemp()
    file = Path(folder) / "trivial.toml"
    file.write_text(_TRIVIAL, encoding="utf-8")

    def work() -> float:
        began = time.perf_counter()
        run = _ran(file, workers=1)["runs"][0]
        return (time.perf_counter() - began - run["seconds"]) / run["shards_done"]

    return work


def _audit(workers: int) -> Work:
    return lambda: [run["result"]["epsilon_lower"] for run in _ran(_AUDIT, workers)["runs"]]


CASES = (
    Case(
        name="campaigns.shard",
        what=f"a shard beside its own work, of {_SHARDS:,} trivial ones, the start of all processes included",
        prepare=_overhead,
        seconds=0.005,
        self_timed=True,
    ),
    Case(
        name="campaigns.audit",
        what="the audit campaign (m = 3,052, 10^7 reports of three protocols) by two workers, from start to end",
        prepare=partial(_audit, 2),
        peers=(
            Peer(
                name="one worker",
                prepare=partial(_audit, 1),
                agreement=lambda one, two: max(abs(a - b) for a, b in zip(one, two, strict=True)),
                faster=1.7,
            ),
        ),
        level=1,
    ),
)
