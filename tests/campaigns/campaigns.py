"""Campaigns for the tests, and real processes that run them."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SAMPLER = '''
"""Randomised response over 5 values at epsilon 2, which writes down every shard it is asked for."""
import os
import numpy as np

def grr(inputs, rng):
    n = len(inputs)
    if n > 1000:
        with open(os.environ["SHARD_LOG"], "a") as file:
            file.write(f"{n} {os.getpid()}\\n")
    keep = np.exp(2.0) / (np.exp(2.0) + 4.0)
    other = (inputs + rng.integers(1, 5, n)) % 5
    return np.where(rng.random(n) < keep, inputs, other)
'''
# Three runs in about 90 shards, most of them of some milliseconds.
CAMPAIGN = """
title = "for tests"
seed = 3
[[run]]
do = "attack"
kind = "oue"
m = 400
epsilon = 3.0
trials = {attacks}
[[run]]
do = "audit"
sampler = "samplers.py:grr"
kind = "grr"
m = 5
epsilon = 2.0
trials = {reports}
[[run]]
do = "assess"
kind = "oue"
m = 400
epsilon = 3.0
"""


def write(folder: Path, attacks: int = 1_000_000, reports: int = 15_000_000, text: str = CAMPAIGN) -> Path:
    """Write a campaign and its sampler, and return the campaign."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "samplers.py").write_text(SAMPLER, encoding="utf-8")
    file = folder / "campaign.toml"
    file.write_text(text.replace("{attacks}", str(attacks)).replace("{reports}", str(reports)), encoding="utf-8")
    return file


def started(folder: Path, *arguments: str, **options) -> subprocess.Popen:
    """Start ``dpradar campaign`` as the head of a group of processes."""
    command = [sys.executable, "-m", "dpradar", "campaign", *arguments]
    environment = {**os.environ, "SHARD_LOG": str(folder / "shards.log")}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, start_new_session=True, text=True, **pipes, **options)


def finished(folder: Path, *arguments: str, code: int = 0, **options) -> tuple[str, str]:
    """Run ``dpradar campaign`` to its end and return what it printed."""
    with started(folder, *arguments, **options) as process:
        try:
            out, err = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            kill(process)
            raise
    assert process.returncode == code, err
    return out, err


def kill(process: subprocess.Popen) -> None:
    """End a process and all of its group, as a power cut would."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=60)


def numbers(printed: str) -> list[dict]:
    """Return the results of all runs."""
    return [unnamed(run["result"]) for run in json.loads(printed)["runs"]]


def unnamed(result: dict) -> dict:
    """Return a result without the name of its prior, which is drawn at random."""
    if "prior" not in result:
        return result
    return {**result, "prior": {key: value for key, value in result["prior"].items() if key != "id"}}


def shards_in(store: Path) -> int:
    """Return how many shards a store has; it is read as any other program would."""
    if not store.is_file():
        return 0
    try:
        with sqlite3.connect(f"file:{store}?mode=rw", uri=True, timeout=10.0) as base:
            count = base.execute("SELECT count(*) FROM shard").fetchone()[0]
        base.close()
    except sqlite3.OperationalError:  # not made yet
        return 0
    return count


def wait_for(store: Path, process: subprocess.Popen, more: int, seconds: float = 120.0) -> bool:
    """Wait until the store has so many shards; return whether the process still runs."""
    until = time.monotonic() + seconds
    while shards_in(store) < more and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.01)
    return process.poll() is None


def shards_of(folder: Path) -> list[int]:
    """Return the sizes of all shards that the sampler was asked for."""
    file = folder / "shards.log"
    return [int(line.split()[0]) for line in file.read_text().splitlines()] if file.exists() else []
