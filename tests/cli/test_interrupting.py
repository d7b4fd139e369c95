"""Interrupted work: what was seen is shown and marked, no gate passes on it, and the exit code is 130."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dpradar as dr
from tests.cli.test_assess import run
from tests.present import samples

# Real processes, which say on a line of their own that they are where they shall be interrupted, and then wait.
WAITING = """
import functools, importlib, sys, threading, time

def waits_at(place, call):
    module, _, name = place.rpartition(".")
    module = importlib.import_module(module)
    real, calls = getattr(module, name), []
    @functools.wraps(real)
    def waiting(*arguments, **options):
        calls.append(None)
        if len(calls) == call:
            print("here", file=sys.stderr, flush=True)
            time.sleep(120 if threading.current_thread() is threading.main_thread() else 2)  # threads are waited for
        return real(*arguments, **options)
    setattr(module, name, waiting)

waits_at(sys.argv[1], int(sys.argv[2]))
from dpradar.cli import main
main(sys.argv[3:])
"""
SAMPLER = """
import sys, threading, time
import numpy as np
calls = []
def grr(inputs, rng):
    calls.append(None)
    if len(calls) == CALL:
        print("here", file=sys.stderr, flush=True)
        time.sleep(120 if threading.current_thread() is threading.main_thread() else 2)
    return np.where(rng.random(len(inputs)) < 0.5, inputs, rng.integers(0, 3, len(inputs)))
"""
LATER = (os.cpu_count() or 1) + 8  # by this piece some are done, however many are computed at a time
SPEC = """
release = { kind = "grr", m = 10, epsilon = 1.0 }
threat = { m = 10, limits = { rad = 0.9 } }
[evidence]
attack = { trials = 200_000_000, seed = 1 }
"""


def interrupted(command, folder, sign):
    """Run a command until it says that it is there, send the signal, and return its exit code and output."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, *command], cwd=folder, start_new_session=True, **pipes) as process:
        try:
            line = process.stderr.readline()
            assert line == "here\n", line + process.stderr.read()
            process.send_signal(sign)
            out, err = process.communicate(timeout=100)
        finally:
            process.kill()
    assert "Traceback" not in err
    return process.returncode, out, err


COMMANDS = {
    "attack": (
        "dpradar.attacks.attack_runs._unit_counts",
        LATER,
        "attack",
        "grr",
        "--m",
        "10",
        "--epsilon",
        "1",
        "--trials",
        "100000000",
        "--seed",
        "1",
    ),
    "attack, nothing yet": (
        "dpradar.attacks.attack_runs._unit_counts",
        1,
        "attack",
        "grr",
        "--m",
        "10",
        "--epsilon",
        "1",
    ),
    "run": ("dpradar.attacks.attack_runs._unit_counts", LATER, "run", "s.toml", "--check"),
    "run, nothing yet": ("dpradar.spec.run._release", 1, "run", "s.toml", "--check"),
    "calibrate": (
        "dpradar.calibration.release_family._with_parameter",
        5,
        "calibrate",
        "grr",
        "--m",
        "9",
        "--limit",
        "rad=0.1",
    ),
    "measure": ("dpradar.cli.measure.measure", 1, "measure", "h.csv", "--with", "a", "--without", "b"),
    "reproduce": ("dpradar_reproduction.figures.reproduce", 1, "reproduce", "rad:fig1", "--out", "out"),
    "assess": ("dpradar.cli.assess.release_of", 1, "assess", "grr", "--m", "9", "--epsilon", "1"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_interrupted_commands(name, tmp_path):
    (tmp_path / "s.toml").write_text(SPEC)
    (tmp_path / "h.csv").write_text("a,b\n1,0\n1,1\n")
    sign = signal.SIGTERM if name in ("run", "measure") else signal.SIGINT
    place, call, *arguments = COMMANDS[name]
    code, out, err = interrupted(["-c", WAITING, place, str(call), *arguments, "--json"], tmp_path, sign)
    assert code == 130, err
    answer = json.loads(out)
    assert answer["complete"] is False
    if name == "attack":
        assert 0 < answer["trials"] < answer["asked"] == 10**8
        # How many pieces are done depends on the clock: the interval of 95 % is widened to one that fails once in 10^9.
        middle, width = (answer["rad"]["low"] + answer["rad"]["high"]) / 2, answer["rad"]["high"] - answer["rad"]["low"]
        assert abs(middle - 0.131969) < 1.6 * width  # (e - 1) / (e + 9) * 0.9
    elif name == "run":
        attack = answer["releases"][0]["evidence"][0]
        assert 0 < attack["trials"] < attack["asked"]
        assert answer["met"] is True  # the limits are; the gate does not pass all the same
    elif name != "calibrate":
        assert answer == {
            "schema": "dpradar/error/1",
            "error": "interrupted before there was a result",
            "exit": 130,
            "complete": False,
        }


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("call", "more"), [(3, ()), (LATER, ("--protocol", "grr"))])
def test_an_interrupted_audit(call, more, sign, tmp_path):
    """In the search nothing was tested yet; in the test of a known protocol some pieces were."""
    (tmp_path / "samplers.py").write_text(SAMPLER.replace("CALL", str(call)))
    command = ["-m", "dpradar", "audit", "samplers.py:grr", "--domain", "3", "--claim-epsilon", "3"]
    options = ["--trials", "100000000", "--seed", "1", "--json", *more]
    code, out, err = interrupted([*command, *options], tmp_path, sign)
    assert code == 130, err
    answer = json.loads(out)
    assert answer["complete"] is False
    assert answer["refuted"] is False
    assert answer["notes"][0].startswith("interrupted")
    assert (answer["trials"] > 0) is bool(more)


def stopping(calls):
    """Return a sampler that is interrupted at a call."""
    calls_so_far = []

    def sampler(inputs, rng):
        calls_so_far.append(None)
        if len(calls_so_far) == calls:
            raise KeyboardInterrupt
        return np.where(rng.random(len(inputs)) < 0.5, inputs, rng.integers(0, 3, len(inputs)))

    return sampler


def test_an_audit_of_nothing_does_not_speak_for_the_claim():
    claim = dr.PureDP(3.0, neighbours="replace-one")
    result = dr.audit(stopping(3), claim=claim, domain=3, trials=100_000, seed=1)
    assert (result.trials, result.complete, result.refuted) == (0, False, False)
    first = result.explain().splitlines()[0]
    assert first.startswith("INCOMPLETE. The audit of PureDP(epsilon=3.0")
    assert first.endswith("interrupted before anything was tested: it says nothing in favour of the claim.")
    assert "not refuted" not in result.explain().lower()


def test_a_refutation_stands_though_it_was_interrupted():
    grr, claim = dr.GRR(m=3, epsilon=0.1), dr.PureDP(0.1, neighbours="replace-one")
    result = dr.audit(stopping(LATER), claim=claim, protocol=grr, domain=3, trials=100_000_000, seed=1)
    assert (result.refuted, result.complete) == (True, False)
    assert 0 < result.trials < 100_000_000


def test_saved_evidence_that_is_incomplete_passes_no_gate(tmp_path):
    audit = samples.audit(refuted=False)
    (tmp_path / "s.toml").write_text(
        'release = { kind = "grr", m = 10, epsilon = 1.0 }\nthreat = { m = 10, limits = { rad = 0.9 } }\n'
        'evidence = { results = ["audit.json"] }\n'
    )
    audit.save(tmp_path / "audit.json")
    done = run("run", str(tmp_path / "s.toml"), "--check")
    assert (done.returncode, "INCOMPLETE" in done.stdout) == (0, False)
    replace(audit, notes=("interrupted after 10 of 20 outputs",)).save(tmp_path / "audit.json")
    done = run("run", str(tmp_path / "s.toml"), "--check", "--report", str(tmp_path / "r.md"))
    assert done.returncode == 130
    assert "INCOMPLETE" in done.stdout
    assert "Incomplete" in (tmp_path / "r.md").read_text()


# --------------------------------------------------------------------------------------------- output that nobody takes


@pytest.mark.parametrize("arguments", [("list",), ("--help",), ("list", "--json"), ("explain", "xyzzy", "--json")])
def test_a_pipe_that_is_closed(arguments):
    """As with `| head`: quiet, and not an error of ours."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "dpradar", *arguments]
    with os.fdopen(writing, "w") as closed:
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("streams", [("stdout",), ("stderr",), ("stdout", "stderr")])
@pytest.mark.parametrize("arguments", [("assess", "grr", "--m", "4", "--epsilon", "1"), ("explain", "xyzzy", "--json")])
def test_a_disk_that_is_full(streams, arguments):
    with Path("/dev/full").open("w") as full:
        pipes = {name: full if name in streams else subprocess.PIPE for name in ("stdout", "stderr")}
        done = subprocess.run([sys.executable, "-m", "dpradar", *arguments], text=True, check=False, **pipes)
    fine = streams == ("stderr",) and arguments[0] == "assess"
    assert done.returncode == (0 if fine else 2)
    if streams == ("stdout",):
        assert done.stderr == (
            "error: the output cannot be written: No space left on device. Make room, or send it elsewhere.\n"
        )


def test_no_output_at_all():
    command = f"{sys.executable} -m dpradar list >&-"
    assert subprocess.run(["sh", "-c", command], check=False).returncode == 0
